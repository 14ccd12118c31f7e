// SPDX-License-Identifier: Apache-2.0
/* Why a job waits, said from what is so at the moment of asking: what is short, how
 * much of it is free, who holds it, who is ahead. */
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "plan/reason.h"
#include "plan/words.h"

#define HOLDERS_TOLD 2
#define VICTIMS_TOLD 4

static int64_t held_devices(const struct plan *p, const struct grant *g,
			    const struct need *n)
{
	int64_t sum = 0;

	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (g->devices[k].mask &&
		    n->kinds >> fleet_pool_kind(p->fleet, g->node, g->devices[k].pool) &
			    1)
			sum += __builtin_popcountll(g->devices[k].mask);
	}
	return sum;
}

static int64_t held_on(const struct plan *p, const struct entry *e, int node,
		       const struct dim *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < e->grants.count; i++) {
		const struct grant *g = &e->grants.items[i];
		const struct ask_role *r = &e->shape->ask->roles[g->role];
		if (g->node != node)
			continue;
		switch (d->what) {
		case DIM_CPU:
			sum += r->cpu_milli;
			break;
		case DIM_MEMORY:
			sum += r->memory_bytes;
			break;
		case DIM_PORTS:
			sum += g->port_count;
			break;
		case DIM_TASKS:
			sum++;
			break;
		case DIM_DEVICES:
			sum += held_devices(p, g, d->need);
			break;
		}
	}
	return sum;
}

static void say_job(const struct plan *p, int64_t job, struct buf *out)
{
	const struct plan_eyes *eyes = p->scratch->eyes;

	if (!eyes || eyes->see(eyes->arg, job))
		buf_printf(out, "job %lld", (long long)job);
	else
		buf_adds(out, "somebody's job");
}

struct holder {
	int64_t job, amount;
};

/* ", held by job 7 (3 gpu), job 9 (1 gpu) and 2 more" */
static void say_holders(const struct plan *p, int node, const struct dim *d,
			struct buf *out)
{
	struct holder top[HOLDERS_TOLD] = { 0 };
	size_t others = 0, told = 0;

	for (struct tree_node *n = tree_first(&p->running); n; n = tree_next(n)) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		struct holder h = { e->id, held_on(p, e, node, d) };
		if (!h.amount)
			continue;
		for (size_t i = 0; i < HOLDERS_TOLD; i++) {
			struct holder was = top[i];
			if (h.amount > was.amount ||
			    (h.amount == was.amount && h.job < was.job)) {
				top[i] = h;
				h = was;
			}
		}
		others += h.amount > 0;
	}
	for (; told < HOLDERS_TOLD && top[told].amount; told++) {
		buf_adds(out, told ? ", " : ", held by ");
		say_job(p, top[told].job, out);
		buf_adds(out, " (");
		words_amount(d, top[told].amount, out);
		buf_addc(out, ')');
	}
	if (others)
		buf_printf(out, " and %zu more", others);
}

static void say_free(const struct plan *p, int node, const struct dim *dims, size_t count,
		     struct buf *out)
{
	const char *join = "; ";

	for (size_t i = 0; i < count; i++) {
		const struct dim *d = &dims[i];
		if (d->want <= d->free)
			continue;
		buf_printf(out, "%s%s has ", join, fleet_node(p->fleet, node)->name);
		words_number(d, d->free > 0 ? d->free : 0, out);
		buf_adds(out, " of ");
		words_amount(d, d->total, out);
		buf_adds(out, " free");
		say_holders(p, node, d, out);
		join = ", and ";
	}
}

/* No node has room for one task of this role: the node that comes nearest says why. */
static void say_one(const struct plan *p, const struct ask *a, size_t role,
		    struct buf *out)
{
	struct dim dims[DIMS_MAX];
	size_t count, n = 0;
	int node;

