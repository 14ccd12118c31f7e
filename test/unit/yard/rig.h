// SPDX-License-Identifier: Apache-2.0
/* rig.h - a yard on a quiet simulated world. */
#pragma once

#include "tap.h"

#include <string.h>

#include "base/mem.h"
#include "depot/depot_sim.h"
#include "world/world_sim.h"
#include "yard/yard.h"

struct rig {
	struct world *world;
	struct store_disk *disk;
	struct store *store;
	struct depot *depot;
	struct engine_sim_machine *machine;
	struct yard *yard;
	struct principal alice, root;
};

struct answer {
	bool came, again;
	int64_t job;
	struct err err;
};

static inline struct engine *make_engine(void *arg, const struct engine_sink *sink,
					 struct err *err)
{
	(void)err;
	return engine_sim_create(arg, sink);
}

static struct yard_config rules = { .uid_base = -1 };

static inline void up(struct rig *g, const struct engine_sim_faults *f)
{
	struct node n = {
		.name = "n1", .up = true, .port_first = 20000, .port_last = 20999
	};
	struct yard_config c = rules;

	c.make_engine = make_engine;

	n.capacity.cpu_milli = 2000;
	n.capacity.memory_bytes = 1ll << 30;
	*g = (struct rig){ .world = world_sim_create(42), .disk = store_disk_create() };
	strcpy(g->alice.name, "alice");
	strcpy(g->alice.group, "lab");
	strcpy(g->root.name, "root");
	strcpy(g->root.group, "root");
	g->root.role = ROLE_ADMIN;
	g->root.scopes = g->alice.scopes = SCOPE_ALL;
	g->alice.role = ROLE_MEMBER;
	c.world = g->world;
	c.store = g->store = store_memory_open(g->world, g->disk);
	c.depot = g->depot = depot_sim_create(g->world, 0);
	c.make_engine_arg = g->machine = engine_sim_machine_create(g->world, &n, 1, f);
	g->yard = yard_create(&c, NULL);
}

static inline void down(struct rig *g)
{
	engine_sim_machine_crash(g->machine, false);
	world_sim_crash(g->world);
	yard_destroy(g->yard);
	store_destroy(g->store);
	g->depot->ops->destroy(g->depot);
	engine_sim_machine_destroy(g->machine);
	store_disk_destroy(g->disk);
	world_destroy(g->world);
}

static inline struct spec *spec(const char *name, int64_t cpu_milli)
{
	struct spec *s = spec_create();
	struct role *r = spec_add_role(s);
	struct problems p = { 0 };

	s->name = mem_strdup(name);
	r->name = mem_strdup("main");
	r->argv = mem_alloc(2, sizeof *r->argv);
	r->argv[r->argc++] = mem_strdup("true");
	r->each.cpu_milli = cpu_milli;
	r->each.memory_bytes = 1 << 20;
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

static inline void done(void *arg, int64_t job, bool again, const struct err *err)
{
	struct answer *a = arg;

	*a = (struct answer){ .came = true, .again = again, .job = job };
	if (err)
		a->err = *err;
}

static inline void pass(struct rig *g, int64_t ms)
{
	world_sim_run_until(g->world, world_mono_ms(g->world) + ms);
}

static inline int64_t submit(struct rig *g, struct spec *s)
{
	struct answer a = { 0 };

	yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &a);
	for (int i = 0; i < 100 && !a.came; i++)
		pass(g, 1);
	return a.job;
}
