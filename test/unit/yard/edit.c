// SPDX-License-Identifier: Apache-2.0
/* What is changed of a job that is there: its priority, and that it is there. */
#include "rig.h"

#include "base/str.h"
#include "store/docs.h"
#include "store/forget.h"
#include "store/list.h"
#include "yard/edit.h"
#include "yard/stats.h"

static struct answer told(struct rig *g, struct answer *a)
{
	for (int i = 0; i < 1000 && !a->came; i++)
		pass(g, 1);
	return *a;
}

static struct answer prioritise(struct rig *g, const struct principal *who, int64_t job,
				int priority)
{
	struct answer a = { 0 };

	yard_set_priority(g->yard, who, job, priority, done, &a);
	OK(!a.came, "no answer comes from inside the call");
	return told(g, &a);
}

static struct answer remove_job(struct rig *g, const struct principal *who, int64_t job)
{
	struct answer a = { 0 };

	yard_delete(g->yard, who, job, done, &a);
	return told(g, &a);
}

static void run_out(struct rig *g, int64_t job)
{
	struct answer a = { 0 };

	yard_stop(g->yard, &g->root, job, NULL, done, &a);
	for (int i = 0; i < 1000 && yard_live(g->yard, job); i++)
		pass(g, 1000);
}

static void priorities(struct rig *g)
{
	int64_t big = submit(g, spec("big", 2000)),
		first = submit(g, spec("first", 2000)),
		second = submit(g, spec("second", 2000)), order[4];
	struct principal mallory = g->alice;
	struct answer a;

	pass(g, 100);
	OK(yard_queue(g->yard, 1, order, 4) == 2 && order[0] == first,
	   "two wait, in the order they came");
	a = prioritise(g, &g->alice, second, 5);
	OK(a.err.code == ERR_NONE && !a.again, "a priority is changed");
	OK(yard_queue(g->yard, 1, order, 4) == 2 && order[0] == second,
	   "and the queue follows");
	OK(yard_live(g->yard, second)->priority == 5, "the job says so");
	OK(prioritise(g, &g->alice, second, 5).again, "the same again changes nothing");
	OK(prioritise(g, &g->alice, second, 101).err.code == ERR_DENIED,
	   "a high one is for administrators");
	OK(prioritise(g, &g->root, second, 101).err.code == ERR_NONE, "who may");
	OK(prioritise(g, &g->root, second, 1001).err.code == ERR_INVALID,
	   "there is a highest one");
	strcpy(mallory.name, "mallory");
	OK(prioritise(g, &mallory, second, 1).err.code == ERR_NOT_FOUND,
	   "another's job is not there");
	strcpy(mallory.name, "alice");
	mallory.role = ROLE_VIEWER;
	OK(prioritise(g, &mallory, second, 1).err.code == ERR_NOT_FOUND,
	   "a viewer changes nothing");
	OK(prioritise(g, &g->alice, big, 3).err.code == ERR_NONE &&
		   yard_live(g->yard, big)->state == JOB_RUNNING,
	   "what runs keeps it for later");
	run_out(g, big);
	run_out(g, first);
	run_out(g, second);
	OK(prioritise(g, &g->alice, big, 1).err.code == ERR_CONFLICT,
	   "what has ended keeps what it had");
}

static void count_gone(void *arg, int64_t job)
{
	(void)job;
	++*(int *)arg;
}

static void deletions(struct rig *g)
{
	int64_t one = submit(g, spec("one", 100)), two = submit(g, spec("two", 100));
	struct principal mallory = g->alice;
	struct answer a;
	int gone = 0;

	a = remove_job(g, &g->alice, one);
	OK(a.err.code == ERR_CONFLICT && strstr(a.err.text, "stop it first"),
	   "a live job is not deleted: %s", a.err.text);
	run_out(g, one);
	strcpy(mallory.name, "mallory");
	OK(remove_job(g, &mallory, one).err.code == ERR_NOT_FOUND,
	   "nor another's, which is not there");
	OK(remove_job(g, &g->alice, one).err.code == ERR_NONE, "an ended one is");
	OK(!yard_load(g->yard, one, NULL), "nothing of it can be read");
	OK(remove_job(g, &g->alice, one).err.code == ERR_NOT_FOUND, "nor deleted again");
	run_out(g, two);
	OK(remove_job(g, &g->alice, two).err.code == ERR_NONE, "the newest goes too");
	pass(g, 60000); /* files are removed, and the next commit tells the store */
	OK(submit(g, spec("three", 100)) == two + 1, "numbers are not given again");
	store_gone(g->store, count_gone, &gone, NULL);
	OK(gone <= 1, "and files that are gone are not looked for at every boot");
}

