// SPDX-License-Identifier: Apache-2.0
/* cache.h - what was brought from elsewhere, kept for the next job that wants the same.
 *
 *   <state>/cache/<key>/data/...   the files, read-only; the folder's time is of its last use
 *   <state>/cache/<key>/about      what it is, and how much
 *   <state>/cache/<key>/users/U    who has shown that they may read all of it
 *   <state>/cache/<key>/jobs/ID    for whom it is bound; counts while that job has not ended
 *   <state>/cache/<key>.part/...   the same on its way; goes on after a restart of the daemon
 *
 * A key is made of the address and of what is there now (manifest_key()), so a copy never
 * gets old.  A folder is there whole or not at all: it is made durable, then renamed.  Of
 * many who want the same one fetches.  When room is needed, what was used longest ago goes
 * first; what a live job uses never.  All calls on the loop; disks are touched in a lane.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "remote/account.h"
#include "remote/manifest.h"

struct cache;
struct cache_claim;
struct depot_files;

/* limit_bytes 0: 50 GiB, or half of what the disk has free when that is less. */
struct cache *cache_create(struct depot_files *d, struct err *err);
void cache_set_limit(struct cache *c, int64_t limit_bytes);
int64_t cache_bytes(const struct cache *c); /* held, those on their way as if whole */
/* Ends what is under way without a word. */
void cache_destroy(struct cache *c);

struct cache_wish {
	char key[MANIFEST_HASH_HEX];
	const char *uri;
	const struct remote_account *account;
	int manifest; /* a descriptor, the caller's */
	int64_t files, bytes;
	int64_t job;
	const char *user; /* principal_key() or the like: safe as a file's name */
};

struct cache_sink {
	void (*at)(void *arg, int64_t bytes, int64_t total);
	/* Once, last: the folder `data`, and whether it had to be fetched. */
	void (*done)(void *arg, const char *folder, bool fetched, const struct err *err);
	void *arg;
};

/* Copies what it needs of the wish. */
struct cache_claim *cache_claim(struct cache *c, const struct cache_wish *w,
				const struct cache_sink *s);
/* Nothing is called any more; a fetch that nobody else waits for is ended, and what it
 * brought so far stays for the next.  NULL is fine. */
void cache_drop(struct cache_claim *claim);