	view_empty(p->fleet, &p->scratch->future);
	node = words_nearest(p, fleet_now(p->fleet), p->scratch->future, &a->roles[role]);
	count = words_dims(fleet_now(p->fleet), p, node, &a->roles[role], dims);
	buf_adds(out, "waits for ");
	for (size_t i = 0; i < count; i++) {
		if (dims[i].want <= dims[i].free)
			continue;
		buf_adds(out, n++ ? " and " : "");
		words_amount(&dims[i], dims[i].want, out);
	}
	buf_adds(out, " on one node");
	if (a->role_count > 1)
		buf_printf(out, " (a task of role %zu)", role + 1);
	say_free(p, node, dims, count, out);
}

static void say_many(const struct ask *a, size_t role, int64_t fits, struct buf *out)
{
	const struct ask_role *r = &a->roles[role];

	buf_printf(out, "waits for room for %d tasks", r->count);
	if (a->role_count > 1)
		buf_printf(out, " of role %zu", role + 1);
	buf_adds(out, " at once, each ");
	words_role(r, out);
	buf_printf(out, "; %lld would fit now", (long long)fits);
}

static void say_capacity(const struct plan *p, const struct ask *a, struct buf *out)
{
	for (size_t k = 0; k < a->role_count; k++) {
		int64_t fits = view_room(fleet_now(p->fleet), &a->roles[k], -1,
					 a->roles[k].count);
		if (fits == 0) {
			say_one(p, a, k, out);
			return;
		}
		if (fits < a->roles[k].least) {
			say_many(a, k, fits, out);
			return;
		}
	}
	buf_printf(
		out,
		"waits for room for all its %d tasks at once: each role would fit alone now",
		a->least_count);
}

static void say_order(const struct plan *p, const struct entry *e,
		      const struct entry *head, const struct reservation *r,
		      struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (!backfill_quota_ok(e, head)) {
		buf_adds(out, "would fit now, but takes of the quota that ");
		say_job(p, head->id, out);
		buf_adds(out, ", which is ahead, needs");
		return;
	}
	buf_adds(out, "would fit now, but would delay ");
	say_job(p, head->id, out);
	buf_adds(out, ", which is ahead and starts when ");
	if (r->last)
		say_job(p, r->last, out);
	buf_adds(out, r->last ? " ends" : "others end");
	if (r->at_ms == FOREVER)
		buf_adds(out, "; with a time limit it could start before");
	else if (r->at_ms > p->now_ms)
		buf_printf(out, "; with a time limit of at most %s it could start before",
			   units_show_duration(r->at_ms - p->now_ms, text));
}

static void say_position(const struct plan *p, const struct entry *e,
			 const struct entry *head, struct buf *out)
{
	int position = plan_position(p, e->id);

	if (head && tree_cmp(&head->at, e->at.first, e->at.second) < 0) {
		buf_adds(out, "; ");
		say_job(p, head->id, out);
		buf_adds(out, " is ahead");
	}
	if (position == 1)
		buf_adds(out, "; it is first in the queue");
	else
		buf_printf(out, "; number %d of %zu in the queue", position,
			   plan_waiting(p));
}

/* A head that it would have to pass lets it: `r` says when that head starts. */
static bool passes(const struct plan *p, const struct entry *e, const struct entry *head,
		   int64_t now_ms, struct reservation *r)
{
	if (!head || tree_cmp(&head->at, e->at.first, e->at.second) >= 0)
		return true;
	backfill_reserve(p, head, r);
	return backfill_quota_ok(e, head) &&
	       backfill_ok(p, e, now_ms, r, &p->scratch->picks);
}

static const struct owner *stops(const struct entry *e, enum quota_short *what,
				 int *limit)
{
	return queue_quota_owner(e->bucket, what, limit);
}

bool reason_in_way(const struct plan *p, const struct entry *e)
{
	enum quota_short what;
	int limit;

	return e->bucket && !stops(e, &what, &limit) && shape_ever(p, e->shape);
}

/* Fits, but into what is kept for those to whom others give way. */
static bool claimed(const struct plan *p, const struct entry *e)
{
	return preempt_count(p) &&
	       !shape_fits(p, preempt_open(p), e->shape, &p->scratch->picks);
}

