// SPDX-License-Identifier: Apache-2.0
#include "pack/hash.h"

#include <sodium.h>
#include <string.h>

#include "base/mem.h"

#define HASH_BYTES ((PACK_HASH_HEX - 1) / 2)

struct pack_hash {
	crypto_generichash_state
		*state; /* wants more alignment than mem_alloc promises */
	unsigned char room[sizeof(crypto_generichash_state) + 64];
};

struct pack_hash *pack_hash_create(void)
{
	struct pack_hash *h = mem_alloc(1, sizeof *h);
	size_t odd = (size_t)((uintptr_t)h->room % 64);

	h->state = (void *)(h->room + (odd ? 64 - odd : 0));
	crypto_generichash_init(h->state, NULL, 0, HASH_BYTES);
	return h;
}

void pack_hash_add(struct pack_hash *h, const void *data, size_t len)
{
	crypto_generichash_update(h->state, data, len);
}

void pack_hash_finish(struct pack_hash *h, char hex[PACK_HASH_HEX])
{
	unsigned char hash[HASH_BYTES];

	crypto_generichash_final(h->state, hash, sizeof hash);
	sodium_bin2hex(hex, PACK_HASH_HEX, hash, sizeof hash);
	free(h);
}

void pack_hash_destroy(struct pack_hash *h)
{
	free(h);
}

bool pack_hash_valid(const char *hex)
{
	return strlen(hex) == PACK_HASH_HEX - 1 &&
	       strspn(hex, "0123456789abcdef") == PACK_HASH_HEX - 1;
}
