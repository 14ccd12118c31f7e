// SPDX-License-Identifier: Apache-2.0
/* The search for those who give way.  Candidates come in the order in which they are the
 * least loss: lowest priority, then least work lost since their last checkpoint, then most
 * recently started.  They are imagined gone one by one until the newcomer fits; the last of
 * them has to go then, and with it gone for sure the search begins again among those before
 * it, until nobody more is needed.  So each of those told is needed: without any one of
 * them the newcomer would not fit. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

#define CANDIDATES_MAX 4096 /* looked at for one newcomer */
#define NEWCOMERS_MAX  64   /* looked at in one step */

struct candidate {
	struct entry *e;
	int64_t lost;
};

struct search {
	struct plan *p;
	int64_t now_ms;
	const struct entry *by;
	struct candidate *list;
	size_t count, cap;
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

static bool outranks(const struct entry *a, const struct entry *b)
{
	return b->preemptible && (!a->preemptible || a->priority > b->priority);
}

/* Nobody is told in the moment in which it starts. */
static int64_t ripe_ms(const struct plan *p, const struct entry *e)
{
	int64_t least = p->policy.min_run_ms > 0 ? p->policy.min_run_ms : 1;

	return e->since_ms < INT64_MAX - least ? e->since_ms + least : INT64_MAX;
}

/* Devices × time since what was kept; the processor counts little, but it counts. */
static int64_t work_lost(const struct entry *e, int64_t now_ms)
{
	const struct ask_total *t = &e->shape->ask->total;
	int64_t from = e->kept_ms > e->since_ms ? e->kept_ms : e->since_ms, lost;
	int64_t weight = t->cpu_milli / 64 + 1;

	for (size_t i = 0; i < t->device_count; i++)
		weight += t->devices[i].count;
	if (now_ms <= from)
		return 0;
	return __builtin_mul_overflow(weight, now_ms - from, &lost) ? INT64_MAX : lost;
}

static int by_loss(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->e->priority != y->e->priority)
		return x->e->priority < y->e->priority ? -1 : 1;
	if (x->lost != y->lost)
		return x->lost < y->lost ? -1 : 1;
	if (x->e->since_ms != y->e->since_ms)
		return x->e->since_ms > y->e->since_ms ? -1 : 1;
	return x->e->id > y->e->id ? -1 : 1;
}

static void collect(struct search *s)
{
	struct tree_node *n = tree_first(&s->p->preempt->may_yield);

	s->count = 0;
	for (; n && s->count < CANDIDATES_MAX; n = tree_next(n)) {
		struct entry *e = TREE_OF(n, struct entry, in_way);
		if (!outranks(s->by, e) || ripe_ms(s->p, e) > s->now_ms)
			continue;
		mem_grow(&s->list, &s->cap, s->count, sizeof *s->list);
		s->list[s->count++] = (struct candidate){ e, work_lost(e, s->now_ms) };
	}
	if (s->count)
		qsort(s->list, s->count, sizeof *s->list, by_loss);
}

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

/* The first so many candidates with whom gone it fits; 0: not with all of them. */
static size_t shortest(struct search *s)
{
	view_copy(s->p->fleet, s->base, &s->with);
	count_all(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct entry *e = s->list[i].e;
		count_nodes_of(s, &e->grants, -1);
		view_return(s->with, e->shape->ask, &e->grants, -1);
		count_nodes_of(s, &e->grants, 1);
		if (enough(s) && shape_fits(s->p, s->with, s->by->shape, &s->picks))
			return i + 1;
	}
	return 0;
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
	struct entry *last = s->list[upto - 1].e;
	size_t kept = 0;

	mem_grow(&s->told, &s->told_cap, s->told_count, sizeof(struct entry *));
	s->told[s->told_count++] = last;
	view_return(s->base, last->shape->ask, &last->grants, -1);
	for (size_t i = 0; i + 1 < upto; i++) {
		if (touches(s->list[i].e, &s->picks))
			s->list[kept++] = s->list[i];
	}
	s->count = kept;
}

