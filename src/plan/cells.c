// SPDX-License-Identifier: Apache-2.0
#include "plan/cells.h"

#include <string.h>

#include "base/mem.h"

#define MANY (1 << 30) /* far above any node, and sums of a few stay in range */

static int32_t narrow(int64_t n)
{
	return n < 0 ? 0 : n > MANY ? MANY : (int32_t)n;
}

static int kind_at(struct cells *c, int kind)
{
	for (size_t i = 0; i < c->kind_count; i++) {
		if (c->kinds[i] == kind)
			return (int)i;
	}
	if (c->kind_count == CELLS_KINDS)
		return -1;
	c->kinds[c->kind_count] = kind;
	return (int)c->kind_count++;
}

static void find_kept(struct cells *c)
{
	c->kept = mem_alloc(c->count, sizeof *c->kept);
	for (int i = 0; i < (int)c->count; i++) {
		if (fleet_node(c->fleet, i)->window_count)
			c->kept[c->kept_count++] = i;
	}
}

struct cells *cells_create(const struct plan *p, int64_t now_ms)
{
	struct cells *c = mem_alloc(1, sizeof *c);
	const struct view *v = fleet_now(p->fleet);

	c->fleet = p->fleet;
	c->count = fleet_count(p->fleet);
	c->items = mem_alloc(c->count, sizeof *c->items);
	c->at_ms = c->since_ms = now_ms;
	c->edge_ms = FOREVER;
	if (p->windows)
		find_kept(c);
	for (int k = 0; k < (int)fleet_kinds(p->fleet); k++)
		kind_at(c, k);
	for (size_t i = 0; i < c->count; i++) {
		struct cell *x = &c->items[i];
		if (!view_open(v, (int)i))
			continue;
		x->cpu_milli = view_cpu(v, (int)i).free;
		x->memory_bytes = view_memory(v, (int)i).free;
		x->tasks = narrow(view_tasks(v, (int)i).free);
		x->ports = narrow(view_ports(v, (int)i).free);
		for (size_t k = 0; k < c->kind_count; k++) {
			struct need n = { .kinds = (uint64_t)1 << c->kinds[k],
					  .count = 1 };
			x->devices[k] =
				narrow(view_devices(v, (int)i, &n).free * DEVICE_SHARE);
		}
	}
	return c;
}

struct cells *cells_copy(const struct cells *from)
{
	struct cells *c = mem_dup(from, sizeof *from);

	c->items = mem_dup(from->items, from->count * sizeof *from->items);
	c->kept = mem_dup(from->kept, from->kept_count * sizeof *from->kept);
	c->empty = NULL;
	for (size_t i = 0; i < c->want_count; i++) {
		struct want *w = &c->wants[i];
		w->where = mem_dup(w->where, (c->count / 64 + 1) * sizeof *w->where);
		w->cap = w->count;
		w->nodes = mem_dup(w->nodes, w->count * sizeof *w->nodes);
	}
	return c;
}

void cells_destroy(struct cells *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->want_count; i++) {
		free((uint64_t *)(uintptr_t)c->wants[i].where);
		free(c->wants[i].nodes);
	}
	view_destroy(c->empty);
	free(c->kept);
	free(c->items);
	free(c);
}

