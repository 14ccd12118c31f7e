// SPDX-License-Identifier: Apache-2.0
/* Machines and what was given out on them. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/inside.h"

#define WORD_BITS 64

static bool bit_test(const uint64_t *words, size_t at)
{
	return words[at / WORD_BITS] >> (at % WORD_BITS) & 1;
}

static void bit_flip(uint64_t *words, size_t at)
{
	words[at / WORD_BITS] ^= (uint64_t)1 << (at % WORD_BITS);
}

int machine_pool(const struct machine *m, int kind)
{
	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].kind == kind)
			return i;
	}
	return -1;
}

static void slots_reserve(struct machine *m, size_t slot)
{
	size_t words = slot / WORD_BITS + 1;

	if (words <= m->slot_words)
		return;
	words *= 2;
	m->slots = mem_realloc(m->slots, words, sizeof *m->slots);
	memset(m->slots + m->slot_words, 0, (words - m->slot_words) * sizeof *m->slots);
	m->slot_words = words;
}

static int slot_take(struct machine *m)
{
	size_t word = 0, slot;

	while (word < m->slot_words && m->slots[word] == UINT64_MAX)
		word++;
	slot = word * WORD_BITS;
	if (word < m->slot_words)
		slot += (size_t)__builtin_ctzll(~m->slots[word]);
	slots_reserve(m, slot);
	bit_flip(m->slots, slot);
	return (int)slot;
}

static void ports_reserve(struct machine *m)
{
	if (!m->ports)
		m->ports = mem_alloc(NODE_PORTS / WORD_BITS, sizeof *m->ports);
}

static bool in_range(const struct machine *m, int port)
{
	return port >= m->node.port_first && port <= m->node.port_last;
}

static bool is_fixed(const struct ask_role *r, int port)
{
	for (int i = 0; i < r->fixed_count; i++) {
		if (r->fixed_ports[i] == port)
			return true;
	}
	return false;
}

/* space_room() left room for the fixed ports too, so the search cannot run dry. */
static void ports_take(struct fleet *f, struct grant *g, const struct ask_role *r)
{
	struct machine *m = &f->machines[g->node];
	int port = m->node.port_first;

	if (!r->any_ports)
		return;
	ports_reserve(m);
	g->ports = mem_alloc((size_t)r->any_ports, sizeof *g->ports);
	while (g->port_count < r->any_ports) {
		assert(port <= m->node.port_last);
		if (!bit_test(m->ports, (size_t)port) && !is_fixed(r, port)) {
			bit_flip(m->ports, (size_t)port);
			g->ports[g->port_count++] = port;
			f->live.spaces[g->node].ports--;
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

static void charge(struct fleet *f, const struct grant *g, const struct ask_role *r,
		   int sign)
{
	struct machine *m = &f->machines[g->node];

	m->cpu_milli += sign * r->cpu_milli;
	m->memory_bytes += sign * r->memory_bytes;
	m->tasks += sign;
}

static void grant_one(struct fleet *f, struct grant *g, const struct ask_role *r)
{
	struct machine *m = &f->machines[g->node];

	g->slot = slot_take(m);
	for (size_t i = 0; i < r->device_count; i++) {
		int pool = space_pool(&f->live, g->node, &r->devices[i]);
		uint64_t mask = lowest_bits(m->pools[pool].total & ~m->pools[pool].used,
					    r->devices[i].count);
		assert(__builtin_popcountll(mask) == r->devices[i].count);
		m->pools[pool].used |= mask;
		g->devices[i].pool = pool;
		g->devices[i].mask = mask;
	}
	ports_take(f, g, r);
	charge(f, g, r, 1);
	fleet_refresh(f, g->node);
}

static size_t first_rank(const struct ask *a, size_t role)
{
	size_t rank = 0;

	for (size_t i = 0; i < role; i++)
		rank += (size_t)a->roles[i].count;
	return rank;
}

void fleet_grant(struct fleet *f, const struct ask *a, const struct picks *picks,
		 struct grants *out)
{
	size_t at = 0, role = SIZE_MAX;

	out->count = (size_t)a->task_count;
	out->items = mem_alloc(out->count, sizeof *out->items);
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		if (k->role != role)
			at = first_rank(a, k->role);
		role = k->role;
		for (int n = 0; n < k->count; n++, at++) {
			out->items[at].node = k->node;
			out->items[at].role = (int)k->role;
			grant_one(f, &out->items[at], &a->roles[k->role]);
		}
	}
}

/* The pool of a kind, made when there is none yet; -1 when all are taken. */
static int pool_make(struct machine *m, int kind)
{
	int at = machine_pool(m, kind);

	for (int i = 0; i < FLEET_POOLS && at < 0; i++) {
		if (m->pools[i].kind == KIND_NONE ||
		    (!m->pools[i].total && !m->pools[i].used))
			at = i;
	}
	if (at >= 0)
		m->pools[at].kind = kind;
	return at;
}

static void adopt_devices(struct fleet *f, struct grant *g, const struct placement *place)
{
	struct machine *m = &f->machines[g->node];

	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		int kind = place->devices[i].mask ? fleet_kind(f, place->devices[i].type)
						  : KIND_NONE;
		int pool = kind >= 0 ? pool_make(m, kind) : -1;
		if (pool < 0)
			continue;
		g->devices[i].pool = pool;
		g->devices[i].mask = place->devices[i].mask & ~m->pools[pool].used;
		m->pools[pool].used |= g->devices[i].mask;
	}
}

/* What somebody else has already is not taken again, so that a wrong record can never
 * make the fleet give back what it did not hold. */
static void adopt_one(struct fleet *f, struct grant *g, const struct ask_role *r,
		      const struct placement *place)
{
	struct machine *m = &f->machines[g->node];

	slots_reserve(m, (size_t)(place->slot < 0 ? 0 : place->slot));
	g->slot = place->slot >= 0 && !bit_test(m->slots, (size_t)place->slot)
			  ? place->slot
			  : -1;
	if (g->slot >= 0)
		bit_flip(m->slots, (size_t)g->slot);
	adopt_devices(f, g, place);
	ports_reserve(m);
	g->ports = mem_alloc((size_t)place->port_count, sizeof *g->ports);
	for (int i = 0; i < place->port_count; i++) {
		int port = place->ports[i];
		if (port <= 0 || port >= NODE_PORTS || is_fixed(r, port) ||
		    bit_test(m->ports, (size_t)port))
			continue;
		bit_flip(m->ports, (size_t)port);
		g->ports[g->port_count++] = port;
		f->live.spaces[g->node].ports -= in_range(m, port);
	}
	charge(f, g, r, 1);
	fleet_refresh(f, g->node);
}

/* A node of which only a record tells is made, as one that is gone. */
static int find_or_make(struct fleet *f, const char *name)
{
	int at = fleet_find(f, name);
	struct node gone = { 0 };

	if (at >= 0)
		return at;
	memcpy(gone.name, name, strnlen(name, NODE_NAME_MAX - 1));
	fleet_set_node(f, &gone);
	return fleet_find(f, name);
}

void fleet_adopt(struct fleet *f, const struct ask *a, const struct placement *places,
		 size_t count, struct grants *out)
{
	size_t role = 0, left = a->role_count ? (size_t)a->roles[0].count : 0;

	out->count = count < (size_t)a->task_count ? count : (size_t)a->task_count;
	out->items = mem_alloc(out->count, sizeof *out->items);
	for (size_t i = 0; i < out->count; i++, left--) {
		while (!left)
			left = (size_t)a->roles[++role].count;
		out->items[i].node = find_or_make(f, places[i].node);
		out->items[i].role = (int)role;
		adopt_one(f, &out->items[i], &a->roles[role], &places[i]);
	}
}

void fleet_give_back(struct fleet *f, const struct ask *a, struct grants *gs)
{
	for (size_t i = 0; i < gs->count; i++) {
		struct grant *g = &gs->items[i];
		struct machine *m = &f->machines[g->node];
		if (g->slot >= 0)
			bit_flip(m->slots, (size_t)g->slot);
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
			if (g->devices[k].mask)
				m->pools[g->devices[k].pool].used &= ~g->devices[k].mask;
		}
		for (int k = 0; k < g->port_count; k++) {
			bit_flip(m->ports, (size_t)g->ports[k]);
			f->live.spaces[g->node].ports += in_range(m, g->ports[k]);
		}
		charge(f, g, &a->roles[g->role], -1);
		fleet_refresh(f, g->node);
		free(g->ports);
	}
	free(gs->items);
	*gs = (struct grants){ 0 };
}

