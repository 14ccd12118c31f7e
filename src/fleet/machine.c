// SPDX-License-Identifier: Apache-2.0
/* What was given out on the machines. */
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "fleet/island.h"
#include "fleet/scores.h"

#define WORD_BITS 64

static bool bit_test(const uint64_t *words, size_t at)
{
	return words[at / WORD_BITS] >> (at % WORD_BITS) & 1;
}

static void bit_flip(uint64_t *words, size_t at)
{
	words[at / WORD_BITS] ^= (uint64_t)1 << (at % WORD_BITS);
}

static bool slot_used(const struct machine *m, size_t slot)
{
	if (slot < WORD_BITS)
		return m->slots >> slot & 1;
	slot -= WORD_BITS;
	return slot / WORD_BITS < m->more_words && bit_test(m->more_slots, slot);
}

static void slot_flip(struct machine *m, size_t slot)
{
	size_t words;

	if (slot < WORD_BITS) {
		m->slots ^= (uint64_t)1 << slot;
		return;
	}
	slot -= WORD_BITS;
	words = slot / WORD_BITS + 1;
	if (words > m->more_words) {
		words *= 2;
		m->more_slots = mem_realloc(m->more_slots, words, sizeof *m->more_slots);
		memset(m->more_slots + m->more_words, 0,
		       (words - m->more_words) * sizeof *m->more_slots);
		m->more_words = words;
	}
	bit_flip(m->more_slots, slot);
}

/* The lowest that nobody has. */
static int slot_take(struct machine *m)
{
	size_t word = 0, slot;

	if (m->slots != UINT64_MAX) {
		slot = (size_t)__builtin_ctzll(~m->slots);
	} else {
		while (word < m->more_words && m->more_slots[word] == UINT64_MAX)
			word++;
		slot = (word + 1) * WORD_BITS;
		if (word < m->more_words)
			slot += (size_t)__builtin_ctzll(~m->more_slots[word]);
	}
	slot_flip(m, slot);
	return (int)slot;
}

static bool in_range(const struct machine *m, int port)
{
	return port >= m->node->port_first && port <= m->node->port_last;
}

static bool is_fixed(const struct ask_role *r, int port)
{
	for (int i = 0; i < r->fixed_count; i++) {
		if (r->fixed_ports[i] == port)
			return true;
	}
	return false;
}

/* Room for `count` ports of a grant. */
static uint16_t *ports_room(struct machine *m, struct grant *g, int count)
{
	if (!m->ports)
		m->ports = mem_alloc(NODE_PORTS / WORD_BITS, sizeof *m->ports);
	if (count > GRANT_PORTS)
		g->many_ports = mem_alloc((size_t)count, sizeof *g->many_ports);
	return g->many_ports ? g->many_ports : g->few_ports;
}

/* space_room() left room for the fixed ports too, so the search cannot run dry. */
static void ports_take(struct machine *m, struct space *s, struct grant *g,
		       const struct ask_role *r)
{
	int port = m->node->port_first;
	uint16_t *ports = ports_room(m, g, r->any_ports);

	while (g->port_count < r->any_ports) {
		assert(port <= m->node->port_last);
		if (!bit_test(m->ports, (size_t)port) && !is_fixed(r, port)) {
			bit_flip(m->ports, (size_t)port);
			ports[g->port_count++] = (uint16_t)port;
			s->ports--;
		}
		port++;
	}
}

/* Cpu, memory and the task itself; sign -1 gives them back. */
static void charge(struct space *s, const struct ask_role *r, int sign)
{
	s->cpu_milli -= sign * r->cpu_milli;
	s->memory_bytes -= sign * r->memory_bytes;
	s->tasks -= sign;
}

static void pool_book(struct pool *p, const struct portion *d, int sign)
{
	if (d->share_milli) {
		uint16_t *taken = &p->taken[__builtin_ctzll(d->mask)];
		*taken = (uint16_t)(*taken + sign * d->share_milli);
	} else {
		p->used ^= d->mask;
	}
}

/* Devices from `from` when that is not NULL: what is free in an imagined view, too. */
static void devices_give(struct fleet *f, struct space *s, struct grant *g,
			 const struct ask_role *r, const struct space *from)
{
	struct machine *m = &f->machines[g->node];

	for (size_t i = 0; i < r->device_count; i++) {
		struct portion *p = &g->devices[i];
		if (!p->mask) { /* else it was decided with the place */
			bool found = devices_choose(f, g->node, from ? from : s,
						    &r->devices[i], p);
			assert(found);
			(void)found;
		}
		pool_book(&m->pools[p->pool], p, 1);
		devices_take(f, g->node, s, p);
	}
}

static void grant_one(struct fleet *f, struct grant *g, const struct ask_role *r,
		      const struct space *from)
{
	struct machine *m = &f->machines[g->node];
	struct space *s = view_write(&f->live, g->node);

	g->slot = slot_take(m);
	devices_give(f, s, g, r, from);
	if (r->any_ports)
		ports_take(m, s, g, r);
	charge(s, r, 1);
	index_move(&f->live, g->node, s);
	if (f->scores)
		scores_moved(f, g->node, r, 1);
}

