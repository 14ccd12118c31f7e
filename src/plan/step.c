// SPDX-License-Identifier: Apache-2.0
/* One step: passes over the open shapes, in the order of their candidates, until a pass
 * places nobody.  What a step decides is a function of what is held, who waits, the rules
 * and the time; the trees only remember what need not be tried again.  A pass therefore
 * ends with the first start that could change the answer for somebody whom it does not
 * look at (again): those held back for a head, and fickle gangs. */
#include "plan/step.h"

#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

struct line { /* the candidates of one queue, in their order */
	size_t at, end;
};

struct pass {
	struct plan *p;
	int64_t now_ms;
	size_t most, placed;
	size_t line_count, held;
	void (*decide)(void *arg, const struct plan_decision *d);
	void *arg;
};

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
	queue_runs(p, e, x->now_ms);
	x->placed++;
	announce(x, e);
}

/* Those who have no room are heads from now on, or were never meant to run. */
static void block(struct plan *p, struct shape *s)
{
	p->preempt->fresh = true;
	queue_move(p, s, shape_ever(p, s) ? SHAPE_BLOCKED : SHAPE_NEVER);
}

struct stay step_stay(const struct entry *e, int64_t now_ms)
{
	int64_t lasts = entry_lasts(e);

	return (struct stay){ .from_ms = now_ms,
			      .to_ms = lasts > 0 && lasts < FOREVER - now_ms
					       ? now_ms + lasts
					       : FOREVER,
			      .group = e->group->name };
}

/* Into `v`, as far as windows and promises let it. */
static enum hold fit(struct plan *p, const struct entry *e, int64_t now_ms,
		     const struct view *v, struct picks *picks)
{
	struct stay stay = step_stay(e, now_ms);
	const struct stay *when = p->windows ? &stay : NULL;

	if (promise_fit(p, e, v, when, picks))
		return HOLD_NONE;
	if (when && promise_fit(p, e, v, NULL, picks))
		return HOLD_WINDOW;
	return promise_binds(p, e) && view_fit(v, e->shape->ask, when, picks)
		       ? HOLD_PROMISE
		       : HOLD_HEAD;
}

enum hold step_hold(struct plan *p, const struct entry *e, int64_t now_ms,
		    struct picks *picks, const struct reservation **stopper)
{
	size_t ahead = backfill_ahead(p, e);
	const struct view *v = preempt_open(p);
	bool kept = p->dims.shapes || p->windows;
	struct shape *s = e->shape;
	enum hold hold;

	*stopper = NULL;
	if (ahead)
		v = backfill_room(p, e, ahead, now_ms, stopper);
	if (!v)
		return HOLD_HEAD;
	if (v == preempt_open(p) && !kept)
		return HOLD_NONE;
	if (!kept && s->no_spare_version == p->heads.epoch &&
	    s->no_spare_heads == p->heads.asked_set)
		return HOLD_HEAD;
	hold = fit(p, e, now_ms, v, picks);
	if (hold != HOLD_NONE && !kept) {
		s->no_spare_version = p->heads.epoch;
		s->no_spare_heads = p->heads.asked_set;
	}
	if (hold == HOLD_HEAD && !*stopper)
		return HOLD_WINDOW;
	return hold;
}

/* The first of its group that is held back is a head for all that come after it. */
static void note_held(struct plan *p, struct bucket *b, bool behind)
{
	const struct heads *h = &p->heads;
	size_t i = 0;

	b->behind = behind;
	b->pass = p->pass;
	if (!behind || !p->policy.fair)
		return;
	while (i < h->count && h->items[i]->group != b->group)
		i++;
	if (i == h->count ? i < HEADS_MAX : !order_before(h->items[i], bucket_first(b)))
		backfill_forget(p);
}

/* True when the bucket's first job was started.  A shape without room leaves OPEN. */
static bool try_first(struct pass *x, struct bucket *b)
{
	struct plan *p = x->p;
	struct entry *e = bucket_first(b);
	const struct reservation *stopper;
	enum hold hold;

	if (!queue_quota_ok(p, b))
		return false;
	if (!shape_fits(p, preempt_open(p), e->shape, &p->scratch->picks)) {
		block(p, e->shape);
		return false;
	}
	hold = step_hold(p, e, x->now_ms, &p->scratch->picks, &stopper);
	b->kept = hold == HOLD_PROMISE;
	note_held(p, b, hold == HOLD_HEAD);
	if (hold != HOLD_NONE) {
		p->preempt->fresh |= b->kept;
		x->held++;
		return false;
	}
	start(x, e);
	return true;
}