/* With r, which the caller ends, of the head that it may not pass. */
static enum plan_reason_kind find(const struct plan *p, const struct entry *e,
				  int64_t now_ms, struct reservation *r)
{
	enum quota_short what;
	int limit;
	const struct owner *o = e->claim ? NULL : stops(e, &what, &limit);

	if (e->claim)
		return PLAN_REASON_PREEMPTING;
	if (o)
		return o->is_group ? PLAN_REASON_GROUP_QUOTA : PLAN_REASON_USER_QUOTA;
	if (!shape_ever(p, e->shape))
		return PLAN_REASON_NEVER;
	if (!shape_fits(p, fleet_now(p->fleet), e->shape, &p->scratch->picks))
		return PLAN_REASON_CAPACITY;
	if (claimed(p, e))
		return PLAN_REASON_ORDER;
	return passes(p, e, queue_peek_head(p), now_ms, r) ? PLAN_REASON_NEW
							   : PLAN_REASON_ORDER;
}

enum plan_reason_kind reason_kind(const struct plan *p, const struct entry *e,
				  int64_t now_ms)
{
	struct reservation r = { 0 };
	enum plan_reason_kind kind = find(p, e, now_ms, &r);

	backfill_fini(&r);
	return kind;
}

static void say_quota(const struct entry *e, struct buf *out)
{
	enum quota_short what;
	int limit;
	const struct owner *o = stops(e, &what, &limit);

	words_quota(o, e->shape->ask, what, limit, out);
}

static void say_never(const struct plan *p, const struct entry *e, struct buf *out)
{
	struct err err = { 0 };

	words_never(p, e->shape->ask, &err);
	buf_printf(out, "can never start as the nodes are now: %s", err.text);
}

/* "job 7 and job 9 give way to it; it starts when they are gone" */
static void say_preempting(const struct plan *p, const struct claim *c, struct buf *out)
{
	size_t count = tree_count(&c->victims), told = 0;

	if (!count) {
		buf_adds(out, "others gave way to it; it starts now");
		return;
	}
	for (struct tree_node *n = tree_first(&c->victims); n; n = tree_next(n), told++) {
		if (told == VICTIMS_TOLD && count > VICTIMS_TOLD + 1) {
			buf_printf(out, " and %zu more", count - told);
			break;
		}
		buf_adds(out, !told ? "" : told + 1 == count ? " and " : ", ");
		say_job(p, n->first, out);
	}
	buf_printf(out, " give%s way to it; it starts when %s gone", count == 1 ? "s" : "",
		   count == 1 ? "that is" : "they are");
}

static void say_claimed(const struct plan *p, struct buf *out)
{
	buf_adds(out, "would fit now, but what is free is kept for ");
	say_job(p, preempt_nth(p, 0)->by, out);
	buf_adds(out, ", to which others give way");
}

enum plan_reason_kind plan_why(const struct plan *p, int64_t job,
			       const struct plan_eyes *eyes, struct buf *words)
{
	const struct entry *e = map_get(p->jobs, job), *head;
	struct reservation r = { 0 };
	enum plan_reason_kind kind;

	if (!e || !(e->bucket || e->claim))
		return PLAN_REASON_NONE;
	p->scratch->eyes = eyes;
	head = queue_peek_head(p);
	kind = find(p, e, p->now_ms, &r);
	switch (kind) {
	case PLAN_REASON_USER_QUOTA:
	case PLAN_REASON_GROUP_QUOTA:
		say_quota(e, words);
		break;
	case PLAN_REASON_NEVER:
		say_never(p, e, words);
		break;
	case PLAN_REASON_CAPACITY:
		say_capacity(p, e->shape->ask, words);
		break;
	case PLAN_REASON_ORDER:
		if (claimed(p, e))
			say_claimed(p, words);
		else
			say_order(p, e, head, &r, words);
		break;
	case PLAN_REASON_PREEMPTING:
		say_preempting(p, e->claim, words);
		break;
	case PLAN_REASON_NEW:
	case PLAN_REASON_NONE:
		buf_adds(words, "has not been looked at yet");
		break;
	}
	say_position(p, e, kind == PLAN_REASON_CAPACITY ? head : NULL, words);
	backfill_fini(&r);
	p->scratch->eyes = NULL;
	return kind;
}