static void twice(struct rig *g)
{
	int64_t job = submit(g, spec("twice", 100));
	struct answer first = { 0 }, second = { 0 };

	run_out(g, job);
	yard_delete(g->yard, &g->alice, job, done, &first);
	yard_delete(g->yard, &g->alice, job, done, &second);
	OK(told(g, &first).err.code == ERR_NONE &&
		   told(g, &second).err.code == ERR_NOT_FOUND,
	   "of two who delete the same job at once one does");
}

static void needed(struct rig *g)
{
	int64_t base = submit(g, spec("base", 100)),
		block = submit(g, spec("block", 100)), waits;
	struct spec *s = spec("waits", 100);
	struct answer a;

	run_out(g, base);
	spec_add_after(s, base, false);
	spec_add_after(s, block, false);
	waits = submit(g, s);
	OK(yard_live(g->yard, waits)->state == JOB_HELD, "one waits for two");
	a = remove_job(g, &g->alice, base);
	OK(a.err.code == ERR_CONFLICT, "what a held job waits for stays: %s", a.err.text);
	run_out(g, waits);
	OK(remove_job(g, &g->alice, base).err.code == ERR_NONE, "until that one is gone");
	run_out(g, block);
}

static void count_row(void *arg, const struct store_row *row)
{
	(void)row;
	++*(int *)arg;
}

static int members_of(struct rig *g, int64_t array)
{
	struct store_query q = {
		.array = array, .live = -1, .outcome = -1, .limit = 1000
	};
	int64_t next;
	int count = 0;

	store_list(g->store, &q, count_row, &count, &next, NULL);
	return count;
}

static void count_audit(void *arg, const struct event *e)
{
	*(int *)arg += str_eq(e->scope, "job.delete");
}

/* More members than one batch deletes. */
static void arrays(struct rig *g)
{
	struct engine_sim_faults quick = { .run_ms_max = 5 };
	struct spec *s = spec("many", 100);
	struct answer a;
	int64_t array;
	int lines = 0;

	down(g);
	up(g, &quick);
	s->array.count = 450;
	array = submit(g, s);
	for (int i = 0; i < 10000 && yard_live(g->yard, array); i++)
		pass(g, 100);
	IS_INT(members_of(g, array), 450, "an array's members are there after its end");
	a = remove_job(g, &g->alice, array + 1);
	OK(a.err.code == ERR_CONFLICT, "one of them alone is not deleted: %s",
	   a.err.text);
	OK(remove_job(g, &g->alice, array).err.code == ERR_NONE, "the array is");
	OK(!yard_load(g->yard, array, NULL), "nobody sees it from then on");
	for (int i = 0; i < 1000 && members_of(g, array); i++)
		pass(g, 10);
	IS_INT(members_of(g, array), 0, "and its members go with it");
	store_audit(g->store, 0, 1000, count_audit, &lines, NULL);
	IS_INT(lines, 1, "one deletion is one line of the audit log");
}

static void keys(struct rig *g)
{
	struct answer a = { 0 }, b = { 0 };

	yard_submit(g->yard, &g->alice, spec("k", 100), "key", "d", done, &a);
	told(g, &a);
	run_out(g, a.job);
	remove_job(g, &g->alice, a.job);
	yard_submit(g->yard, &g->alice, spec("k", 100), "key", "d", done, &b);
	told(g, &b);
	OK(b.err.code == ERR_NONE && !b.again && b.job > a.job,
	   "the key of a deleted job makes a new one");
	run_out(g, b.job);
	yard_delete(g->yard, &g->alice, b.job, done, &a);
	b = (struct answer){ 0 };
	yard_submit(g->yard, &g->alice, spec("k", 100), "key", "d", done, &b);
	told(g, &b);
	OK(b.err.code == ERR_BUSY, "of one that is being deleted it gives no job: %s",
	   b.err.text);
}

int main(void)
{
	struct engine_sim_faults calm = { .run_ms_max = 1000ll * 3600 * 24 };
	struct rig g;

	up(&g, &calm);
	priorities(&g);
	deletions(&g);
	twice(&g);
	needed(&g);
	keys(&g);
	arrays(&g);
	down(&g);
	return END();
}
