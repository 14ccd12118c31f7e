// SPDX-License-Identifier: Apache-2.0
/* rows.h - views as they are kept: a row a node, in chunks that views share.
 *
 * A chunk is written to only by a view that has it alone; who shares it gets a copy of
 * these few nodes first.  So a view is copied in a microsecond however many nodes there
 * are, and no view ever sees what happens to another.
 */
#pragma once

#include "fleet/fleet.h"

#define CHUNK_NODES 32
#define BUCKET_NONE 255
#define CACHE_LINE  64

/* What is free on a node.  Below zero when the node shrank under its tasks. */
struct space {
	int64_t cpu_milli, memory_bytes;
	int tasks; /* how many more */
	int ports;
	bool open;       /* up, and takes new tasks */
	uint8_t bucket;  /* of the index */
	uint16_t shared; /* devices that carry shares and have something left */
	/* Idle devices by pool (fleet.row_pools of them); behind these, by device: what is
	 * left beside its shares, in uint16_t, and 0 if it carries none or is full. */
	uint64_t idle[];
};

struct view {
	const struct fleet *fleet;
	char **chunks; /* pointers to what the numbers mean */
	uint32_t *ids;
	size_t chunk_count, chunk_cap;
	size_t count; /* nodes */
	uint64_t generation;
	bool exact; /* it matters which devices are idle, not only how many */
	/* The index: see layout.h. */
	uint64_t *bits;
	int *counts;
	size_t bits_cap, counts_cap;
};

/* Where chunks come from. */
struct chunks {
	char **at;      /* by number */
	uint32_t *refs; /* views that share it */
	uint32_t *free; /* numbers of those that nobody has */
	size_t count, cap, free_count;
	char **slabs;
	size_t slab_count, slab_cap;
	size_t bytes;        /* of one */
	uint64_t generation; /* numbers of an older one mean nothing */
};

void chunks_fini(struct chunks *c);
/* Forgets all there are, for rows of another size. */
void chunks_reset(struct chunks *c, size_t bytes);
void chunks_reserve(struct chunks *c, size_t count);
uint32_t chunks_get(struct chunks *c);
void chunks_unref(struct chunks *c, uint32_t id);

void view_fini(struct view *v);
void view_drop(struct view *v); /* its chunks; keeps the memory for the next use */
void view_grow(struct view *v, size_t nodes); /* chunks for so many, zeroed */
void view_unshare(struct view *v, size_t chunk);
/* `to`, which has nothing, gets all chunks of `from`. */
void view_share(struct view *to, const struct view *from);
