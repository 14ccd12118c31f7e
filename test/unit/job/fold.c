// SPDX-License-Identifier: Apache-2.0
/* A job as the fold of its events: every history of a two-task gang up to a depth, the
 * completion policies, the verdicts in words, and events that survive being written. */
#include "tap.h"

#include "base/mem.h"
#include "job/job.h"

#define DEPTH 10

static struct spec *two_tasks(int retries)
{
	struct spec *s = spec_create();
	struct role *r = spec_add_role(s);
	struct problems p = { 0 };

	s->name = mem_strdup("pair");
	r->name = mem_strdup("worker");
	r->count = 2;
	r->argv = mem_alloc(2, sizeof *r->argv);
	r->argv[0] = mem_strdup("true");
	r->argc = 1;
	s->retry.max = retries;
	spec_check(s, &p);
	for (size_t i = 0; i < p.count; i++)
		printf("# %s: %s\n", p.items[i].field, p.items[i].text);
	problems_fini(&p);
	return s;
}

static struct job *submit(struct spec *s)
{
	struct event e = { .kind = EV_SUBMITTED, .seq = 1, .job = 7, .time_ms = 1000 };
	struct job *j;

	e.by = mem_strdup("alice");
	e.group = mem_strdup("lab");
	j = job_create(&e, s);
	event_fini(&e);
	return j;
}

/* The events a two-task job may meet, as the letters of a history. */
static struct event letter(const struct job *j, int which)
{
	static struct placement places[2];
	static char bob[] = "bob";
	struct event e = { .job = j->id, .time_ms = 2000, .attempt = j->attempt };

	switch (which) {
	case 0:
		e.kind = EV_PLACED;
		e.attempt++;
		e.places = places;
		e.place_count = 2;
		break;
	case 1:
	case 2:
		e.kind = EV_STARTED;
		e.task = which - 1;
		break;
	case 3:
	case 4:
		e.kind = EV_EXITED;
		e.task = which - 3;
		break;
	case 5:
	case 6:
		e.kind = EV_EXITED;
		e.task = which - 5;
		e.exit.code = 7;
		break;
	case 7:
		e.kind = EV_STOP;
		e.stop = STOP_USER;
		e.by = bob;
		break;
	case 8:
		e.kind = EV_GRACE_OVER;
		break;
	case 9:
		e.kind = EV_COLLECTED;
		break;
	case 10:
		e.kind = EV_REQUEUED;
		break;
	case 11:
		e.kind = EV_STOP;
		e.stop = STOP_PREEMPTED;
		e.way = 12;
		e.time_ms = 62000;
		break;
	case 12:
	case 13:
		e.kind = EV_EXITED;
		e.task = which - 12;
		e.exit.kind = EXIT_STOPPED;
		e.exit.signal = which == 13 ? 15 : 0;
		break;
	default:
		break;
	}
	return e;
}

#define LETTERS 12

struct tally {
	long histories, bad_held, bad_exit, bad_settle, stuck, succeeded, failed, stopped;
};

static void check(struct tally *t, const struct job *j, int held)
{
	size_t over = 0;

	t->histories++;
	for (size_t i = 0; i < j->task_count; i++)
		over += j->tasks[i].state == TASK_OVER;
	t->bad_held +=
		(j->state == JOB_STARTING || j->state == JOB_RUNNING ||
		 j->state == JOB_STOPPING || j->state == JOB_COLLECTING) != (held == 1);
	t->bad_exit += j->state == JOB_COLLECTING && over != j->task_count;
	t->bad_exit += (j->state == JOB_STARTING || j->state == JOB_RUNNING ||
			j->state == JOB_STOPPING) &&
		       over == j->task_count;
}

static void replay(struct job *j, const uint8_t *word, int len, int *held)
{
	*held = 0;
	for (int i = 0; i < len; i++) {
		struct event e = letter(j, word[i]);
		uint32_t fx = job_apply(j, &e);

		*held += !!(fx & FX_LAUNCH) - !!(fx & FX_RELEASE);
		if (fx & FX_SETTLE) {
			job_settle(j, 3000, &e);
			job_apply(j, &e);
			event_fini(&e);
		}
	}
}

