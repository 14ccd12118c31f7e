// SPDX-License-Identifier: Apache-2.0
/* inside.h - the fleet itself; nobody outside this room includes it. */
#pragma once

#include "base/map.h"
#include "fleet/bits.h"
#include "fleet/layout.h"
#include "fleet/slab.h"

#define NODE_PORTS 65536

struct pool {
	uint64_t total, used; /* used: given whole */
	uint16_t *taken;      /* by device, of all DEVICES_MAX: what is given as shares */
	int16_t kind;         /* KIND_NONE: unused */
	int16_t first;        /* of its devices in rows */
};

/* A decision costs about as much as the memory it touches: what it reads of a machine,
 * the first pool with it, is one cache line.  How much cpu, memory and tasks are taken is
 * what is missing in the live row. */
struct machine {
	uint64_t slots; /* bitmap of those in use, the first 64 */
	int at;         /* position in its class */
	int rack, net;  /* numbers of these; -1: unknown, so shared with nobody */
	int rank;
	int8_t class;
	uint8_t island;
	bool rings, windows;
	struct pool pools[FLEET_POOLS];
	uint64_t *more_slots;
	size_t more_words;
	uint64_t *ports; /* bitmap, NULL while none was ever given */
	char *likeness;  /* nodes with equal ones may be exchanged */
	struct node *node;
} __attribute__((aligned(CACHE_LINE)));

struct fleet {
	char **kinds;
	size_t kind_count, kind_cap;
	int kind_rank[KINDS_MAX]; /* in the order of names */
	struct machine *machines;
	void *machine_block; /* in which they lie */
	size_t machine_cap;
	struct view live, empty;
	struct map *by_name; /* index + 1 */
	uint64_t version, empty_version;
	struct chunks chunks;
	size_t row_pools, row_devices, row_bytes; /* 0 bytes: there was no node yet */
	size_t chunks_wanted;
	struct layout layout;
	struct slab grants;
	struct scores *scores; /* scores.h; NULL: nobody asked for any yet */
	/* Memory that is reused; no meaning between calls. */
	struct space *trial, *attempt,
		*choice; /* rows: who tries one may ask for another */
	int64_t *bounds; /* of racks or switches */
	uint32_t *marks,
		mark; /* by node: equal to `mark` while it is out of the search */
	size_t mark_cap;
	char *kept; /* rows as they were before a gang was tried */
	size_t kept_cap;
	int *cursors, *role_at; /* by role */
	size_t role_cap;
};

static inline size_t row_at(const struct fleet *f, int node)
{
	return (size_t)(node % CHUNK_NODES) * f->row_bytes;
}

static inline const struct space *view_space(const struct view *v, int node)
{
	return (const struct space *)(const void *)(v->chunks[node / CHUNK_NODES] +
						    row_at(v->fleet, node));
}

static inline struct space *view_write(struct view *v, int node)
{
	size_t chunk = (size_t)node / CHUNK_NODES;

	if (v->fleet->chunks.refs[v->ids[chunk]] > 1)
		view_unshare(v, chunk);
	return (struct space *)(void *)(v->chunks[chunk] + row_at(v->fleet, node));
}

static inline uint16_t *space_left(const struct fleet *f, const struct space *s)
{
	return (uint16_t *)(uintptr_t)(s->idle + f->row_pools);
}

static inline const uint16_t *grant_ports(const struct grant *g)
{
	return g->many_ports ? g->many_ports : g->few_ports;
}

/* The pool of a kind, made when there is none yet; -1: all are taken. */
int machine_pool_make(struct machine *m, int kind);
void machines_reserve(struct fleet *f, size_t count);
void fleet_reserve_roles(struct fleet *f, size_t roles);