static int64_t milli_of(const struct need *n)
{
	return n->share_milli ? n->share_milli : n->count * DEVICE_SHARE;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t device_room(const struct cells *c, const struct cell *x,
			   const struct need *n)
{
	int64_t each = milli_of(n), sum = 0;

	for (size_t k = 0; k < c->kind_count; k++) {
		if (n->kinds >> c->kinds[k] & 1 && x->devices[k] > 0)
			sum += x->devices[k] / each;
	}
	return sum;
}

static struct stay stay_at(const struct want *w, int64_t ms)
{
	struct stay s = w->stay;

	s.from_ms = ms;
	if (s.to_ms != FOREVER)
		s.to_ms = s.to_ms < FOREVER - ms ? ms + s.to_ms : FOREVER;
	return s;
}

static bool kept_free(const struct cells *c, const struct want *w, int node)
{
	struct stay s = stay_at(w, c->at_ms);

	return c->kept_count && !node_stays_open(fleet_node(c->fleet, node), &s);
}

static int64_t room(const struct cells *c, const struct want *w, int node)
{
	const struct cell *x = &c->items[node];
	const struct ask_role *r = w->role;
	int64_t n = least(r->count, x->tasks);

	if (!(w->where[node / 64] >> (node % 64) & 1) || kept_free(c, w, node))
		return 0;
	if (r->cpu_milli > 0)
		n = least(n, x->cpu_milli / r->cpu_milli);
	if (r->memory_bytes > 0)
		n = least(n, x->memory_bytes / r->memory_bytes);
	if (r->any_ports > 0)
		n = least(n, (x->ports - r->fixed_count) / r->any_ports);
	for (size_t i = 0; i < r->device_count && n > 0; i++)
		n = least(n, device_room(c, x, &r->devices[i]));
	return n > 0 ? n : 0;
}

static void want_look(struct want *w, int node)
{
	if (w->count && w->nodes[w->count - 1] == node)
		return;
	mem_grow(&w->nodes, &w->cap, w->count, sizeof *w->nodes);
	w->nodes[w->count++] = node;
}

/* Where no windows are, all of one shape are alike. */
static int want_of(const struct cells *c, const struct shape *s, const struct stay *stay)
{
	for (size_t i = 0; i < c->want_count; i++) {
		const struct want *w = &c->wants[i];
		if (w->shape == s &&
		    (!c->kept_count || (w->stay.to_ms == stay->to_ms &&
					strcmp(w->stay.group, stay->group) == 0)))
			return (int)i;
	}
	return -1;
}

/* Nodes that are open; of those, if it asks for labels, which have them. */
static uint64_t *where_of(struct cells *c, const struct ask_role *r)
{
	uint64_t *where = mem_alloc(c->count / 64 + 1, sizeof *where);
	const struct view *now = fleet_now(c->fleet);

	if (r->labels && !c->empty)
		view_empty(c->fleet, &c->empty);
	for (int i = 0; i < (int)c->count; i++) {
		if (view_open(now, i) && (!r->labels || view_room(c->empty, r, i, 1)))
			where[i / 64] |= (uint64_t)1 << (i % 64);
	}
	return where;
}

/* The next time that a window ends, or begins to be in its way. */
static int64_t want_edge(const struct cells *c, const struct want *w)
{
	int64_t edge = FOREVER;

	for (size_t i = 0; i < c->kept_count; i++) {
		const struct node *n = fleet_node(c->fleet, c->kept[i]);
		for (size_t k = 0; k < n->window_count; k++) {
			const struct node_window *x = &n->windows[k];
			int64_t closes = w->stay.to_ms == FOREVER
						 ? c->at_ms
						 : x->from_ms - w->stay.to_ms + 1;
			if (closes > c->at_ms)
				edge = least(edge, closes);
			if (x->to_ms > c->at_ms)
				edge = least(edge, x->to_ms);
		}
	}
	return edge;
}

static void want_init(struct cells *c, struct want *w)
{
	w->where = where_of(c, w->role);
	c->edge_ms = least(c->edge_ms, want_edge(c, w));
	for (int i = (int)c->count; i-- > 0;) {
		int64_t n = room(c, w, i);
		w->have += n;
		if (n)
			want_look(w, i);
	}
}

int cells_want(struct cells *c, const struct entry *e)
{
	const struct shape *s = e->shape;
	int64_t lasts = entry_lasts(e);
	struct stay stay = { 0, lasts > 0 ? lasts : FOREVER, e->group->name };
	int at = want_of(c, s, &stay);

	if (at >= 0)
		return at;
	if (c->want_count + s->ask->role_count > CELLS_WANTS)
		return -1;
	at = (int)c->want_count;
	for (size_t k = 0; k < s->ask->role_count; k++) {
		struct want *w = &c->wants[c->want_count++];
		*w = (struct want){ .shape = s, .role = &s->ask->roles[k], .stay = stay };
		want_init(c, w);
	}
	return at;
}

bool cells_enough(const struct cells *c, int want)
{
	const struct shape *s = c->wants[want].shape;

	for (size_t k = 0; k < s->ask->role_count; k++) {
		const struct want *w = &c->wants[(size_t)want + k];
		if (w->have < w->role->least)
			return false;
	}
	return true;
}

/* Before (-1) and after (1) something changes on a node. */
static void recount(struct cells *c, int node, int sign)
{
	for (size_t i = 0; i < c->want_count; i++)
		c->wants[i].have += sign * room(c, &c->wants[i], node);
}

/* After something was given back there. */
static void recount_more(struct cells *c, int node)
{
	for (size_t i = 0; i < c->want_count; i++) {
		struct want *w = &c->wants[i];
		int64_t n = room(c, w, node);
		w->have += n;
		if (n)
			want_look(w, node);
	}
}

void cells_at(struct cells *c, int64_t ms)
{
	bool same = ms >= c->since_ms && ms < c->edge_ms;

	for (size_t i = 0; i < c->kept_count && !same; i++)
		recount(c, c->kept[i], -1);
	c->at_ms = ms;
	if (same)
		return;
	c->since_ms = ms;
	c->edge_ms = FOREVER;
	for (size_t i = 0; i < c->want_count; i++)
		c->edge_ms = least(c->edge_ms, want_edge(c, &c->wants[i]));
	for (size_t i = 0; i < c->kept_count; i++)
		recount_more(c, c->kept[i]);
}

/* The kind with the fewest devices that are enough; -1: none. */
static int kind_for(const struct cells *c, const struct cell *x, const struct need *n)
{
	int best = -1;

	for (size_t k = 0; k < c->kind_count; k++) {
		if (n->kinds >> c->kinds[k] & 1 && x->devices[k] >= milli_of(n) &&
		    (best < 0 || x->devices[k] < x->devices[best]))
			best = (int)k;
	}
	return best;
}

static void move_task(struct cells *c, const struct ask_role *r,
		      const struct cells_take *t, int sign)
{
	struct cell *x = &c->items[t->node];

	x->cpu_milli += sign * r->cpu_milli * t->count;
	x->memory_bytes += sign * r->memory_bytes * t->count;
	x->tasks += sign * t->count;
	x->ports += sign * r->any_ports * t->count;
	for (size_t i = 0; i < r->device_count; i++) {
		if (t->kinds[i] >= 0)
			x->devices[t->kinds[i]] +=
				sign * (int32_t)milli_of(&r->devices[i]) * t->count;
	}
}

/* Takes `count` tasks on a node that has room for them. */
static void take_on(struct cells *c, const struct want *w, int node, int64_t count,
		    struct cells_takes *out)
{
	recount(c, node, -1);
	for (int64_t n = 0; n < count; n++) {
		struct cells_take t = { .node = node, .count = 1 };
		struct cells_take *last = out->count ? &out->items[out->count - 1] : NULL;
		t.role = (size_t)(w->role - w->shape->ask->roles);
		for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
			t.kinds[i] = (int8_t)(i < w->role->device_count
						      ? kind_for(c, &c->items[node],
								 &w->role->devices[i])
						      : -1);
		move_task(c, w->role, &t, -1);
		if (last && last->node == node && last->role == t.role &&
		    memcmp(last->kinds, t.kinds, sizeof t.kinds) == 0) {
			last->count++;
			continue;
		}
		mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
		out->items[out->count++] = t;
	}
	recount(c, node, 1);
}

/* As many as there is room for, up to the role's count; false: fewer than its least. */
static bool take_role(struct cells *c, struct want *w, struct cells_takes *out)
{
	int64_t left = w->role->count;

	while (left > 0 && w->count) {
		int node = w->nodes[w->count - 1];
		int64_t n = least(room(c, w, node), left);
		if (n)
			take_on(c, w, node, n, out);
		if (!room(c, w, node))
			w->count--;
		left -= n;
	}
	return w->role->count - left >= w->role->least;
}

bool cells_take(struct cells *c, int want, struct cells_takes *out)
{
	const struct shape *s = c->wants[want].shape;
	bool whole = cells_enough(c, want);

	out->count = 0;
	for (size_t k = 0; k < s->ask->role_count && whole; k++)
		whole = take_role(c, &c->wants[(size_t)want + s->ask->order[k]], out);
	if (!whole) {
		cells_move(c, s, out, 1);
		out->count = 0;
	}
	return whole;
}

void cells_move(struct cells *c, const struct shape *s, const struct cells_takes *takes,
		int sign)
{
	for (size_t i = 0; i < takes->count; i++) {
		const struct cells_take *t = &takes->items[i];
		recount(c, t->node, -1);
		move_task(c, &s->ask->roles[t->role], t, sign);
		recount_more(c, t->node);
	}
}

static void end_task(struct cells *c, const struct ask_role *r, const struct grant *g,
		     int sign)
{
	struct cell *x = &c->items[g->node];

	x->cpu_milli += sign * r->cpu_milli;
	x->memory_bytes += sign * r->memory_bytes;
	x->tasks += sign;
	x->ports += sign * r->any_ports;
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		int32_t each = g->devices[i].share_milli ? g->devices[i].share_milli
							 : DEVICE_SHARE;
		int at = g->devices[i].mask
				 ? kind_at(c, fleet_pool_kind(c->fleet, g->node,
							      g->devices[i].pool))
				 : -1;
		if (at >= 0)
			x->devices[at] +=
				sign * each * __builtin_popcountll(g->devices[i].mask);
	}
}

void cells_end(struct cells *c, const struct entry *e, int sign)
{
	for (size_t i = 0; i < e->grants.count; i++) {
		const struct grant *g = &e->grants.items[i];
		recount(c, g->node, -1);
		end_task(c, &e->shape->ask->roles[g->role], g, sign);
		recount_more(c, g->node);
	}
}
