// SPDX-License-Identifier: Apache-2.0
#include "plan/rules.h"

#include <string.h>

#include "base/mem.h"
#include "plan/tenant.h"

#define WEIGHT_MAX 1000

struct check {
	const struct tenant_named *all;
	size_t count;
	const struct node *nodes;
	size_t node_count;
	char types[TENANT_TYPES_MAX][DEVICE_TYPE_MAX];
	int dims; /* cpu, memory, types */
};

static const struct tenant_named *find(const struct check *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++) {
		if (strcmp(c->all[i].name, name) == 0)
			return &c->all[i];
	}
	return NULL;
}

static int check_circle(const struct check *c, const struct tenant_named *t,
			struct err *err)
{
	const struct tenant_named *n = t;

	for (size_t i = 0; n && n->rule->parent[0] && i < c->count; i++) {
		if (strcmp(n->rule->parent, t->name) == 0)
			return err_set(err, ERR_INVALID,
				       "parent: group %s would be below itself", t->name);
		n = find(c, n->rule->parent);
	}
	return 0;
}

static int check_depth(const struct check *c, const struct tenant_named *t,
		       struct err *err)
{
	int depth = 0;

	for (const struct tenant_named *n = t; n && n->rule->parent[0];
	     n = find(c, n->rule->parent))
		if (++depth > TENANT_DEPTH_MAX)
			return err_set(err, ERR_INVALID,
				       "parent: group %s is more than %d levels down",
				       t->name, TENANT_DEPTH_MAX);
	return 0;
}

/* Circles first: in one nobody has a depth. */
static int check_parents(const struct check *c, struct err *err)
{
	for (size_t i = 0; i < c->count; i++)
		if (check_circle(c, &c->all[i], err) < 0)
			return -1;
	for (size_t i = 0; i < c->count; i++)
		if (check_depth(c, &c->all[i], err) < 0)
			return -1;
	return 0;
}

static int note_types(struct check *c, const struct resources *r, struct err *err)
{
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++) {
		int d = 2;
		while (d < c->dims && strcmp(c->types[d - 2], r->devices[i].type) != 0)
			d++;
		if (d == TENANT_DIMS_MAX)
			return err_set(
				err, ERR_INVALID,
				"guarantee: the rules of all groups name more than %d types "
				"of devices: %s is one too many",
				TENANT_TYPES_MAX, r->devices[i].type);
		if (d == c->dims)
			memcpy(c->types[c->dims++ - 2], r->devices[i].type,
			       DEVICE_TYPE_MAX);
	}
	return 0;
}

static int64_t amount(const struct check *c, const struct resources *r, int d)
{
	if (d == 0)
		return r->cpu_milli;
	if (d == 1)
		return r->memory_bytes;
	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++) {
		if (strcmp(r->devices[i].type, c->types[d - 2]) == 0)
			return r->devices[i].count;
	}
	return -1;
}

static int64_t guaranteed(const struct check *c, const struct tenant_rule *r, int d)
{
	int64_t g = amount(c, &r->guarantee, d);

	for (size_t i = 0; i < r->shape_count && d > 1; i++) {
		const struct tenant_shape *s = &r->shapes[i];
		if (strcmp(s->devices.type, c->types[d - 2]) == 0)
			g = (g < 0 ? 0 : g) + (int64_t)s->count * s->devices.count;
	}
	return g;
}

static const char *dim_name(const struct check *c, int d)
{
	return d == 0 ? "cpu (1/1000)" : d == 1 ? "bytes of memory" : c->types[d - 2];
}

/* To a group and all below it. */
static int64_t in_all(const struct check *c, const struct tenant_named *t, int d);

static int64_t to_children(const struct check *c, const char *name, int d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->count; i++) {
		const struct tenant_named *t = &c->all[i];
		bool top = !name && (!t->rule->parent[0] || !find(c, t->rule->parent));
		if (top || (name && strcmp(t->rule->parent, name) == 0))
			sum += in_all(c, t, d);
	}
	return sum;
}

/* As deep as check_parents() lets it be. */
static int64_t in_all(const struct check *c, const struct tenant_named *t, int d)
{
	int64_t own = guaranteed(c, t->rule, d), below = to_children(c, t->name, d);

	return own > below ? own : below;
}

