// SPDX-License-Identifier: Apache-2.0
/* Running jobs are believed to end at their limits; those without a limit end last, in the
 * order of their ids, so that a head that waits for some of them is not passed for ever by
 * others that never end either. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

/* How many tasks of each role the nodes hold, each role for itself: that this is enough
 * is necessary for a fit and cheap to keep up, so the real search is rarely made. */
static void count_node(const struct reservation *r, int node, int sign, int64_t *have)
{
	const struct ask *a = r->head->shape->ask;

	for (size_t k = 0; k < a->role_count; k++)
		have[k] +=
			sign * view_room(r->after, &a->roles[k], node, a->roles[k].count);
}

static bool enough(const struct ask *a, const int64_t *have)
{
	for (size_t k = 0; k < a->role_count; k++) {
		if (have[k] < a->roles[k].least)
			return false;
	}
	return true;
}

static void end_job(const struct entry *e, struct reservation *r, int64_t *have)
{
	const struct grants *g = &e->grants;

	for (size_t i = 0; i < g->count; i++) {
		int node = g->items[i].node;
		if (i && g->items[i - 1].node == node)
			continue; /* went with the one before */
		count_node(r, node, -1, have);
	}
	view_return(r->after, e->shape->ask, g, -1);
	for (size_t i = 0; i < g->count; i++) {
		int node = g->items[i].node;
		if (i && g->items[i - 1].node == node)
			continue;
		count_node(r, node, 1, have);
	}
}

static int64_t ends(int64_t at_ms, const struct entry *e)
{
	int64_t lasts = entry_lasts(e);

	return lasts > 0 && at_ms < FOREVER - lasts ? at_ms + lasts : FOREVER;
}

static bool runs_at(const struct reservation *r, int64_t ms)
{
	int64_t end = ends(r->at_ms, r->head);

	return r->any && !r->alone && r->at_ms <= ms && (ms < end || end == FOREVER);
}

static void take_heads(struct view *v, const struct heads *h, size_t from, size_t to,
		       int64_t at_ms)
{
	for (size_t i = from; i < to; i++) {
		if (runs_at(&h->r[i], at_ms))
			view_take(v, h->r[i].head->shape->ask, &h->r[i].picks);
	}
}

/* Into what is free then beside the heads before it that run, and, for as long as it runs,
 * at each moment when one of them starts: what is left of that is r->spare. */
static bool fits_then(const struct plan *p, struct heads *h, size_t beside,
		      struct reservation *r, const int64_t *have)
{
	const struct shape *s = r->head->shape;
	int64_t end = ends(r->at_ms, r->head);

	if (!enough(s->ask, have) || !shape_fits(p, r->after, s, &r->picks))
		return false;
	h->spare_set = 0;
	view_copy(p->fleet, r->after, &r->spare);
	take_heads(r->spare, h, 0, beside, r->at_ms);
	for (size_t i = 0; i < beside; i++) {
		const struct reservation *o = &h->r[i];
		if (!o->any || o->alone || o->at_ms <= r->at_ms ||
		    (o->at_ms >= end && end != FOREVER))
			continue;
		view_copy(p->fleet, o->after, &h->spare);
		take_heads(h->spare, h, i + 1, beside, o->at_ms);
		view_least(r->spare, h->spare, &r->spare);
	}
	if (!shape_fits(p, r->spare, s, &r->picks))
		return false;
	take_heads(r->after, h, 0, beside, r->at_ms);
	return true;
}

/* When the next of the heads before it has run its time, after that. */
static int64_t next_head_end(const struct heads *h, size_t beside, int64_t after_ms)
{
	int64_t next = FOREVER;

	for (size_t i = 0; i < beside; i++) {
		int64_t end = h->r[i].any && !h->r[i].alone
				      ? ends(h->r[i].at_ms, h->r[i].head)
				      : FOREVER;
		if (end > after_ms && end < next)
			next = end;
	}
	return next;
}

/* Lets running jobs, and heads before it, end in their order until the head fits. */
static bool find_start(const struct plan *p, struct heads *h, size_t beside,
		       struct reservation *r)
{
	const struct shape *s = r->head->shape;
	AUTO_FREE int64_t *have = mem_alloc(s->ask->role_count, sizeof *have);
	struct tree_node *n = tree_first(&p->running);

	for (size_t k = 0; k < s->ask->role_count; k++)
		have[k] = view_rooms(r->after, &s->ask->roles[k], s->ask->roles[k].count);
	r->at_ms = INT64_MIN;
	while (n) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		int64_t head_end = next_head_end(h, beside, r->at_ms);
		if (e->gives_way) { /* gone already, as seen from here */
			n = tree_next(n);
			continue;
		}
		if (head_end < e->end_ms) {
			r->at_ms = head_end;
			if (fits_then(p, h, beside, r, have))
				return true;
			continue;
		}
		end_job(e, r, have);
		r->at_ms = e->end_ms;
		r->last = e->id;
		n = tree_next(n);
		if (n && n->first == e->end_ms && e->end_ms != FOREVER)
			continue; /* those end at the same moment */
		if (fits_then(p, h, beside, r, have))
			return true;
	}
	while ((r->at_ms = next_head_end(h, beside, r->at_ms)) != FOREVER) {
		if (fits_then(p, h, beside, r, have))
			return true;
	}
	return false;
}

