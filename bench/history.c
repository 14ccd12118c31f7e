// SPDX-License-Identifier: Apache-2.0
/* history - fills a database with ended jobs, through the store room, as a daemon would.
 *
 *   history DATABASE COUNT
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/store.h"

#define BATCH 2000

struct fill {
	struct world *world;
	struct store *store;
	int64_t next, count, seq;
	struct err err;
};

static void next_batch(struct fill *f);

static void on_commit(void *arg, const struct err *err)
{
	struct fill *f = arg;

	if (err)
		f->err = *err;
	if (err || f->next > f->count)
		world_stop(f->world);
	else
		next_batch(f);
}

static void add_job(struct fill *f, struct store_batch *b, int64_t id)
{
	static const char *const owners[] = { "ada", "bo", "cy", "di", "eve" };
	AUTO_SPEC struct spec *spec = spec_create();
	struct role *r = spec_add_role(spec);
	struct problems problems = { 0 };
	int64_t at_ms = 1700000000000 + id * 50;
	AUTO_FREE char *by = mem_strdup(owners[id % 5]), *group = mem_strdup("default");
	AUTO_FREE char *text = mem_strdup("all tasks succeeded");
	struct event submitted = { f->seq++, at_ms,          id,          EV_SUBMITTED,
				   .by = by, .group = group, .spec = spec };
	struct event ended = {
		f->seq++,    at_ms + 900, id, EV_ENDED, .outcome = OUTCOME_SUCCEEDED,
		.text = text
	};
	struct store_row row = { .id = id,
				 .owner = by,
				 .group = group,
				 .reason = text,
				 .state = JOB_ENDED,
				 .outcome = OUTCOME_SUCCEEDED,
				 .attempt = 1,
				 .task_count = 1,
				 .submitted_ms = at_ms,
				 .started_ms = at_ms + 20,
				 .ended_ms = at_ms + 900 };

	r->argv = mem_alloc(3, sizeof *r->argv);
	r->argv[0] = mem_strdup("python3");
	r->argv[1] = mem_strdup("train.py");
	r->argc = 2;
	spec->name = str_printf("train-%lld", (long long)(id % 1000));
	spec_check(spec, &problems);
	problems_fini(&problems);
	row.name = spec->name;
	store_batch_event(b, &submitted);
	store_batch_event(b, &ended);
	store_batch_row(b, &row);
}

static void next_batch(struct fill *f)
{
	struct store_batch *b = store_batch_create();

	for (int i = 0; i < BATCH && f->next <= f->count; i++)
		add_job(f, b, f->next++);
	store_commit(f->store, b, on_commit, f);
}

static void ignore(void *arg, const struct event *e)
{
	(void)arg;
	(void)e;
}

int main(int argc, char **argv)
{
	struct fill f = { .next = 1 };
	struct store_counters counters;

	if (argc != 3 || str_to_i64(argv[2], 1, 100000000, &f.count) < 0) {
		fprintf(stderr, "history DATABASE COUNT\n");
		return 2;
	}
	f.world = world_uv_create(&f.err);
	f.store = f.world ? store_sqlite_open(f.world, argv[1], &f.err) : NULL;
	if (f.store && store_boot(f.store, ignore, NULL, &counters, &f.err) == 0) {
		f.seq = counters.next_seq;
		next_batch(&f);
		world_run(f.world);
	}
	if (f.err.code != ERR_NONE)
		fprintf(stderr, "history: %s\n", f.err.text);
	if (f.store)
		store_destroy(f.store);
	if (f.world)
		world_destroy(f.world);
	return f.err.code == ERR_NONE ? 0 : 1;
}
