// SPDX-License-Identifier: Apache-2.0
/* The cache of metrics: every question is answered once, those that come together by one
 * reading; what is kept is bounded; and it may be closed in the middle. */
#include "http/metric_cache.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

static struct world *world;
static size_t answered, with_text, wanted, asked_logs;

static void no_logs(void *arg, int64_t job, const struct metrics *m,
		    struct metric_logs *out)
{
	(void)arg;
	(void)job;
	(void)m;
	(void)out;
	asked_logs++;
}

static bool waits(void *who)
{
	(void)who;
	return true;
}

static void answer(void *who, const struct buf *json)
{
	(void)who;
	answered++;
	with_text += json->len > 0 && str_starts(buf_str(json), "{\"series\":[");
	if (answered == wanted)
		world_stop(world);
}

static const struct metric_cache_ops ops = { no_logs, waits, answer };

static void ask(struct metric_cache *c, int64_t job)
{
	AUTO_FREE char *key = str_printf("%lld", (long long)job);
	struct metrics *made = NULL;
	struct err err;

	if (!metric_cache_find(c, key)) {
		made = metrics_create();
		metrics_add_folder(made, &(struct metrics_folder){
						 .base = "/tmp/yard-no-such-folder" });
		if (job == 1)
			metrics_add_pattern(made, "loss", "loss=(.)", &err);
	}
	struct metric_ask a = { .job = job, .points = 10, .wait_ms = 1000 };
	a.names = mem_alloc(1, sizeof *a.names);
	a.names[a.name_count++] = mem_strdup("loss");
	wanted++;
	metric_cache_ask(c, key, made, &a);
}

int main(void)
{
	struct err err;
	size_t kept = 0;

	world = world_uv_create(&err);
	struct metric_cache *c = metric_cache_create(world, &ops, NULL);
	for (int i = 0; i < 50; i++)
		ask(c, 1);
	world_run(world);
	OK(answered == 50 && with_text == 50,
	   "fifty questions about one job: fifty answers");
	OK(asked_logs == 2,
	   "by two readings: the first one's, and one for all that came meanwhile");
	struct metrics *first = metric_cache_find(c, "1");
	ask(c, 1);
	world_run(world);
	OK(first && metric_cache_find(c, "1") == first, "it is read on, not anew");
	for (int64_t job = 2; job < 2 + 3 * METRIC_CACHE_JOBS; job++)
		ask(c, job);
	world_run(world);
	OK(answered == wanted && with_text == wanted,
	   "many jobs at once are all answered");
	ask(c, 5000);
	world_run(world);
	for (int64_t job = 1; job <= 5000; job++) {
		AUTO_FREE char *key = str_printf("%lld", (long long)job);
		kept += metric_cache_find(c, key) ? 1 : 0;
	}
	OK(kept <= METRIC_CACHE_JOBS && metric_cache_find(c, "5000") &&
		   !metric_cache_find(c, "1"),
	   "so many are kept and no more (%zu): the oldest went", kept);
	for (int64_t job = 6000; job < 6040; job++)
		ask(c, job);
	metric_cache_close(c);
	world_destroy(world);
	OK(answered <= wanted, "closed in the middle: what was under way ends");
	metric_cache_destroy(c);
	metric_cache_destroy(NULL);
	return END();
}