static bool reserve_beside(struct plan *p, struct heads *h, size_t beside,
			   struct reservation *r)
{
	struct view *swap;

	h->spare_set = 0;
	r->last = 0;
	preempt_after(p, &r->after);
	promise_keep(p, r->head, r->after);
	if (!find_start(p, h, beside, r))
		return false;
	view_take(r->after, r->head->shape->ask, &r->picks);
	view_take(r->spare, r->head->shape->ask, &r->picks);
	/* What is free now comes first: which devices these are is known of that only. */
	view_least(preempt_open(p), r->spare, &h->spare);
	swap = r->spare;
	r->spare = h->spare;
	h->spare = swap;
	return true;
}

static void reserve(struct plan *p, struct heads *h, size_t at)
{
	struct reservation *r = &h->r[at];

	r->head = h->items[at];
	r->alone = false;
	r->any = reserve_beside(p, h, at, r);
	if (!r->any && at > 0)
		r->any = r->alone = reserve_beside(p, h, 0, r);
	if (r->any)
		return;
	/* Cannot happen to one who fits on empty nodes, but for promises to others. */
	r->at_ms = FOREVER;
	r->last = 0;
}

const struct heads *backfill_heads(struct plan *p)
{
	struct heads *h = &p->heads;
	struct entry *now[HEADS_MAX];
	size_t count, same = 0;
	bool moved = h->version != p->version;

	if (h->known && !moved && h->turns == p->turns)
		return h;
	count = order_heads(p, now);
	while (!moved && same < count && same < h->count && h->items[same] == now[same] &&
	       h->r[same].head == now[same])
		same++;
	if (h->reserved > same)
		h->reserved = same;
	memcpy(h->items, now, count * sizeof(struct entry *));
	h->count = count;
	h->version = p->version;
	h->turns = p->turns;
	h->known = true;
	h->spare_set = 0;
	h->epoch++;
	return h;
}

void backfill_forget(struct plan *p)
{
	p->heads.known = false;
}

static void reservation_fini(struct reservation *r)
{
	view_destroy(r->after);
	view_destroy(r->spare);
	free(r->picks.items);
	*r = (struct reservation){ 0 };
}

void heads_fini(struct plan *p)
{
	for (size_t i = 0; i < HEADS_MAX; i++)
		reservation_fini(&p->heads.r[i]);
	view_destroy(p->heads.spare);
}

size_t backfill_ahead(struct plan *p, const struct entry *e)
{
	const struct heads *h = backfill_heads(p);
	size_t n = h->count;

	while (n > 0 && !order_before(h->items[n - 1], e))
		n--;
	return n;
}

static bool in_time(const struct entry *e, int64_t now_ms, const struct reservation *r)
{
	int64_t lasts = entry_lasts(e);

	if (lasts <= 0)
		return false;
	return r->at_ms == FOREVER || (r->at_ms > now_ms && lasts <= r->at_ms - now_ms);
}

/* What is free now and when each of a set of heads has started. */
static const struct view *spare(struct plan *p, unsigned set)
{
	struct heads *h = &p->heads;
	size_t first = (size_t)__builtin_ctz(set);
	bool begun = false;

	if (set == 1U << first)
		return h->r[first].spare;
	if (h->spare_set == set)
		return h->spare;
	for (size_t i = first; i < h->count; i++) {
		if (!(set >> i & 1))
			continue;
		view_least(begun ? h->spare : h->r[first].spare, h->r[i].spare,
			   &h->spare);
		begun = true;
	}
	h->spare_set = set;
	return h->spare;
}

const struct view *backfill_room(struct plan *p, const struct entry *e, size_t ahead,
				 int64_t now_ms, const struct reservation **stopper)
{
	struct heads *h = &p->heads;
	unsigned set = 0;

	for (size_t i = 0; i < ahead; i++) {
		if (i >= h->reserved) {
			reserve(p, h, i);
			h->reserved = i + 1;
		}
		if (!p->policy.backfill || !backfill_quota_ok(e, h->items[i])) {
			*stopper = &h->r[i];
			return NULL;
		}
		if (in_time(e, now_ms, &h->r[i]))
			continue;
		if (!*stopper)
			*stopper = &h->r[i];
		if (!h->r[i].any) {
			*stopper = &h->r[i];
			return NULL;
		}
		set |= 1U << i;
	}
	p->heads.asked_set = set;
	return set ? spare(p, set) : preempt_open(p);
}

/* With e's share taken the head must still be within its owners' quotas, or it would be
 * the head no more. */
bool backfill_quota_ok(const struct entry *e, const struct entry *head)
{
	struct entry *c = (struct entry *)(uintptr_t)e; /* charged and discharged again */
	enum quota_short what;
	bool ok;
	int limit;

	if (e->user != head->user && e->group != head->group &&
	    e->group->tenant->depth == 1 && head->group->tenant->depth == 1 &&
	    !e->group->tenant->plan->dims.count)
		return true;
	queue_charge(c, 1);
	ok = !queue_quota_owner(head->bucket, &what, &limit);
	queue_charge(c, -1);
	return ok;
}
