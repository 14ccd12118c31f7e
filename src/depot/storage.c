// SPDX-License-Identifier: Apache-2.0
#include "depot/storage.h"

#include "base/mem.h"
#include "depot/storage_impl.h"
#include "depot/volume_setup.h"

#define FILE_THREADS  4
#define WHOLE_THREADS 2

struct storage *storage_create(struct world *w, const struct volume *v, const char *state,
			       struct err *err)
{
	struct uploads *uploads = uploads_create(state, err);

	if (!uploads)
		return NULL;
	struct storage *s = mem_alloc(1, sizeof *s);
	s->world = w;
	s->volume = v;
	s->uploads = uploads;
	s->files = world_lane_create(w, FILE_THREADS);
	s->whole = world_lane_create(w, WHOLE_THREADS);
	s->upkeep = world_lane_create(w, 1);
	s->usage = usage_create(volume_quota(v));
	return s;
}

void storage_close(struct storage *s)
{
	if (!s)
		return;
	world_lane_destroy(TAKE(s->files));
	world_lane_destroy(TAKE(s->whole));
	world_lane_destroy(TAKE(s->upkeep));
}

void storage_destroy(struct storage *s)
{
	if (!s)
		return;
	uploads_destroy(s->uploads);
	usage_destroy(s->usage);
	free(s);
}

const struct volume *storage_volume(const struct storage *s)
{
	return s->volume;
}

struct usage *storage_usage(struct storage *s)
{
	return s->usage;
}

struct uploads *storage_uploads(struct storage *s)
{
	return s->uploads;
}

void storage_work(struct storage *s, world_cb work, world_cb done, void *arg)
{
	if (s->files) /* else the daemon ends: nobody waits for it any more */
		world_lane_work(s->files, work, done, arg);
}

void storage_work_whole(struct storage *s, world_cb work, world_cb done, void *arg)
{
	if (s->whole)
		world_lane_work(s->whole, work, done, arg);
}

struct recount {
	struct storage *storage;
	struct volume_place place;
	int64_t now_ms;
};

static void recount(void *arg)
{
	struct recount *r = arg;
	struct err ignored; /* it is tried again when it is next written to */

	usage_count(r->storage->usage, &r->place, r->now_ms, &ignored);
}

static void recounted(void *arg)
{
	struct recount *r = arg;

	volume_place_fini(&r->place);
	free(r);
}

void storage_touched(struct storage *s, const struct volume_place *p)
{
	int64_t now_ms = world_mono_ms(s->world);

	if (!s->upkeep || !usage_stale(s->usage, p, now_ms))
		return;
	struct recount *r = mem_alloc(1, sizeof *r);
	r->storage = s;
	r->now_ms = now_ms;
	volume_place_copy(p, &r->place);
	world_lane_work(s->upkeep, recount, recounted, r);
}
