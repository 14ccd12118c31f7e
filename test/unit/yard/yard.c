// SPDX-License-Identifier: Apache-2.0
/* The shell by itself, on a quiet simulated world: what callers are told, in which order.
 * (Crashes and faults are test/sim's.) */
#include "rig.h"

#include "base/str.h"
#include "world/log.h"

static enum outcome outcome(struct rig *g, int64_t id)
{
	struct job *j = yard_load(g->yard, id, NULL);
	enum outcome o = j ? j->outcome : OUTCOME_NONE;

	job_destroy(j);
	return o;
}

static void answers(struct rig *g)
{
	struct answer a = { 0 }, b = { 0 }, c = { 0 };

	yard_submit(g->yard, &g->alice, spec("one", 100), "k1", "d1", done, &a);
	OK(!a.came, "no answer comes from inside the call");
	yard_submit(g->yard, &g->alice, spec("one", 100), "k1", "d1", done, &b);
	yard_submit(g->yard, &g->alice, spec("two", 100), "k1", "d2", done, &c);
	pass(g, 200);
	OK(a.came && a.job == 1 && !a.again, "a submit is answered with its id");
	OK(b.came && b.job == 1 && b.again, "the same key gives the same job");
	OK(c.came && c.err.code == ERR_CONFLICT, "with another body a conflict");
	pass(g, 60000);
	OK(outcome(g, 1) == OUTCOME_SUCCEEDED && !yard_live(g->yard, 1),
	   "the job runs to its end");
	b = (struct answer){ 0 };
	yard_submit(g->yard, &g->alice, spec("one", 100), "k1", "d1", done, &b);
	pass(g, 10);
	OK(b.job == 1 && b.again, "the key is known after the job has ended, too");
}

static void refusals(struct rig *g)
{
	struct answer a = { 0 };
	struct spec *s = spec("big", 64000);

	yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.came && (a.err.code == ERR_INVALID || a.err.code == ERR_QUOTA),
	   "what no node could ever hold is refused: %s", a.err.text);
	s = spec("stranger", 100);
	s->group = mem_strdup("others");
	yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_DENIED, "a group one is not in is denied: %s", a.err.text);
	s = spec("orphan", 100);
	s->after = mem_alloc(1, sizeof *s->after);
	s->after[s->after_count++] = (struct dependency){ 4711, false };
	yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_INVALID && strstr(a.err.text, "4711"),
	   "so is waiting for nobody: %s", a.err.text);
	yard_stop(g->yard, &g->alice, 4711, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_NOT_FOUND, "and stopping nobody");
}

static void waiting(struct rig *g)
{
	int64_t first = submit(g, spec("first", 2000)),
		second = submit(g, spec("second", 2000)), third;
	AUTO_BUF struct buf words = { 0 };
	struct spec *s = spec("third", 100);
	struct answer a = { 0 };

	yard_why(g->yard, yard_live(g->yard, second), NULL, &words);
	OK(strstr(buf_str(&words), "cpu"), "a waiting job says what it waits for: %s",
	   buf_str(&words));
	s->after = mem_alloc(1, sizeof *s->after);
	s->after[s->after_count++] = (struct dependency){ second, true };
	third = submit(g, s);
	buf_clear(&words);
	yard_why(g->yard, yard_live(g->yard, third), NULL, &words);
	OK(strstr(buf_str(&words), "succeed"), "and a held one for whom: %s",
	   buf_str(&words));
	yard_stop(g->yard, &g->alice, second, "changed my mind", done, &a);
	pass(g, 100);
	OK(outcome(g, second) == OUTCOME_STOPPED, "a waiting job can be stopped");
	OK(outcome(g, third) == OUTCOME_STOPPED,
	   "and who needed its success is stopped with it");
	pass(g, 60000);
	OK(outcome(g, first) == OUTCOME_SUCCEEDED, "the one that ran is not disturbed");
}

static void limits(struct rig *g)
{
	struct spec *s = spec("slow", 100);
	int64_t id;
	struct job *j;

	s->time_limit_ms = 5;
	s->grace_ms = 10;
	id = submit(g, s);
	pass(g, 120000);
	j = yard_load(g->yard, id, NULL);
	OK(j && j->outcome == OUTCOME_FAILED && j->stop == STOP_TIME_LIMIT &&
		   job_exit_code(j) == 124,
	   "a time limit ends a job: %s", j ? j->reason : "-");
	job_destroy(j);
}

static void quotas(struct rig *g)
{
	struct quota q = { .limit = { .cpu_milli = 500, .memory_bytes = -1 },
			   .max_running_jobs = -1 };
	struct quota back;
	struct answer a = { 0 };
	AUTO_BUF struct buf words = { 0 };
	int64_t one, two;

	yard_set_quota(g->yard, &g->alice, "user", "alice", &q, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_DENIED, "only an administrator sets quotas");
	yard_set_quota(g->yard, &g->root, "user", "alice", &q, done, &a);
	pass(g, 50);
	OK(a.err.code == ERR_NONE && yard_quota(g->yard, "user", "alice", &back) == 0 &&
		   back.limit.cpu_milli == 500,
	   "and it is there");
	one = submit(g, spec("one", 400));
	two = submit(g, spec("two", 400));
	yard_why(g->yard, yard_live(g->yard, two), NULL, &words);
	OK(strstr(buf_str(&words), "quota"), "who is over it waits and is told: %s",
	   buf_str(&words));
	pass(g, 120000);
	OK(outcome(g, one) == OUTCOME_SUCCEEDED && outcome(g, two) == OUTCOME_SUCCEEDED,
	   "and runs when there is room again");
}

