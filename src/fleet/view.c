// SPDX-License-Identifier: Apache-2.0
/* Views: what is free, now or imagined. */
#include <string.h>

#include "base/mem.h"
#include "fleet/space.h"

const struct view *fleet_now(const struct fleet *f)
{
	layout_need(f, &f->layout);
	return &f->live;
}

static struct view *view_new(const struct fleet *f, struct view **v)
{
	layout_need(f, &f->layout);
	if (!*v)
		*v = mem_alloc(1, sizeof **v);
	else
		view_drop(*v);
	(*v)->fleet = f;
	(*v)->exact = false;
	view_index_reserve(*v);
	return *v;
}

void view_copy(const struct fleet *f, const struct view *from, struct view **v)
{
	struct view *to;

	if (from == *v)
		return;
	to = view_new(f, v);
	view_share(to, from);
	to->exact = from->exact;
	if (!to->count)
		return;
	memcpy(to->bits, from->bits, f->layout.bits * sizeof *to->bits);
	memcpy(to->counts, from->counts, f->layout.counts * sizeof *to->counts);
}

/* Made once for the nodes as they are. */
static void empty_make(struct fleet *f)
{
	struct view *v = &f->empty;

	view_drop(v);
	v->fleet = f;
	view_index_reserve(v);
	view_grow(v, f->live.count);
	index_clear(v);
	for (int i = 0; i < (int)v->count; i++) {
		struct space *s = view_write(v, i);
		space_empty(f, i, s);
		index_move(v, i, s);
	}
	f->empty_version = f->version;
}

void view_empty(const struct fleet *f, struct view **v)
{
	layout_need(f, &f->layout);
	if (f->empty_version != f->version || f->empty.generation != f->chunks.generation)
		empty_make((struct fleet *)(uintptr_t)f);
	view_copy(f, &f->empty, v);
}

void view_reopen(struct view *v)
{
	for (int i = 0; i < (int)v->count; i++) {
		const struct node *n = fleet_node(v->fleet, i);

		if (!n->up || n->state == NODE_OPEN)
			continue;
		struct space *s = view_write(v, i);
		s->open = true;
		index_move(v, i, s);
	}
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Of every device what both have left. */
static void least_left(const struct fleet *f, int node, struct space *s,
		       const struct space *other)
{
	const struct machine *m = &f->machines[node];

	for (size_t i = 0; i < f->row_pools && (s->shared || other->shared); i++) {
		uint16_t *left = space_left(f, s) + m->pools[i].first;
		const uint16_t *more = space_left(f, other) + m->pools[i].first;
		int count = bits_count(m->pools[i].total);
		for (int d = 0; d < count; d++) {
			int mine = s->idle[i] >> d & 1 ? DEVICE_SHARE : left[d];
			int his = other->idle[i] >> d & 1 ? DEVICE_SHARE : more[d];
			int both = mine < his ? mine : his;
			both = both == DEVICE_SHARE ? 0 : both;
			s->shared = (uint16_t)(s->shared + (both > 0) - (left[d] > 0));
			left[d] = (uint16_t)both;
		}
	}
}

/* Devices of a pool are as good as each other, so that it is enough when as many are
 * idle in both, though not the same ones; but not where it matters which they are. */
static uint64_t least_idle(uint64_t mine, uint64_t his, bool exact)
{
	uint64_t both = mine & his;
	int more = (int)least(bits_count(mine), bits_count(his)) - bits_count(both);

	return exact ? both : both | bits_lowest(mine & ~his, more);
}

/* A device that counts as idle in place of another one is not shared as well. */
static void drop_left(const struct fleet *f, int node, struct space *s, size_t pool)
{
	uint16_t *left = space_left(f, s) + f->machines[node].pools[pool].first;

	for (uint64_t idle = s->idle[pool]; idle; idle &= idle - 1) {
		uint16_t *one = &left[__builtin_ctzll(idle)];
		s->shared = (uint16_t)(s->shared - (*one > 0));
		*one = 0;
	}
}

void space_least(const struct fleet *f, int node, struct space *s,
		 const struct space *other, bool exact)
{
	s->open = s->open && other->open;
	s->cpu_milli = least(s->cpu_milli, other->cpu_milli);
	s->memory_bytes = least(s->memory_bytes, other->memory_bytes);
	s->tasks = (int)least(s->tasks, other->tasks);
	s->ports = (int)least(s->ports, other->ports);
	least_left(f, node, s, other);
	for (size_t i = 0; i < f->row_pools; i++) {
		s->idle[i] = least_idle(s->idle[i], other->idle[i], exact);
		if (s->shared)
			drop_left(f, node, s, i);
	}
}

void view_least(const struct view *a, const struct view *b, struct view **v)
{
	struct view *to;

	view_copy(a->fleet, a, v);
	to = *v;
	to->exact |= b->exact;
	for (size_t i = 0; i < to->chunk_count; i++) {
		int node = (int)(i * CHUNK_NODES), end = node + CHUNK_NODES;
		if (to->ids[i] == b->ids[i])
			continue;
		for (; node < end && node < (int)to->count; node++) {
			const struct space *x = view_space(a, node),
					   *y = view_space(b, node);
			struct space *s;
			if (memcmp(x, y, a->fleet->row_bytes) == 0)
				continue;
			s = view_write(to, node);
			space_least(to->fleet, node, s, y,
				    to->exact || to->fleet->machines[node].rings);
			index_move(to, node, s);
		}
	}
}

void view_destroy(struct view *v)
{
	if (!v)
		return;
	view_fini(v);
	free(v);
}

void view_take(struct view *v, const struct ask *a, const struct picks *picks)
{
	v->exact |= a->within_must && a->within == LEVEL_ISLAND;
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		const struct ask_role *r = &a->roles[k->role];
		struct space *s = view_write(v, k->node);
		space_take(v->fleet, k->node, s, r, k->count);
		if (r->any_ports) /* the room that space_room() will ask for again */
			s->ports -= r->fixed_count;
		index_move(v, k->node, s);
	}
}

