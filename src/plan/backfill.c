// SPDX-License-Identifier: Apache-2.0
/* EASY backfill: the head gets a reservation, everyone else may use what does not touch
 * it.  Running jobs are believed to end at their limits; those without a limit end
 * last, in the order of their ids, so that a head that waits for some of them is not
 * passed for ever by others that never end either. */
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

/* Lets running jobs end in their order until the head fits. */
static bool find_start(const struct plan *p, struct reservation *r, struct picks *picks)
{
	const struct shape *s = r->head->shape;
	AUTO_FREE int64_t *have = mem_alloc(s->ask->role_count, sizeof *have);
	struct tree_node *n = tree_first(&p->running);

	for (size_t i = 0; i < fleet_count(p->fleet); i++)
		count_node(r, (int)i, 1, have);
	while (n) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		struct tree_node *next = tree_next(n);
		if (e->gives_way) { /* gone already, as seen from here */
			n = next;
			continue;
		}
		end_job(e, r, have);
		r->at_ms = e->end_ms;
		r->last = e->id;
		n = next;
		if (n && n->first == e->end_ms && e->end_ms != FOREVER)
			continue; /* those end at the same moment */
		if (enough(s->ask, have) && shape_fits(p, r->after, s, picks))
			return true;
	}
	return false;
}

void backfill_reserve(const struct plan *p, const struct entry *head,
		      struct reservation *r)
{
	struct picks *picks = &p->scratch->head_picks;

	r->head = head;
	r->at_ms = FOREVER;
	r->last = 0;
	preempt_after(p, &r->after);
	if (find_start(p, r, picks)) {
		view_take(r->after, head->shape->ask, picks);
		view_least(preempt_open(p), r->after, &r->spare);
		r->any = true;
		return;
	}
	/* Cannot happen to one who fits on empty nodes; but then nothing is spare. */
	r->at_ms = FOREVER;
	r->last = 0;
	r->any = false;
}

void backfill_fini(struct reservation *r)
{
	view_destroy(r->after);
	view_destroy(r->spare);
	*r = (struct reservation){ 0 };
}

bool backfill_in_time(const struct entry *e, int64_t now_ms, const struct reservation *r)
{
	if (e->limit_ms <= 0)
		return false;
	return r->at_ms == FOREVER ||
	       (r->at_ms > now_ms && e->limit_ms <= r->at_ms - now_ms);
}

bool backfill_ok(const struct plan *p, const struct entry *e, int64_t now_ms,
		 struct reservation *r, struct picks *picks)
{
	if (backfill_in_time(e, now_ms, r))
		return true;
	return r->any && shape_fits(p, r->spare, e->shape, picks);
}

/* With e's share taken the head must still be within its owners' quotas, or it would be
 * the head no more. */
bool backfill_quota_ok(const struct entry *e, const struct entry *head)
{
	int limit;

	if (e->user == head->user &&
	    owner_short(e->user, e->shape, head->shape, &limit) != QUOTA_OK)
		return false;
	return e->group != head->group ||
	       owner_short(e->group, e->shape, head->shape, &limit) == QUOTA_OK;
}
