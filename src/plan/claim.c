// SPDX-License-Identifier: Apache-2.0
/* Claims: who was told to give way to whom, and what that leaves to others. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"
#include "plan/step.h"

void preempt_create(struct plan *p)
{
	p->preempt = mem_alloc(1, sizeof *p->preempt);
}

static struct claim *claim_find(const struct plan *p, int64_t by)
{
	struct tree_node *n = tree_after(&p->preempt->claims, by - 1, INT64_MAX);

	return n && n->first == by ? TREE_OF(n, struct claim, at) : NULL;
}

struct claim *claim_get(struct plan *p, int64_t by)
{
	struct claim *c = claim_find(p, by);

	if (c)
		return c;
	c = mem_alloc(1, sizeof *c);
	c->by = by;
	tree_add(&p->preempt->claims, &c->at, by, 0);
	return c;
}

/* A claim is kept as long as it has a claimant, or may find one, or somebody was told. */
static void claim_put(struct plan *p, struct claim *c)
{
	if (c->entry || c->rebuilt || tree_count(&c->victims))
		return;
	tree_remove(&p->preempt->claims, &c->at);
	free(c->picks.items);
	free(c);
}

void claim_tell(struct claim *c, struct entry *victim)
{
	victim->gives_way = c;
	tree_add(&c->victims, &victim->in_way, victim->id, 0);
}

void claim_take(struct plan *p, struct claim *c, struct entry *e)
{
	queue_leave(p, e);
	queue_charge(e, 1);
	c->entry = e;
	e->claim = c;
	p->preempt->claimants++;
	p->version++;
}

/* Out of its claim: it is nowhere until the caller puts it somewhere. */
static void claim_leave(struct plan *p, struct claim *c)
{
	struct entry *e = c->entry;

	queue_discharge(p, e);
	e->claim = NULL;
	c->entry = NULL;
	c->picks.count = 0;
	p->preempt->claimants--;
	p->grown = true; /* its place is anybody's again */
	p->version++;
}

void preempt_runs(struct plan *p, struct entry *e)
{
	struct claim *c = claim_find(p, e->id);

	if (c) {
		c->picks.count = 0;
		c->rebuilt = false;
		claim_put(p, c);
	}
	if (e->preemptible)
		tree_add(&p->preempt->may_yield, &e->in_way, e->priority, -e->id);
}

void preempt_priority(struct plan *p, struct entry *e, int priority)
{
	struct tree *t = &p->preempt->may_yield;

	e->priority = priority;
	p->version++;
	if (!e->in_way.size || e->gives_way)
		return;
	tree_remove(t, &e->in_way);
	tree_add(t, &e->in_way, e->priority, -e->id);
}

void preempt_told(struct plan *p, struct entry *e, int64_t by)
{
	struct claim *c;

	if (e->gives_way)
		return;
	if (e->in_way.size)
		tree_remove(&p->preempt->may_yield, &e->in_way);
	c = claim_get(p, by);
	c->rebuilt = !c->entry;
	claim_tell(c, e);
	p->version++;
}

void preempt_stops(struct plan *p, struct entry *e)
{
	struct claim *c = e->gives_way;

	if (!e->in_way.size)
		return;
	tree_remove(c ? &c->victims : &p->preempt->may_yield, &e->in_way);
	e->gives_way = NULL;
	if (c)
		claim_put(p, c);
}

void preempt_drop(struct plan *p, int64_t by)
{
	struct claim *c = claim_find(p, by);

	if (!c)
		return;
	if (c->entry)
		claim_leave(p, c);
	c->picks.count = 0;
	c->rebuilt = false;
	claim_put(p, c);
}

void preempt_pin(struct plan *p, const struct entry *e, const struct placement *places,
		 size_t count)
{
	struct claim *c = claim_get(p, e->id);

	c->rebuilt = true;
	c->picks.count = 0;
	for (size_t i = 0; i < count; i++) {
		int node = fleet_find(p->fleet, places[i].node);
		size_t role = (size_t)places[i].role;
		struct pick *last =
			c->picks.count ? &c->picks.items[c->picks.count - 1] : NULL;
		if (node < 0 || role >= e->shape->ask->role_count)
			continue;
		if (last && last->node == node && last->role == role) {
			last->count++;
			continue;
		}
		mem_grow(&c->picks.items, &c->picks.cap, c->picks.count,
			 sizeof *c->picks.items);
		c->picks.items[c->picks.count++] = (struct pick){ role, node, 1, -1 };
	}
}

size_t preempt_count(const struct plan *p)
{
	return p->preempt->claimants;
}

size_t preempt_rank(const struct plan *p, const struct claim *c)
{
	size_t rank = 0;

	for (struct tree_node *n = tree_first(&p->preempt->claims); n && n != &c->at;
	     n = tree_next(n)) {
		const struct claim *before = TREE_OF(n, struct claim, at);
		rank += before->entry != NULL;
	}
	return rank;
}

const struct claim *preempt_nth(const struct plan *p, size_t rank)
{
	for (struct tree_node *n = tree_first(&p->preempt->claims); n; n = tree_next(n)) {
		const struct claim *c = TREE_OF(n, struct claim, at);
		if (c->entry && rank-- == 0)
			return c;
	}
	return NULL;
}

