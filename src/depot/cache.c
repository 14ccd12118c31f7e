// SPDX-License-Identifier: Apache-2.0
#include "depot/cache.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "depot/cache_disk.h"
#include "depot/cache_impl.h"
#include "depot/fetch.h"
#include "depot/files.h"
#include "depot/tree.h"

#define LIMIT_BYTES (INT64_C(50) << 30)
#define DISK_FLOOR  (INT64_C(1) << 30) /* of the disk stays free, or a twentieth of it */

static void entry_destroy(struct cache_entry *e)
{
	map_dels(e->cache->entries, e->key);
	e->cache->bytes -= e->bytes;
	free(e->jobs);
	free(e);
}

static struct cache_entry *entry_create(struct cache *c, const char *key, int64_t bytes)
{
	struct cache_entry *e = mem_alloc(1, sizeof *e);

	e->cache = c;
	memcpy(e->key, key, sizeof e->key);
	e->bytes = bytes;
	c->bytes += bytes;
	map_puts(c->entries, key, e);
	return e;
}

void cache_resize(struct cache_entry *e, int64_t bytes)
{
	e->cache->bytes += bytes - e->bytes;
	e->bytes = bytes;
}

static void found(void *arg, const struct cache_found *f)
{
	struct cache_entry *e = entry_create(arg, f->key, f->bytes);

	e->state = f->part ? ENTRY_PART : ENTRY_READY;
	e->used_ms = f->used_ms;
	e->jobs = f->job_count ? mem_dup(f->jobs, f->job_count * sizeof *f->jobs) : NULL;
	e->job_count = e->job_cap = f->job_count;
}

static int64_t disk_free(const struct cache *c, int64_t *floor)
{
	struct statvfs fs;

	*floor = 0;
	if (statvfs(c->root, &fs) < 0)
		return INT64_MAX / 2; /* writing will tell */
	*floor = (int64_t)(fs.f_blocks * fs.f_frsize) / 20;
	if (*floor > DISK_FLOOR)
		*floor = DISK_FLOOR;
	return (int64_t)(fs.f_bavail * fs.f_frsize);
}

void cache_set_limit(struct cache *c, int64_t limit_bytes)
{
	int64_t floor, half = (disk_free(c, &floor) + c->bytes) / 2;

	c->limit = limit_bytes ? limit_bytes : half < LIMIT_BYTES ? half : LIMIT_BYTES;
}

int64_t cache_bytes(const struct cache *c)
{
	return c->bytes;
}

struct cache *cache_create(struct depot_files *d, struct err *err)
{
	struct cache *c = mem_alloc(1, sizeof *c);

	c->depot = d;
	c->root = str_printf("%s/cache", d->state);
	c->entries = map_create();
	c->refs = 1;
	if (tree_make(c->root, 0700, err) < 0 ||
	    cache_disk_scan(c->root, found, c, err) < 0) {
		cache_destroy(c);
		return NULL;
	}
	cache_set_limit(c, 0);
	return c;
}

void cache_unref(struct cache *c)
{
	struct cache_entry *e;

	if (--c->refs > 0)
		return;
	for (size_t it = 0; (e = map_next(c->entries, &it));)
		entry_destroy(e);
	map_destroy(c->entries);
	free(c->root);
	free(c);
}

void cache_destroy(struct cache *c)
{
	struct cache_entry *e;

	c->gone = true;
	for (size_t it = 0; (e = map_next(c->entries, &it));) {
		while (e->claims) {
			struct cache_claim *claim = e->claims;
			cache_drop(claim);
		}
	}
	cache_unref(c);
}

/* ---- room ---- */

static bool live(const struct cache *c, int64_t job)
{
	const struct depot_outside *o = &c->depot->base.outside;

	return o->live && o->live(o->arg, job);
}

