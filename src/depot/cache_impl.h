// SPDX-License-Identifier: Apache-2.0
/* cache_impl.h - what cache.c (room) and cache_claim.c (fetching) share. */
#pragma once

#include <stdbool.h>

#include "depot/cache.h"

enum entry_state {
	ENTRY_PART,     /* on disk in part, or not at all: nobody is at it */
	ENTRY_FETCHING, /* for those in `claims` */
	ENTRY_READY,
};

struct cache_entry {
	struct cache *cache;
	char key[MANIFEST_HASH_HEX];
	enum entry_state state;
	bool busy;     /* a lane is at its folder */
	int64_t bytes; /* on its way: what it will have, and */
	int64_t at;    /* what it has */
	int64_t used_ms;
	int64_t *jobs;
	size_t job_count, job_cap;
	struct cache_claim *claims; /* not answered yet */
	struct fetch *fetch;
};

struct cache {
	struct depot_files *depot;
	char *root;
	struct map *entries; /* key → struct cache_entry */
	int64_t limit, bytes;
	int64_t going; /* bytes that are being removed */
	int refs;      /* its owner, and each work in a lane */
	bool gone;
};

struct cache_entry *cache_entry_find(const struct cache *c, const char *key);
/* Found, or made in state PART with `bytes` set aside for it. */
struct cache_entry *cache_entry_of(struct cache *c, const char *key, int64_t bytes);
void cache_entry_forget(struct cache_entry *e); /* its folder is the caller's matter */
void cache_resize(struct cache_entry *e, int64_t bytes);
int cache_make_room(struct cache *c, int64_t want, struct err *err);
void cache_unref(struct cache *c);
