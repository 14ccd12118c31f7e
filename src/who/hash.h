// SPDX-License-Identifier: Apache-2.0
/* hash.h - argon2id on a lane: a password made a hash, or held against one. */
#pragma once

#include "who/directory.h"

struct hasher;

struct hash_cost {
	unsigned long long ops;
	size_t memory_bytes;
};

struct hash_result {
	bool right;                 /* the password is that of the hash */
	char fresh[WHO_HASH_BYTES]; /* made anew, or "": it need not be */
};

struct hasher *hasher_create(struct world *w);
void hasher_destroy(struct hasher *h); /* nobody is called any more */
void hasher_set_cost(struct hasher *h, const struct hash_cost *c); /* for tests */
/* WHO_HASHES_MAX are under way; of passwords to be set half as many, so that one who sets
 * theirs over and over keeps nobody from logging in. */
bool hasher_is_full(const struct hasher *h, bool make);

struct hash_errand;
/* hash NULL: make one.  Else hold the password against it; "": against none, which takes
 * as long.  Copies both; done() comes later. */
struct hash_errand *hasher_ask(struct hasher *h, const char *password, const char *hash,
			       void (*done)(void *arg, const struct hash_result *r),
			       void *arg);
void hasher_cancel(struct hash_errand *e); /* done() does not come */