static void explore(struct tally *t, uint8_t *word, int len)
{
	int held, moves = 0;
	struct job *j = submit(two_tasks(1));

	replay(j, word, len, &held);
	check(t, j, held);
	if (j->state == JOB_ENDED) {
		t->succeeded += j->outcome == OUTCOME_SUCCEEDED;
		t->failed += j->outcome == OUTCOME_FAILED;
		t->stopped += j->outcome == OUTCOME_STOPPED;
		t->bad_settle += !j->reason || !*j->reason || j->outcome == OUTCOME_NONE;
		job_destroy(j);
		return;
	}
	for (int i = 0; i < LETTERS && len < DEPTH; i++) {
		struct event e = letter(j, i);
		if (!job_legal(j, &e))
			continue;
		/* A preemption after a stop, or a stop said again, changes nothing. */
		if (e.kind == EV_STOP && j->stop != STOP_NONE)
			continue;
		if (e.kind == EV_GRACE_OVER && j->killed)
			continue;
		moves++;
		word[len] = (uint8_t)i;
		explore(t, word, len + 1);
	}
	t->stuck += len < DEPTH && !moves;
	job_destroy(j);
}

static void histories(void)
{
	struct tally t = { 0 };
	uint8_t word[DEPTH];

	explore(&t, word, 0);
	OK(t.histories > 2000, "%ld histories of a gang of two were folded", t.histories);
	OK(t.bad_held == 0, "a job holds its placement exactly from PLACED to COLLECTED");
	OK(t.bad_exit == 0,
	   "outputs are collected when the last task is over, and at once then");
	OK(t.bad_settle == 0, "every ended job has an outcome and a sentence");
	OK(t.stuck == 0, "no job is ever stuck");
	OK(t.succeeded && t.failed && t.stopped, "all three outcomes are reached");
}

static struct job *run_to_end(struct spec *s, const char *moves)
{
	struct job *j = submit(s);

	for (; *moves; moves++) {
		struct event e = letter(j, *moves - 'a');
		uint32_t fx;

		if (!OK(job_legal(j, &e), "move %c is legal in %s", *moves,
			job_state_word(j->state)))
			break;
		fx = job_apply(j, &e);
		if (fx & FX_SETTLE) {
			job_settle(j, 5000, &e);
			job_apply(j, &e);
			event_fini(&e);
		}
	}
	return j;
}

/* a: placed, b c: started, d e: exit 0, f g: exit 7, h: stop, i: grace over, j: collected, k: requeued */
static void verdicts(void)
{
	struct job *j = run_to_end(two_tasks(0), "abcdej");
	IS(outcome_word(j->outcome), "succeeded", "two tasks that exit 0 succeed");
	IS_INT(job_exit_code(j), 0, "and the job's code is 0");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abcg");
	OK(j->state == JOB_STOPPING && j->stop == STOP_POLICY,
	   "one failed task ends the rest by default");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abcgdj");
	IS(outcome_word(j->outcome), "failed", "and the job has failed");
	IS_INT(job_exit_code(j), 7, "with the first failed task's code");
	IS(j->reason, "worker-1: exit code 7", "and says which task and how");
	job_destroy(j);

	j = run_to_end(two_tasks(1), "abcgdj");
	OK(j->state == JOB_BACKOFF && j->retry_at_ms > 5000,
	   "with a retry left it pauses first");
	job_destroy(j);

	j = run_to_end(two_tasks(1), "abcgdjkabcdej");
	OK(j->outcome == OUTCOME_SUCCEEDED && j->attempt == 2,
	   "and may succeed at the second attempt");
	job_destroy(j);

	j = run_to_end(two_tasks(3), "abchidgj");
	IS(outcome_word(j->outcome), "stopped", "a stopped job is not tried again");
	IS(j->reason,
	   "stopped by bob; it did not end by itself in its grace period and was killed",
	   "and says who stopped it, and that it had to be killed");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "h");
	IS(j->reason, "stopped by bob before it ran",
	   "a job can be stopped while it waits");
	job_destroy(j);
}

