// SPDX-License-Identifier: Apache-2.0
/* Where a gang goes.  It crosses as few levels as can be: one node if one holds it all,
 * else one switch, one rack, anywhere; of several racks or switches the one that has the
 * least room beyond.  There its tasks go to as few nodes as possible, onto the tightest
 * that will do, so that large holes stay large.  Exact for one role; several roles are
 * packed greedily, the most demanding first. */
#include <string.h>

#include "base/mem.h"
#include "fleet/island.h"
#include "fleet/scores.h"
#include "fleet/search.h"

/* The most demanding role that has tasks. */
static size_t demanding(const struct ask *a)
{
	size_t k = 0;

	while (k + 1 < a->role_count && !a->roles[a->order[k]].count)
		k++;
	return a->order[k];
}

static const struct area everywhere = { LEVEL_ANY, 0 };

struct fit {
	struct view *v;
	struct fleet *f;
	const struct ask *a;
	const struct stay *stay;
	struct picks *out;
	size_t kept; /* of out, the rows of which were put aside: they are taken on v */
};

static void pick_add(struct picks *out, size_t role, int node, int count)
{
	if (out->count == out->cap)
		mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
	out->items[out->count++] = (struct pick){ role, node, count, -1 };
}

static void marks_clear(struct fleet *f)
{
	if (++f->mark)
		return;
	memset(f->marks, 0, f->machine_cap * sizeof *f->marks);
	f->mark = 1;
}

/* As many tasks of a role as there is room for, up to `count`: always onto the tightest
 * node that holds all the rest, or if none does onto one that holds the most. */
static int role_fit(struct fit *x, size_t role, int count, struct area area)
{
	struct search s;
	int left = count, most;

	search_init(&s, x->v, &x->a->roles[role], x->stay, area);
	marks_clear(x->f);
	most = search_most(&s, left);
	while (left > 0 && most > 0) {
		int want = left < most ? left : most, node;
		if (want != s.want)
			search_want(&s, want);
		node = search_next(&s);
		if (node < 0) {
			most = search_most(&s, want);
			continue;
		}
		x->f->marks[node] = x->f->mark;
		pick_add(x->out, role, node, want);
		left -= want;
	}
	return count - left;
}

/* Takes the picks from `kept` on, so that the next role sees what is left. */
static void fit_take(struct fit *x)
{
	struct fleet *f = x->f;

	for (; x->kept < x->out->count; x->kept++) {
		const struct pick *k = &x->out->items[x->kept];
		struct space *s = view_write(x->v, k->node);
		if (x->kept == f->kept_cap) {
			f->kept_cap = f->kept_cap ? 2 * f->kept_cap : 64;
			f->kept = mem_realloc(f->kept, f->kept_cap, f->row_bytes);
		}
		memcpy(f->kept + x->kept * f->row_bytes, s, f->row_bytes);
		space_take(f, k->node, s, &x->a->roles[k->role], k->count);
		if (x->a->roles[k->role]
			    .any_ports) /* the room that space_room() asked for */
			s->ports -= x->a->roles[k->role].fixed_count;
		index_move(x->v, k->node, s);
	}
}

static void fit_undo(struct fit *x)
{
	for (; x->kept > 0; x->kept--) {
		int node = x->out->items[x->kept - 1].node;
		struct space *s = view_write(x->v, node);
		uint8_t bucket = s->bucket;
		memcpy(s, x->f->kept + (x->kept - 1) * x->f->row_bytes, x->f->row_bytes);
		s->bucket = bucket;
		index_move(x->v, node, s);
	}
}

static bool roles_fit(struct fit *x, struct area area, bool least)
{
	const struct ask *a = x->a;
	bool whole = true;

	x->out->count = x->kept = 0;
	for (size_t k = 0; k < a->role_count && whole; k++) {
		size_t role = a->order[k];
		int want = least ? a->roles[role].least : a->roles[role].count;
		if (k)
			fit_take(x);
		whole = role_fit(x, role, want, area) == want;
	}
	for (size_t k = 0; k < a->role_count && whole && least; k++) {
		size_t role = a->order[k];
		fit_take(x);
		role_fit(x, role, a->roles[role].count - a->roles[role].least, area);
	}
	fit_undo(x);
	return whole;
}

/* All of it, in an area; or if `least` will do as much as there is room for. */
static bool area_fit(struct fit *x, struct area area, bool least)
{
	const struct ask_role *r = x->a->roles;

	if (x->a->role_count != 1)
		return roles_fit(x, area, least);
	x->out->count = 0;
	return role_fit(x, 0, r->count, area) >= (least ? r->least : r->count);
}

