// SPDX-License-Identifier: Apache-2.0
#include "remote/crc64.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0xc96c5795d7870f42ULL
#define SLICES     8

static uint64_t table[SLICES][256];
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint64_t c = i;
		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ POLYNOMIAL : c >> 1;
		table[0][i] = c;
	}
	for (int s = 1; s < SLICES; s++)
		for (uint32_t i = 0; i < 256; i++)
			table[s][i] =
				table[0][table[s - 1][i] & 255] ^ table[s - 1][i] >> 8;
}

/* Eight bytes a step: each table knows what a byte so far ahead becomes. */
uint64_t crc64_add(uint64_t crc, const void *data, size_t len)
{
	const uint8_t *p = data;
	uint64_t next;

	pthread_once(&made, make);
	crc = ~crc;
	for (; len >= 8; len -= 8, p += 8) {
		memcpy(&next, p, sizeof next);
		next ^= crc; /* little-endian, as all that we run on is */
		crc = 0;
		for (int i = 0; i < 8; i++)
			crc ^= table[7 - i][next >> (8 * i) & 255];
	}
	for (; len > 0; len--, p++)
		crc = table[0][(crc ^ *p) & 255] ^ crc >> 8;
	return ~crc;
}
