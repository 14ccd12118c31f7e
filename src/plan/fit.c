// SPDX-License-Identifier: Apache-2.0
/* Where a gang goes.  Exact for jobs of one role; several roles are packed greedily,
 * the most demanding first.  Tasks of a role go to as few nodes as possible, and onto
 * the node where they leave the least behind, so that large holes stay large. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

static int64_t times(int64_t have, int64_t each, int64_t most)
{
	int64_t n;

	if (each <= 0)
		return most;
	n = have > 0 ? have / each : 0;
	return n < most ? n : most;
}

int fit_count(const struct plan *p, const struct space *s, int node,
	      const struct shape_role *r, int most)
{
	int64_t n = most;

	if (!s->up)
		return 0;
	n = times(s->cpu_milli, r->cpu_milli, n);
	n = times(s->memory_bytes, r->memory_bytes, n);
	n = times(s->tasks, 1, n);
	/* A task's own fixed port may be the very number that is free: keep that many more. */
	n = times(s->ports - r->fixed_count, r->any_ports, n);
	for (size_t i = 0; i < r->device_count && n > 0; i++) {
		int pool = nodes_pool(p, node, r->devices[i].kind);
		n = pool < 0 ? 0 : times(s->devices[pool], r->devices[i].count, n);
	}
	return (int)n;
}

void fit_take(const struct plan *p, struct space *s, int node, const struct shape_role *r,
	      int times_taken)
{
	s->cpu_milli -= r->cpu_milli * times_taken;
	s->memory_bytes -= r->memory_bytes * times_taken;
	s->tasks -= times_taken;
	s->ports -= r->any_ports * times_taken;
	for (size_t i = 0; i < r->device_count; i++) {
		int pool = nodes_pool(p, node, r->devices[i].kind);
		if (pool >= 0)
			s->devices[pool] -= (int)r->devices[i].count * times_taken;
	}
}

/* What a node would be wasted on: devices the role does not use, then devices it does, then cpu. */
static bool tighter(const struct plan *p, const struct space *spaces,
		    const struct shape_role *r, int a, int b)
{
	int64_t idle[2] = { 0, 0 }, used[2] = { 0, 0 };
	int nodes[2] = { a, b };

	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < NODE_POOLS; i++) {
			int kind = p->nodes[nodes[k]].pools[i].kind;
			bool asked = false;
			for (size_t d = 0; d < r->device_count; d++)
				asked |= r->devices[d].kind == kind;
			*(asked ? &used[k] : &idle[k]) += spaces[nodes[k]].devices[i];
		}
	}
	if (idle[0] != idle[1])
		return idle[0] < idle[1];
	if (used[0] != used[1])
		return used[0] < used[1];
	return spaces[a].cpu_milli < spaces[b].cpu_milli;
}

static void pick_add(struct picks *out, size_t role, int node, int count)
{
	mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
	out->items[out->count++] = (struct pick){ role, node, count };
}

/* The tightest node that holds all `left` tasks, else the one that holds the most. */
static int choose(const struct plan *p, const struct space *spaces,
		  const struct shape_role *r, int left, int *count)
{
	int best = -1;

	*count = 0;
	for (size_t i = 0; i < p->node_count; i++) {
		int n = fit_count(p, &spaces[i], (int)i, r, left);
		if (n > *count ||
		    (n && n == *count && tighter(p, spaces, r, (int)i, best))) {
			best = (int)i;
			*count = n;
		}
	}
	return best;
}

bool fit_shape(const struct plan *p, struct space *spaces, const struct shape *s,
	       struct picks *out)
{
	bool whole = true;

	out->count = 0;
	for (size_t k = 0; k < s->role_count && whole; k++) {
		const struct shape_role *r = &s->roles[s->order[k]];
		for (int left = r->count, n; left > 0; left -= n) {
			int node = choose(p, spaces, r, left, &n);
			whole = node >= 0;
			if (!whole)
				break;
			fit_take(p, &spaces[node], node, r, n);
			pick_add(out, s->order[k], node, n);
		}
	}
	for (size_t i = 0; i < out->count; i++) {
		const struct pick *k = &out->items[i];
		fit_take(p, &spaces[k->node], k->node, &s->roles[k->role], -k->count);
	}
	return whole;
}

void fit_empty(const struct plan *p, struct space **spaces, size_t *cap)
{
	if (p->node_count > *cap) {
		*cap = p->node_count;
		*spaces = mem_realloc(*spaces, *cap, sizeof **spaces);
	}
	for (size_t i = 0; i < p->node_count; i++) {
		const struct node_state *n = &p->nodes[i];
		struct space *s = &(*spaces)[i];
		*s = (struct space){ .up = n->node.up,
				     .cpu_milli = n->node.capacity.cpu_milli,
				     .memory_bytes = n->node.capacity.memory_bytes,
				     .tasks = nodes_task_limit(&n->node) };
		if (n->node.port_first > 0 && n->node.port_last >= n->node.port_first)
			s->ports = n->node.port_last - n->node.port_first + 1;
		for (int k = 0; k < NODE_POOLS; k++)
			s->devices[k] = __builtin_popcountll(n->pools[k].total);
	}
}

bool fit_ever(const struct plan *p, struct shape *s)
{
	if (s->ever_version != p->node_version) {
		fit_empty(p, &p->scratch->future, &p->scratch->future_cap);
		s->ever = fit_shape(p, p->scratch->future, s, &p->scratch->head_picks);
		s->ever_version = p->node_version;
	}
	return s->ever;
}

void fit_return(const struct plan *p, struct space *s, const struct entry *e,
		const struct grant *g)
{
	const struct node_state *n = &p->nodes[g->node];
	const struct shape_role *r = &e->shape->roles[g->role];

	s->cpu_milli += r->cpu_milli;
	s->memory_bytes += r->memory_bytes;
	s->tasks++;
	for (int k = 0; k < g->port_count; k++)
		s->ports += g->ports[k] >= n->node.port_first &&
			    g->ports[k] <= n->node.port_last;
	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (g->devices[k].mask)
			s->devices[g->devices[k].pool] += __builtin_popcountll(
				g->devices[k].mask & n->pools[g->devices[k].pool].total);
	}
}