/* l: gives way to job 12, a minute after it started */
static void giving_way(void)
{
	struct job *j = run_to_end(two_tasks(0), "abclfgj");
	OK(j->state == JOB_BACKOFF && j->retry_at_ms == 5000 && j->failures == 0,
	   "one that gave way comes back at once, and that counts for no failure");
	IS(j->reason, "gave way to another job after 1m; it comes back", "and says so");
	OK(j->ways.count == 1 && j->ways.last[0] == 12 && j->age_ms == 1000,
	   "and is older than what came meanwhile");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abclfgjk");
	OK(j->state == JOB_QUEUED && j->age_ms == 1000 && j->queued_ms == 2000,
	   "it waits anew with its age");
	job_destroy(j);

	j = run_to_end(two_tasks(1), "abcgdjk");
	OK(j->age_ms == 2000, "one that failed does not keep its age");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abcdlej");
	OK(j->outcome == OUTCOME_SUCCEEDED,
	   "one that is done in its grace has succeeded");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abclmej");
	OK(j->outcome == OUTCOME_SUCCEEDED, "also when it went because it was told to");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "aclmej");
	OK(j->state == JOB_BACKOFF, "but not when it had not begun");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abcldnj");
	OK(j->state == JOB_BACKOFF, "nor when the signal ended it");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abcldgj");
	OK(j->state == JOB_BACKOFF, "with one task cut off it has not");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abclhdgj");
	OK(j->outcome == OUTCOME_STOPPED, "a person's word is the last");
	job_destroy(j);

	j = run_to_end(two_tasks(0), "abclfgjkablifgjkabcdej");
	OK(j->outcome == OUTCOME_SUCCEEDED && j->ways.count == 2 && j->attempt == 3,
	   "it may give way as often as need be");
	job_destroy(j);

	j = submit(two_tasks(0));
	struct event e = letter(j, 'l' - 'a');
	OK(!job_legal(j, &e), "one that waits has nothing to give");
	job_destroy(j);
}

static void late_reports(void)
{
	struct job *j = run_to_end(two_tasks(1), "abcgdjka");
	struct event e = { .kind = EV_EXITED, .job = 7, .attempt = 1, .task = 0 };

	OK(!job_legal(j, &e), "a report of an earlier attempt is not believed");
	e.attempt = 2;
	e.task = 2;
	OK(!job_legal(j, &e), "nor one of a task that does not exist");
	e.task = -1;
	OK(!job_legal(j, &e), "nor one before the first");
	job_destroy(j);
}

static void policies(void)
{
	struct spec *s = two_tasks(0);
	struct job *j;

	s->roles[0].succeed_after = 1;
	j = run_to_end(s, "abcd");
	OK(j->state == JOB_STOPPING && j->decided == OUTCOME_SUCCEEDED,
	   "succeeded: 1 ends the job with the first success");
	job_destroy(j);

	s = two_tasks(0);
	s->roles[0].fail_after = SPEC_ALL;
	j = run_to_end(s, "abcfej");
	OK(j->outcome == OUTCOME_SUCCEEDED, "failed: all forgives one of two");
	job_destroy(j);

	s = two_tasks(0);
	s->roles[0].fail_after = SPEC_ALL;
	j = run_to_end(s, "abcfgj");
	OK(j->outcome == OUTCOME_FAILED, "but not both");
	job_destroy(j);
}

static void unmet_success(void)
{
	struct spec *s = two_tasks(0);
	struct job *j;

	s->roles[0].fail_after = SPEC_ALL;
	s->roles[0].succeed_after = 2;
	j = run_to_end(s, "abcfej");
	OK(j->outcome == OUTCOME_FAILED,
	   "succeeded: 2 is not met by one success and one forgiven failure");
	IS(j->reason,
	   "1 of the 2 tasks of worker that had to succeed did; worker-0: exit code 7",
	   "and it says so");
	job_destroy(j);
}

/* A stop that comes when all is done. */
static void late_stop(void)
{
	struct job *j = run_to_end(two_tasks(0), "abcdehj");
	IS(outcome_word(j->outcome), "succeeded",
	   "a stop after the last task ended takes no success away");
	job_destroy(j);

	j = run_to_end(two_tasks(3), "abcgdhj");
	IS(outcome_word(j->outcome), "stopped",
	   "but it keeps a failed job from being tried again");
	job_destroy(j);
}