static int by_turn(const void *a, const void *b)
{
	const struct bucket *x = *(struct bucket *const *)a;
	const struct bucket *y = *(struct bucket *const *)b;

	if (x->group != y->group && x->group->tenant->plan->policy.fair)
		return strcmp(x->group->name, y->group->name);
	return order_cmp(bucket_first(x), bucket_first(y));
}

static const struct entry *first_of(const struct pass *x, size_t line)
{
	const struct scratch *t = x->p->scratch;

	return bucket_first(t->candidates[t->lines[line].at]);
}

static void sink(struct pass *x, size_t at)
{
	struct line *lines = x->p->scratch->lines;

	for (;;) {
		size_t child = 2 * at + 1;
		struct line swap = lines[at];
		if (child >= x->line_count)
			return;
		if (child + 1 < x->line_count &&
		    order_before(first_of(x, child + 1), first_of(x, child)))
			child++;
		if (!order_before(first_of(x, child), first_of(x, at)))
			return;
		lines[at] = lines[child];
		lines[child] = swap;
		at = child;
	}
}

static void heapify(struct pass *x)
{
	for (size_t i = x->line_count / 2; i-- > 0;)
		sink(x, i);
}

/* Everybody in an open shape that no quota stops, by queue. */
static void collect(struct pass *x)
{
	struct plan *p = x->p;
	struct scratch *t = p->scratch;
	size_t count = 0;

	x->line_count = x->held = 0;
	p->pass++;
	for (struct tree_node *n = tree_first(&p->shapes[SHAPE_OPEN]); n;
	     n = tree_next(n)) {
		const struct shape *s = TREE_OF(n, struct shape, at);
		for (struct tree_node *k = tree_first(&s->ready); k; k = tree_next(k)) {
			mem_grow(&t->candidates, &t->candidate_cap, count,
				 sizeof(struct bucket *));
			t->candidates[count++] = TREE_OF(k, struct bucket, at);
		}
	}
	if (count > 1)
		qsort(t->candidates, count, sizeof(struct bucket *), by_turn);
	for (size_t i = 0; i < count; i++) {
		if (i && (!p->policy.fair ||
			  t->candidates[i]->group == t->candidates[i - 1]->group)) {
			t->lines[x->line_count - 1].end++;
			continue;
		}
		mem_grow(&t->lines, &t->line_cap, x->line_count, sizeof *t->lines);
		t->lines[x->line_count++] = (struct line){ i, i + 1 };
	}
	heapify(x);
}

/* The first line goes on with its next candidate. */
static void advance(struct pass *x)
{
	struct line *lines = x->p->scratch->lines;

	if (++lines[0].at == lines[0].end)
		lines[0] = lines[--x->line_count];
	sink(x, 0);
}

/* The bucket's next job takes its place in the line; its group has its turn later now. */
static void reseat(struct pass *x)
{
	struct bucket **c = x->p->scratch->candidates;
	struct line *l = &x->p->scratch->lines[0];

	for (size_t i = l->at; i + 1 < l->end; i++) {
		struct bucket *b = c[i];
		if (order_before(bucket_first(b), bucket_first(c[i + 1])))
			break;
		c[i] = c[i + 1];
		c[i + 1] = b;
	}
	heapify(x);
}

/* A start after which the rest of the pass would not be what a new one is. */
static bool over(const struct pass *x)
{
	const struct plan *p = x->p;

	return x->placed == x->most || x->held || p->fickle_shapes || p->dims.count ||
	       tree_count(&p->shapes[SHAPE_BACK]);
}

static bool heads_changed(struct plan *p)
{
	const struct heads *h = backfill_heads(p);

	if (h->count != p->back_count)
		return true;
	for (size_t i = 0; i < h->count; i++) {
		if (h->items[i]->id != p->back_heads[i])
			return true;
	}
	return false;
}

