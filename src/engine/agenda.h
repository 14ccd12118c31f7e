// SPDX-License-Identifier: Apache-2.0
/* agenda.h - what will happen on the simulated machine, soonest first.
 *
 * Things due at the same time happen in the order they were added, so that a seed
 * replays exactly.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct happening {
	int64_t at_ms;
	uint64_t seq;
	int what, epoch; /* the owner's */
	void *about;
};

struct agenda { /* zeroed is empty */
	struct happening *heap;
	size_t count, cap;
	uint64_t seq;
};

void agenda_fini(struct agenda *a);
uint64_t agenda_add(struct agenda *a, struct happening h); /* sets and gives its seq */
const struct happening *
agenda_first(const struct agenda *a);           /* NULL: nothing will happen */
struct happening agenda_take(struct agenda *a); /* the first one; there must be one */
