// SPDX-License-Identifier: Apache-2.0
/* bytes.h - numbers on the shim's sockets: little endian, whatever the machine. */
#pragma once

#include <stdint.h>

#include "base/buf.h"

static inline void put_u32(struct buf *out, uint32_t v)
{
	uint8_t b[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16),
			 (uint8_t)(v >> 24) };

	buf_add(out, b, sizeof b);
}

static inline uint32_t get_u32(const char *p)
{
	const uint8_t *b = (const uint8_t *)p;

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
	       (uint32_t)b[3] << 24;
}

static inline void put_i64(struct buf *out, int64_t v)
{
	put_u32(out, (uint32_t)(uint64_t)v);
	put_u32(out, (uint32_t)((uint64_t)v >> 32));
}

static inline int64_t get_i64(const char *p)
{
	return (int64_t)((uint64_t)get_u32(p) | (uint64_t)get_u32(p + 4) << 32);
}