static void pass_run(struct pass *x)
{
	struct plan *p = x->p;
	struct scratch *t = p->scratch;
	bool stale = tree_count(&p->shapes[SHAPE_BACK]) > 0;

	collect(x);
	while (x->line_count) {
		struct bucket *b = t->candidates[t->lines[0].at];
		bool last = tree_count(&b->jobs) == 1;
		if (b->shape->state != SHAPE_OPEN || !try_first(x, b)) {
			if (stale && !p->heads.known && heads_changed(p))
				return; /* perhaps not for those held back before */
			advance(x);
			continue;
		}
		if (over(x))
			return;
		if (last)
			advance(x);
		else
			reseat(x);
		if (last)
			heapify(x);
	}
	queue_move_all(p, SHAPE_OPEN, SHAPE_BACK);
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

static void note_heads(struct plan *p)
{
	const struct heads *h = backfill_heads(p);

	p->back_count = h->count;
	for (size_t i = 0; i < h->count; i++)
		p->back_heads[i] = h->items[i]->id;
}

/* Who did not fit can fit now only where something was given back. */
static bool may_fit(const struct plan *p, const struct shape *s)
{
	const struct view *v = fleet_now(p->fleet);

	for (size_t k = 0; k < s->ask->role_count; k++) {
		for (size_t i = 0; i < p->freed_count; i++) {
			if (view_room(v, &s->ask->roles[k], p->freed[i], 1) > 0)
				return true;
		}
	}
	return false;
}

static void open_freed(struct plan *p)
{
	struct tree_node *n = tree_first(&p->shapes[SHAPE_BLOCKED]);

	while (n) {
		struct shape *s = TREE_OF(n, struct shape, at);
		n = tree_next(n);
		if (may_fit(p, s))
			queue_move(p, s, SHAPE_OPEN);
	}
}

static void reopen(struct plan *p)
{
	if (p->nodes_changed)
		queue_move_all(p, SHAPE_NEVER, SHAPE_OPEN);
	if (p->grown || p->nodes_changed || (p->freed_count && preempt_count(p)))
		queue_move_all(p, SHAPE_BLOCKED, SHAPE_OPEN);
	else if (p->freed_count)
		open_freed(p);
	p->grown = p->nodes_changed = false;
	p->freed_count = 0;
	if (p->version != p->back_version)
		open_fickle(p);
	if (tree_count(&p->shapes[SHAPE_BACK]) &&
	    (p->version != p->back_version || p->turns != p->back_turns ||
	     heads_changed(p)))
		queue_move_all(p, SHAPE_BACK, SHAPE_OPEN);
	p->back_version = p->version;
	p->back_turns = p->turns;
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

/* Until nobody more starts.  Those held back in earlier steps were so for other heads. */
static void passes(struct pass *x)
{
	struct plan *p = x->p;
	size_t before, back;

	do {
		before = x->placed;
		reopen(p);
		back = tree_count(&p->shapes[SHAPE_BACK]);
		if (tree_count(&p->shapes[SHAPE_OPEN]))
			pass_run(x);
		if (!back && tree_count(&p->shapes[SHAPE_BACK]))
			note_heads(p);
	} while (more(x) && (x->placed > before ||
			     (tree_count(&p->shapes[SHAPE_BACK]) && heads_changed(p))));
}

/* When the next window opens or closes. */
static void find_edge(struct plan *p)
{
	p->edge_ms = INT64_MAX;
	for (size_t i = 0; i < fleet_count(p->fleet); i++) {
		const struct node *n = fleet_node(p->fleet, (int)i);
		for (size_t k = 0; k < n->window_count; k++) {
			int64_t from = n->windows[k].from_ms, to = n->windows[k].to_ms;
			if (from > p->now_ms && from < p->edge_ms)
				p->edge_ms = from;
			if (to > p->now_ms && to < p->edge_ms)
				p->edge_ms = to;
		}
	}
}

static void tick(struct plan *p, int64_t now_ms)
{
	bool edge = p->windows && now_ms >= p->edge_ms;

	p->now_ms = now_ms;
	if (now_ms / HOUR_MS != p->fade_hour) {
		tenants_fade(p);
		p->version++;
	}
	order_age(p);
	if (edge || (p->windows && p->nodes_changed))
		find_edge(p);
	if (edge)
		p->version++;
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

	tick(p, now_ms);
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
