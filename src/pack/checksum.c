// SPDX-License-Identifier: Apache-2.0
#include "pack/checksum.h"

#include <sodium.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"

#define ALIGNMENT 64

static const struct {
	const char *word;
	size_t bytes;
} kinds[CHECKSUM_KIND_COUNT] = {
	[CHECKSUM_CRC32C] = { "crc32c", 4 },
	[CHECKSUM_SHA256] = { "sha256", crypto_hash_sha256_BYTES },
	[CHECKSUM_BLAKE2B] = { "blake2b", 32 },
};

struct checksum_run {
	enum checksum_kind kind;
	uint32_t crc;
	crypto_hash_sha256_state sha256;
	crypto_generichash_state
		*blake2b; /* wants more alignment than mem_alloc promises */
	unsigned char room[sizeof(crypto_generichash_state) + ALIGNMENT];
};

int checksum_kind_read(const char *word, enum checksum_kind *out)
{
	for (int k = 0; k < CHECKSUM_KIND_COUNT; k++)
		if (strcmp(word, kinds[k].word) == 0) {
			*out = (enum checksum_kind)k;
			return 0;
		}
	return -1;
}

int checksum_read(const char *text, struct checksum *out, struct err *err)
{
	const char *eq = strchr(text, '=');
	struct checksum c = { 0 };
	size_t len = 0;

	for (int k = 0; eq && k < CHECKSUM_KIND_COUNT; k++) {
		size_t n = strlen(kinds[k].word);
		if ((size_t)(eq - text) != n || memcmp(text, kinds[k].word, n) != 0)
			continue;
		c.kind = (enum checksum_kind)k;
		if (strlen(eq + 1) == 2 * kinds[k].bytes &&
		    sodium_hex2bin(c.bytes, sizeof c.bytes, eq + 1, strlen(eq + 1), NULL,
				   &len, NULL) == 0 &&
		    len == kinds[k].bytes) {
			*out = c;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID,
		       "'%.80s' is not crc32c=<8 hex digits>, sha256=<64 hex digits> or "
		       "blake2b=<64 hex digits>",
		       text);
}

void checksum_write(const struct checksum *c, char out[CHECKSUM_TEXT_MAX])
{
	size_t n = strlen(kinds[c->kind].word);

	memcpy(out, kinds[c->kind].word, n);
	out[n++] = '=';
	sodium_bin2hex(out + n, CHECKSUM_TEXT_MAX - n, c->bytes, kinds[c->kind].bytes);
}

void checksum_of_crc32c(uint32_t crc, struct checksum *out)
{
	*out = (struct checksum){ .kind = CHECKSUM_CRC32C };
	for (int i = 0; i < 4; i++)
		out->bytes[i] = (uint8_t)(crc >> (24 - 8 * i));
}

struct checksum_run *checksum_begin(enum checksum_kind kind)
{
	struct checksum_run *r = mem_alloc(1, sizeof *r);
	size_t odd = (size_t)((uintptr_t)r->room % ALIGNMENT);

	r->kind = kind;
	r->blake2b = (void *)(r->room + (odd ? ALIGNMENT - odd : 0));
	if (kind == CHECKSUM_SHA256)
		crypto_hash_sha256_init(&r->sha256);
	if (kind == CHECKSUM_BLAKE2B)
		crypto_generichash_init(r->blake2b, NULL, 0, kinds[kind].bytes);
	return r;
}

void checksum_add(struct checksum_run *r, const void *data, size_t len)
{
	switch (r->kind) {
	case CHECKSUM_CRC32C:
		r->crc = crc32c_add(r->crc, data, len);
		break;
	case CHECKSUM_SHA256:
		crypto_hash_sha256_update(&r->sha256, data, len);
		break;
	case CHECKSUM_BLAKE2B:
		crypto_generichash_update(r->blake2b, data, len);
		break;
	case CHECKSUM_KIND_COUNT:
		break;
	}
}

void checksum_end(struct checksum_run *r, struct checksum *out)
{
	*out = (struct checksum){ .kind = r->kind };
	if (r->kind == CHECKSUM_CRC32C)
		checksum_of_crc32c(r->crc, out);
	else if (r->kind == CHECKSUM_SHA256)
		crypto_hash_sha256_final(&r->sha256, out->bytes);
	else
		crypto_generichash_final(r->blake2b, out->bytes, kinds[r->kind].bytes);
	free(r);
}

void checksum_drop(struct checksum_run *r)
{
	free(r);
}

int checksum_same(const struct checksum *said, const struct checksum *is, struct err *err)
{
	char a[CHECKSUM_TEXT_MAX], b[CHECKSUM_TEXT_MAX];

	if (said->kind == is->kind &&
	    memcmp(said->bytes, is->bytes, kinds[said->kind].bytes) == 0)
		return 0;
	checksum_write(said, a);
	checksum_write(is, b);
	return err_set(err, ERR_INVALID,
		       "what came is %s, and %s was said: bytes were lost or changed on "
		       "the way, send it again",
		       b, a);
}
