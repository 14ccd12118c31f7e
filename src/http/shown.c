// SPDX-License-Identifier: Apache-2.0
#include "http/shown.h"

#include <assert.h>

#include "base/map.h"
#include "base/mem.h"

#define ENTRY_BYTES 512 /* about what one costs beside its text */

struct shown {
	struct map *jobs;
	struct shown_job *newest, *oldest;
	size_t bytes, bytes_max;
	uint64_t epoch;
};

struct shown *shown_create(size_t bytes_max)
{
	struct shown *s = mem_alloc(1, sizeof *s);

	s->jobs = map_create();
	s->bytes_max = bytes_max;
	return s;
}

static void take_out(struct shown *s, struct shown_job *j)
{
	*(j->newer ? &j->newer->older : &s->newest) = j->older;
	*(j->older ? &j->older->newer : &s->oldest) = j->newer;
	j->newer = j->older = NULL;
}

static void put_first(struct shown *s, struct shown_job *j)
{
	j->older = s->newest;
	*(j->older ? &j->older->newer : &s->oldest) = j;
	s->newest = j;
}

static void forget(struct shown *s, struct shown_job *j)
{
	take_out(s, j);
	map_del(s->jobs, j->id);
	s->bytes -= j->json.cap + ENTRY_BYTES;
	buf_fini(&j->json);
	free(j->owner);
	free(j->group);
	free(j);
}

static void enter(struct shown *s, uint64_t epoch)
{
	while (s->epoch != epoch && s->oldest)
		forget(s, s->oldest);
	s->epoch = epoch;
}

void shown_destroy(struct shown *s)
{
	if (!s)
		return;
	while (s->oldest)
		forget(s, s->oldest);
	map_destroy(s->jobs);
	free(s);
}

const struct shown_job *shown_get(struct shown *s, uint64_t epoch, int64_t id)
{
	enter(s, epoch);
	struct shown_job *j = map_get(s->jobs, id);
	if (j && j != s->newest) {
		take_out(s, j);
		put_first(s, j);
	}
	return j;
}

void shown_put(struct shown *s, uint64_t epoch, const struct job *job,
	       const struct buf *json)
{
	assert(job->state == JOB_ENDED);
	enter(s, epoch);
	if (json->len + 1 + ENTRY_BYTES > s->bytes_max || map_get(s->jobs, job->id))
		return;
	struct shown_job *j = mem_alloc(1, sizeof *j);
	j->id = job->id;
	j->owner = mem_strdup(job->owner);
	j->group = mem_strdup(job->group);
	buf_add(&j->json, json->data, json->len);
	map_put(s->jobs, j->id, j);
	put_first(s, j);
	s->bytes += j->json.cap + ENTRY_BYTES;
	while (s->bytes > s->bytes_max)
		forget(s, s->oldest);
}

size_t shown_count(const struct shown *s)
{
	return map_count(s->jobs);
}
