// SPDX-License-Identifier: Apache-2.0
#include "http/shown.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define ENTRY_BYTES 512 /* about what one costs beside its text */

struct shown {
	struct map *jobs;
	struct shown_job *newest, *oldest;
	size_t bytes, bytes_max;
	uint64_t epoch;

	struct map *lists; /* key → struct buf */
	size_t list_bytes;
	uint64_t list_epoch;
};

struct shown *shown_create(size_t bytes_max)
{
	struct shown *s = mem_alloc(1, sizeof *s);

	s->jobs = map_create();
	s->lists = map_create();
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

static void forget_oldest(struct shown *s)
{
	struct shown_job *j = s->oldest;

	s->oldest = j->newer;
	if (s->oldest)
		s->oldest->older = NULL;
	else
		s->newest = NULL;
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
		forget_oldest(s);
	s->epoch = epoch;
}

static void forget_lists(struct shown *s)
{
	struct buf *b;

	for (size_t it = 0; (b = map_next(s->lists, &it));) {
		buf_fini(b);
		free(b);
	}
	map_destroy(s->lists);
	s->lists = map_create();
	s->list_bytes = 0;
}

static void enter_lists(struct shown *s, uint64_t epoch)
{
	if (s->list_epoch != epoch && map_count(s->lists))
		forget_lists(s);
	s->list_epoch = epoch;
}

void shown_destroy(struct shown *s)
{
	if (!s)
		return;
	while (s->oldest)
		forget_oldest(s);
	forget_lists(s);
	map_destroy(s->lists);
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
		forget_oldest(s);
}

size_t shown_count(const struct shown *s)
{
	return map_count(s->jobs);
}

const struct buf *shown_list(struct shown *s, uint64_t epoch, const char *key)
{
	enter_lists(s, epoch);
	return map_gets(s->lists, key);
}

void shown_put_list(struct shown *s, uint64_t epoch, const char *key,
		    const struct buf *json)
{
	size_t bytes = json->len + 1 + strlen(key) + ENTRY_BYTES;

	enter_lists(s, epoch);
	if (bytes > s->bytes_max || map_gets(s->lists, key))
		return;
	/* They are of one moment: none is worth more than another. */
	if (s->list_bytes + bytes > s->bytes_max)
		forget_lists(s);
	struct buf *b = mem_alloc(1, sizeof *b);
	buf_add(b, json->data, json->len);
	map_puts(s->lists, key, b);
	s->list_bytes += bytes;
}
