// SPDX-License-Identifier: Apache-2.0
/* muri_known.c - the published orders: shortest first, and Tiresias with its levels. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sim/muri_replay.h"

static void *keys_create(const struct muri_trace *t)
{
	return mem_alloc(t->count, sizeof(double));
}

static void srtf_order(struct muri_replay *r)
{
	double *key = r->state;

	for (size_t i = 0; i < r->count; i++)
		key[r->queue[i]] = muri_left(r, r->queue[i]);
	muri_sort(r->queue, r->count, key);
}

static void srsf_order(struct muri_replay *r)
{
	double *key = r->state;

	for (size_t i = 0; i < r->count; i++)
		key[r->queue[i]] =
			muri_left(r, r->queue[i]) * r->trace->jobs[r->queue[i]].gpus;
	muri_sort(r->queue, r->count, key);
}

const struct muri_policy muri_srtf = {
	.name = "srtf",
	.create = keys_create,
	.destroy = free,
	.order = srtf_order,
};

const struct muri_policy muri_srsf = {
	.name = "srsf",
	.create = keys_create,
	.destroy = free,
	.order = srsf_order,
};

/* GPU seconds at which a job goes down a level. */
static const double limits[] = { 3250, 7200 };
enum { LEVELS = COUNT_OF(limits) + 1 };

static void *tiresias_create(const struct muri_trace *t)
{
	return mem_alloc(t->count, sizeof(int)); /* the queue while it is built */
}

static bool falls(const struct muri_replay *r, int id)
{
	const struct muri_task *t = &r->tasks[id];

	return t->running && (size_t)t->level < COUNT_OF(limits) &&
	       t->attained_s * r->trace->jobs[id].gpus >= limits[t->level];
}

static int by_id(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* A level: who ran, who waited, then who falls into it. */
static size_t fill_level(const struct muri_replay *r, int level, int *next, size_t n)
{
	for (int ran = 1; ran >= 0; ran--)
		for (size_t i = 0; i < r->count; i++) {
			const struct muri_task *t = &r->tasks[r->queue[i]];
			if (t->level == level && t->running == ran &&
			    !falls(r, r->queue[i]))
				next[n++] = r->queue[i];
		}
	size_t first = n;
	for (size_t i = 0; i < r->count; i++)
		if (r->tasks[r->queue[i]].level == level - 1 && falls(r, r->queue[i]))
			next[n++] = r->queue[i];
	qsort(next + first, n - first, sizeof *next, by_id);
	return n;
}

static void tiresias_order(struct muri_replay *r)
{
	int *next = r->state;
	size_t n = 0;

	for (int level = 0; level < LEVELS; level++)
		n = fill_level(r, level, next, n);
	for (size_t i = 0; i < n; i++)
		r->tasks[next[i]].level += falls(r, next[i]);
	memcpy(r->queue, next, n * sizeof *next);
}

/* The next time a running job may fall. */
static double tiresias_wake(const struct muri_replay *r)
{
	double at = INFINITY;

	for (size_t i = 0; i < r->running_count; i++) {
		const struct muri_task *t = &r->tasks[r->running[i]];
		int gpus = r->trace->jobs[r->running[i]].gpus;

		if (t->level < LEVELS - 1)
			at = fmin(at, ceil(limits[t->level] / gpus) - t->attained_s +
					      r->now_s);
	}
	return at;
}

const struct muri_policy muri_tiresias = {
	.name = "tiresias",
	.create = tiresias_create,
	.destroy = free,
	.order = tiresias_order,
	.wake = tiresias_wake,
	.count_only = true,
};
