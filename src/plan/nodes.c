// SPDX-License-Identifier: Apache-2.0
/* Nodes and what was given out on them.  Devices, slots and ports are given lowest
 * number first: what is given depends on what is held now and on nothing before. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

#define WORD_BITS 64

static bool bit_test(const uint64_t *words, size_t at)
{
	return words[at / WORD_BITS] >> (at % WORD_BITS) & 1;
}

static void bit_flip(uint64_t *words, size_t at)
{
	words[at / WORD_BITS] ^= (uint64_t)1 << (at % WORD_BITS);
}

static uint64_t mask_of(int count)
{
	if (count >= DEVICES_MAX)
		return UINT64_MAX;
	return count <= 0 ? 0 : ((uint64_t)1 << count) - 1;
}

int nodes_pool(const struct plan *p, int node, int kind)
{
	for (int i = 0; i < NODE_POOLS; i++) {
		if (p->nodes[node].pools[i].kind == kind)
			return i;
	}
	return -1;
}

/* The pool of a kind, made when there is none yet; -1 when all are taken. */
static int pool_make(struct plan *p, int node, int kind)
{
	struct node_state *n = &p->nodes[node];
	int at = nodes_pool(p, node, kind);

	for (int i = 0; i < NODE_POOLS && at < 0; i++) {
		if (n->pools[i].kind == KIND_NONE ||
		    (!n->pools[i].total && !n->pools[i].used))
			at = i;
	}
	if (at >= 0)
		n->pools[at].kind = kind;
	return at;
}

int nodes_find(struct plan *p, const char *name)
{
	uintptr_t known = (uintptr_t)map_gets(p->node_by_name, name);
	struct node_state *n;

	if (known)
		return (int)(known - 1);
	mem_grow(&p->nodes, &p->node_cap, p->node_count, sizeof *p->nodes);
	mem_grow(&p->live, &p->live_cap, p->node_count, sizeof *p->live);
	n = &p->nodes[p->node_count];
	*n = (struct node_state){ 0 };
	p->live[p->node_count] = (struct space){ 0 };
	memcpy(n->node.name, name, strnlen(name, NODE_NAME_MAX - 1));
	for (int i = 0; i < NODE_POOLS; i++)
		n->pools[i].kind = KIND_NONE;
	map_puts(p->node_by_name, n->node.name, (void *)(uintptr_t)(p->node_count + 1));
	return (int)p->node_count++;
}

static int ports_free(const struct node_state *n)
{
	int free_count = 0;

	for (int port = n->node.port_first; port > 0 && port <= n->node.port_last; port++)
		free_count += !n->ports || !bit_test(n->ports, (size_t)port);
	return free_count;
}

int64_t nodes_task_limit(const struct node *n)
{
	return n->max_tasks > 0 ? n->max_tasks : INT64_C(1) << 40;
}

void nodes_refresh(struct plan *p, int node)
{
	const struct node_state *n = &p->nodes[node];
	struct space *s = &p->live[node];

	s->up = n->node.up;
	s->cpu_milli = n->node.capacity.cpu_milli - n->cpu_milli;
	s->memory_bytes = n->node.capacity.memory_bytes - n->memory_bytes;
	s->tasks = nodes_task_limit(&n->node) - n->tasks;
	for (int i = 0; i < NODE_POOLS; i++)
		s->devices[i] =
			__builtin_popcountll(n->pools[i].total & ~n->pools[i].used);
}

void nodes_set(struct plan *p, const struct node *node)
{
	int at = nodes_find(p, node->name);
	struct node_state *n = &p->nodes[at];

	n->node = *node;
	if (n->node.port_last >= NODE_PORTS)
		n->node.port_last = NODE_PORTS - 1;
	for (int i = 0; i < NODE_POOLS; i++)
		n->pools[i].total = 0;
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		const struct device_count *d = &node->capacity.devices[i];
		int pool = d->count > 0 ? pool_make(p, at, plan_kind(p, d->type)) : -1;
		if (pool >= 0)
			n->pools[pool].total = mask_of(d->count);
	}
	nodes_refresh(p, at);
	p->live[at].ports = ports_free(n);
}

void nodes_free(struct plan *p)
{
	for (size_t i = 0; i < p->node_count; i++) {
		free(p->nodes[i].slots);
		free(p->nodes[i].ports);
	}
	free(p->nodes);
	free(p->live);
}