/* One node for everybody. */
static bool node_fit(struct fit *x, const int *counts, bool island)
{
	const struct ask *a = x->a;
	size_t first = demanding(a);
	struct search s;
	int node;

	x->out->count = 0;
	search_init(&s, x->v, &a->roles[first], x->stay, everywhere);
	if (search_most(&s, counts[first]) < counts[first])
		return false;
	marks_clear(x->f);
	search_want(&s, counts[first]);
	while ((node = search_next(&s)) >= 0) {
		const struct space *space = view_space(x->v, node);
		if (island ? island_find(x->f, node, space, a, counts) < 0
			   : a->role_count > 1 &&
				     !node_holds(x->f, node, space, a, counts))
			continue;
		for (size_t k = 0; k < a->role_count; k++) {
			if (counts[a->order[k]])
				pick_add(x->out, a->order[k], node, counts[a->order[k]]);
		}
		return true;
	}
	return false;
}

/* All on one node; if that cannot be and fewer will do, as many as one node holds. */
static bool one_node(struct fit *x, bool fewer)
{
	const struct ask *a = x->a;
	bool island = a->within_must && a->within == LEVEL_ISLAND;
	int *counts = x->f->cursors;
	struct search s;

	for (size_t k = 0; k < a->role_count; k++)
		counts[k] = a->roles[k].count;
	if (node_fit(x, counts, island))
		return true;
	search_init(&s, x->v, a->roles, x->stay, everywhere);
	if (fewer && a->role_count == 1)
		counts[0] = search_most(&s, counts[0] - 1);
	for (; fewer && a->role_count == 1 && counts[0] >= a->roles[0].least;
	     counts[0]--) {
		if (node_fit(x, counts, island))
			return true;
	}
	for (size_t k = 0; k < a->role_count; k++)
		counts[k] = a->roles[k].least;
	return fewer && a->role_count > 1 && node_fit(x, counts, island);
}

/* 0: surely not all fit in that area; else the more the more room it may have. */
static int64_t area_bound(const struct fit *x, struct area area, bool least)
{
	int64_t first = 0;

	for (size_t k = 0; k < x->a->role_count; k++) {
		const struct ask_role *r = &x->a->roles[x->a->order[k]];
		int64_t bound = search_bound(x->v, r, area);
		if (bound < (least ? r->least : r->count))
			return 0;
		first = k ? first : bound;
	}
	return first + 1;
}

/* What area_bound() gives, for all of a level. */
static void level_bounds(const struct fit *x, enum level level, int count,
			 int64_t *bounds)
{
	const struct ask_role *r = x->a->roles;

	if (x->a->role_count == 1) {
		memset(bounds, 0, (size_t)count * sizeof *bounds);
		search_bounds(x->v, r, level, bounds);
		for (int i = 0; i < count; i++)
			bounds[i] = bounds[i] < r->count ? 0 : bounds[i] + 1;
		return;
	}
	for (int i = 0; i < count; i++)
		bounds[i] = area_bound(x, (struct area){ level, i }, false);
}

/* The rack or switch that has the least room beyond what is asked for. */
static bool level_fit(struct fit *x, enum level level)
{
	const struct layout *l = &x->f->layout;
	int count = level == LEVEL_RACK ? l->rack_count : l->net_count;
	int64_t *bounds = x->f->bounds;

	level_bounds(x, level, count, bounds);
	for (;;) {
		int best = -1;
		for (int i = 0; i < count; i++) {
			if (bounds[i] && (best < 0 || bounds[i] < bounds[best]))
				best = i;
		}
		if (best < 0)
			return false;
		if (area_fit(x, (struct area){ level, best }, false))
			return true;
		bounds[best] = 0;
	}
}

static int placed(const struct picks *out)
{
	int sum = 0;

	for (size_t i = 0; i < out->count; i++)
		sum += out->items[i].count;
	return sum;
}

/* Not all fit into any one: the rack or switch, or the node of which neither is known,
 * that holds the most. */
static bool level_fit_fewer(struct fit *x, enum level level)
{
	const struct layout *l = &x->f->layout;
	int count = level == LEVEL_RACK ? l->rack_count : l->net_count;
	struct area best = { level, -1 };
	int most = 0;

	for (int i = 0; i < count; i++) {
		struct area area = { level, i };
		int64_t bound = area_bound(x, area, true);
		if (!bound || (x->a->role_count == 1 && bound <= most) ||
		    !area_fit(x, area, true) || placed(x->out) <= most)
			continue;
		most = placed(x->out);
		best = area;
	}
	if (one_node(x, true) && placed(x->out) >= most)
		return true;
	return best.number >= 0 && area_fit(x, best, true);
}

/* Rules out a level at once: no rack or switch has so many nodes. */
static bool level_may(const struct fit *x, enum level level)
{
	const struct layout *l = &x->f->layout;
	const struct ask_role *r = &x->a->roles[demanding(x->a)];
	int64_t nodes = level == LEVEL_RACK ? l->rack_most : l->net_most;
	struct search s;

	if (!nodes)
		return false;
	search_init(&s, x->v, r, x->stay, everywhere);
	return nodes * search_most(&s, r->least) >= r->least;
}

static bool fewer_will_do(const struct ask *a)
{
	return a->least_count < a->task_count;
}

