// SPDX-License-Identifier: Apache-2.0
/* slab.h - grants in runs of any length, given back and used again without the heap. */
#pragma once

#include "fleet/fleet.h"

#define SLAB_SIZES 32

/* A run has room for 2^k grants.  Free runs of a size are a list. */
struct slab {
	struct grant *free[SLAB_SIZES];
	struct grant **blocks;
	size_t block_count, block_cap;
	struct grant *rest; /* of the last block: not given out yet */
	size_t rest_count;
};

void slab_fini(struct slab *s);
void slab_reserve(struct slab *s, size_t grants);
struct grant *slab_get(struct slab *s, size_t count); /* zeroed */
void slab_put(struct slab *s, struct grant *items, size_t count);
