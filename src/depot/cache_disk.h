// SPDX-License-Identifier: Apache-2.0
/* cache_disk.h - the cache's folders; everything here blocks.  See cache.h for the layout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct cache_found {
	char key[65];
	bool part; /* on its way when the daemon ended */
	int64_t bytes, used_ms;
	int64_t *jobs; /* for whom it is bound */
	size_t job_count, job_cap;
};

/* Everything that is there; removes what makes no sense, and parts from before a reboot:
 * their bytes may not have reached the disk. */
int cache_disk_scan(const char *root,
		    void (*each)(void *arg, const struct cache_found *f), void *arg,
		    struct err *err);
/* The folder a fetch writes into: what an earlier one brought is still in it.  owner: of
 * root mode, who writes; -1: the daemon. */
int cache_disk_begin(const char *root, const char *key, const char *about, int64_t owner,
		     struct err *err);
/* An open descriptor of its data. */
int cache_disk_open(const char *root, const char *key, struct err *err);
/* Made durable and put in its place, of which `user` has seen all. */
int cache_disk_finish(const char *root, const char *key, const char *user, int64_t *bytes,
		      struct err *err);
bool cache_disk_proved(const char *root, const char *key, const char *user);
/* Notes for whom it is bound, and that it was used just now. */
int cache_disk_use(const char *root, const char *key, const char *user, int64_t job,
		   struct err *err);
/* Takes it away at once, to a name that is nobody's; the caller deletes that later. */
char *cache_disk_take(const char *root, const char *key, bool part, uint64_t unique);
