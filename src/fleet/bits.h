// SPDX-License-Identifier: Apache-2.0
/* bits.h - counting devices in a mask.  Most nodes have eight at most, and not every
 * processor that we are built for counts bits itself. */
#pragma once

#include <stdint.h>

extern const uint8_t bits_of_byte[256];
extern const uint8_t bits_low_of_byte[9][256]; /* the lowest so many bits of it */

static inline int bits_count(uint64_t mask)
{
	return mask < 256 ? bits_of_byte[mask] : __builtin_popcountll(mask);
}

/* The lowest so many.  No loop for the common case: how often it would turn, nobody and
 * no processor can guess. */
static inline uint64_t bits_lowest(uint64_t mask, int64_t count)
{
	uint64_t left = mask;

	if (mask < 256 && count >= 0)
		return bits_low_of_byte[count < 8 ? count : 8][mask];
	for (; count > 0 && left; count--)
		left &= left - 1;
	return mask & ~left;
}