/* Forgets those that have ended on the way. */
static bool in_use(struct cache_entry *e)
{
	size_t kept = 0;

	for (size_t i = 0; i < e->job_count; i++)
		if (live(e->cache, e->jobs[i]))
			e->jobs[kept++] = e->jobs[i];
	e->job_count = kept;
	return kept > 0 || e->claims || e->busy || e->state == ENTRY_FETCHING;
}

struct removal {
	struct cache *cache;
	char *path;
	int64_t bytes;
};

static void remove_work(void *arg)
{
	struct removal *r = arg;

	tree_delete(r->path, NULL); /* what stays goes at the next boot */
}

static void remove_done(void *arg)
{
	struct removal *r = arg;

	r->cache->going -= r->bytes;
	depot_files_unref(r->cache->depot);
	cache_unref(r->cache);
	free(r->path);
	free(r);
}

static void evict(struct cache_entry *e)
{
	struct cache *c = e->cache;
	char *path = cache_disk_take(c->root, e->key, e->state == ENTRY_PART,
				     world_random(c->depot->world));

	if (path) {
		struct removal *r = mem_alloc(1, sizeof *r);
		*r = (struct removal){ c, path, e->bytes };
		c->going += e->bytes;
		c->refs++;
		c->depot->refs++;
		world_lane_work(c->depot->removals, remove_work, remove_done, r);
	}
	entry_destroy(
		e); /* one that cannot be taken away is found again at the next boot */
}

static struct cache_entry *oldest(struct cache *c)
{
	struct cache_entry *e, *best = NULL;

	for (size_t it = 0; (e = map_next(c->entries, &it));)
		if ((!best || e->used_ms < best->used_ms) && !in_use(e))
			best = e;
	return best;
}

static int no_room(const struct cache *c, int64_t want, bool disk, struct err *err)
{
	char a[UNITS_TEXT_MAX], b[UNITS_TEXT_MAX];

	if (disk)
		return err_set(
			err, ERR_BUSY,
			"%s are to be fetched, and the disk that holds %s has no room for "
			"them: make room there",
			units_show_bytes(want, a), c->root);
	if (want > c->limit)
		return err_set(
			err, ERR_TOO_LARGE,
			"%s are to be fetched, and the cache may hold %s: an admin can raise "
			"the setting cache-size",
			units_show_bytes(want, a), units_show_bytes(c->limit, b));
	return err_set(
		err, ERR_BUSY,
		"%s are to be fetched, and the cache (%s) is full of what running jobs "
		"use: try again later, or an admin raises the setting cache-size",
		units_show_bytes(want, a), units_show_bytes(c->limit, b));
}

/* What others on their way will still write. */
static int64_t coming(const struct cache *c)
{
	struct cache_entry *e;
	int64_t all = 0;

	for (size_t it = 0; (e = map_next(c->entries, &it));)
		if (e->state == ENTRY_FETCHING && e->bytes > e->at)
			all += e->bytes - e->at;
	return all;
}

/* `want` more bytes fit below the limit and on the disk, or nothing was done for them. */
int cache_make_room(struct cache *c, int64_t want, struct err *err)
{
	int64_t floor, free_bytes = disk_free(c, &floor) - coming(c);

	if (want > c->limit)
		return no_room(c, want, false, err);
	for (;;) {
		bool over = c->bytes + want > c->limit;
		bool full = free_bytes + c->going < want + floor;
		if (!over && !full)
			return 0;
		struct cache_entry *e = oldest(c);
		if (!e)
			return no_room(c, want, !over, err);
		evict(e);
	}
}

struct cache_entry *cache_entry_find(const struct cache *c, const char *key)
{
	return map_gets(c->entries, key);
}

struct cache_entry *cache_entry_of(struct cache *c, const char *key, int64_t bytes)
{
	struct cache_entry *e = map_gets(c->entries, key);

	if (e)
		return e;
	e = entry_create(c, key, bytes);
	e->state = ENTRY_PART;
	return e;
}

void cache_entry_forget(struct cache_entry *e)
{
	assert(!e->claims && !e->busy);
	entry_destroy(e);
}
