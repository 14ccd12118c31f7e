// SPDX-License-Identifier: Apache-2.0
/* rings.h - nodes of eight devices in two rings of four (Ascend 910).
 *
 * A task gets 1, 2 or 4 devices of one ring, or all 8; no other number.  The ring is
 * chosen by how many are left in it, so that large rests stay whole: for 1 device a ring
 * with 1, 3, 2, 4 left, in that order; for 2 one with 2, 4, 3; for 4 one with 4.  Among
 * places that are alike in that, the one whose other ring has the fewest left.  A node is
 * therefore described by two counts, and all that can be asked of it stands in a table.
 */
#pragma once

#include <stdint.h>

#include "fleet/bits.h"

#define RING_DEVICES 4
#define RING_STATES  ((RING_DEVICES + 1) * (RING_DEVICES + 1))

static inline int ring_left(uint64_t idle, int ring)
{
	return bits_count(idle >> (ring * RING_DEVICES) & 0xf);
}

static inline int ring_state(uint64_t idle)
{
	return ring_left(idle, 0) * (RING_DEVICES + 1) + ring_left(idle, 1);
}

/* The same for both when only the rings' names differ: the fuller one is first. */
static inline int ring_state_like(uint64_t idle)
{
	int a = ring_left(idle, 0), b = ring_left(idle, 1);

	return a < b ? b * (RING_DEVICES + 1) + a : a * (RING_DEVICES + 1) + b;
}

static inline int ring_idle(int state)
{
	return state / (RING_DEVICES + 1) + state % (RING_DEVICES + 1);
}

/* How good a node in that state is for a task of so many devices: less is better, at most
 * RING_ORDER_MAX; -1: no room. */
#define RING_ORDER_MAX 19
int ring_order(int state, int64_t need);
/* The states (of ring_state_like) with room for a task, the best first: the one at `step`,
 * or -1 after the last.  Need 0: all states, those with the fewest idle first. */
int ring_visit(int64_t need, int step);
/* How many tasks of so many devices a node in that state holds. */
int ring_room(int state, int64_t need);
uint64_t ring_choose(uint64_t idle, int64_t need); /* the devices; 0: no room */