/* The daemon was away while the tasks ended. */
static void true_end(void)
{
	struct job *j = run_to_end(two_tasks(0), "abc");
	struct event e = { .kind = EV_EXITED, .job = 7, .attempt = 1, .time_ms = 9000 };

	e.exit.ended_ms = 2500;
	job_apply(j, &e);
	e.task = 1;
	e.exit.ended_ms = 0;
	job_apply(j, &e);
	IS_INT(j->tasks[0].ended_ms, 2500,
	       "a task ended when it ended, not when it was noticed");
	IS_INT(j->tasks[1].ended_ms, 9000, "or, where nobody knows, when it was noticed");
	job_destroy(j);
}

static void priority_changes(void)
{
	struct job *j = run_to_end(two_tasks(1), "");
	struct event e = { .kind = EV_PRIORITY, .job = 7, .priority = 9 };

	OK(job_legal(j, &e) && job_apply(j, &e) == FX_QUEUE && j->priority == 9 &&
		   j->state == JOB_QUEUED && j->spec->priority == 0,
	   "a waiting job's priority changes, its place in the queue follows");
	job_destroy(j);
	j = run_to_end(two_tasks(1), "abc");
	OK(job_legal(j, &e) && job_apply(j, &e) == 0 && j->priority == 9 &&
		   j->state == JOB_RUNNING,
	   "a running job keeps it for later");
	e.job = 8;
	OK(!job_legal(j, &e), "another job's is not its own");
	job_destroy(j);
	j = run_to_end(two_tasks(0), "abcdej");
	e.job = 7;
	OK(!job_legal(j, &e), "an ended job's priority stands");
	job_destroy(j);
}

/* A role that may start with fewer tasks than it asks for. */
static struct spec *flexible(void)
{
	struct spec *s = two_tasks(1);
	struct role *r = spec_add_role(s);
	struct problems p = { 0 };

	r->name = mem_strdup("helper");
	role_set_shell(r, "true");
	s->roles[0].count = 4;
	s->roles[0].least = 2;
	s->roles[0].fail_after = SPEC_ALL;
	spec_check(s, &p);
	OK(p.count == 0, "min beside count is right");
	problems_fini(&p);
	return s;
}

static void place(struct job *j, size_t count)
{
	struct placement places[5] = { 0 };
	struct event e = { .kind = EV_PLACED, .job = 7, .places = places };

	for (size_t i = 0; i < count; i++) {
		places[i].slot = (int)i + 1;
		places[i].role = i + 1 == count;
	}
	e.attempt = j->attempt + 1;
	e.place_count = count;
	if (OK(job_legal(j, &e), "it starts as %zu tasks", count))
		job_apply(j, &e);
}

static void tell(struct job *j, enum event_kind kind, int task, int code)
{
	struct event e = { .kind = kind, .job = 7, .attempt = j->attempt, .task = task };

	e.exit.code = code;
	if (OK(job_legal(j, &e), "task %d: %s", task, event_kind_word(kind)))
		job_apply(j, &e);
}

