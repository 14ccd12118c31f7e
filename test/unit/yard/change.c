// SPDX-License-Identifier: Apache-2.0
/* Documents: with their line of the audit log or not at all, whatever the disk does. */
#include "tap.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "depot/depot_sim.h"
#include "store/docs.h"
#include "world/log.h"
#include "world/world_sim.h"
#include "yard/why.h"
#include "yard/yard.h"

struct rig {
	struct world *world;
	struct store_disk *disk;
	struct store *store;
	struct depot *depot;
	struct engine_sim_machine *machine;
	struct yard *yard;
	struct map *kept; /* name → body, of the kind "user" */
	struct yard_doc_sink sink;
};

struct answer {
	bool came;
	struct err err;
};

static struct principal root = { .name = "root",
				 .role = ROLE_ADMIN,
				 .scopes = SCOPE_ALL };

static struct engine *make_engine(void *arg, const struct engine_sink *sink,
				  struct err *err)
{
	(void)err;
	return engine_sim_create(arg, sink);
}

static void keep(void *arg, const char *name, const char *body)
{
	struct rig *g = arg;

	free(body ? map_puts(g->kept, name, mem_strdup(body)) : map_dels(g->kept, name));
}

static void boot(struct rig *g, int64_t uid_base)
{
	static const struct node node = { .name = "n1",
					  .up = true,
					  .port_first = 20000,
					  .port_last = 20999,
					  .capacity = { .cpu_milli = 2000,
							.memory_bytes = 1 << 30 } };
	struct yard_config c = { .world = g->world,
				 .make_engine = make_engine,
				 .docs = &g->sink,
				 .doc_count = 1,
				 .uid_base = uid_base };

	g->kept = map_create();
	g->sink = (struct yard_doc_sink){ "user", keep, g };
	c.store = g->store = store_memory_open(g->world, g->disk);
	c.depot = g->depot = depot_sim_create(g->world, 0);
	c.make_engine_arg = g->machine = engine_sim_machine_create(
		g->world, &node, 1, &(struct engine_sim_faults){ 0 });
	g->yard = yard_create(&c, NULL);
}

static void crash(struct rig *g)
{
	char *body;

	engine_sim_machine_crash(g->machine, false);
	world_sim_crash(g->world);
	yard_destroy(g->yard);
	store_destroy(g->store);
	g->depot->ops->destroy(g->depot);
	engine_sim_machine_destroy(g->machine);
	for (size_t it = 0; (body = map_next(g->kept, &it));)
		free(body);
	map_destroy(g->kept);
}

static void on_done(void *arg, int64_t job, bool again, const struct err *err)
{
	struct answer *a = arg;

	(void)job, (void)again;
	a->came = true;
	if (err)
		a->err = *err;
}

static void change(struct rig *g, const char *name, const char *body, struct answer *a)
{
	struct yard_doc doc = { "user", name, body };
	struct yard_doc more = { "other", name, body };
	struct yard_doc both[] = { doc, more };

	*a = (struct answer){ 0 };
	yard_change(g->yard, &root,
		    &(struct yard_change){ both, COUNT_OF(both), "user.set", name },
		    on_done, a);
}

static void pass(struct rig *g, int64_t ms)
{
	world_sim_run_until(g->world, world_mono_ms(g->world) + ms);
}

static void count_doc(void *arg, const char *kind, const char *name, const char *body)
{
	int *n = arg;

	(void)kind, (void)name, (void)body;
	++*n;
}

static void count_audit(void *arg, const struct event *e)
{
	int *n = arg;

	*n += e->kind == EV_AUDIT && str_eq(e->by, "root") &&
	      str_eq(e->scope, "user.set");
}

static int docs(struct rig *g)
{
	int n = 0;

	store_docs(g->store, count_doc, &n, NULL);
	return n;
}

static int audits(struct rig *g)
{
	int n = 0;

	store_audit(g->store, 0, 1000, count_audit, &n, NULL);
	return n;
}

static void test_plain(struct rig *g)
{
	struct answer a, b;

	change(g, "ann", "one", &a);
	OK(!a.came, "no answer comes from inside the call");
	IS(map_gets(g->kept, "ann"), "one", "but who keeps it has it at once");
	change(g, "ann", "two", &b);
	pass(g, 100);
	OK(a.came && b.came && a.err.code == ERR_NONE && docs(g) == 2 && audits(g) == 2,
	   "both are durable, each with its line");
	change(g, "ann", NULL, &a);
	pass(g, 100);
	OK(!map_gets(g->kept, "ann") && docs(g) == 0 && audits(g) == 3,
	   "what is removed is gone; that it was is not");
}

