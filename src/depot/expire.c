// SPDX-License-Identifier: Apache-2.0
/* expire.c - snapshots that nobody used for long are removed.
 *
 * Three steps.  The pool lists those that look old; the loop, where submits come in, looks
 * again at each and takes away what still is old and of no live job; the pool deletes what
 * was taken away.  Since a submit looks and is recorded in one turn of the loop, none is
 * removed between the two.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/files.h"
#include "depot/layout.h"
#include "depot/snapshot.h"
#include "depot/tree.h"
#include "pack/hash.h"

#define BATCH 64 /* looked at in one turn of the loop; then others have theirs */

struct expiry {
	struct depot_files *depot;
	int64_t before_ms; /* last used before that, on the wall clock */
	depot_code_used used;
	void *arg;
	char hashes[BATCH][PACK_HASH_HEX];
	size_t count;
};

static bool is_old(const struct expiry *x, const char *hash)
{
	AUTO_FREE char *folder = depot_layout_code(x->depot->state, hash);
	struct stat st;

	return stat(folder, &st) == 0 &&
	       (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 <
		       x->before_ms;
}

static char *grave(const struct expiry *x, const char *hash)
{
	return str_printf("%s/upload/old-%s", x->depot->state, hash);
}

static void list_old(void *arg)
{
	struct expiry *x = arg;
	AUTO_FREE char *path = str_printf("%s/code", x->depot->state);
	const struct dirent *e;
	DIR *dir = opendir(path);

	while (dir && x->count < BATCH && (e = readdir(dir)))
		if (pack_hash_valid(e->d_name) && is_old(x, e->d_name))
			memcpy(x->hashes[x->count++], e->d_name, PACK_HASH_HEX);
	if (dir)
		closedir(dir);
}

static void delete_taken(void *arg)
{
	struct expiry *x = arg;

	for (size_t i = 0; i < x->count; i++) {
		AUTO_FREE char *path = grave(x, x->hashes[i]);
		tree_delete(path, NULL); /* what stays is removed at the next boot */
	}
	x->count = 0;
	list_old(x);
}

static void finish(struct expiry *x)
{
	depot_files_unref(x->depot);
	free(x);
}

static void take_away(void *arg)
{
	struct expiry *x = arg;
	size_t taken = 0;

	/* An upload that finds its code there must not lose it again: another day. */
	if (x->depot->gone || !x->count || x->depot->uploads) {
		finish(x);
		return;
	}
	for (size_t i = 0; i < x->count; i++) {
		const char *hash = x->hashes[i];
		AUTO_FREE char *from = depot_layout_code(x->depot->state, hash),
			       *to = grave(x, hash);
		if (!is_old(x, hash))
			continue;
		if (x->used(x->arg, hash) || code_has_jobs(x->depot, hash))
			code_touch(x->depot, hash);
		else if (rename(from, to) == 0)
			memmove(x->hashes[taken++], hash, PACK_HASH_HEX);
		else /* not to come by it again and again */
			code_touch(x->depot, hash);
	}
	x->count = taken;
	if (!taken) { /* what is used was touched: the next time others come first */
		finish(x);
		return;
	}
	world_work(x->depot->world, delete_taken, take_away, x);
}

void depot_code_expire(struct depot *base, int64_t keep_ms, depot_code_used used,
		       void *arg)
{
	struct expiry *x = mem_alloc(1, sizeof *x);

	x->depot = depot_files_of(base);
	x->depot->refs++;
	x->before_ms = world_now_ms(x->depot->world) - keep_ms;
	x->used = used;
	x->arg = arg;
	world_work(x->depot->world, list_old, take_away, x);
}
