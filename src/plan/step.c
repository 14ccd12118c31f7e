// SPDX-License-Identifier: Apache-2.0
/* One step: passes over the open shapes, in the order of their candidates, until a pass
 * places nobody.  What a step decides is a function of what is held, who waits, the
 * quotas and the time; the trees only remember what need not be tried again.  A pass
 * therefore ends with the first start, or the
 * first new head, that could change the answer for somebody whom it does not look at
 * (again): those held back for the head, and fickle gangs. */
#include "base/mem.h"
#include "plan/model.h"

struct pass {
	struct plan *p;
	int64_t now_ms;
	size_t most, placed;
	struct tree order; /* open shapes by their next candidate */
	struct reservation r;
	void (*decide)(void *arg, const struct plan_decision *d);
	void *arg;
};

static void aim(struct pass *x, struct shape *s, struct tree_node *bucket)
{
	s->cursor = TREE_OF(bucket, struct bucket, at);
	if (bucket)
		tree_add(&x->order, &s->in_pass, bucket->first, bucket->second);
}

static void announce(struct pass *x, const struct entry *e)
{
	struct scratch *t = x->p->scratch;
	struct plan_decision d = { .job = e->id, .place_count = e->grants.count };

	if (e->grants.count > t->place_cap) {
		t->place_cap = e->grants.count;
		t->places = mem_realloc(t->places, t->place_cap, sizeof *t->places);
	}
	fleet_describe(x->p->fleet, e->shape->ask, &e->grants, t->places);
	d.places = t->places;
	x->decide(x->arg, &d);
}

static void start(struct pass *x, struct entry *e)
{
	struct plan *p = x->p;

	queue_leave(p, e);
	fleet_grant(p->fleet, e->shape->ask, &p->scratch->picks, &e->grants);
	e->since_ms = x->now_ms;
	e->end_ms = e->limit_ms > 0 && x->now_ms < FOREVER - e->limit_ms
			    ? x->now_ms + e->limit_ms
			    : FOREVER;
	e->since_ms = x->now_ms;
	tree_add(&p->running, &e->at, e->end_ms, e->id);
	preempt_runs(p, e);
	owner_charge(e->user, e->shape, 1);
	owner_charge(e->group, e->shape, 1);
	p->version++;
	x->placed++;
	announce(x, e);
}

/* True when the bucket's first job was started.  A shape without room leaves OPEN. */
static bool try_first(struct pass *x, struct bucket *b)
{
	struct plan *p = x->p;
	struct entry *e = bucket_first(b), *head;
	struct picks *picks = &p->scratch->picks;

	if (!queue_quota_ok(p, b))
		return false;
	if (!shape_fits(p, preempt_open(p), e->shape, picks)) {
		p->preempt->fresh = true;
		queue_move(p, e->shape,
			   shape_ever(p, e->shape) ? SHAPE_BLOCKED : SHAPE_NEVER);
		return false;
	}
	head = queue_head(p);
	if (head && tree_cmp(&head->at, e->at.first, e->at.second) < 0) {
		if (x->r.head != head)
			backfill_reserve(p, head, &x->r);
		if (!backfill_quota_ok(e, head) ||
		    !backfill_ok(p, e, x->now_ms, &x->r, picks))
			return false;
	}
	start(x, e);
	return true;
}

static int64_t head_id(struct plan *p)
{
	const struct entry *head = queue_head(p);

	return head ? head->id : 0;
}

static void pass_run(struct pass *x)
{
	struct plan *p = x->p;
	struct tree_node *n;
	bool over = false;

	for (n = tree_first(&p->shapes[SHAPE_OPEN]); n; n = tree_next(n)) {
		struct shape *s = TREE_OF(n, struct shape, at);
		aim(x, s, tree_first(&s->ready));
	}
	while ((n = tree_first(&x->order)) && !over) {
		struct shape *s = TREE_OF(n, struct shape, in_pass);
		int64_t first = n->first, second = n->second;
		tree_remove(&x->order, n);
		s->refs++; /* the last job of its shape may go */
		if (try_first(x, s->cursor))
			over = x->placed == x->most || x->r.head || p->fickle_shapes ||
			       tree_count(&p->shapes[SHAPE_BACK]);
		else
			over = tree_count(&p->shapes[SHAPE_BACK]) &&
			       head_id(p) != p->back_head;
		if (s->state == SHAPE_OPEN) {
			aim(x, s, tree_after(&s->ready, first, second));
			if (!s->cursor)
				queue_move(p, s, SHAPE_BACK);
		}
		shape_put(p, s);
	}
	while ((n = tree_first(&x->order)))
		tree_remove(&x->order, n);
}

/* Packing several roles is greedy: taking something away can, rarely, make a gang fit. */
static void open_fickle(struct plan *p)
{
	struct tree_node *n =
		p->fickle_shapes ? tree_first(&p->shapes[SHAPE_BLOCKED]) : NULL;

	while (n) {
		struct shape *s = TREE_OF(n, struct shape, at);
		n = tree_next(n);
		if (s->ask->role_count > 1)
			queue_move(p, s, SHAPE_OPEN);
	}
}

static void reopen(struct plan *p)
{
	int64_t head;

	if (p->nodes_changed)
		queue_move_all(p, SHAPE_NEVER, SHAPE_OPEN);
	if (p->grown || p->nodes_changed)
		queue_move_all(p, SHAPE_BLOCKED, SHAPE_OPEN);
	p->grown = p->nodes_changed = false;
	if (p->version != p->back_version)
		open_fickle(p);
	head = head_id(p);
	if (p->version != p->back_version || head != p->back_head)
		queue_move_all(p, SHAPE_BACK, SHAPE_OPEN);
	p->back_version = p->version;
	p->back_head = head;
}

static bool more(const struct pass *x)
{
	return !x->most || x->placed < x->most;
}

/* Those for whom others gave way come before everybody. */
static void start_claimants(struct pass *x)
{
	struct entry *e;

	preempt_attach(x->p);
	while (more(x) && (e = preempt_due(x->p)))
		start(x, e);
}

/* Until nobody more starts. */
static void passes(struct pass *x)
{
	size_t before;

	do {
		before = x->placed;
		reopen(x->p);
		pass_run(x);
		backfill_fini(&x->r);
	} while (more(x) &&
		 (x->placed > before || head_id(x->p) != x->p->back_head));
}

/* Whoever does not fit then may make others give way: it is nobody's head any more, so
 * that those held back for it may start. */
void plan_step(struct plan *p, int64_t now_ms, size_t most,
	       void (*decide)(void *arg, const struct plan_decision *d), void *arg)
{
	struct pass x = {
		.p = p, .now_ms = now_ms, .most = most, .decide = decide, .arg = arg
	};
	size_t told = 1;

	p->now_ms = now_ms;
	start_claimants(&x);
	while (told && more(&x)) {
		passes(&x);
		told = 0;
		if (more(&x))
			told = preempt_step(p, now_ms, most ? most - x.placed : 0, decide,
					    arg);
		x.placed += told;
	}
}