static bool gang_fit(struct fit *x)
{
	const struct ask *a = x->a;
	enum level must = a->within_must ? a->within : LEVEL_ANY;

	if (!area_bound(x, everywhere, true))
		return false;
	if (one_node(x, must >= LEVEL_NODE && fewer_will_do(a)))
		return true;
	if (must >= LEVEL_NODE)
		return false;
	for (enum level level = LEVEL_SWITCH; level >= LEVEL_RACK && level >= must;
	     level--) {
		if (level_may(x, level) && level_fit(x, level))
			return true;
	}
	if (must != LEVEL_ANY)
		return fewer_will_do(a) && level_fit_fewer(x, must);
	if (a->role_count > 1 && area_fit(x, everywhere, false))
		return true;
	return area_fit(x, everywhere, fewer_will_do(a));
}

/* Whether what one task gets lies in one island. */
static enum level task_level(const struct view *v, const struct ask_role *r, int node)
{
	const struct machine *m = &v->fleet->machines[node];
	int first = -1;

	for (size_t i = 0; m->island && i < r->device_count; i++) {
		struct portion p;
		if (!devices_choose(v->fleet, node, view_space(v, node), &r->devices[i],
				    &p))
			return LEVEL_NODE;
		int low = __builtin_ctzll(p.mask) / m->island;
		int high = (DEVICES_MAX - 1 - __builtin_clzll(p.mask)) / m->island;
		if (low != high || (first >= 0 && first != low))
			return LEVEL_NODE;
		first = low;
	}
	return LEVEL_ISLAND;
}

static enum level level_of(const struct fit *x)
{
	const struct picks *out = x->out;
	const struct machine *first = &x->f->machines[out->items[0].node];
	bool node = true, net = first->net >= 0, rack = first->rack >= 0;

	for (size_t i = 1; i < out->count; i++) {
		const struct machine *m = &x->f->machines[out->items[i].node];
		node &= m == first;
		net &= m->net == first->net;
		rack &= m->rack == first->rack;
	}
	if (node)
		return (x->a->within == LEVEL_ISLAND && x->a->within_must) ||
				       !first->island
			       ? LEVEL_ISLAND
			       : LEVEL_NODE;
	return net ? LEVEL_SWITCH : rack ? LEVEL_RACK : LEVEL_ANY;
}

/* One task: no level to cross, one look into the index; or where scores say. */
static bool task_fit(const struct view *v, const struct ask *a, const struct stay *stay,
		     struct picks *out)
{
	struct fleet *f = (struct fleet *)(uintptr_t)v->fleet;
	struct pick best = { 0, -1, 1, -1 };

	if (v == &f->live && f->scores && scores_decide(f, a)) {
		if (!scores_fit(f, a, stay, &best))
			return false;
	} else {
		best.node = search_one(v, a->roles, stay);
		if (best.node < 0)
			return false;
	}
	pick_add(out, 0, best.node, 1);
	out->items[0].device = best.device;
	out->level = task_level(v, a->roles, best.node);
	return true;
}

bool view_fit(const struct view *view, const struct ask *a, const struct stay *stay,
	      struct picks *out)
{
	/* Gangs of several roles are tried on the view itself, and put back: a copy would
	 * cost more than the search. */
	struct fit x = { .v = (struct view *)(uintptr_t)view,
			 .f = (struct fleet *)(uintptr_t)view->fleet,
			 .a = a,
			 .stay = stay,
			 .out = out };

	layout_need(x.f, &x.f->layout);
	out->count = 0;
	out->view = view;
	out->level = LEVEL_ISLAND;
	if (a->task_count == 1 && a->role_count == 1 &&
	    !(a->within_must && a->within == LEVEL_ISLAND))
		return task_fit(view, a, stay, out);
	fleet_reserve_roles(x.f, a->role_count);
	if (!a->task_count)
		return true;
	if (!gang_fit(&x))
		return false;
	out->level = level_of(&x);
	return true;
}

int64_t view_room(const struct view *v, const struct ask_role *r, int node, int64_t most)
{
	struct fleet *f = (struct fleet *)(uintptr_t)v->fleet;
	int64_t sum = 0;
	struct search s;

	layout_need(f, &f->layout);
	if (node >= 0)
		return role_room(v, r, node, most);
	search_init(&s, v, r, NULL, everywhere);
	marks_clear(f);
	search_want(&s, 1);
	while (sum < most && (node = search_next(&s)) >= 0)
		sum += space_room(f, node, view_space(v, node), r, most - sum);
	return sum;
}

int64_t view_rooms(const struct view *v, const struct ask_role *r, int64_t each)
{
	struct fleet *f = (struct fleet *)(uintptr_t)v->fleet;
	int64_t sum = 0;
	struct search s;
	int node;

	layout_need(f, &f->layout);
	search_init(&s, v, r, NULL, everywhere);
	marks_clear(f);
	search_want(&s, 1);
	while ((node = search_next(&s)) >= 0)
		sum += space_room(f, node, view_space(v, node), r, each);
	return sum;
}
