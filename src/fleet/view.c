// SPDX-License-Identifier: Apache-2.0
/* Views: what is free, now or imagined, and where a gang goes in one.  Exact for jobs of
 * one role; several roles are packed greedily, the most demanding first.  Tasks of a role
 * go to as few nodes as possible, and onto the node where they leave the least behind, so
 * that large holes stay large. */
#include <string.h>

#include "base/mem.h"
#include "fleet/inside.h"

static struct view *sized(const struct fleet *f, struct view **v, size_t count)
{
	if (!*v)
		*v = mem_alloc(1, sizeof **v);
	(*v)->fleet = f;
	if (count > (*v)->cap) {
		(*v)->cap = count;
		(*v)->spaces = mem_realloc((*v)->spaces, count, sizeof *(*v)->spaces);
	}
	(*v)->count = count;
	return *v;
}

void view_copy(const struct fleet *f, const struct view *from, struct view **v)
{
	struct view *to = sized(f, v, from->count);

	if (to->count)
		memcpy(to->spaces, from->spaces, to->count * sizeof *to->spaces);
}

void view_empty(const struct fleet *f, struct view **v)
{
	struct view *to = sized(f, v, f->live.count);

	for (size_t i = 0; i < to->count; i++) {
		const struct machine *m = &f->machines[i];
		struct space *s = &to->spaces[i];
		*s = (struct space){ .open = f->live.spaces[i].open,
				     .cpu_milli = m->node.capacity.cpu_milli,
				     .memory_bytes = m->node.capacity.memory_bytes,
				     .tasks = machine_task_limit(&m->node) };
		if (m->node.port_first > 0 && m->node.port_last >= m->node.port_first)
			s->ports = m->node.port_last - m->node.port_first + 1;
		for (int k = 0; k < FLEET_POOLS; k++)
			s->devices[k] = __builtin_popcountll(m->pools[k].total);
	}
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

void view_least(const struct view *a, const struct view *b, struct view **v)
{
	struct view *to = sized(a->fleet, v, a->count);

	for (size_t i = 0; i < to->count; i++) {
		const struct space *x = &a->spaces[i], *y = &b->spaces[i];
		struct space *s = &to->spaces[i];
		s->open = x->open;
		s->cpu_milli = least(x->cpu_milli, y->cpu_milli);
		s->memory_bytes = least(x->memory_bytes, y->memory_bytes);
		s->tasks = least(x->tasks, y->tasks);
		s->ports = (int)least(x->ports, y->ports);
		for (int k = 0; k < FLEET_POOLS; k++)
			s->devices[k] = (int)least(x->devices[k], y->devices[k]);
	}
}

void view_destroy(struct view *v)
{
	if (!v)
		return;
	free(v->spaces);
	free(v->kept);
	free(v);
}

static int64_t times(int64_t have, int64_t each, int64_t most)
{
	int64_t n;

	if (each <= 0)
		return most;
	n = have > 0 ? have / each : 0;
	return n < most ? n : most;
}

int space_pool(const struct view *v, int node, const struct need *n)
{
	const struct machine *m = &v->fleet->machines[node];
	const struct space *s = &v->spaces[node];
	int best = -1;

	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].kind < 0 || !(n->kinds >> m->pools[i].kind & 1))
			continue;
		bool enough = s->devices[i] >= n->count;
		if (best < 0 || (s->devices[best] >= n->count
					 ? enough && s->devices[i] < s->devices[best]
					 : s->devices[i] > s->devices[best]))
			best = i;
	}
	return best;
}

/* Tasks of one role on one node may take from several pools that will do. */
static int64_t device_room(const struct view *v, int node, const struct need *n,
			   int64_t most)
{
	const struct machine *m = &v->fleet->machines[node];
	int64_t sum = 0;

	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].kind >= 0 && n->kinds >> m->pools[i].kind & 1)
			sum += times(v->spaces[node].devices[i], n->count, most);
	}
	return least(sum, most);
}

int64_t space_room(const struct view *v, int node, const struct ask_role *r, int64_t most)
{
	const struct space *s = &v->spaces[node];
	int64_t n = most;

	if (!s->open)
		return 0;
	n = times(s->cpu_milli, r->cpu_milli, n);
	n = times(s->memory_bytes, r->memory_bytes, n);
	n = times(s->tasks, 1, n);
	/* A task's own fixed port may be the very number that is free: keep that many more. */
	n = times(s->ports - r->fixed_count, r->any_ports, n);
	for (size_t i = 0; i < r->device_count && n > 0; i++)
		n = device_room(v, node, &r->devices[i], n);
	return n;
}

static void take_one(struct view *v, int node, const struct ask_role *r)
{
	for (size_t i = 0; i < r->device_count; i++) {
		int pool = space_pool(v, node, &r->devices[i]);
		if (pool >= 0)
			v->spaces[node].devices[pool] -= (int)r->devices[i].count;
	}
}

void space_take(struct view *v, int node, const struct ask_role *r, int64_t count)
{
	struct space *s = &v->spaces[node];

	s->cpu_milli -= r->cpu_milli * count;
	s->memory_bytes -= r->memory_bytes * count;
	s->tasks -= count;
	s->ports -= r->any_ports * (int)count;
	for (int64_t i = 0; i < count && r->device_count; i++)
		take_one(v, node, r);
}

