// SPDX-License-Identifier: Apache-2.0
/* bits.h - counting devices in a mask.  Most nodes have eight at most, and not every
 * processor that we are built for counts bits itself. */
#pragma once

#include <stdint.h>

extern const uint8_t bits_of_byte[256];

static inline int bits_count(uint64_t mask)
{
	return mask < 256 ? bits_of_byte[mask] : __builtin_popcountll(mask);
}

/* The lowest so many. */
static inline uint64_t bits_lowest(uint64_t mask, int64_t count)
{
	uint64_t left = mask;

	for (; count > 0 && left; count--)
		left &= left - 1;
	return mask & ~left;
}