static int check_group(struct check *c, const struct tenant_named *t, struct err *err)
{
	const struct tenant_rule *r = t->rule;

	if (r->weight < 0 || r->weight > WEIGHT_MAX)
		return err_set(err, ERR_INVALID,
			       "weight: of group %s it is not from 1 to %d", t->name,
			       WEIGHT_MAX);
	for (size_t i = 0; i < r->shape_count; i++) {
		if (r->shapes[i].count < 1 || r->shapes[i].devices.count < 1 ||
		    r->shapes[i].devices.count > DEVICES_MAX)
			return err_set(
				err, ERR_INVALID,
				"shapes: one that is promised to group %s has no devices",
				t->name);
	}
	for (int d = 0; d < c->dims; d++) {
		int64_t g = guaranteed(c, r, d), below = to_children(c, t->name, d);
		int64_t lend = amount(c, &r->lend, d);
		if (g >= 0 && below > g)
			return err_set(
				err, ERR_INVALID,
				"guarantee: the groups below '%s' would be guaranteed %lld %s "
				"together, and it is itself guaranteed %lld",
				t->name, (long long)below, dim_name(c, d), (long long)g);
		if (lend > 0 && lend > (g > below ? g : below))
			return err_set(
				err, ERR_INVALID,
				"lend: group %s cannot lend %lld %s: it is guaranteed %lld",
				t->name, (long long)lend, dim_name(c, d),
				(long long)(g > below ? g : below));
	}
	return 0;
}

static int64_t capacity(const struct check *c, int d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < c->node_count; i++) {
		const struct resources *r = &c->nodes[i].capacity;
		if (!c->nodes[i].up)
			continue;
		if (d < 2)
			sum += d ? r->memory_bytes : r->cpu_milli;
		for (int k = 0; k < DEVICE_KINDS_MAX && d > 1; k++) {
			if (r->devices[k].count > 0 &&
			    device_matches(c->types[d - 2], r->devices[k].type))
				sum += r->devices[k].count;
		}
	}
	return sum;
}

/* Takes one place where it leaves the fewest devices behind. */
static bool take_place(const struct check *c, const struct device_count *want,
		       struct resources *free)
{
	struct device_count *best = NULL;

	for (size_t i = 0; i < c->node_count; i++) {
		for (int k = 0; k < DEVICE_KINDS_MAX && c->nodes[i].up; k++) {
			struct device_count *have = &free[i].devices[k];
			if (have->count >= want->count &&
			    device_matches(want->type, have->type) &&
			    (!best || have->count < best->count))
				best = have;
		}
	}
	if (best)
		best->count -= want->count;
	return best != NULL;
}

/* Only what is promised at the top: what is promised below is a part of that. */
static bool top_promise(const struct check *c, const struct tenant_named *t)
{
	for (t = find(c, t->rule->parent); t; t = find(c, t->rule->parent)) {
		if (t->rule->shape_count)
			return false;
	}
	return true;
}

static int check_shapes(const struct check *c, struct err *err)
{
	AUTO_FREE struct resources *free =
		mem_alloc(c->node_count + 1, sizeof(struct resources));

	for (size_t i = 0; i < c->node_count; i++)
		free[i] = c->nodes[i].capacity;
	for (int size = DEVICES_MAX; size > 0; size--) {
		for (size_t i = 0; i < c->count; i++) {
			const struct tenant_rule *r = c->all[i].rule;
			for (size_t k = 0; k < r->shape_count; k++) {
				const struct tenant_shape *s = &r->shapes[k];
				int left = s->devices.count == size &&
							   top_promise(c, &c->all[i])
						   ? s->count
						   : 0;
				while (left > 0 && take_place(c, &s->devices, free))
					left--;
				if (left > 0)
					return err_set(
						err, ERR_INVALID,
						"group %s: there is no place on one node for "
						"%d %s more beside all that is promised",
						c->all[i].name, size, s->devices.type);
			}
		}
	}
	return 0;
}

static int check_capacity(const struct check *c, struct err *err)
{
	for (int d = 0; d < c->dims; d++) {
		int64_t sum = to_children(c, NULL, d), all = capacity(c, d);
		if (sum > all)
			return err_set(
				err, ERR_INVALID,
				"guarantee: all groups are guaranteed %lld %s together, and the "
				"nodes have %lld",
				(long long)sum, dim_name(c, d), (long long)all);
	}
	return check_shapes(c, err);
}

int tenant_check(const struct tenant_named *all, size_t count, const struct node *nodes,
		 size_t node_count, struct err *err)
{
	struct check c = { .all = all, .count = count, .nodes = nodes, .dims = 2 };

	c.node_count = node_count;
	if (check_parents(&c, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const struct tenant_rule *r = all[i].rule;
		if (note_types(&c, &r->guarantee, err) < 0 ||
		    note_types(&c, &r->borrow, err) < 0 ||
		    note_types(&c, &r->lend, err) < 0)
			return -1;
		for (size_t k = 0; k < r->shape_count; k++) {
			struct resources one = { .devices[0] = r->shapes[k].devices };
			if (note_types(&c, &one, err) < 0)
				return -1;
		}
	}
	for (size_t i = 0; i < count; i++) {
		if (check_group(&c, &all[i], err) < 0)
			return -1;
	}
	return nodes ? check_capacity(&c, err) : 0;
}
