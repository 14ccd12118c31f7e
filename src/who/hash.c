// SPDX-License-Identifier: Apache-2.0
#include "who/hash.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/login.h"

#define THREADS 2 /* 64 MiB each */

struct hash_errand {
	struct hasher *hasher; /* NULL: nobody waits for it any more */
	struct hash_errand *prev, *next;
	void (*done)(void *arg, const struct hash_result *r);
	void *arg;
	/* The thread's. */
	struct hash_cost cost;
	bool make, no_user;
	char hash[WHO_HASH_BYTES];
	struct hash_result result;
	char password[WHO_PASSWORD_MAX + 1];
};

struct hasher {
	struct world_lane *lane;
	struct hash_cost cost;
	struct hash_errand *errands;
	int count;  /* under way, cancelled ones too: they still take their time */
	int making; /* of these, to be set */
};

_Static_assert(WHO_HASH_BYTES > crypto_pwhash_STRBYTES, "a hash fits");

struct hasher *hasher_create(struct world *w)
{
	struct hasher *h = mem_alloc(1, sizeof *h);

	h->lane = world_lane_create(w, THREADS);
	h->cost = (struct hash_cost){ crypto_pwhash_OPSLIMIT_INTERACTIVE,
				      crypto_pwhash_MEMLIMIT_INTERACTIVE };
	return h;
}

void hasher_set_cost(struct hasher *h, const struct hash_cost *c)
{
	h->cost = *c;
}

bool hasher_is_full(const struct hasher *h, bool make)
{
	return h->count >= WHO_HASHES_MAX || (make && h->making >= WHO_HASHES_MAX / 2);
}

static void make_hash(struct hash_errand *e)
{
	char text[crypto_pwhash_STRBYTES];

	/* Fails only for want of memory: then there is no hash, and the password is wrong. */
	if (crypto_pwhash_str(text, e->password, strlen(e->password), e->cost.ops,
			      e->cost.memory_bytes) == 0)
		snprintf(e->result.fresh, sizeof e->result.fresh, "%s", text);
}

static void work(void *arg)
{
	struct hash_errand *e = arg;

	if (e->make || e->no_user) {
		make_hash(e);
		if (e->no_user)
			*e->result.fresh = '\0';
	} else {
		e->result.right = crypto_pwhash_str_verify(e->hash, e->password,
							   strlen(e->password)) == 0;
		if (e->result.right &&
		    crypto_pwhash_str_needs_rehash(e->hash, e->cost.ops,
						   e->cost.memory_bytes) != 0)
			make_hash(e);
	}
	sodium_memzero(e->password, sizeof e->password);
}

static void unlink_errand(struct hash_errand *e)
{
	if (e->prev)
		e->prev->next = e->next;
	else
		e->hasher->errands = e->next;
	if (e->next)
		e->next->prev = e->prev;
}

static void worked(void *arg)
{
	struct hash_errand *e = arg;

	if (e->hasher) {
		e->hasher->count--;
		e->hasher->making -= e->make;
		unlink_errand(e);
		if (e->done)
			e->done(e->arg, &e->result);
	}
	free(e);
}

struct hash_errand *hasher_ask(struct hasher *h, const char *password, const char *hash,
			       void (*done)(void *arg, const struct hash_result *r),
			       void *arg)
{
	struct hash_errand *e = mem_alloc(1, sizeof *e);

	e->hasher = h;
	e->cost = h->cost;
	e->done = done;
	e->arg = arg;
	e->make = !hash;
	e->no_user = hash && !*hash;
	snprintf(e->password, sizeof e->password, "%s", password);
	if (hash)
		snprintf(e->hash, sizeof e->hash, "%s", hash);
	e->next = h->errands;
	if (e->next)
		e->next->prev = e;
	h->errands = e;
	h->count++;
	h->making += e->make;
	world_lane_work(h->lane, work, worked, e);
	return e;
}

void hasher_cancel(struct hash_errand *e)
{
	e->done = NULL;
}

void hasher_destroy(struct hasher *h)
{
	if (!h)
		return;
	for (struct hash_errand *e = h->errands; e; e = e->next)
		e->hasher = NULL; /* worked() frees it */
	world_lane_destroy(h->lane);
	free(h);
}
