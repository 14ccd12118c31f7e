// SPDX-License-Identifier: Apache-2.0
#include "plan/tenant.h"

#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

void tenant_create(struct plan *p, struct owner *group)
{
	struct tenant *t = mem_alloc(1, sizeof *t);

	t->plan = p;
	t->owner = group;
	t->parent = p->root;
	t->depth = p->root ? 1 : 0;
	for (int d = 0; d < TENANT_DIMS_MAX; d++) {
		t->guarantee[d] = -1;
		t->borrow[d] = TENANT_ANY;
	}
	group->tenant = t;
}

void tenant_destroy(struct tenant *t)
{
	if (!t)
		return;
	promise_forget(t);
	view_destroy(t->kept);
	free(t->hours);
	free(t);
}

bool tenant_below(const struct tenant *t, const struct tenant *above)
{
	while (t->depth > above->depth)
		t = t->parent;
	return t == above;
}

/* What the shape asks for in each dimension of the rules. */
static const int64_t *wants(const struct plan *p, struct shape *s)
{
	const struct dims *m = &p->dims;

	if (s->dims_version == m->version)
		return s->want;
	s->dims_version = m->version;
	s->want[0] = s->ask->total.cpu_milli;
	s->want[1] = s->ask->total.memory_bytes;
	for (int d = 2; d < m->count; d++)
		s->want[d] = ask_milli(s->ask, m->types[d - 2]);
	return s->want;
}

static int64_t over(const struct tenant *t, int d)
{
	return t->seen[d] > t->keep[d] ? t->seen[d] - t->keep[d] : 0;
}

void tenant_charge(struct tenant *t, struct shape *s, int sign)
{
	const struct plan *p = t->plan;
	const int64_t *want = p->dims.count ? wants(p, s) : NULL;

	for (int d = 0; d < p->dims.count; d++) {
		int64_t reach = sign * want[d];
		for (struct tenant *n = t; n; n = n->parent) {
			int64_t before = over(n, d);
			n->used[d] += sign * want[d];
			n->seen[d] += reach;
			reach = over(n, d) - before;
		}
	}
	tenant_hold(t, s, sign);
}

/* All nodes that are up have so much; what no rule keeps from anybody is not counted. */
static void root_pool(struct plan *p)
{
	struct tenant *r = p->root;

	p->dims.fleet_version = fleet_version(p->fleet);
	for (int d = 0; d < p->dims.count; d++) {
		int64_t all = p->capacity.cpu_milli;
		if (d == 1)
			all = p->memory_bytes;
		if (d > 1)
			all = DEVICE_SHARE *
			      fleet_devices(
				      p->fleet,
				      fleet_kinds_of(p->fleet, p->dims.types[d - 2]));
		r->pool[d] = r->kept_below[d] ? all - r->kept_below[d] : TENANT_ANY;
	}
}

/* Beside all that is held, or when nothing is. */
static struct tenant *stopper(struct tenant *t, struct shape *s, bool alone, int *dim)
{
	struct plan *p = t->plan;
	const int64_t *want;

	if (!p->dims.count)
		return NULL;
	if (p->dims.fleet_version != fleet_version(p->fleet))
		root_pool(p);
	want = wants(p, s);
	for (int d = 0; d < p->dims.count; d++) {
		int64_t need = want[d];
		*dim = d;
		for (struct tenant *n = t; n && need > 0; n = n->parent) {
			int64_t seen = alone ? 0 : n->seen[d];
			int64_t more = seen > n->keep[d] ? seen - n->keep[d] : 0;
			if (n->keep[d] > seen)
				need -= n->keep[d] - seen;
			if (need <= 0)
				break;
			if (need >
			    (n->parent ? n->borrow[d] + n->pool[d] - n->keep[d] - more
				       : n->pool[d] - seen))
				return n;
		}
	}
	return NULL;
}

struct tenant *tenant_short(struct tenant *t, struct shape *s, int *dim)
{
	return stopper(t, s, false, dim);
}

struct tenant *tenant_never(struct tenant *t, struct shape *s, int *dim)
{
	return stopper(t, s, true, dim);
}

static bool covered(const struct tenant *t, const struct ask *a)
{
	const struct dims *m = &t->plan->dims;

	for (size_t i = 0; i < a->total.device_count; i++) {
		bool named = false;
		for (int d = 2; d < m->count && !named; d++)
			named = t->guarantee[d] >= 0 &&
				device_within(a->total.devices[i].type, m->types[d - 2]);
		if (!named)
			return false;
	}
	return true;
}

/* The nearest guarantee above a job is the one that counts. */
static bool within(struct tenant *t, struct shape *s, int more)
{
	const struct plan *p = t->plan;
	const int64_t *want = p->dims.count ? wants(p, s) : NULL;

	for (struct tenant *n = t; p->dims.count && n->parent; n = n->parent) {
		bool any = false, set = false, asked = false;
		for (int d = 0; d < p->dims.count; d++) {
			if (n->guarantee[d] < 0)
				continue;
			set = true;
			asked |= want[d] > 0;
			any |= want[d] > 0 &&
			       n->used[d] + more * want[d] > n->guarantee[d];
		}
		if (set)
			return asked && !any && covered(n, s->ask);
	}
	return false;
}

bool tenant_within(struct tenant *t, struct shape *s)
{
	return within(t, s, 1);
}

bool tenant_secure(struct tenant *t, struct shape *s)
{
	return within(t, s, 0);
}
