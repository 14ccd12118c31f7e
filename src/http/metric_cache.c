// SPDX-License-Identifier: Apache-2.0
#include "http/metric_cache.h"

#include "base/map.h"
#include "base/mem.h"

#define LANE_THREADS 2

struct asked {
	struct metric_ask ask;
	int64_t until_ms;
	struct buf json;
	struct asked *next;
};

struct kept {
	struct metric_cache *cache;
	char *key;
	struct metrics *metrics;
	struct asked *waiting; /* for the reading after this one, newest first */
	struct asked *served;  /* by the reading under way */
	bool busy;             /* the lane has metrics, logs and served */
	bool begin, more,
		last; /* of this turn: the pass begins; is not over; ends anyhow */
	struct metric_logs logs;
	int64_t until_ms; /* when the first of them has waited long enough */
	uint64_t used;    /* when it was asked for last, by the cache's count */
	size_t bytes;
};

struct metric_cache {
	struct world *world;
	struct world_lane *lane; /* NULL: closed */
	const struct metric_cache_ops *ops;
	void *arg;
	struct map *kept; /* by key */
	uint64_t uses;
	size_t bytes;
};

static void start(struct kept *k);

struct metric_cache *metric_cache_create(struct world *w,
					 const struct metric_cache_ops *ops, void *arg)
{
	struct metric_cache *c = mem_alloc(1, sizeof *c);

	*c = (struct metric_cache){ .world = w,
				    .lane = world_lane_create(w, LANE_THREADS),
				    .ops = ops,
				    .arg = arg,
				    .kept = map_create() };
	return c;
}

void metric_cache_close(struct metric_cache *c)
{
	world_lane_destroy(TAKE(c->lane));
}

static void free_logs(struct metric_logs *l)
{
	for (size_t i = 0; i < l->count; i++) {
		mem_cleanup_free(&l->items[i].run);
		mem_cleanup_free(&l->items[i].folder);
	}
	*l = (struct metric_logs){ 0 };
}

static void free_asked(struct asked *list)
{
	while (list) {
		struct asked *next = list->next;
		for (size_t i = 0; i < list->ask.name_count; i++)
			free(list->ask.names[i]);
		free(list->ask.names);
		free(list->ask.note);
		buf_fini(&list->json);
		free(list);
		list = next;
	}
}

static void forget(struct kept *k)
{
	struct metric_cache *c = k->cache;

	map_dels(c->kept, k->key);
	c->bytes -= k->bytes;
	free_asked(k->waiting);
	free_asked(k->served);
	free_logs(&k->logs);
	metrics_destroy(k->metrics);
	free(k->key);
	free(k);
}

void metric_cache_destroy(struct metric_cache *c)
{
	struct kept *k;

	if (!c)
		return;
	for (size_t it = 0; (k = map_next(c->kept, &it));)
		forget(k);
	map_destroy(c->kept);
	free(c);
}

/* The one not asked for the longest, of those that nobody waits for. */
static struct kept *oldest(const struct metric_cache *c)
{
	struct kept *k, *found = NULL;

	for (size_t it = 0; (k = map_next(c->kept, &it));)
		if (!k->busy && (!found || k->used < found->used))
			found = k;
	return found;
}

static void make_room(struct metric_cache *c)
{
	struct kept *k;

	while ((c->bytes > METRIC_CACHE_BYTES ||
		map_count(c->kept) > METRIC_CACHE_JOBS) &&
	       (k = oldest(c)))
		forget(k);
}

static void write_answers(struct kept *k)
{
	for (struct asked *a = k->served; a; a = a->next) {
		struct metrics_want want = { .names = (const char *const *)a->ask.names,
					     .name_count = a->ask.name_count,
					     .points = a->ask.points,
					     .note = a->ask.note,
					     .unfinished = k->more };
		struct json j;
		json_init(&j, &a->json);
		metrics_write(k->metrics, &want, &j);
	}
}

/* In the lane: a turn of reading, and the answers once it is the last. */
static void work(void *arg)
{
	struct kept *k = arg;

	if (k->begin)
		metrics_look(k->metrics);
	k->begin = false;
	k->more = metrics_read(k->metrics, k->logs.items, k->logs.count) || k->logs.more;
	if (!k->more || k->last)
		write_answers(k);
}

static void answer_all(struct kept *k)
{
	struct asked *list = TAKE(k->served);

	for (struct asked *a = list; a; a = a->next)
		k->cache->ops->answer(a->ask.who, &a->json);
	free_asked(list);
}

static bool anybody_waits(const struct kept *k)
{
	for (const struct asked *a = k->served; a; a = a->next)
		if (k->cache->ops->waits(a->ask.who))
			return true;
	return false;
}

static void turn(struct kept *k);

static void done(void *arg)
{
	struct kept *k = arg;
	struct metric_cache *c = k->cache;
	size_t bytes = metrics_bytes(k->metrics);

	c->bytes += bytes - k->bytes;
	k->bytes = bytes;
	free_logs(&k->logs);
	if (c->lane && k->more && !k->last && anybody_waits(k)) {
		k->last = world_mono_ms(c->world) >= k->until_ms;
		turn(k);
		return;
	}
	answer_all(k);
	k->busy = false;
	if (k->waiting && c->lane)
		start(k);
	make_room(c);
}

static void turn(struct kept *k)
{
	struct metric_cache *c = k->cache;

	if (k->served && metrics_wants_logs(k->metrics))
		c->ops->logs(c->arg, k->served->ask.job, k->metrics, &k->logs);
	world_lane_work(c->lane, work, done, k);
}

static void start(struct kept *k)
{
	k->served = TAKE(k->waiting);
	k->busy = k->begin = true;
	k->last = false;
	k->until_ms = INT64_MAX;
	for (const struct asked *a = k->served; a; a = a->next)
		if (a->until_ms < k->until_ms)
			k->until_ms = a->until_ms;
	turn(k);
}

struct metrics *metric_cache_find(const struct metric_cache *c, const char *key)
{
	const struct kept *k = map_gets(c->kept, key);

	return k ? k->metrics : NULL;
}

static struct kept *keep(struct metric_cache *c, const char *key, struct metrics *made)
{
	struct kept *k = mem_alloc(1, sizeof *k);

	*k = (struct kept){ .cache = c, .key = mem_strdup(key), .metrics = made };
	map_puts(c->kept, key, k);
	return k;
}

void metric_cache_ask(struct metric_cache *c, const char *key, struct metrics *made,
		      const struct metric_ask *ask)
{
	struct kept *k = map_gets(c->kept, key);
	struct asked *a = mem_alloc(1, sizeof *a);

	if (!k)
		k = keep(c, key, made);
	a->ask = *ask;
	a->until_ms = world_mono_ms(c->world) + ask->wait_ms;
	a->next = k->waiting;
	k->waiting = a;
	k->used = ++c->uses;
	if (!k->busy)
		start(k);
}
