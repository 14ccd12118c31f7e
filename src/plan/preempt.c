// SPDX-License-Identifier: Apache-2.0
/* The search for those who give way.  Candidates come in the order in which they are the
 * least loss: what was borrowed, lowest priority, then least work lost since their last
 * checkpoint, then most recently started.  They are imagined gone one by one until the newcomer fits; the last of
 * them has to go then, and with it gone for sure the search begins again among those before
 * it, until nobody more is needed.  So each of those told is needed: without any one of
 * them the newcomer would not fit. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"
#include "plan/yield.h"

#define NEWCOMERS_MAX 64 /* looked at in one step */

struct search {
	struct plan *p;
	const struct entry *by;
	bool stopped; /* by what others borrowed: room alone does not help it */
	struct candidates list;
	struct entry **told; /* who has to go */
	size_t told_count, told_cap;
	struct view *base, *with, *all;
	int64_t *have; /* tasks of each role that there is room for, each for itself */
	size_t have_cap;
	struct picks picks;
	int64_t until_ms; /* somebody may be asked then who may not yet */
	const struct entry *failed[NEWCOMERS_MAX]; /* nobody gives way to them now */
	size_t failed_count;
	bool expects; /* one of them waits for what those leave behind who were told */
};

static void count_node(struct search *s, int node, int sign)
{
	const struct ask *a = s->by->shape->ask;

	for (size_t k = 0; k < a->role_count; k++)
		s->have[k] +=
			sign * view_room(s->with, &a->roles[k], node, a->roles[k].count);
}

static void count_nodes_of(struct search *s, const struct grants *g, int sign)
{
	for (size_t i = 0; i < g->count; i++) {
		bool again = false;
		for (size_t k = i; k > 0 && !again; k--)
			again = g->items[k - 1].node == g->items[i].node;
		if (!again)
			count_node(s, g->items[i].node, sign);
	}
}

/* Enough for each role alone: necessary, and cheaper to see than a fit. */
static bool enough(const struct search *s)
{
	const struct ask *a = s->by->shape->ask;

	for (size_t k = 0; k < a->role_count; k++) {
		if (s->have[k] < a->roles[k].least)
			return false;
	}
	return true;
}

static void count_all(struct search *s)
{
	const struct ask *a = s->by->shape->ask;

	if (a->role_count > s->have_cap) {
		s->have_cap = a->role_count;
		s->have = mem_realloc(s->have, s->have_cap, sizeof *s->have);
	}
	for (size_t k = 0; k < a->role_count; k++)
		s->have[k] = view_room(s->with, &a->roles[k], -1, a->roles[k].count);
}

static bool fits(struct search *s, const struct view *v)
{
	return claim_fits(s->p, s->by, v, &s->picks);
}

/* It is gone, or there again: its group holds less, or as much as it does. */
static void imagine_gone(struct entry *e, int sign)
{
	tenant_charge(e->group->tenant, e->shape, -sign);
}

static bool allowed(const struct search *s)
{
	int dim;

	return !s->stopped || !tenant_short(s->by->group->tenant, s->by->shape, &dim);
}

/* The first so many candidates with whom gone it fits; 0: not with all of them. */
static size_t shortest(struct search *s)
{
	size_t found = 0, i = 0;

	view_copy(s->p->fleet, s->base, &s->with);
	count_all(s);
	while (i < s->list.count && !found) {
		struct entry *e = s->list.items[i++].e;
		count_nodes_of(s, &e->grants, -1);
		view_return(s->with, e->shape->ask, &e->grants, -1);
		count_nodes_of(s, &e->grants, 1);
		imagine_gone(e, 1);
		if (enough(s) && allowed(s) && fits(s, s->with))
			found = i;
	}
	while (i > 0)
		imagine_gone(s->list.items[--i].e, -1);
	return found;
}

static bool touches(const struct entry *e, const struct picks *picks)
{
	for (size_t i = 0; i < e->grants.count; i++) {
		for (size_t k = 0; k < picks->count; k++) {
			if (picks->items[k].node == e->grants.items[i].node)
				return true;
		}
	}
	return false;
}

/* The last of so many has to go; of the others those count who are where it would run. */
static void must_go(struct search *s, size_t upto)
{
	struct entry *last = s->list.items[upto - 1].e;
	size_t kept = 0;

	mem_grow(&s->told, &s->told_cap, s->told_count, sizeof(struct entry *));
	s->told[s->told_count++] = last;
	view_return(s->base, last->shape->ask, &last->grants, -1);
	imagine_gone(last, 1);
	for (size_t i = 0; i + 1 < upto; i++) {
		if (s->stopped || touches(s->list.items[i].e, &s->picks))
			s->list.items[kept++] = s->list.items[i];
	}
	s->list.count = kept;
}

