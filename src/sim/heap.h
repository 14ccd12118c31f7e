// SPDX-License-Identifier: Apache-2.0
/* heap.h - the calendar of a simulation: what comes next, by (time, id). */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct moment {
	int64_t at_ms, id;
};

struct heap { /* zero-initialised is empty */
	struct moment *items;
	size_t count, cap;
};

void heap_add(struct heap *h, int64_t at_ms, int64_t id);
const struct moment *heap_first(const struct heap *h); /* NULL: nothing comes */
void heap_drop_first(struct heap *h);
void heap_fini(struct heap *h);