static void slots_reserve(struct node_state *n, size_t slot)
{
	size_t words = slot / WORD_BITS + 1;

	if (words <= n->slot_words)
		return;
	words *= 2;
	n->slots = mem_realloc(n->slots, words, sizeof *n->slots);
	memset(n->slots + n->slot_words, 0, (words - n->slot_words) * sizeof *n->slots);
	n->slot_words = words;
}

static int slot_take(struct node_state *n)
{
	size_t word = 0, slot;

	while (word < n->slot_words && n->slots[word] == UINT64_MAX)
		word++;
	slot = word * WORD_BITS;
	if (word < n->slot_words)
		slot += (size_t)__builtin_ctzll(~n->slots[word]);
	slots_reserve(n, slot);
	bit_flip(n->slots, slot);
	return (int)slot;
}

static void ports_reserve(struct node_state *n)
{
	if (!n->ports)
		n->ports = mem_alloc(NODE_PORTS / WORD_BITS, sizeof *n->ports);
}

static bool in_range(const struct node_state *n, int port)
{
	return port >= n->node.port_first && port <= n->node.port_last;
}

static bool is_fixed(const struct shape_role *r, int port)
{
	for (int i = 0; i < r->fixed_count; i++) {
		if (r->fixed_ports[i] == port)
			return true;
	}
	return false;
}

/* fit_count() left room for the fixed ports too, so the search cannot run dry. */
static void ports_take(struct plan *p, struct grant *g, const struct shape_role *r)
{
	struct node_state *n = &p->nodes[g->node];
	int port = n->node.port_first;

	if (!r->any_ports)
		return;
	ports_reserve(n);
	g->ports = mem_alloc((size_t)r->any_ports, sizeof *g->ports);
	while (g->port_count < r->any_ports) {
		assert(port <= n->node.port_last);
		if (!bit_test(n->ports, (size_t)port) && !is_fixed(r, port)) {
			bit_flip(n->ports, (size_t)port);
			g->ports[g->port_count++] = port;
			p->live[g->node].ports--;
		}
		port++;
	}
}

static uint64_t lowest_bits(uint64_t mask, int64_t count)
{
	uint64_t out = 0;

	for (; count > 0 && mask; count--) {
		out |= mask & -mask;
		mask &= mask - 1;
	}
	return out;
}

static void charge(struct plan *p, const struct grant *g, const struct shape_role *r,
		   int sign)
{
	struct node_state *n = &p->nodes[g->node];

	n->cpu_milli += sign * r->cpu_milli;
	n->memory_bytes += sign * r->memory_bytes;
	n->tasks += sign;
}

static void grant_one(struct plan *p, struct grant *g, const struct shape_role *r)
{
	struct node_state *n = &p->nodes[g->node];

	g->slot = slot_take(n);
	for (size_t i = 0; i < r->device_count; i++) {
		int pool = nodes_pool(p, g->node, r->devices[i].kind);
		uint64_t mask = lowest_bits(n->pools[pool].total & ~n->pools[pool].used,
					    r->devices[i].count);
		assert(__builtin_popcountll(mask) == r->devices[i].count);
		n->pools[pool].used |= mask;
		g->devices[i].pool = pool;
		g->devices[i].mask = mask;
	}
	ports_take(p, g, r);
	charge(p, g, r, 1);
	nodes_refresh(p, g->node);
}

static size_t first_rank(const struct shape *s, size_t role)
{
	size_t rank = 0;

	for (size_t i = 0; i < role; i++)
		rank += (size_t)s->roles[i].count;
	return rank;
}

void nodes_grant(struct plan *p, struct entry *e, const struct picks *picks)
{
	const struct shape *s = e->shape;
	size_t at = 0, role = SIZE_MAX;

	e->grant_count = (size_t)s->task_count;
	e->grants = mem_alloc(e->grant_count, sizeof *e->grants);
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		if (k->role != role)
			at = first_rank(s, k->role);
		role = k->role;
		for (int n = 0; n < k->count; n++, at++) {
			e->grants[at].node = k->node;
			e->grants[at].role = (int)k->role;
			grant_one(p, &e->grants[at], &s->roles[k->role]);
		}
	}
}