void fleet_describe(const struct fleet *f, const struct ask *a, const struct grants *gs,
		    struct placement *out)
{
	for (size_t i = 0; i < gs->count; i++) {
		const struct grant *g = &gs->items[i];
		const struct machine *m = &f->machines[g->node];
		const struct ask_role *r = &a->roles[g->role];
		out[i] = (struct placement){ .slot = g->slot };
		memcpy(out[i].node, m->node.name, sizeof out[i].node);
		for (size_t k = 0; k < r->device_count; k++) {
			const char *type = f->kinds[m->pools[g->devices[k].pool].kind];
			memcpy(out[i].devices[k].type, type,
			       strnlen(type, DEVICE_TYPE_MAX - 1));
			out[i].devices[k].mask = g->devices[k].mask;
			out[i].devices[k].share_milli = g->devices[k].share_milli;
		}
		for (int k = 0; k < g->port_count; k++)
			out[i].ports[out[i].port_count++] = g->ports[k];
		for (int k = 0; k < r->fixed_count && out[i].port_count < PORTS_MAX; k++)
			out[i].ports[out[i].port_count++] = r->fixed_ports[k];
	}
}

static uint64_t mask_of(int count)
{
	if (count >= DEVICES_MAX)
		return UINT64_MAX;
	return count <= 0 ? 0 : ((uint64_t)1 << count) - 1;
}