/* A score decided for one device: then the choice is made already. */
static void grant_aim(const struct pick *k, const struct ask_role *r, struct grant *g)
{
	for (size_t i = 0; k->device >= 0 && i < r->device_count; i++) {
		if (!r->devices[i].share_milli)
			continue;
		g->devices[i] =
			(struct portion){ .pool = k->device / DEVICES_MAX,
					  .share_milli = r->devices[i].share_milli,
					  .mask = (uint64_t)1
						  << k->device % DEVICES_MAX };
		return;
	}
}

/* What may be given on a node for a pick: NULL: all that is free.  A gang that must lie in
 * one island, or that was fitted into an imagined view, gets less. */
static struct space *grant_from(struct fleet *f, const struct ask *a,
				const struct picks *picks, int node)
{
	bool island = a->within_must && a->within == LEVEL_ISLAND;
	int *counts = f->cursors;

	if (!island && picks->view == &f->live)
		return NULL;
	memcpy(f->choice, view_space(picks->view, node), f->row_bytes);
	space_least(f, node, f->choice, view_space(&f->live, node), true);
	if (!island)
		return f->choice;
	memset(counts, 0, a->role_count * sizeof *counts);
	for (size_t i = 0; i < picks->count; i++)
		counts[picks->items[i].role] += picks->items[i].count;
	island_narrow(f, node, f->choice,
		      island_find(f, node, view_space(picks->view, node), a, counts));
	return f->choice;
}

static void grant_pick(struct fleet *f, const struct ask *a, const struct pick *k,
		       struct grant *g, struct space *from)
{
	const struct ask_role *r = &a->roles[k->role];

	for (int n = 0; n < k->count; n++, g++) {
		g->node = k->node;
		g->role = (int)k->role;
		grant_aim(k, r, g);
		grant_one(f, g, r, from);
		for (size_t i = 0; from && i < r->device_count; i++)
			devices_take(f, k->node, from, &g->devices[i]);
	}
}

/* Where the grants of each role begin; gives how many there are. */
static size_t ranks_begin(struct fleet *f, const struct ask *a, const struct picks *picks)
{
	int *at, rank = 0;

	fleet_reserve_roles(f, a->role_count);
	at = f->role_at;
	memset(at, 0, a->role_count * sizeof *at);
	for (size_t i = 0; i < picks->count; i++)
		at[picks->items[i].role] += picks->items[i].count;
	for (size_t k = 0; k < a->role_count; k++) {
		int count = at[k];
		at[k] = rank;
		rank += count;
	}
	return (size_t)rank;
}

void fleet_grant(struct fleet *f, const struct ask *a, const struct picks *picks,
		 struct grants *out)
{
	struct space *from = NULL;
	bool alone = picks->count == 1;

	out->count = alone ? (size_t)picks->items[0].count : ranks_begin(f, a, picks);
	out->items = slab_get(&f->grants, out->count);
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		int rank = alone ? 0 : f->role_at[k->role];
		if (!i || k->node != picks->items[i - 1].node)
			from = grant_from(f, a, picks, k->node);
		grant_pick(f, a, k, &out->items[rank], from);
		if (!alone)
			f->role_at[k->role] += k->count;
	}
}

/* Of a device that somebody has whole nothing is taken, of one that is shared no more
 * than is left; then the record is wrong. */
static uint64_t adopt_free(const struct pool *p, uint64_t mask, int share)
{
	uint64_t out = mask & ~p->used;

	for (uint64_t left = out; left; left &= left - 1) {
		int d = __builtin_ctzll(left);
		if (p->taken[d] > (share ? DEVICE_SHARE - share : 0))
			out &= ~((uint64_t)1 << d);
	}
	return share ? out & -out : out;
}

static void adopt_devices(struct fleet *f, struct space *s, struct grant *g,
			  const struct placement *place)
{
	struct machine *m = &f->machines[g->node];

	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		int kind = place->devices[i].mask ? fleet_kind(f, place->devices[i].type)
						  : KIND_NONE;
		int pool = kind >= 0 ? machine_pool_make(m, kind) : -1;
		int share = place->devices[i].share_milli;
		uint64_t mask;
		if (pool < 0 || share < 0 || share >= DEVICE_SHARE)
			continue;
		mask = adopt_free(&m->pools[pool], place->devices[i].mask, share);
		if (!mask)
			continue;
		g->devices[i] = (struct portion){ pool, share, mask };
		pool_book(&m->pools[pool], &g->devices[i], 1);
		devices_take(f, g->node, s, &g->devices[i]);
	}
}

