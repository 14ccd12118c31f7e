// SPDX-License-Identifier: Apache-2.0
/* depot_files.c - the depot on this machine's disks.
 *
 * Whatever touches a disk runs in a lane of its own on a copy of what it needs; the
 * answer comes back on the loop.  A daemon that dies in between asks again at boot,
 * and finds folders that are there already.
 */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/cache.h"
#include "depot/checkpoint.h"
#include "depot/fetch.h"
#include "depot/files.h"
#include "depot/input.h"
#include "depot/layout.h"
#include "depot/op.h"
#include "depot/requirements.h"
#include "depot/tree.h"
#include "pack/folder.h"

#define FOLDER_THREADS 2
#define LOOK_THREADS   4 /* one folder that hangs keeps nobody else's stop waiting */
#define CODE_BYTES_MAX (INT64_C(2) << 30) /* of one snapshot, when nobody says */

static char *files_attempt_folder(struct depot *base, int64_t job, int task, int attempt)
{
	return depot_layout_attempt(depot_files_of(base)->state, job, task, attempt);
}

static char *files_output_folder(struct depot *base, int64_t job, const char *output)
{
	return depot_layout_output(depot_files_of(base)->state, job, output);
}

void depot_files_unref(struct depot_files *d)
{
	if (--d->refs > 0)
		return;
	world_lane_destroy(d->folders);
	world_lane_destroy(d->unpacks);
	world_lane_destroy(d->removals);
	world_lane_destroy(d->looks);
	world_lane_destroy(d->transfers);
	free(d->fetch_path);
	free(d->s3_endpoint);
	free(d->s3_region);
	free(d->webhdfs_gateway);
	free(d->state);
	free(d->unpack);
	free(d->socket);
	free(d);
}

static void files_destroy(struct depot *base)
{
	struct depot_files *d = depot_files_of(base);

	d->gone = true;
	/* What is not in a lane ends here; lanes bring the rest back by themselves. */
	for (struct files_op *op = d->ops, *next; op; op = next) {
		next = op->next;
		if (!op->in_lane)
			op_answer(op);
	}
	if (d->cache)
		cache_destroy(d->cache);
	fetch_end_all(d);
	depot_files_unref(d);
}

struct depot_files *depot_files_of(struct depot *d)
{
	assert(d->ops->prepare == depot_files_prepare);
	return (struct depot_files *)d;
}

static void swap_text(char **field, const char *text)
{
	free(*field);
	*field = mem_strdup(text);
}

void depot_files_rules(struct depot *base, const struct depot_rules *r)
{
	struct depot_files *d = depot_files_of(base);

	free(d->socket);
	d->socket = mem_strdup(r->socket);
	d->code_bytes_max = CODE_BYTES_MAX;
	if (r->code_bytes_max > 0 && r->code_bytes_max < PACK_BYTES_MAX)
		d->code_bytes_max = r->code_bytes_max;
	d->volume = r->volume;
	swap_text(&d->fetch_path, r->fetch_path);
	swap_text(&d->s3_endpoint, r->s3_endpoint);
	swap_text(&d->s3_region, r->s3_region);
	swap_text(&d->webhdfs_gateway, r->webhdfs_gateway);
	cache_set_limit(d->cache, r->cache_bytes);
}

void depot_files_cache(struct depot *base, int64_t bytes)
{
	cache_set_limit(depot_files_of(base)->cache, bytes);
}

static const struct depot_ops files_ops = {
	.prepare = depot_files_prepare,
	.cancel = depot_files_cancel,
	.collect = depot_files_collect,
	.look = depot_files_look,
	.remove = depot_files_remove,
	.attempt_folder = files_attempt_folder,
	.output_folder = files_output_folder,
	.destroy = files_destroy,
};

struct depot *depot_files_create(struct world *w, const char *state_dir,
				 const char *unpack_path, struct err *err)
{
	/* Code is reached by the shim as root: nobody needs to pass on the way to it. */
	const mode_t mode = geteuid() == 0 ? DEPOT_PASSAGE_MODE : 0700;
	const struct {
		const char *name;
		mode_t mode;
	} folders[] = { { "jobs", mode }, { "code", 0700 } };
	/* Tasks get paths below it: they must hold whatever the daemon's own folder is. */
	AUTO_FREE char *state = NULL;

	if (tree_make(state_dir, mode, err) < 0)
		return NULL;
	state = realpath(state_dir, NULL);
	if (!state) {
		err_sys(err, "state folder %s", state_dir);
		return NULL;
	}
	for (size_t i = 0; i < COUNT_OF(folders); i++) {
		AUTO_FREE char *path = str_printf("%s/%s", state, folders[i].name);
		if (tree_make(path, folders[i].mode, err) < 0)
			return NULL;
		if (chmod(path, folders[i].mode) < 0) { /* an older daemon's */
			err_sys(err, "set the mode of %s", path);
			return NULL;
		}
	}
	/* What a crash left half unpacked; one daemon at a time holds the state folder. */
	AUTO_FREE char *upload = str_printf("%s/upload", state);
	if (tree_delete(upload, err) < 0 || tree_make(upload, 0700, err) < 0)
		return NULL;
	struct depot_files *d = mem_alloc(1, sizeof *d);
	d->base.ops = &files_ops;
	d->world = w;
	d->state = TAKE(state);
	d->unpack = mem_strdup(unpack_path);
	d->folders = world_lane_create(w, FOLDER_THREADS);
	d->unpacks = world_lane_create(w, 1);
	d->removals = world_lane_create(w, 1);
	d->looks = world_lane_create(w, LOOK_THREADS);
	d->transfers = world_lane_create(w, 1);
	d->refs = 1;
	d->code_bytes_max = CODE_BYTES_MAX;
	d->cache = cache_create(d, err);
	if (!d->cache) {
		depot_files_unref(d);
		return NULL;
	}
	return &d->base;
}