static int ports_free(const struct machine *m)
{
	int free_count = 0;

	for (int port = m->node.port_first; port > 0 && port <= m->node.port_last; port++)
		free_count += !m->ports || !bit_test(m->ports, (size_t)port);
	return free_count;
}

static struct machine *machine_add(struct fleet *f, const char *name)
{
	size_t at = f->live.count;
	struct machine *m;

	mem_grow(&f->machines, &f->machine_cap, at, sizeof *f->machines);
	mem_grow(&f->live.spaces, &f->live.cap, at, sizeof *f->live.spaces);
	m = &f->machines[at];
	*m = (struct machine){ 0 };
	f->live.spaces[at] = (struct space){ 0 };
	for (int i = 0; i < FLEET_POOLS; i++)
		m->pools[i].kind = KIND_NONE;
	map_puts(f->by_name, name, (void *)(uintptr_t)(at + 1));
	f->live.count++;
	return m;
}

void fleet_set_node(struct fleet *f, const struct node *n)
{
	int at = fleet_find(f, n->name);
	struct machine *m = at < 0 ? machine_add(f, n->name) : &f->machines[at];

	at = (int)(m - f->machines);
	m->node = *n;
	if (m->node.port_last >= NODE_PORTS)
		m->node.port_last = NODE_PORTS - 1;
	for (int i = 0; i < FLEET_POOLS; i++)
		m->pools[i].total = 0;
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		const struct device_count *d = &n->capacity.devices[i];
		int kind = d->count > 0 ? fleet_kind(f, d->type) : KIND_NONE;
		int pool = kind >= 0 ? pool_make(m, kind) : -1;
		if (pool >= 0)
			m->pools[pool].total = mask_of(d->count);
	}
	fleet_refresh(f, at);
	f->live.spaces[at].ports = ports_free(m);
	f->version++;
}