static void return_one(struct view *v, const struct ask_role *r, const struct grant *g)
{
	const struct machine *m = &v->fleet->machines[g->node];
	struct space *s = view_write(v, g->node);
	const uint16_t *ports = grant_ports(g);

	s->cpu_milli += r->cpu_milli;
	s->memory_bytes += r->memory_bytes;
	s->tasks++;
	for (int k = 0; k < g->port_count; k++)
		s->ports +=
			ports[k] >= m->node->port_first && ports[k] <= m->node->port_last;
	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (g->devices[k].mask)
			devices_return(v->fleet, g->node, s, &g->devices[k]);
	}
	index_move(v, g->node, s);
}

void view_return(struct view *v, const struct ask *a, const struct grants *g, int node)
{
	for (size_t i = 0; i < g->count; i++) {
		if (node < 0 || g->items[i].node == node)
			return_one(v, &a->roles[g->items[i].role], &g->items[i]);
	}
}

struct amount view_cpu(const struct view *v, int node)
{
	return (struct amount){ view_space(v, node)->cpu_milli,
				v->fleet->machines[node].node->capacity.cpu_milli };
}

struct amount view_memory(const struct view *v, int node)
{
	return (struct amount){ view_space(v, node)->memory_bytes,
				v->fleet->machines[node].node->capacity.memory_bytes };
}

struct amount view_ports(const struct view *v, int node)
{
	const struct node *n = v->fleet->machines[node].node;

	return (struct amount){ view_space(v, node)->ports,
				n->port_last - n->port_first + 1 };
}

struct amount view_tasks(const struct view *v, int node)
{
	return (struct amount){ view_space(v, node)->tasks,
				v->fleet->machines[node].node->max_tasks };
}

struct amount view_devices(const struct view *v, int node, const struct need *n)
{
	const struct machine *m = &v->fleet->machines[node];
	const struct space *s = view_space(v, node);
	struct amount sum = { 0, 0 };

	for (size_t i = 0; i < v->fleet->row_pools; i++) {
		if (m->pools[i].kind < 0 || !(n->kinds >> m->pools[i].kind & 1))
			continue;
		sum.free += bits_count(s->idle[i]);
		sum.total += bits_count(m->pools[i].total);
	}
	if (n->share_milli) {
		sum.free = devices_room(v->fleet, node, s, n, INT32_MAX);
		sum.total *= DEVICE_SHARE / n->share_milli;
	}
	return sum;
}

bool view_open(const struct view *v, int node)
{
	return view_space(v, node)->open;
}