static void full_disk(struct rig *g)
{
	struct store_disk_faults full = { .fail_percent = 100, .delay_most_ms = 5 },
				 well = { .delay_most_ms = 5 };
	struct answer a = { 0 }, b = { 0 };

	store_disk_set_faults(g->disk, &full);
	yard_submit(g->yard, &g->alice, spec("late", 100), "k9", "d", done, &a);
	pass(g, 300);
	OK(a.came && a.err.code == ERR_BUSY, "a full disk is told: %s", a.err.text);
	yard_submit(g->yard, &g->alice, spec("later", 100), "k10", "d", done, &b);
	pass(g, 10);
	OK(b.came && b.err.code == ERR_BUSY, "to everybody");
	store_disk_set_faults(g->disk, &well);
	pass(g, 60000);
	a = (struct answer){ 0 };
	yard_submit(g->yard, &g->alice, spec("late", 100), "k9", "d", done, &a);
	pass(g, 100);
	OK(a.came && a.err.code == ERR_NONE && a.again,
	   "once there is room again nothing was lost");
	pass(g, 60000);
	OK(outcome(g, a.job) == OUTCOME_SUCCEEDED, "and the job ran");
}

/* More events than one read of the store gives. */
static void many_events(struct rig *g)
{
	struct spec *s = spec("stubborn", 100);
	struct job *j;
	int64_t id;

	s->retry = (struct retry){ .max = 300, .backoff_ms = 1, .backoff_max_ms = 1 };
	id = submit(g, s);
	for (int i = 0; i < 2000 && yard_live(g->yard, id); i++)
		pass(g, 1000);
	j = yard_load(g->yard, id, NULL);
	OK(j && j->state == JOB_ENDED && j->outcome == OUTCOME_FAILED &&
		   j->attempt == 301,
	   "a job of 301 attempts is read back whole: attempt %d, %s", j ? j->attempt : 0,
	   j ? job_state_word(j->state) : "-");
	job_destroy(j);
}

/* One person must not crowd out the others. */
static void crowd(struct rig *g)
{
	struct answer a = { 0 };
	struct principal bob = { .name = "bob", .group = "lab" };
	struct spec *s = spec("urgent", 100);

	s->priority = 101;
	yard_submit(g->yard, &g->alice, s, NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_DENIED && strstr(a.err.text, "priority"),
	   "high priorities are not for everybody: %s", a.err.text);
	s = spec("urgent", 100);
	s->priority = 1000;
	yard_submit(g->yard, &g->root, s, NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_NONE, "but for an admin");
	for (int i = 0; i < 3; i++)
		OK(submit(g, spec("one", 100)) > 0, "job %d of three", i + 1);
	yard_submit(g->yard, &g->alice, spec("one", 100), NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_QUOTA && strstr(a.err.text, "3"),
	   "the fourth is refused in words: %s", a.err.text);
	yard_submit(g->yard, &bob, spec("one", 100), NULL, NULL, done, &a);
	pass(g, 10);
	OK(a.err.code == ERR_NONE && a.job > 0, "another is not concerned");
	yard_stop(g->yard, &g->alice, 2, NULL, done, &a);
	pass(g, 100000);
	OK(!yard_live(g->yard, 2) && submit(g, spec("one", 100)) > 0,
	   "one that has ended makes room");
}

/* Ranges of uids end before they would wrap around. */
static void uid_ranges(void)
{
	struct engine_sim_faults quiet = { .run_ms_max = 2000 };
	struct principal bob = { .name = "bob", .group = "lab" };
	struct answer a = { 0 }, b = { 0 }, again = { 0 };
	struct rig g;

	rules = (struct yard_config){ .uid_base = 4294967294 - 65536 };
	up(&g, &quiet);
	yard_submit(g.yard, &g.alice, spec("one", 100), NULL, NULL, done, &a);
	pass(&g, 10);
	yard_submit(g.yard, &bob, spec("one", 100), NULL, NULL, done, &b);
	yard_submit(g.yard, &g.alice, spec("one", 100), NULL, NULL, done, &again);
	for (int i = 0; i < 100 && !again.came; i++)
		pass(&g, 1);
	OK(a.job > 0 && again.job > 0, "the last range is given away");
	OK(b.job == 0 && b.err.code == ERR_CONFLICT && strstr(b.err.text, "no uids"),
	   "there is none behind it: %s", b.err.text);
	down(&g);
}

int main(void)
{
	struct engine_sim_faults failing = { .run_ms_max = 2, .fail_percent = 100 };
	struct engine_sim_faults quiet = { .run_ms_max = 2000 },
				 slow = { .run_ms_max = 50000000 };
	struct rig g;

	world_log_level(LOG_LEVEL_COUNT);
	up(&g, &quiet);
	answers(&g);
	refusals(&g);
	waiting(&g);
	quotas(&g);
	full_disk(&g);
	down(&g);
	up(&g, &slow);
	limits(&g);
	down(&g);
	up(&g, &failing);
	many_events(&g);
	down(&g);
	rules.max_jobs_per_user = 3;
	up(&g, &slow);
	crowd(&g);
	down(&g);
	uid_ranges();
	return END();
}
