// SPDX-License-Identifier: Apache-2.0
/* Why a job waits, said from what is so at the moment of asking: what is short, how
 * much of it is free, who holds it, who is ahead. */
#include "plan/reason.h"

#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "plan/step.h"
#include "plan/words.h"

#define VICTIMS_TOLD 4
#define AHEAD_LOOKED 4096
#define FREED_LOOKED 64 /* of those that run, the first to end */

static void say_order(const struct plan *p, const struct entry *e,
		      const struct entry *head, const struct reservation *r,
		      struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (!backfill_quota_ok(e, head)) {
		buf_adds(out, "would fit now, but takes of the quota that ");
		reason_say_job(p, head->id, out);
		buf_adds(out, ", which is ahead, needs");
		return;
	}
	buf_adds(out, "would fit now, but would delay ");
	reason_say_job(p, head->id, out);
	buf_adds(out, ", which is ahead and starts when ");
	if (r->last)
		reason_say_job(p, r->last, out);
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

	if (head && e->bucket && order_before(head, e)) {
		buf_adds(out, "; ");
		reason_say_job(p, head->id, out);
		buf_adds(out, " is ahead");
	}
	if (position == 1)
		buf_adds(out, "; it is first in the queue");
	else
		buf_printf(out, "; number %d of %zu in the queue", position,
			   plan_waiting(p));
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

/* With the head that it may not pass, and when that starts. */
static enum plan_reason_kind find(const struct plan *plan, const struct entry *e,
				  int64_t now_ms, const struct reservation **r)
{
	struct plan *p = (struct plan *)(uintptr_t)plan; /* what it remembers of heads */
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
	switch (step_hold(p, e, now_ms, &p->scratch->picks, r)) {
	case HOLD_NONE:
		return PLAN_REASON_NEW;
	case HOLD_PROMISE:
		return PLAN_REASON_GROUP_QUOTA;
	case HOLD_WINDOW:
	case HOLD_HEAD:
		return PLAN_REASON_ORDER;
	}
	return PLAN_REASON_NEW;
}

enum plan_reason_kind reason_kind(const struct plan *p, const struct entry *e,
				  int64_t now_ms)
{
	const struct reservation *r = NULL;

	return find(p, e, now_ms, &r);
}

static void say_quota(const struct entry *e, struct buf *out)
{
	enum quota_short what;
	int limit;
	const struct owner *o = stops(e, &what, &limit);

	if (o)
		words_quota(o, e->shape->ask, what, limit, out);
	else
		buf_adds(out, "would fit now, but only where places are promised to "
			      "other groups");
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
		reason_say_job(p, n->first, out);
	}
	buf_printf(out, " give%s way to it; it starts when %s gone",
		   count == 1 ? "s" : "", count == 1 ? "that is" : "they are");
}

static void say_claimed(const struct plan *p, struct buf *out)
{
	buf_adds(out, "would fit now, but what is free is kept for ");
	reason_say_job(p, preempt_nth(p, 0)->by, out);
	buf_adds(out, ", to which others give way");
}

static void say_window(const struct plan *p, const struct entry *e, struct buf *out)
{
	buf_adds(out, "would fit now, but on nodes that are kept for others");
	for (size_t k = 0; k < e->shape->ask->role_count; k++) {
		AUTO_BUF struct buf window = { 0 };
		if (!cause_window(p, fleet_now(p->fleet), e, k, &window))
			continue;
		buf_printf(out, ": %s", buf_str(&window));
		return;
	}
}

enum plan_reason_kind plan_cause(const struct plan *p, int64_t job,
				 const struct plan_eyes *eyes, struct buf *words)
{
	const struct entry *e = map_get(p->jobs, job);
	const struct reservation *r = NULL;
	enum plan_reason_kind kind;

	if (!e || !(e->bucket || e->claim))
		return PLAN_REASON_NONE;
	p->scratch->eyes = eyes;
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
		cause_capacity(p, fleet_now(p->fleet), e, words);
		break;
	case PLAN_REASON_ORDER:
		if (claimed(p, e))
			say_claimed(p, words);
		else if (r)
			say_order(p, e, r->head, r, words);
		else
			say_window(p, e, words);
		break;
	case PLAN_REASON_PREEMPTING:
		say_preempting(p, e->claim, words);
		break;
	case PLAN_REASON_NEW:
	case PLAN_REASON_NONE:
		buf_adds(words, "has not been looked at yet");
		break;
	}
	p->scratch->eyes = NULL;
	return kind;
}

enum plan_reason_kind plan_why(const struct plan *p, int64_t job,
			       const struct plan_eyes *eyes, struct buf *words)
{
	enum plan_reason_kind kind = plan_cause(p, job, eyes, words);

	if (kind == PLAN_REASON_NONE)
		return kind;
	p->scratch->eyes = eyes;
	say_position(p, map_get(p->jobs, job),
		     kind == PLAN_REASON_CAPACITY ? queue_peek_head(p) : NULL, words);
	p->scratch->eyes = NULL;
	return kind;
}

size_t plan_ahead(const struct plan *p, int64_t job, int64_t *out, size_t max)
{
	size_t before = (size_t)plan_position(p, job), n, count = 0;
	AUTO_FREE int64_t *ids = NULL;

	if (before > AHEAD_LOOKED)
		before = AHEAD_LOOKED;
	if (before < 2)
		return 0;
	/* In one go: each further page would walk the queue from its beginning again. */
	ids = mem_alloc(before, sizeof *ids);
	n = plan_queue(p, 1, ids, before - 1);
	for (size_t i = 0; i < n; i++) {
		const struct entry *e = map_get(p->jobs, ids[i]);
		if (!e->claim && !reason_in_way(p, e))
			continue;
		if (count < max)
			out[count] = e->id;
		count++;
	}
	return count;
}

int64_t plan_freed(const struct plan *p, int64_t job)
{
	const struct entry *e = map_get(p->jobs, job);
	struct tree_node *n = tree_first(&p->running);
	struct view *v = NULL;
	struct stay stay;
	int64_t found = 0;

	if (!e || !e->bucket)
		return 0;
	stay = step_stay(e, p->now_ms);
	for (int looked = 0; n && looked < FREED_LOOKED && !found;
	     n = tree_next(n), looked++) {
		const struct entry *x = TREE_OF(n, struct entry, at);
		if (x->gives_way)
			continue; /* what it has is somebody's already */
		view_copy(p->fleet, preempt_open(p), &v);
		view_return(v, x->shape->ask, &x->grants, -1);
		if (view_fit(v, e->shape->ask, p->windows ? &stay : NULL,
			     &p->scratch->picks))
			found = x->id;
	}
	view_destroy(v);
	return found;
}
