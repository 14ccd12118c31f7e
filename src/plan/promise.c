// SPDX-License-Identifier: Apache-2.0
#include "plan/promise.h"

#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

void promise_forget(struct tenant *t)
{
	for (size_t i = 0; i < TENANT_SHAPES_MAX; i++) {
		ask_destroy(t->places[i]);
		t->places[i] = NULL;
	}
}

/* One place of each shape of the rule, as the fleet reads it. */
static void make_places(struct tenant *t)
{
	if (t->places[0] && t->places_kinds == t->plan->kinds_known)
		return;
	promise_forget(t);
	t->places_kinds = t->plan->kinds_known;
	for (size_t i = 0; i < t->rule.shape_count; i++) {
		struct gang_role role = { .count = 1,
					  .each.devices[0] = t->rule.shapes[i].devices };
		struct gang g = { .roles = &role, .role_count = 1 };
		role.each.devices[0].share_milli = 0;
		t->places[i] = ask_create(t->plan->fleet, &g);
	}
}

static bool gives_way(const struct plan *p, const struct entry *e)
{
	return p->policy.preempt && e->preemptible;
}

/* Devices of a need that jobs of a part of the tree hold, by node. */
static void find_used(const struct plan *p, const struct tenant *t, const struct need *n,
		      int *used)
{
	memset(used, 0, fleet_count(p->fleet) * sizeof *used);
	for (struct tree_node *k = tree_first(&p->running); k; k = tree_next(k)) {
		const struct entry *e = TREE_OF(k, struct entry, at);
		if (gives_way(p, e) || !tenant_below(e->group->tenant, t))
			continue;
		for (size_t i = 0; i < e->grants.count; i++) {
			const struct grant *g = &e->grants.items[i];
			for (size_t d = 0; d < DEVICE_KINDS_MAX; d++) {
				uint64_t mask = g->devices[d].mask;
				if (mask &&
				    n->kinds >> fleet_pool_kind(p->fleet, g->node,
								g->devices[d].pool) &
					    1)
					used[g->node] += __builtin_popcountll(mask);
			}
		}
	}
}

static int64_t part(struct amount a, int64_t devices, int64_t all)
{
	int64_t share = all > 0 ? a.total / all * devices : 0;

	return share < a.free ? share : a.free > 0 ? a.free : 0;
}

/* Takes so many devices of one node, with their part of its cpu and memory. */
static void take(struct view *v, const struct ask *place, int node, int devices)
{
	struct ask_role role = place->roles[0];
	struct ask one = *place;
	struct pick pick = { 0, node, 1 };
	struct picks picks = { .items = &pick, .count = 1 };
	int64_t all = view_devices(v, node, &role.devices[0]).total;

	role.devices[0].count = devices;
	role.cpu_milli = part(view_cpu(v, node), devices, all);
	role.memory_bytes = part(view_memory(v, node), devices, all);
	one.roles = &role;
	view_take(v, &one, &picks);
}

/* Places that are in use: what their node has left of them stays theirs. */
static int keep_rest(struct view *v, const struct ask *place, int count, int *used,
		     size_t nodes)
{
	const struct need *n = &place->roles[0].devices[0];
	int size = (int)n->count, bound = 0;

	for (size_t i = 0; i < nodes; i++) {
		int free, whole, touched;
		if (!used[i] || bound == count)
			continue;
		free = (int)view_devices(v, (int)i, n).free;
		whole = (used[i] + (free > 0 ? free : 0)) / size;
		touched = (used[i] + size - 1) / size;
		whole = whole < touched ? whole : touched;
		whole = whole < count - bound ? whole : count - bound;
		bound += whole;
		if (whole * size > used[i]) {
			take(v, place, (int)i, whole * size - used[i]);
			used[i] = 0;
		} else {
			used[i] -= whole * size;
		}
	}
	return bound;
}

static void keep_free(struct plan *p, struct view *v, const struct ask *place, int count)
{
	struct picks *picks = &p->scratch->head_picks;

	while (count-- > 0 && view_fit(v, place, NULL, picks))
		take(v, place, picks->items[0].node,
		     (int)place->roles[0].devices[0].count);
}

/* Largest first, so that small ones do not break up what large ones need. */
static size_t by_size(const struct tenant *t, size_t order[TENANT_SHAPES_MAX])
{
	for (size_t i = 0; i < t->rule.shape_count; i++) {
		size_t at = i;
		for (; at > 0 && t->rule.shapes[order[at - 1]].devices.count <
					 t->rule.shapes[i].devices.count;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return t->rule.shape_count;
}

static void keep_all(struct plan *p, struct tenant *t, struct view *v)
{
	size_t order[TENANT_SHAPES_MAX], count = by_size(t, order);
	AUTO_FREE int *used = mem_alloc(fleet_count(p->fleet) + 1, sizeof *used);

	make_places(t);
	for (size_t i = 0; i < count; i++) {
		const struct ask *place = t->places[order[i]];
		const struct need *n = &place->roles[0].devices[0];
		int left = t->rule.shapes[order[i]].count;
		if (!i ||
		    strcmp(n->type, t->places[order[i - 1]]->roles[0].devices[0].type))
			find_used(p, t, n, used);
		left -= keep_rest(v, place, left, used, fleet_count(p->fleet));
		keep_free(p, v, place, left);
	}
}

/* The nearest part of the tree around it to which something is promised, or the root. */
static struct tenant *part_of(const struct entry *e)
{
	struct tenant *t = e->group->tenant;

	while (t->parent && !t->promises)
		t = t->parent;
	return t;
}

/* Promises to others: not to those around it, and not those within another's. */
static bool others(const struct tenant *t, const struct tenant *mine)
{
	const struct tenant *n = t->parent;

	if (!t->promises || tenant_below(mine, t))
		return false;
	while (n->parent && !n->promises)
		n = n->parent;
	return !n->parent || tenant_below(mine, n);
}

static void keep_others(struct plan *p, const struct tenant *mine, struct view *v)
{
	struct owner *o;

	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		if (others(o->tenant, mine))
			keep_all(p, o->tenant, v);
	}
}

static bool bound(const struct plan *p, const struct entry *e)
{
	return p->dims.shapes && !gives_way(p, e);
}

void promise_keep(struct plan *p, const struct entry *e, struct view *v)
{
	if (bound(p, e))
		keep_others(p, part_of(e), v);
}

const struct view *promise_open(struct plan *p, const struct entry *e,
				const struct view *v)
{
	struct tenant *mine;
	struct tree_node *n;

	if (!bound(p, e))
		return v;
	mine = part_of(e);
	if (mine->kept_version != p->version + 1) {
		mine->kept_version = p->version + 1;
		view_copy(p->fleet, preempt_open(p), &mine->kept);
		n = p->policy.preempt ? tree_first(&p->preempt->may_yield) : NULL;
		for (; n; n = tree_next(n)) {
			const struct entry *y = TREE_OF(n, struct entry, in_way);
			view_return(mine->kept, y->shape->ask, &y->grants, -1);
		}
		keep_others(p, mine, mine->kept);
	}
	view_least(v, mine->kept, &p->scratch->kept);
	return p->scratch->kept;
}