/* True: `told` are to go, and then it fits by `picks`. */
static bool find(struct search *s, const struct entry *by)
{
	size_t upto;

	s->by = by;
	s->told_count = 0;
	/* What others leave behind who were told already will do: it only has to wait. */
	if (tree_count(&s->p->preempt->claims)) {
		preempt_after(s->p, &s->with);
		if (shape_fits(s->p, s->with, by->shape, &s->picks)) {
			s->expects = true;
			return false;
		}
	}
	if (!shape_fits(s->p, s->all, by->shape, &s->picks))
		return false;
	collect(s);
	view_copy(s->p->fleet, preempt_open(s->p), &s->base);
	do {
		upto = shortest(s);
		if (!upto)
			return false;
		must_go(s, upto);
	} while (!shape_fits(s->p, s->base, by->shape, &s->picks));
	return true;
}

/* Free when all are gone who could be told for anybody. */
static void imagine_all(struct search *s)
{
	struct tree_node *n = tree_first(&s->p->preempt->may_yield);

	view_copy(s->p->fleet, preempt_open(s->p), &s->all);
	s->until_ms = INT64_MAX;
	for (size_t i = 0; n; n = tree_next(n)) {
		const struct entry *e = TREE_OF(n, struct entry, in_way);
		int64_t ripe = ripe_ms(s->p, e);
		if (ripe > s->now_ms)
			s->until_ms = ripe < s->until_ms ? ripe : s->until_ms;
		else if (i++ < CANDIDATES_MAX)
			view_return(s->all, e->shape->ask, &e->grants, -1);
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
	for (size_t i = 0; i < s->told_count; i++)
		preempt_told(s->p, s->told[i], by->id);
	return c;
}

/* Nobody claims past one who waits before it and is not outranked by it. */
static bool may_ask(const struct search *s, struct bucket *const *list, size_t at)
{
	const struct entry *e = bucket_first(list[at]);

	for (size_t i = 0; i < at; i++) {
		if (!outranks(e, bucket_first(list[i])))
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

/* The first of each kind that did not fit, in the order of the queue. */
static size_t newcomers(const struct plan *p, struct bucket *out[NEWCOMERS_MAX])
{
	struct tree_node *n = tree_first(&p->shapes[SHAPE_BLOCKED]);
	enum quota_short what;
	size_t count = 0;
	int limit;

	for (; n && count < NEWCOMERS_MAX; n = tree_next(n)) {
		const struct shape *s = TREE_OF(n, struct shape, at);
		struct tree_node *k = tree_first(&s->ready);
		for (; k && count < NEWCOMERS_MAX; k = tree_next(k)) {
			struct bucket *b = TREE_OF(k, struct bucket, at);
			if (!queue_quota_owner(b, &what, &limit))
				out[count++] = b;
		}
	}
	if (count)
		qsort(out, count, sizeof(struct bucket *), by_place);
	return count;
}

/* The first that may claim and does; NULL: nobody. */
static const struct claim *next_claim(struct search *s, size_t most)
{
	struct bucket *list[NEWCOMERS_MAX];
	size_t count = newcomers(s->p, list);

	if (count && s->p->preempt->may_yield.root)
		imagine_all(s);
	for (size_t i = 0; i < count && s->p->preempt->may_yield.root; i++) {
		struct entry *e = bucket_first(list[i]);
		if (!may_ask(s, list, i))
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
	struct search s = { .p = p, .now_ms = now_ms, .until_ms = INT64_MAX };
	const struct claim *c;
	size_t told = 0;

	if (!p->policy.preempt || !x->may_yield.root)
		return 0;
	if (x->seen_version == p->version && !x->fresh && now_ms < x->seen_until_ms)
		return 0;
	while ((!most || told < most) &&
	       (c = next_claim(&s, most ? most - told : 0)) != NULL) {
		told += tree_count(&c->victims);
		announce(&s, c, decide, arg);
		if (s.expects) /* that may be claimed now */
			s.failed_count = 0;
		s.expects = false;
	}
	x->seen_version = p->version;
	x->seen_until_ms = s.until_ms;
	x->fresh = most > 0; /* a larger set may have been passed over */
	free(s.list);
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

	return p->policy.preempt && x->may_yield.root && x->seen_version == p->version
		       ? x->seen_until_ms
		       : INT64_MAX;
}