/* What others leave behind who were told already will do: it only has to wait. */
static bool expects(struct search *s)
{
	bool will_do;

	if (!tree_count(&s->p->preempt->claims))
		return false;
	preempt_after(s->p, &s->with);
	claims_discharge(s->p, -1);
	will_do = allowed(s) && fits(s, s->with);
	claims_discharge(s->p, 1);
	s->expects |= will_do;
	return will_do;
}

/* True: `told` are to go, and then it fits by `picks`. */
static bool find(struct search *s, const struct entry *by)
{
	size_t upto = 0;
	bool found = false;
	int dim;

	s->by = by;
	s->stopped = tenant_short(by->group->tenant, by->shape, &dim) != NULL;
	s->told_count = 0;
	if (expects(s) || !fits(s, s->all))
		return false;
	yield_collect(s->p, by, &s->list, &s->until_ms);
	view_copy(s->p->fleet, preempt_open(s->p), &s->base);
	while (!found && (upto = shortest(s)) > 0) {
		must_go(s, upto);
		found = allowed(s) && fits(s, s->base);
	}
	for (size_t i = 0; i < s->told_count; i++)
		imagine_gone(s->told[i], -1);
	return found;
}

/* Free when all are gone who could be told for anybody: without that nobody need search.
 * What is claimed meanwhile is taken out of it. */
static void imagine_all(struct search *s)
{
	struct yields y;

	view_copy(s->p->fleet, preempt_open(s->p), &s->all);
	for (struct entry *e = yield_first(s->p, &y); e; e = yield_next(&y)) {
		int64_t ripe = yield_ripe_ms(s->p, e);
		if (ripe <= s->p->now_ms)
			view_return(s->all, e->shape->ask, &e->grants, -1);
		else if (ripe < s->until_ms)
			s->until_ms = ripe;
	}
}

static void announce(struct search *s, const struct claim *c,
		     void (*decide)(void *arg, const struct plan_decision *d), void *arg)
{
	struct scratch *t = s->p->scratch;
	struct plan_decision d = { .verb = PLAN_PREEMPT, .by = c->by };

	for (size_t i = 0; i < c->picks.count; i++)
		d.place_count += (size_t)c->picks.items[i].count;
	if (d.place_count > t->place_cap) {
		t->place_cap = d.place_count;
		t->places = mem_realloc(t->places, t->place_cap, sizeof *t->places);
	}
	memset(t->places, 0, d.place_count * sizeof *t->places);
	for (size_t i = 0, at = 0; i < c->picks.count; i++) {
		const struct pick *k = &c->picks.items[i];
		for (int n = 0; n < k->count; n++, at++) {
			memcpy(t->places[at].node, fleet_node(s->p->fleet, k->node)->name,
			       NODE_NAME_MAX);
			t->places[at].role = (int)k->role;
		}
	}
	d.places = t->places;
	for (struct tree_node *n = tree_first(&c->victims); n; n = tree_next(n)) {
		d.job = n->first;
		decide(arg, &d);
	}
}

static const struct claim *claim_all(struct search *s, struct entry *by)
{
	struct claim *c = claim_get(s->p, by->id);
	struct picks mine = c->picks;

	c->picks = s->picks;
	s->picks = mine;
	claim_take(s->p, c, by);
	view_take(s->all, by->shape->ask, &c->picks);
	for (size_t i = 0; i < s->told_count; i++)
		preempt_told(s->p, s->told[i], by->id);
	return c;
}

/* Nobody claims past one who waits before it, unless that would give way to it. */
static bool may_ask(const struct search *s, struct bucket *const *list, size_t at)
{
	const struct entry *e = bucket_first(list[at]);

	for (size_t i = 0; i < at; i++) {
		if (!yield_passes(e, bucket_first(list[i])))
			return false;
	}
	for (size_t i = 0; i < s->failed_count; i++) {
		if (s->failed[i] == e)
			return false;
	}
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct bucket *x = *(struct bucket *const *)a;
	const struct bucket *y = *(struct bucket *const *)b;

	return order_cmp(bucket_first(x), bucket_first(y));
}

struct newcomers {
	struct bucket *items[NEWCOMERS_MAX];
	size_t count;
};

