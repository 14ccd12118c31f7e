// SPDX-License-Identifier: Apache-2.0
#include "remote/sha1.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define BLOCK 64

static uint32_t turn(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static void mix(uint32_t h[5], const uint8_t *block)
{
	uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[i * 4] << 24 | (uint32_t)block[i * 4 + 1] << 16 |
		       (uint32_t)block[i * 4 + 2] << 8 | block[i * 4 + 3];
	for (int i = 16; i < 80; i++)
		w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t f = i < 20   ? (b & c) | (~b & d)
			     : i < 40 ? b ^ c ^ d
			     : i < 60 ? (b & c) | (b & d) | (c & d)
				      : b ^ c ^ d;
		uint32_t k = i < 20   ? 0x5a827999
			     : i < 40 ? 0x6ed9eba1
			     : i < 60 ? 0x8f1bbcdc
				      : 0xca62c1d6;
		uint32_t t = turn(a, 5) + f + e + k + w[i];
		e = d;
		d = c;
		c = turn(b, 30);
		b = a;
		a = t;
	}
	h[0] += a;
	h[1] += b;
	h[2] += c;
	h[3] += d;
	h[4] += e;
}

/* The text is whole and short: padded in one piece. */
static void sha1(const uint8_t *data, size_t len, uint8_t out[SHA1_BYTES])
{
	uint32_t h[5] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0 };
	size_t padded = (len + 9 + BLOCK - 1) / BLOCK * BLOCK;
	uint8_t *all = mem_alloc(1, padded);

	memcpy(all, data, len);
	all[len] = 0x80;
	for (int i = 0; i < 8; i++)
		all[padded - 1 - (size_t)i] = (uint8_t)((uint64_t)len * 8 >> (8 * i));
	for (size_t at = 0; at < padded; at += BLOCK)
		mix(h, all + at);
	for (int i = 0; i < SHA1_BYTES; i++)
		out[i] = (uint8_t)(h[i / 4] >> (24 - i % 4 * 8));
	explicit_bzero(all, padded);
	free(all);
}

void sha1_hmac(const char *key, const char *text, uint8_t out[SHA1_BYTES])
{
	uint8_t pad[BLOCK] = { 0 }, inner[BLOCK + SHA1_BYTES] = { 0 };
	AUTO_BUF struct buf b = { 0 };
	size_t len = strlen(key);

	if (len > BLOCK)
		sha1((const uint8_t *)key, len, pad);
	else
		memcpy(pad, key, len);
	for (int i = 0; i < BLOCK; i++)
		buf_addc(&b, (char)(pad[i] ^ 0x36));
	buf_adds(&b, text);
	sha1((const uint8_t *)b.data, b.len, inner + BLOCK);
	for (int i = 0; i < BLOCK; i++)
		inner[i] = pad[i] ^ 0x5c;
	sha1(inner, sizeof inner, out);
	explicit_bzero(pad, sizeof pad);
	explicit_bzero(inner, sizeof inner);
	explicit_bzero(b.data, b.cap);
}