static void adopt_ports(struct machine *m, struct space *s, struct grant *g,
			const struct ask_role *r, const struct placement *place)
{
	uint16_t *ports = ports_room(m, g, place->port_count);

	for (int i = 0; i < place->port_count; i++) {
		int port = place->ports[i];
		if (port <= 0 || port >= NODE_PORTS || is_fixed(r, port) ||
		    bit_test(m->ports, (size_t)port))
			continue;
		bit_flip(m->ports, (size_t)port);
		ports[g->port_count++] = (uint16_t)port;
		s->ports -= in_range(m, port);
	}
}

/* What somebody else has already is not taken again, so that a wrong record can never
 * make the fleet give back what it did not hold. */
static void adopt_one(struct fleet *f, struct grant *g, const struct ask_role *r,
		      const struct placement *place)
{
	struct machine *m = &f->machines[g->node];
	struct space *s = view_write(&f->live, g->node);

	g->slot =
		place->slot >= 0 && !slot_used(m, (size_t)place->slot) ? place->slot : -1;
	if (g->slot >= 0)
		slot_flip(m, (size_t)g->slot);
	adopt_devices(f, s, g, place);
	if (place->port_count)
		adopt_ports(m, s, g, r, place);
	charge(s, r, 1);
	index_move(&f->live, g->node, s);
	if (f->scores)
		scores_moved(f, g->node, r, 1);
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

/* Whose the task of a rank is: of all roles in turn when there are as many places as
 * tasks, else it is recorded. */
static int role_of(const struct ask *a, const struct placement *places, size_t count,
		   size_t rank)
{
	size_t role = 0, last = a->role_count - 1;

	if (count < (size_t)a->task_count)
		return places[rank].role < 0              ? 0
		       : (size_t)places[rank].role > last ? (int)last
							  : places[rank].role;
	while (rank >= (size_t)a->roles[role].count)
		rank -= (size_t)a->roles[role++].count;
	return (int)role;
}

void fleet_adopt(struct fleet *f, const struct ask *a, const struct placement *places,
		 size_t count, struct grants *out)
{
	out->count = count < (size_t)a->task_count ? count : (size_t)a->task_count;
	out->items = slab_get(&f->grants, out->count);
	for (size_t i = 0; i < out->count; i++) {
		struct grant *g = &out->items[i];
		g->node = find_or_make(f, places[i].node);
		g->role = role_of(a, places, count, i);
		adopt_one(f, g, &a->roles[g->role], &places[i]);
	}
}

static void give_back_one(struct fleet *f, const struct ask *a, struct grant *g)
{
	struct machine *m = &f->machines[g->node];
	struct space *s = view_write(&f->live, g->node);
	const uint16_t *ports = grant_ports(g);

	if (g->slot >= 0)
		slot_flip(m, (size_t)g->slot);
	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (!g->devices[k].mask)
			continue;
		pool_book(&m->pools[g->devices[k].pool], &g->devices[k], -1);
		devices_return(f, g->node, s, &g->devices[k]);
	}
	for (int k = 0; k < g->port_count; k++) {
		bit_flip(m->ports, ports[k]);
		s->ports += in_range(m, ports[k]);
	}
	charge(s, &a->roles[g->role], -1);
	index_move(&f->live, g->node, s);
	if (f->scores)
		scores_moved(f, g->node, &a->roles[g->role], -1);
	free(g->many_ports);
}

void fleet_give_back(struct fleet *f, const struct ask *a, struct grants *gs)
{
	for (size_t i = 0; i < gs->count; i++)
		give_back_one(f, a, &gs->items[i]);
	if (gs->items)
		slab_put(&f->grants, gs->items, gs->count);
	*gs = (struct grants){ 0 };
}

void fleet_describe(const struct fleet *f, const struct ask *a, const struct grants *gs,
		    struct placement *out)
{
	for (size_t i = 0; i < gs->count; i++) {
		const struct grant *g = &gs->items[i];
		const struct machine *m = &f->machines[g->node];
		const struct ask_role *r = &a->roles[g->role];
		const uint16_t *ports = grant_ports(g);
		out[i] = (struct placement){ .slot = g->slot, .role = g->role };
		memcpy(out[i].node, m->node->name, sizeof out[i].node);
		for (size_t k = 0; k < r->device_count; k++) {
			const char *type;
			if (!g->devices[k].mask)
				continue; /* a record of what was not to be had */
			type = f->kinds[m->pools[g->devices[k].pool].kind];
			memcpy(out[i].devices[k].type, type,
			       strnlen(type, DEVICE_TYPE_MAX - 1));
			out[i].devices[k].mask = g->devices[k].mask;
			out[i].devices[k].share_milli = g->devices[k].share_milli;
		}
		for (int k = 0; k < g->port_count; k++)
			out[i].ports[out[i].port_count++] = ports[k];
		for (int k = 0; k < r->fixed_count && out[i].port_count < PORTS_MAX; k++)
			out[i].ports[out[i].port_count++] = r->fixed_ports[k];
	}
}