static void test_trouble(struct rig *g)
{
	struct answer a, b;

	store_disk_set_faults(g->disk,
			      &(struct store_disk_faults){ .fail_percent = 100 });
	change(g, "bob", "new", &a);
	pass(g, 3500);
	OK(a.came && a.err.code == ERR_BUSY && docs(g) == 0,
	   "a disk that is full is told: %s", a.err.text);
	change(g, "eve", "new", &b);
	pass(g, 10);
	OK(b.came && b.err.code == ERR_BUSY && !map_gets(g->kept, "eve"),
	   "meanwhile nothing further is taken: %s", b.err.text);
	store_disk_set_faults(g->disk, &(struct store_disk_faults){ .delay_most_ms = 1 });
	pass(g, 3000);
	OK(docs(g) == 2 && audits(g) == 4,
	   "what was recorded is offered again, its documents with it");
	crash(g);
	boot(g, -1);
	IS(map_gets(g->kept, "bob"), "new", "and there after a crash");
}

/* What was acknowledged is there; documents and lines agree. */
static void test_crashes(void)
{
	int lost = 0, apart = 0, told = 0;

	for (uint64_t seed = 1; seed <= 60; seed++) {
		struct rig g = { .world = world_sim_create(seed),
				 .disk = store_disk_create() };
		struct answer a[20];

		boot(&g, -1);
		store_disk_set_faults(g.disk, &(struct store_disk_faults){
						      .fail_percent = (int)seed % 3 * 20,
						      .delay_most_ms = 5 });
		for (int i = 0; i < 20; i++) {
			AUTO_FREE char *name = str_printf("u%d", i);
			change(&g, name, "there", &a[i]);
			pass(&g, (int64_t)(world_random(g.world) % 6));
		}
		crash(&g);
		boot(&g, -1);
		for (int i = 0; i < 20; i++) {
			AUTO_FREE char *name = str_printf("u%d", i);
			bool sure = a[i].came && a[i].err.code == ERR_NONE;
			told += sure;
			lost += sure && !map_gets(g.kept, name);
		}
		apart += docs(&g) != 2 * audits(&g);
		crash(&g);
		store_disk_destroy(g.disk);
		world_destroy(g.world);
	}
	IS_INT(lost, 0, "no change that was answered is lost in a crash (%d were)", told);
	IS_INT(apart, 0, "none is there without its line, nor a line without it");
	OK(told > 200, "enough were answered to mean something");
}

static struct spec *a_spec(bool input)
{
	struct spec *s = spec_create();
	struct problems p = { 0 };

	s->name = mem_strdup("job");
	role_set_shell(spec_add_role(s), "true");
	s->roles[0].each.cpu_milli = 100;
	s->roles[0].each.memory_bytes = 1 << 20;
	if (input)
		spec_add_input(s, "data", "/etc");
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

/* Who comes over the network has no files here, but a range of uids like everybody. */
static void test_no_account(void)
{
	struct rig g = { .world = world_sim_create(3), .disk = store_disk_create() };
	struct principal far = { .name = "far", .group = "default", .uid = -1 };
	struct principal near = { .name = "near", .group = "default", .uid = 1000 };
	struct answer a = { 0 }, b = { 0 }, c = { 0 };
	struct err err;
	struct yard_reason reason;

	far.role = near.role = ROLE_MEMBER;
	far.scopes = near.scopes = SCOPE_ALL;
	boot(&g, 1000000000);
	yard_submit(g.yard, &far, a_spec(true), NULL, NULL, on_done, &a);
	yard_submit(g.yard, &near, a_spec(true), NULL, NULL, on_done, &b);
	yard_submit(g.yard, &far, a_spec(false), NULL, NULL, on_done, &c);
	pass(&g, 100);
	OK(a.came && a.err.code == ERR_DENIED && str_starts(a.err.text, "inputs: "),
	   "a file of this machine is not read for who has no account on it: %s",
	   a.err.text);
	OK(b.err.code == ERR_NONE, "it is for who has one");
	OK(c.came && c.err.code == ERR_NONE, "a job without such files runs: %s",
	   c.err.text);
	AUTO_SPEC struct spec *dry = a_spec(true);
	OK(yard_try(g.yard, &far, dry, &reason, &err) < 0, "a dry run says the same");
	yard_reason_fini(&reason);
	OK(yard_jobs_of(g.yard, "far") <= 1, "their jobs are counted");
	crash(&g);
	store_disk_destroy(g.disk);
	world_destroy(g.world);
}

int main(void)
{
	struct rig g = { .world = world_sim_create(42), .disk = store_disk_create() };

	world_log_level(LOG_LEVEL_COUNT);
	boot(&g, -1);
	test_plain(&g);
	test_trouble(&g);
	crash(&g);
	store_disk_destroy(g.disk);
	world_destroy(g.world);
	test_crashes();
	test_no_account();
	return END();
}