static void fewer_tasks(void)
{
	struct job *j = submit(flexible());
	struct placement places[6] = { 0 };
	struct event e = { .kind = EV_PLACED, .job = 7, .attempt = 1, .places = places };

	IS_INT(j->task_count, 5, "before it is placed it has all its tasks");
	e.place_count = 2;
	OK(!job_legal(j, &e), "it does not start below the least");
	e.place_count = 6;
	OK(!job_legal(j, &e), "nor with more than it asked for");
	e.place_count = 3;
	OK(!job_legal(j, &e), "nor without a task of the other role");
	places[1].role = 1;
	OK(!job_legal(j, &e), "nor out of order");
	places[1].role = 7;
	OK(!job_legal(j, &e), "nor with a role that is none");
	place(j, 3);
	IS_INT(j->task_count, 3, "then those that were placed");
	OK(job_rank(j, "helper", 0) == 2 && job_rank(j, "worker", 1) == 1 &&
		   job_rank(j, "worker", 2) == -1,
	   "ranks go through the roles without holes");
	OK(j->tasks[2].place.slot == 3 && j->tallies[0].count == 2,
	   "each has its own place");
	e = (struct event){ .kind = EV_STARTED, .job = 7, .attempt = 1, .task = 3 };
	OK(!job_legal(j, &e), "the others do not exist");
	for (int i = 0; i < 3; i++)
		tell(j, EV_STARTED, i, 0);
	OK(j->state == JOB_RUNNING, "it runs when those have started");
	tell(j, EV_EXITED, 0, 1);
	OK(j->stop == STOP_NONE, "one failed of two that there are is not all");
	tell(j, EV_EXITED, 1, 1);
	OK(j->decided == OUTCOME_FAILED, "both are all, though the file says four");
	tell(j, EV_EXITED, 2, 0);
	OK(j->state == JOB_COLLECTING, "and it is over with them");
	tell(j, EV_COLLECTED, 0, 0);
	e = (struct event){ .job = 7 };
	job_settle(j, 1000, &e);
	e.job = 7;
	job_apply(j, &e);
	event_fini(&e);
	tell(j, EV_REQUEUED, 0, 0);
	place(j, 5);
	OK(j->task_count == 5 && job_rank(j, "worker", 3) == 3 &&
		   job_rank(j, "helper", 0) == 4 && j->starting_count == 5,
	   "another attempt may have them all");
	job_destroy(j);
}

static void written_and_read(void)
{
	struct placement place = {
		.node = "n1", .slot = 3, .role = 2, .ports = { 20001 }, .port_count = 1
	};
	struct event e = { .kind = EV_PLACED,
			   .attempt = 2,
			   .places = &place,
			   .place_count = 1 },
		     back;
	AUTO_BUF struct buf text = { 0 };
	struct err err;

	strcpy(place.devices[0].type, "gpu");
	place.devices[0].mask = 1ull << 63 | 5;
	strcpy(place.devices[1].type, "npu:910");
	place.devices[1].mask = 4;
	place.devices[1].share_milli = 250;
	event_encode(&e, &text);
	OK(event_decode(EV_PLACED, buf_str(&text), text.len, &back, &err) == 0,
	   "PLACED is read back");
	OK(back.place_count == 1 && !memcmp(&back.places[0], &place, sizeof place) &&
		   back.attempt == 2,
	   "with everything it gave, device 63 and a share too");
	event_fini(&back);

	e = (struct event){ .kind = EV_EXITED, .attempt = 1, .task = 4 };
	e.exit = (struct task_exit){
		.kind = EXIT_OOM, .peak_bytes = 5, .limit_bytes = 4, .cpu_ms = 9
	};
	buf_clear(&text);
	event_encode(&e, &text);
	OK(event_decode(EV_EXITED, buf_str(&text), text.len, &back, &err) == 0 &&
		   back.task == 4 && back.exit.kind == EXIT_OOM &&
		   back.exit.peak_bytes == 5,
	   "EXITED is read back");
	event_fini(&back);

	e = (struct event){ .kind = EV_SUBMITTED, .uid = 1000 };
	e.spec = two_tasks(2);
	e.by = mem_strdup("zoë");
	buf_clear(&text);
	event_encode(&e, &text);
	OK(event_decode(EV_SUBMITTED, buf_str(&text), text.len, &back, &err) == 0 &&
		   back.spec && back.spec->roles[0].count == 2 &&
		   back.spec->retry.max == 2,
	   "SUBMITTED is read back with its spec");
	IS(back.by, "zoë", "and its owner");
	event_fini(&back);
	event_fini(&e);

	OK(event_decode(EV_STOP, "{\"stop\":\"whim\"}", 15, &back, &err) < 0,
	   "an unknown word is an error");
	OK(event_decode(EV_STOP, "[", 1, &back, &err) < 0, "and so is a broken text");
}

int main(void)
{
	histories();
	verdicts();
	giving_way();
	late_reports();
	policies();
	unmet_success();
	late_stop();
	true_end();
	priority_changes();
	fewer_tasks();
	written_and_read();
	return END();
}
