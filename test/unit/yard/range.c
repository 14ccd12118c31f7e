// SPDX-License-Identifier: Apache-2.0
/* Ranges of uids: one each, known only when durable, the same after a crash. */
#include "yard/range.h"

#include "base/str.h"
#include "rig.h"
#include "who/who.h"

#define BASE INT64_C(1000000000)

/* The yard dies and comes back with what its disk has. */
static void crash(struct rig *g)
{
	struct yard_config c = rules;

	engine_sim_machine_crash(g->machine, false);
	world_sim_crash(g->world);
	yard_destroy(g->yard);
	store_destroy(g->store);
	c.make_engine = make_engine;
	c.make_engine_arg = g->machine;
	c.world = g->world;
	c.depot = g->depot;
	c.store = g->store = store_memory_open(g->world, g->disk);
	g->yard = yard_create(&c, NULL);
}

static int64_t make(struct rig *g, bool group, const char *name)
{
	struct answer a = { 0 };

	yard_range_make(g->yard, group, name, done, &a);
	for (int i = 0; i < 100 && !a.came; i++)
		pass(g, 1);
	return a.came && a.err.code == ERR_NONE ? yard_range(g->yard, group, name) : -2;
}

static void test_ranges(void)
{
	struct rig g;
	struct engine_sim_faults f = { 0 };
	struct answer a = { 0 }, b = { 0 };

	rules.uid_base = BASE;
	up(&g, &f);
	OK(yard_range(g.yard, false, "alice") == -1, "who never came has none");
	yard_range_make(g.yard, false, "alice", done, &a);
	yard_range_make(g.yard, false, "alice", done, &b);
	OK(yard_range(g.yard, false, "alice") == -1, "nor one that is not durable yet");
	for (int i = 0; i < 100 && !(a.came && b.came); i++)
		pass(&g, 1);
	OK(a.came && b.came && yard_range(g.yard, false, "alice") == BASE,
	   "two who ask at once are both told when it is");
	OK(make(&g, true, "alice") == BASE + WHO_RANGE,
	   "a group of the same name has another");
	OK(make(&g, false, "bob") == BASE + 2 * WHO_RANGE, "the next user the next");
	OK(make(&g, false, "alice") == BASE, "it is given out once");
	OK(submit(&g, spec("j", 100)) > 0 && yard_range(g.yard, false, "alice") == BASE,
	   "a submit takes the one there is");
	crash(&g);
	OK(yard_range(g.yard, false, "alice") == BASE &&
		   yard_range(g.yard, true, "alice") == BASE + WHO_RANGE,
	   "after a crash they are the same");
	OK(make(&g, true, "lab") == BASE + 3 * WHO_RANGE, "and the next is a new one");
	down(&g);
}

static void test_limits(void)
{
	struct rig g;
	struct engine_sim_faults f = { 0 };

	rules.uid_base = WHO_UID_END - WHO_RANGE;
	up(&g, &f);
	OK(make(&g, false, "last") == WHO_UID_END - WHO_RANGE, "the last range there is");
	OK(make(&g, false, "late") == -2, "then none is given out");
	OK(make(&g, false, "last") == WHO_UID_END - WHO_RANGE, "who has one keeps it");
	down(&g);
	rules.uid_base = -1;
	up(&g, &f);
	OK(make(&g, false, "alice") == -1, "a private yard needs none");
	down(&g);
}

int main(void)
{
	test_ranges();
	test_limits();
	return END();
}