/* No quota stops it; or it is within what its group is guaranteed, and others hold that. */
static bool may_claim(const struct plan *p, const struct bucket *b)
{
	enum quota_short what;
	int limit;

	if (!queue_quota_owner(b, &what, &limit))
		return !b->parked; /* else the next pass looks at it first */
	return (what == QUOTA_BORROW || what == QUOTA_KEPT) &&
	       tenant_within(b->group->tenant, b->shape) && shape_ever(p, b->shape);
}

/* The first of all in the order of the queue, however many there are. */
static void add_newcomer(const struct plan *p, struct bucket *b, struct newcomers *out)
{
	size_t at = out->count;

	while (at > 0 && by_place(&b, &out->items[at - 1]) < 0)
		at--;
	if (at == NEWCOMERS_MAX || !may_claim(p, b))
		return;
	if (out->count == NEWCOMERS_MAX)
		out->count--;
	memmove(out->items + at + 1, out->items + at,
		(out->count++ - at) * sizeof(struct bucket *));
	out->items[at] = b;
}

/* kept: only those for whom there is room, but only where places are promised to others;
 * their own may be held. */
static void add_newcomers(const struct plan *p, const struct tree *t, bool kept,
			  struct newcomers *out)
{
	for (struct tree_node *n = tree_first(t); n; n = tree_next(n)) {
		struct bucket *b = TREE_OF(n, struct bucket, at);
		if (!kept || b->kept)
			add_newcomer(p, b, out);
	}
}

/* The first of each kind that did not fit, in the order of the queue. */
static void find_newcomers(const struct plan *p, struct newcomers *out)
{
	struct tree_node *n = tree_first(&p->shapes[SHAPE_BLOCKED]);
	const struct owner *o;

	out->count = 0;
	for (; n; n = tree_next(n))
		add_newcomers(p, &TREE_OF(n, struct shape, at)->ready, false, out);
	n = p->dims.shapes ? tree_first(&p->shapes[SHAPE_BACK]) : NULL;
	for (; n; n = tree_next(n))
		add_newcomers(p, &TREE_OF(n, struct shape, at)->ready, true, out);
	if (p->dims.count) {
		add_newcomers(p, &p->root->owner->parked, false, out);
		for (size_t it = 0; (o = map_next(p->groups, &it));)
			add_newcomers(p, &o->parked, false, out);
	}
}

/* The first that may claim and does; NULL: nobody. */
static const struct claim *next_claim(struct search *s, size_t most)
{
	struct newcomers list;

	find_newcomers(s->p, &list);
	if (list.count && !s->all)
		imagine_all(s);
	for (size_t i = 0; i < list.count; i++) {
		struct entry *e = bucket_first(list.items[i]);
		if (!may_ask(s, list.items, i))
			continue;
		if (find(s, e) && (!most || s->told_count <= most))
			return claim_all(s, e);
		if (s->failed_count < NEWCOMERS_MAX)
			s->failed[s->failed_count++] = e;
	}
	return NULL;
}

size_t preempt_step(struct plan *p, int64_t now_ms, size_t most,
		    void (*decide)(void *arg, const struct plan_decision *d), void *arg)
{
	struct preemption *x = p->preempt;
	struct search s = { .p = p, .until_ms = INT64_MAX };
	const struct claim *c;
	struct yields y;
	size_t told = 0;

	if (!p->policy.preempt || !yield_first(p, &y))
		return 0;
	if (x->seen_version == p->version && !x->fresh && now_ms < x->seen_until_ms)
		return 0;
	while ((!most || told < most) &&
	       (c = next_claim(&s, most ? most - told : 0)) != NULL) {
		told += tree_count(&c->victims);
		announce(&s, c, decide, arg);
		/* What one waits for may be claimed now, or another's group borrow. */
		if (s.expects || p->dims.count)
			s.failed_count = 0;
		s.expects = false;
	}
	x->seen_version = p->version;
	x->seen_until_ms = s.until_ms;
	x->fresh = most > 0; /* a larger set may have been passed over */
	free(s.list.items);
	free(s.told);
	free(s.have);
	free(s.picks.items);
	view_destroy(s.base);
	view_destroy(s.with);
	view_destroy(s.all);
	return told;
}

int64_t preempt_next_ms(const struct plan *p)
{
	const struct preemption *x = p->preempt;

	return p->policy.preempt && x->seen_version == p->version ? x->seen_until_ms
								  : INT64_MAX;
}