static void return_victims(const struct claim *c, struct view *v)
{
	for (struct tree_node *n = tree_first(&c->victims); n; n = tree_next(n)) {
		const struct entry *e = TREE_OF(n, struct entry, in_way);
		view_return(v, e->shape->ask, &e->grants, -1);
	}
}

/* What is free now, less what each claim (but one) needs beyond its own victims. */
static void leave_out(const struct plan *p, const struct claim *but, struct view **out)
{
	struct preemption *x = p->preempt;

	view_copy(p->fleet, fleet_now(p->fleet), out);
	for (struct tree_node *n = tree_first(&x->claims); n; n = tree_next(n)) {
		const struct claim *c = TREE_OF(n, struct claim, at);
		struct view *before = *out;
		if (!c->entry || c == but)
			continue;
		view_copy(p->fleet, before, &x->tried);
		return_victims(c, x->tried);
		view_take(x->tried, c->entry->shape->ask, &c->picks);
		*out = x->spare;
		view_least(before, x->tried, out);
		x->spare = before;
	}
}

const struct view *preempt_open(const struct plan *p)
{
	struct preemption *x = p->preempt;

	if (!x->claimants)
		return fleet_now(p->fleet);
	if (x->open_version != p->version || !x->open) {
		leave_out(p, NULL, &x->open);
		x->open_version = p->version;
	}
	return x->open;
}

void preempt_after(const struct plan *p, struct view **v)
{
	view_copy(p->fleet, fleet_now(p->fleet), v);
	for (struct tree_node *n = tree_first(&p->preempt->claims); n; n = tree_next(n)) {
		const struct claim *c = TREE_OF(n, struct claim, at);
		return_victims(c, *v);
		if (c->entry)
			view_take(*v, c->entry->shape->ask, &c->picks);
	}
}

bool claim_fits(struct plan *p, const struct entry *e, const struct view *v,
		struct picks *picks)
{
	struct stay stay = step_stay(e, p->now_ms);

	return promise_fit(p, e, v, p->windows ? &stay : NULL, picks);
}

/* After a restart only the victims know whom they were told for. */
static bool find_place(struct plan *p, struct claim *c, const struct entry *e)
{
	struct preemption *x = p->preempt;

	if (c->picks.count)
		return true;
	leave_out(p, NULL, &x->open);
	x->open_version = p->version - 1;
	return_victims(c, x->open);
	return claim_fits(p, e, x->open, &c->picks);
}

void preempt_attach(struct plan *p)
{
	struct tree_node *n = tree_first(&p->preempt->claims), *next;

	for (; n; n = next) {
		struct claim *c = TREE_OF(n, struct claim, at);
		struct entry *e = c->rebuilt ? map_get(p->jobs, c->by) : NULL;
		next = tree_next(n);
		c->rebuilt = false;
		if (e && e->bucket && find_place(p, c, e))
			claim_take(p, c, e);
		else if (!c->entry)
			c->picks.count = 0;
		claim_put(p, c);
	}
}

void claims_discharge(struct plan *p, int sign)
{
	for (struct tree_node *n = tree_first(&p->preempt->claims); n; n = tree_next(n)) {
		const struct claim *c = TREE_OF(n, struct claim, at);
		for (struct tree_node *k = tree_first(&c->victims); k; k = tree_next(k)) {
			struct entry *e = TREE_OF(k, struct entry, in_way);
			tenant_charge(e->group->tenant, e->shape, sign);
		}
	}
}

/* Other claimants are charged, and so are those who make way for them: what the latter hold
 * of a pool is not held against this one too. */
static bool quota_ok(struct plan *p, const struct entry *e)
{
	enum quota_short what;
	int limit;
	bool ok = !queue_quota_owner(e->bucket, &what, &limit);

	if (ok || (what != QUOTA_BORROW && what != QUOTA_KEPT))
		return ok;
	claims_discharge(p, -1);
	ok = !queue_quota_owner(e->bucket, &what, &limit);
	claims_discharge(p, 1);
	return ok;
}

static bool may_start(struct plan *p, struct claim *c, const struct entry *e)
{
	struct preemption *x = p->preempt;

	if (!quota_ok(p, e))
		return false;
	leave_out(p, c, &x->open);
	x->open_version = p->version - 1;
	return claim_fits(p, e, x->open, &p->scratch->picks);
}

struct entry *preempt_due(struct plan *p)
{
	struct tree_node *n = tree_first(&p->preempt->claims), *next;

	for (; n; n = next) {
		struct claim *c = TREE_OF(n, struct claim, at);
		struct entry *e = c->entry;
		bool ok;
		next = tree_next(n);
		if (!e || tree_count(&c->victims))
			continue;
		claim_leave(p, c);
		queue_join(p, e);
		ok = may_start(p, c, e);
		claim_put(p, c);
		if (ok)
			return e;
	}
	return NULL;
}

void preempt_destroy(struct plan *p)
{
	struct preemption *x = p->preempt;
	struct tree_node *n;

	while ((n = tree_first(&x->claims))) {
		struct claim *c = TREE_OF(n, struct claim, at);
		tree_remove(&x->claims, n);
		free(c->picks.items);
		free(c);
	}
	view_destroy(x->open);
	view_destroy(x->tried);
	view_destroy(x->spare);
	free(x);
}
