// SPDX-License-Identifier: Apache-2.0
/* decisions - how many placements a second the daemon's core makes durable, in one batch.
 *
 *   decisions FOLDER [JOBS]
 *
 * The shipped yard on the real loop and the real database in FOLDER; only nodes and tasks
 * are simulated.  JOBS jobs wait at a quota of one; the clock runs from the moment the
 * quota goes until the last placement is on disk.  Prints decisions a second. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/depot_sim.h"
#include "yard/yard.h"

#define NODES   1250
#define DEVICES 8

struct bench {
	struct world *world;
	struct engine_sim_machine *machine;
	struct yard *yard;
	struct principal who;
	long jobs, taken, placed;
	int64_t began_ns, took_ns;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void give_up(const struct err *err)
{
	fprintf(stderr, "decisions: %s\n", err->text);
	exit(1);
}

static struct engine *make_engine(void *arg, const struct engine_sink *sink,
				  struct err *err)
{
	struct bench *b = arg;

	(void)err;
	return engine_sim_create(b->machine, sink);
}

static void make_machine(struct bench *b)
{
	struct node *nodes = mem_alloc(NODES, sizeof *nodes);
	struct engine_sim_faults none = { .run_ms_max = 3600000 };

	for (int i = 0; i < NODES; i++) {
		nodes[i].up = true;
		snprintf(nodes[i].name, sizeof nodes[i].name, "n%04d", i);
		nodes[i].capacity.cpu_milli = 64000;
		nodes[i].capacity.memory_bytes = INT64_C(256) << 30;
		resources_set_device(&nodes[i].capacity, "gpu", DEVICES);
	}
	b->machine = engine_sim_machine_create(b->world, nodes, NODES, &none);
	free(nodes);
}

static struct spec *make_spec(void)
{
	static const char *const argv[] = { "true" };
	struct spec *s = spec_create();
	struct role *r = spec_add_role(s);
	struct problems p = { 0 };

	role_set_argv(r, argv, 1);
	r->each.cpu_milli = 1000;
	r->each.memory_bytes = INT64_C(1) << 30;
	resources_set_device(&r->each, "gpu", 1);
	pairs_set(&r->env, "SIM_RUN", "1h");
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

static void on_event(void *arg, const struct event *e)
{
	struct bench *b = arg;

	if (e->kind != EV_PLACED || !b->began_ns || ++b->placed < b->jobs - 1)
		return;
	b->took_ns = now_ns() - b->began_ns;
	world_stop(b->world);
}

static void on_taken(void *arg, int64_t job, bool again, const struct err *err)
{
	struct bench *b = arg;

	(void)job;
	(void)again;
	if (err && err->code)
		give_up(err);
	if (++b->taken < b->jobs)
		return;
	struct quota none = { .limit = { .cpu_milli = -1, .memory_bytes = -1 },
			      .max_running_jobs = -1 };
	b->began_ns = now_ns();
	yard_set_quota(b->yard, &b->who, "user", b->who.name, &none, NULL, NULL);
}

static void fill(struct bench *b)
{
	struct quota one = { .limit = { .cpu_milli = -1, .memory_bytes = -1 },
			     .max_running_jobs = 1 };

	b->who = (struct principal){ .name = "bench",
				     .group = GROUP_DEFAULT,
				     .groups = { GROUP_DEFAULT },
				     .group_count = 1,
				     .role = ROLE_ADMIN,
				     .scopes = SCOPE_ALL,
				     .uid = -1 };
	yard_set_quota(b->yard, &b->who, "user", b->who.name, &one, NULL, NULL);
	for (long i = 0; i < b->jobs; i++)
		yard_submit(b->yard, &b->who, make_spec(), NULL, NULL, on_taken, b);
}

int main(int argc, char **argv)
{
	struct bench b = { .jobs = argc > 2 ? atol(argv[2]) : NODES * DEVICES };
	struct yard_config c = { .make_engine = make_engine,
				 .make_engine_arg = &b,
				 .uid_base = -1 };
	struct err err = { 0 };

	if (argc < 2 || b.jobs < 2 || b.jobs > NODES * DEVICES) {
		fprintf(stderr, "usage: decisions FOLDER [JOBS up to %d]\n",
			NODES * DEVICES);
		return 2;
	}
	b.world = world_uv_create(&err);
	if (!b.world)
		give_up(&err);
	AUTO_FREE char *path = str_printf("%s/yard.db", argv[1]);
	c.world = b.world;
	c.store = store_sqlite_open(b.world, path, &err);
	if (!c.store)
		give_up(&err);
	c.depot = depot_sim_create(b.world, 0);
	make_machine(&b);
	b.yard = yard_create(&c, &err);
	if (!b.yard)
		give_up(&err);
	yard_watch_add(b.yard, on_event, &b);
	fill(&b);
	world_run(b.world);
	printf("%.0f\n", (double)(b.jobs - 1) * 1e9 / (double)b.took_ns);
	yard_destroy(b.yard);
	store_destroy(c.store);
	c.depot->ops->destroy(c.depot);
	engine_sim_machine_destroy(b.machine);
	world_destroy(b.world);
	return 0;
}