/* Takes what a record says; what somebody else has already is not taken again, so that
 * a wrong record can never make the plan give back what it did not hold. */
static void adopt_one(struct plan *p, struct grant *g, const struct shape_role *r,
		      const struct placement *place)
{
	struct node_state *n = &p->nodes[g->node];

	slots_reserve(n, (size_t)(place->slot < 0 ? 0 : place->slot));
	g->slot = place->slot >= 0 && !bit_test(n->slots, (size_t)place->slot)
			  ? place->slot
			  : -1;
	if (g->slot >= 0)
		bit_flip(n->slots, (size_t)g->slot);
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		int pool = place->devices[i].mask
				   ? pool_make(p, g->node,
					       plan_kind(p, place->devices[i].type))
				   : -1;
		if (pool < 0)
			continue;
		g->devices[i].pool = pool;
		g->devices[i].mask = place->devices[i].mask & ~n->pools[pool].used;
		n->pools[pool].used |= g->devices[i].mask;
	}
	ports_reserve(n);
	g->ports = mem_alloc((size_t)place->port_count, sizeof *g->ports);
	for (int i = 0; i < place->port_count; i++) {
		int port = place->ports[i];
		if (port <= 0 || port >= NODE_PORTS || is_fixed(r, port) ||
		    bit_test(n->ports, (size_t)port))
			continue;
		bit_flip(n->ports, (size_t)port);
		g->ports[g->port_count++] = port;
		p->live[g->node].ports -= in_range(n, port);
	}
	charge(p, g, r, 1);
	nodes_refresh(p, g->node);
}

void nodes_adopt(struct plan *p, struct entry *e, const struct placement *places,
		 size_t count)
{
	const struct shape *s = e->shape;
	size_t role = 0, left = s->role_count ? (size_t)s->roles[0].count : 0;

	e->grant_count = count < (size_t)s->task_count ? count : (size_t)s->task_count;
	e->grants = mem_alloc(e->grant_count, sizeof *e->grants);
	for (size_t i = 0; i < e->grant_count; i++, left--) {
		while (!left)
			left = (size_t)s->roles[++role].count;
		e->grants[i].node = nodes_find(p, places[i].node);
		e->grants[i].role = (int)role;
		adopt_one(p, &e->grants[i], &s->roles[role], &places[i]);
	}
}

void nodes_give_back(struct plan *p, struct entry *e)
{
	for (size_t i = 0; i < e->grant_count; i++) {
		struct grant *g = &e->grants[i];
		struct node_state *n = &p->nodes[g->node];
		if (g->slot >= 0)
			bit_flip(n->slots, (size_t)g->slot);
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
			if (g->devices[k].mask)
				n->pools[g->devices[k].pool].used &= ~g->devices[k].mask;
		}
		for (int k = 0; k < g->port_count; k++) {
			bit_flip(n->ports, (size_t)g->ports[k]);
			p->live[g->node].ports += in_range(n, g->ports[k]);
		}
		charge(p, g, &e->shape->roles[g->role], -1);
		nodes_refresh(p, g->node);
		free(g->ports);
	}
	free(e->grants);
	e->grants = NULL;
	e->grant_count = 0;
}

void nodes_describe(const struct plan *p, const struct entry *e, struct placement *out)
{
	for (size_t i = 0; i < e->grant_count; i++) {
		const struct grant *g = &e->grants[i];
		const struct node_state *n = &p->nodes[g->node];
		const struct shape_role *r = &e->shape->roles[g->role];
		out[i] = (struct placement){ .slot = g->slot };
		memcpy(out[i].node, n->node.name, sizeof out[i].node);
		for (size_t k = 0; k < r->device_count; k++) {
			const char *type = p->kinds[n->pools[g->devices[k].pool].kind];
			memcpy(out[i].devices[k].type, type,
			       strnlen(type, DEVICE_TYPE_MAX - 1));
			out[i].devices[k].mask = g->devices[k].mask;
		}
		for (int k = 0; k < g->port_count; k++)
			out[i].ports[out[i].port_count++] = g->ports[k];
		for (int k = 0; k < r->fixed_count && out[i].port_count < PORTS_MAX; k++)
			out[i].ports[out[i].port_count++] = r->fixed_ports[k];
	}
}
