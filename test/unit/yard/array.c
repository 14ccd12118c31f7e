// SPDX-License-Identifier: Apache-2.0
/* Arrays in the yard, on a quiet simulated world: one event at submit, a window of members,
 * priorities, stops, dependencies.  (Crashes are test/sim's.) */
#include "tap.h"

#include <time.h>

#include "base/mem.h"
#include "base/str.h"
#include "rig.h"
#include "world/log.h"
#include "yard/edit.h"

static struct spec *array(const char *name, int count, int parallel)
{
	struct spec *s = spec(name, 100);
	struct problems p = { 0 };

	s->array.count = count;
	s->array.parallel = parallel;
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

static void stop(struct rig *g, int64_t id)
{
	struct answer a = { 0 };

	yard_stop(g->yard, &g->alice, id, NULL, done, &a);
	for (int i = 0; i < 10000 && yard_live(g->yard, id); i++)
		pass(g, 100);
}

static enum outcome outcome_of(struct rig *g, int64_t id)
{
	struct job *j = yard_load(g->yard, id, NULL);
	enum outcome o = j ? j->outcome : OUTCOME_NONE;

	job_destroy(j);
	return o;
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void count_one(void *arg, const struct event *e)
{
	*(int *)arg += e->kind == EV_SUBMITTED;
}

static void many(struct rig *g)
{
	double began = now_ms();
	int64_t id = submit(g, array("many", 100000, 0));
	const struct job *j = yard_live(g->yard, id);
	int submitted = 0;

	printf("# 100000 members accepted in %.1f ms\n", now_ms() - began);
	store_events(g->store, 0, 0, 1000, count_one, &submitted, NULL);
	OK(j && j->state == JOB_OPEN && j->members.made >= 64 && j->members.made <= 512,
	   "of a hundred thousand members a window is made (%lld)",
	   j ? (long long)j->members.made : 0);
	OK(submitted <= 513 && yard_live_count(g->yard) <= 513,
	   "and neither the store nor memory knows of the others");
	stop(g, id);
	OK(!yard_live(g->yard, id) && yard_live_count(g->yard) == 0,
	   "a stop ends them all");
	struct job *over = yard_load(g->yard, id, NULL);
	OK(over && over->outcome == OUTCOME_STOPPED && over->members.ended > 0,
	   "and it is stopped: %s", over && over->reason ? over->reason : "");
	job_destroy(over);
}

static void runs(struct rig *g)
{
	int64_t id = submit(g, array("runs", 500, 0)), member = 0, next;
	struct spec *s = spec("after", 100);
	double began = now_ms();

	spec_add_after(s, id, true);
	next = submit(g, s);
	OK(yard_live(g->yard, next)->state == JOB_HELD, "a job can wait for an array");
	pass(g, 3600 * 1000);
	printf("# 500 members run in %.0f ms\n", now_ms() - began);
	OK(outcome_of(g, id) == OUTCOME_SUCCEEDED, "five hundred members run to the end");
	OK(outcome_of(g, next) == OUTCOME_SUCCEEDED, "then what waited for it");
	OK(store_find_member(g->store, id, 499, &member, NULL) == 0 &&
		   outcome_of(g, member) == OUTCOME_SUCCEEDED,
	   "the last one is found by its number");
	OK(store_find_member(g->store, id, 500, &member, NULL) < 0,
	   "one more there is not");
	struct job *over = yard_load(g->yard, id, NULL);
	OK(over && over->members.ended == 500 && !over->members.failed,
	   "the array knows that all have ended");
	job_destroy(over);
}

static void words(struct rig *g)
{
	int64_t id = submit(g, array("words", 10, 4));
	AUTO_BUF struct buf why = { 0 };

	pass(g, 50);
	yard_why(g->yard, yard_live(g->yard, id), NULL, &why);
	OK(strstr(buf_str(&why), "of 10 members have ended") &&
		   strstr(buf_str(&why), "6 are not made yet"),
	   "why of an array: %s", buf_str(&why));
	struct engine_usage u;
	struct err err = { 0 };
	OK(yard_usage(g->yard, id, 0, &u, &err) < 0 && err.code == ERR_CONFLICT,
	   "an array itself uses nothing: %s", err.text);
	stop(g, id);
}

static int priority_of(struct rig *g, int64_t array, int64_t index)
{
	int64_t id = 0;
	const struct job *j;

	store_find_member(g->store, array, index, &id, NULL);
	j = yard_live(g->yard, id);
	return j ? j->priority : -1;
}

static void priorities(struct rig *g)
{
	int64_t id = submit(g, array("urgent", 10, 2)), first = 0;
	struct answer a = { 0 };

	yard_set_priority(g->yard, &g->alice, id, 7, done, &a);
	pass(g, 100);
	OK(a.came && a.err.code == ERR_NONE, "an array gets another priority");
	OK(priority_of(g, id, 0) == 7 && priority_of(g, id, 1) == 7,
	   "which its members that are alive get too");
	store_find_member(g->store, id, 0, &first, NULL);
	yard_stop(g->yard, &g->alice, first, NULL, done, &a);
	for (int i = 0; i < 10000 && yard_live(g->yard, first); i++)
		pass(g, 100);
	OK(priority_of(g, id, 2) == 7, "and those made later");
	OK(yard_live(g->yard, id)->state == JOB_OPEN, "a member is stopped alone");
	stop(g, id);
}

/* Arrays that all begin at once, because one that they waited for has ended. */
static void crowd(struct rig *g)
{
	enum { ARRAYS = 50, MEMBERS = 100, MOST = 60 };
	int64_t gate = submit(g, spec("gate", 100));
	struct answer a = { 0 }, made[ARRAYS];
	int ended = 0;

	for (int i = 0; i < ARRAYS; i++) {
		struct spec *s = array("crowd", MEMBERS, 0);
		spec_add_after(s, gate, false);
		yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &made[i]);
	}
	yard_set_limits(g->yard, MOST, 100, 0);
	OK(yard_live_count(g->yard) == ARRAYS + 1, "arrays that wait have no members");
	yard_stop(g->yard, &g->alice, gate, NULL, done, &a);
	for (int i = 0; i < 100000 && yard_live(g->yard, gate); i++)
		pass(g, 1);
	OK(yard_live_count(g->yard) <= 2 * ARRAYS + MOST,
	   "a user's arrays together make no more than one may have, and one each (%zu)",
	   yard_live_count(g->yard));
	for (int i = 0; i < 100000 && yard_live_count(g->yard); i++)
		pass(g, 1000);
	for (int i = 0; i < ARRAYS; i++)
		ended += outcome_of(g, made[i].job) == OUTCOME_SUCCEEDED;
	IS_INT(ended, ARRAYS, "and all of them run to their end");
}

int main(void)
{
	struct engine_sim_faults quiet = { .run_ms_max = 200 },
				 slow = { .run_ms_max = 50000000 };
	struct rig g;

	world_log_level(LOG_LEVEL_COUNT);
	up(&g, &slow);
	many(&g);
	words(&g);
	priorities(&g);
	down(&g);
	up(&g, &quiet);
	runs(&g);
	crowd(&g);
	down(&g);
	return END();
}
