// SPDX-License-Identifier: Apache-2.0
/* hash.h - the content hash that names a code snapshot: BLAKE2b-256 of its archive. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define PACK_HASH_HEX 65 /* 64 digits and the NUL */

struct pack_hash;

struct pack_hash *pack_hash_create(void);
void pack_hash_add(struct pack_hash *h, const void *data, size_t len);
void pack_hash_finish(struct pack_hash *h, char hex[PACK_HASH_HEX]); /* takes h */
void pack_hash_destroy(
	struct pack_hash *h); /* NULL is fine; for one that was not finished */

bool pack_hash_valid(const char *hex); /* 64 lower-case hex digits: safe as a file name */
