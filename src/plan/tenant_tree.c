// SPDX-License-Identifier: Apache-2.0
/* The tree of groups, made anew from all rules whenever one is set: what it is then does
 * not depend on the order in which they came. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"
#include "plan/tenant.h"

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void dims_note(struct dims *m, const char *type)
{
	for (int i = 2; i < m->count; i++) {
		if (strcmp(m->types[i - 2], type) == 0)
			return;
	}
	if (m->count == TENANT_DIMS_MAX)
		return; /* whoever makes rules sees to it: yard/share.h, rules.h */
	memcpy(m->types[m->count++ - 2], type, DEVICE_TYPE_MAX);
}

static void dims_amounts(struct dims *m, const struct resources *r)
{
	if (!m->count)
		m->count = 2;
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		dims_note(m, r->devices[i].type);
}

static bool says(const struct resources *r)
{
	return r->cpu_milli >= 0 || r->memory_bytes >= 0 || r->devices[0].type[0];
}

static void find_dims(struct plan *p)
{
	struct dims *m = &p->dims;
	struct owner *o;

	*m = (struct dims){ .version = m->version + 1 };
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		const struct tenant_rule *r = &o->tenant->rule;
		if (!o->tenant->has_rule)
			continue;
		if (says(&r->guarantee))
			dims_amounts(m, &r->guarantee);
		if (says(&r->borrow))
			dims_amounts(m, &r->borrow);
		if (says(&r->lend))
			dims_amounts(m, &r->lend);
		for (size_t i = 0; i < r->shape_count; i++) {
			struct resources one = { .devices[0] = r->shapes[i].devices };
			dims_amounts(m, &one);
			m->shapes = true;
		}
	}
	if (m->count > 2)
		qsort(m->types, (size_t)m->count - 2, sizeof m->types[0], by_name);
}

/* What is set of a dimension; -1: nothing. */
static int64_t amount(const struct dims *m, const struct resources *r, int d)
{
	if (d == 0)
		return r->cpu_milli;
	if (d == 1)
		return r->memory_bytes;
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++) {
		if (strcmp(r->devices[i].type, m->types[d - 2]) == 0)
			return (int64_t)r->devices[i].count * DEVICE_SHARE;
	}
	return -1;
}

static int64_t promised(const struct dims *m, const struct tenant_rule *r, int d)
{
	int64_t sum = -1;

	for (size_t i = 0; i < r->shape_count && d > 1; i++) {
		const struct tenant_shape *s = &r->shapes[i];
		if (strcmp(s->devices.type, m->types[d - 2]) == 0)
			sum = (sum < 0 ? 0 : sum) +
			      (int64_t)s->count * s->devices.count * DEVICE_SHARE;
	}
	return sum;
}

/* From its rule and what was found for all below it. */
static void find_pool(struct tenant *t)
{
	const struct dims *m = &t->plan->dims;
	const struct tenant_rule *r = &t->rule;

	for (int d = 0; d < m->count; d++) {
		int64_t g = t->has_rule ? amount(m, &r->guarantee, d) : -1;
		int64_t shapes = t->has_rule ? promised(m, r, d) : -1;
		int64_t lend = t->has_rule ? amount(m, &r->lend, d) : -1;
		int64_t borrow = t->has_rule ? amount(m, &r->borrow, d) : -1;
		int64_t all;
		if (shapes >= 0)
			g = (g < 0 ? 0 : g) + shapes;
		all = g > t->below[d] ? g : t->below[d];
		t->guarantee[d] = g;
		t->borrow[d] = borrow < 0 ? TENANT_ANY : borrow;
		t->pool[d] = all - t->kept_below[d];
		t->keep[d] = lend >= 0 && t->pool[d] > lend ? t->pool[d] - lend : 0;
		t->parent->below[d] += all;
		t->parent->kept_below[d] += t->kept_below[d] + t->keep[d];
	}
}

static struct tenant *named_parent(const struct tenant *t)
{
	const struct owner *o = t->has_rule && t->rule.parent[0]
					? map_gets(t->plan->groups, t->rule.parent)
					: NULL;

	return o ? o->tenant : NULL;
}

static void find_parent(struct tenant *t)
{
	const struct tenant *n = named_parent(t);
	int depth = 1;

	while (n && depth <= TENANT_DEPTH_MAX) {
		n = named_parent(n);
		depth++;
	}
	t->parent = n ? NULL : named_parent(t);
	t->children = 0;
	t->promises = t->has_rule && t->rule.shape_count > 0;
	memset(t->used, 0, sizeof t->used);
	memset(t->seen, 0, sizeof t->seen);
	memset(t->below, 0, sizeof t->below);
	memset(t->kept_below, 0, sizeof t->kept_below);
	if (!t->parent)
		t->parent = t->plan->root;
}

static int depth_of(const struct tenant *t)
{
	int depth = 0;

	for (; t->parent; t = t->parent)
		depth++;
	return depth;
}

static void recharge(struct plan *p, int sign)
{
	struct entry *e;

	for (size_t it = 0; (e = map_next(p->jobs, &it));) {
		if (!e->bucket)
			queue_charge(e, sign);
	}
}

static void rebuild(struct plan *p)
{
	struct tenant *r = p->root;
	struct owner *o;
	int deepest = 1;

	memset(r->used, 0, sizeof r->used);
	memset(r->seen, 0, sizeof r->seen);
	memset(r->below, 0, sizeof r->below);
	memset(r->kept_below, 0, sizeof r->kept_below);
	find_dims(p);
	for (size_t it = 0; (o = map_next(p->groups, &it));)
		find_parent(o->tenant);
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		o->tenant->parent->children++;
		o->tenant->depth = depth_of(o->tenant);
		if (o->tenant->depth > deepest)
			deepest = o->tenant->depth;
	}
	for (; deepest > 0; deepest--) {
		for (size_t it = 0; (o = map_next(p->groups, &it));) {
			if (o->tenant->depth == deepest)
				find_pool(o->tenant);
		}
	}
}

static void unpark_all(struct plan *p)
{
	struct owner *o;

	for (size_t it = 0; (o = map_next(p->groups, &it));)
		queue_unpark(p, o);
	queue_unpark(p, p->root->owner);
}

/* A rule keeps its group and its parent in being: one ref each. */
void tenant_set(struct plan *p, const char *name, const struct tenant_rule *rule)
{
	struct owner *o = owner_get(p, true, name), *parent = NULL, *was = NULL;
	struct tenant *t = o->tenant;
	bool had = t->has_rule;

	if (rule && rule->parent[0])
		parent = owner_get(p, true, rule->parent);
	if (had && t->rule.parent[0])
		was = map_gets(p->groups, t->rule.parent);
	recharge(p, -1);
	promise_forget(t);
	t->has_rule = rule != NULL;
	t->rule = rule ? *rule : (struct tenant_rule){ 0 };
	if (t->rule.shape_count > TENANT_SHAPES_MAX)
		t->rule.shape_count = TENANT_SHAPES_MAX;
	rebuild(p);
	recharge(p, 1);
	unpark_all(p);
	if (rule && !had)
		o->refs++;
	if (!rule && had)
		owner_put(p, o);
	if (was)
		owner_put(p, was);
	owner_put(p, o);
	(void)parent; /* its ref is the rule's */
	tenants_fade(p);
	p->turns++; /* lines are others' now */
	p->version++;
}