void view_take(struct view *v, const struct ask *a, const struct picks *picks)
{
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		const struct ask_role *r = &a->roles[k->role];
		space_take(v, k->node, r, k->count);
		if (r->any_ports) /* the room that space_room() will ask for again */
			v->spaces[k->node].ports -= r->fixed_count;
	}
}

static void return_one(struct view *v, const struct ask_role *r, const struct grant *g)
{
	const struct machine *m = &v->fleet->machines[g->node];
	struct space *s = &v->spaces[g->node];

	s->cpu_milli += r->cpu_milli;
	s->memory_bytes += r->memory_bytes;
	s->tasks++;
	for (int k = 0; k < g->port_count; k++)
		s->ports += g->ports[k] >= m->node.port_first &&
			    g->ports[k] <= m->node.port_last;
	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (g->devices[k].mask)
			s->devices[g->devices[k].pool] += __builtin_popcountll(
				g->devices[k].mask & m->pools[g->devices[k].pool].total);
	}
}

void view_return(struct view *v, const struct ask *a, const struct grants *g, int node)
{
	for (size_t i = 0; i < g->count; i++) {
		if (node < 0 || g->items[i].node == node)
			return_one(v, &a->roles[g->items[i].role], &g->items[i]);
	}
}

/* What a node would be wasted on: devices the role does not use, then devices it does,
 * then cpu. */
static bool tighter(const struct view *v, const struct ask_role *r, int a, int b)
{
	int64_t idle[2] = { 0, 0 }, used[2] = { 0, 0 };
	int nodes[2] = { a, b };

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < FLEET_POOLS; i++) {
			int kind = v->fleet->machines[nodes[k]].pools[i].kind;
			bool asked = false;
			for (size_t d = 0; d < r->device_count && kind >= 0; d++)
				asked |= r->devices[d].kinds >> kind & 1;
			*(asked ? &used[k] : &idle[k]) += v->spaces[nodes[k]].devices[i];
		}
	}
	if (idle[0] != idle[1])
		return idle[0] < idle[1];
	if (used[0] != used[1])
		return used[0] < used[1];
	return v->spaces[a].cpu_milli < v->spaces[b].cpu_milli;
}

static void pick_add(struct picks *out, size_t role, int node, int count)
{
	mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
	out->items[out->count++] = (struct pick){ role, node, count };
}

/* The tightest node that holds all `left` tasks, else the one that holds the most. */
static int choose(const struct view *v, const struct ask_role *r, int left, int *count)
{
	int best = -1;

	*count = 0;
	for (size_t i = 0; i < v->count; i++) {
		int n = (int)space_room(v, (int)i, r, left);
		if (n > *count || (n && n == *count && tighter(v, r, (int)i, best))) {
			best = (int)i;
			*count = n;
		}
	}
	return best;
}

/* Remembers a node as it is before it is tried on. */
static void keep(struct view *v, size_t at, int node)
{
	mem_grow(&v->kept, &v->kept_cap, at, sizeof *v->kept);
	v->kept[at] = v->spaces[node];
}

bool view_fit(const struct view *view, const struct ask *a, const struct stay *stay,
	      struct picks *out)
{
	/* Tried on itself and put back: a copy would cost more than the search. */
	struct view *v = (struct view *)(uintptr_t)view;
	bool whole = true;

	(void)stay;
	out->count = 0;
	for (size_t k = 0; k < a->role_count && whole; k++) {
		const struct ask_role *r = &a->roles[a->order[k]];
		for (int left = r->count, n; left > 0; left -= n) {
			int node = choose(v, r, left, &n);
			whole = node >= 0;
			if (!whole)
				break;
			keep(v, out->count, node);
			space_take(v, node, r, n);
			pick_add(out, a->order[k], node, n);
		}
	}
	for (size_t i = out->count; i > 0; i--)
		v->spaces[out->items[i - 1].node] = v->kept[i - 1];
	return whole;
}

int64_t view_room(const struct view *v, const struct ask_role *r, int node, int64_t most)
{
	int64_t sum = 0;

	if (node >= 0)
		return space_room(v, node, r, most);
	for (size_t i = 0; i < v->count; i++)
		sum += space_room(v, (int)i, r, most);
	return sum;
}

struct amount view_cpu(const struct view *v, int node)
{
	return (struct amount){ v->spaces[node].cpu_milli,
				v->fleet->machines[node].node.capacity.cpu_milli };
}

struct amount view_memory(const struct view *v, int node)
{
	return (struct amount){ v->spaces[node].memory_bytes,
				v->fleet->machines[node].node.capacity.memory_bytes };
}

struct amount view_ports(const struct view *v, int node)
{
	const struct node *n = &v->fleet->machines[node].node;

	return (struct amount){ v->spaces[node].ports, n->port_last - n->port_first + 1 };
}

struct amount view_tasks(const struct view *v, int node)
{
	return (struct amount){ v->spaces[node].tasks,
				v->fleet->machines[node].node.max_tasks };
}

struct amount view_devices(const struct view *v, int node, const struct need *n)
{
	const struct machine *m = &v->fleet->machines[node];
	struct amount sum = { 0, 0 };

	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].kind < 0 || !(n->kinds >> m->pools[i].kind & 1))
			continue;
		sum.free += v->spaces[node].devices[i];
		sum.total += __builtin_popcountll(m->pools[i].total);
	}
	return sum;
}

bool view_open(const struct view *v, int node)
{
	return v->spaces[node].open;
}
