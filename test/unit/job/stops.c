// SPDX-License-Identifier: Apache-2.0
/* How a stop is put off, made to happen now, and what it leaves for the next attempt. */
#include "tap.h"

#include "base/mem.h"
#include "base/str.h"
#include "job/job.h"

static struct job *running(int retries, bool time_limit)
{
	static struct placement places[2];
	struct spec *s = spec_create();
	struct role *r = spec_add_role(s);
	struct problems p = { 0 };
	struct event e = { .kind = EV_SUBMITTED, .seq = 1, .job = 7, .time_ms = 1000 };
	struct job *j;

	s->name = mem_strdup("train");
	r->name = mem_strdup("worker");
	r->count = 2;
	r->argv = mem_alloc(2, sizeof *r->argv);
	r->argv[0] = mem_strdup("true");
	r->argc = 1;
	s->retry = (struct retry){ .max = retries,
				   .backoff_ms = 1,
				   .backoff_max_ms = 1,
				   .time_limit = time_limit };
	s->time_limit_ms = 60000;
	spec_check(s, &p);
	problems_fini(&p);
	e.by = mem_strdup("alice");
	e.group = mem_strdup("lab");
	j = job_create(&e, s);
	event_fini(&e);
	job_apply(j, &(struct event){ .kind = EV_PLACED,
				      .job = 7,
				      .attempt = 1,
				      .places = places,
				      .place_count = 2 });
	for (int i = 0; i < 2; i++)
		job_apply(j, &(struct event){ .kind = EV_STARTED,
					      .job = 7,
					      .attempt = 1,
					      .task = i,
					      .time_ms = 2000 });
	return j;
}

static void stop(struct job *j, enum stop_kind why)
{
	job_apply(j, &(struct event){
			     .kind = EV_STOP, .job = 7, .stop = why, .time_ms = 62000 });
}

static void leave(struct job *j, int task, struct task_exit x, int64_t at_ms)
{
	struct event e = { .kind = EV_EXITED,
			   .job = 7,
			   .attempt = j->attempt,
			   .task = task,
			   .time_ms = at_ms };

	e.exit = x;
	job_apply(j, &e);
}

/* Gives the settling event, applied. */
static void settle(struct job *j, struct event *out)
{
	job_apply(j, &(struct event){
			     .kind = EV_COLLECTED, .job = 7, .attempt = j->attempt });
	job_settle(j, 70000, out);
	job_apply(j, out);
}

static void put_off(void)
{
	struct job *j = running(0, false);
	struct event more = {
		.kind = EV_EXTENDED, .job = 7, .attempt = 1, .until_ms = 99000
	};
	struct event over = { .kind = EV_GRACE_OVER, .job = 7 };

	OK(!job_legal(j, &more), "a grace that has not begun is not put off");
	stop(j, STOP_USER);
	OK(job_legal(j, &more) && job_apply(j, &more) == 0 &&
		   j->grace_until_ms == 99000 && j->state == JOB_STOPPING,
	   "one that lasts is, and nothing else happens");
	more.attempt = 2;
	OK(!job_legal(j, &more), "of this attempt only");
	more.attempt = 1;
	OK(job_apply(j, &over) == FX_KILL && j->killed && !j->killed_now,
	   "when it is over all is killed");
	OK(!job_legal(j, &more), "and then it is not put off any more");
	job_destroy(j);
}

static void at_once(void)
{
	struct job *j = running(0, false);
	struct event over = { .kind = EV_GRACE_OVER, .job = 7 }, e;

	over.by = mem_strdup("alice");
	OK(!job_legal(j, &over), "what was not asked to stop is not killed");
	stop(j, STOP_USER);
	OK(job_legal(j, &over) && job_apply(j, &over) == FX_KILL,
	   "after a stop it may be");
	leave(j, 0, (struct task_exit){ .kind = EXIT_STOPPED, .signal = 9 }, 62001);
	leave(j, 1, (struct task_exit){ .kind = EXIT_STOPPED, .signal = 9 }, 62001);
	settle(j, &e);
	OK(e.outcome == OUTCOME_STOPPED && strstr(j->reason, "killed at once"),
	   "and its end says so: %s", j->reason);
	event_fini(&e);
	event_fini(&over);
	job_destroy(j);
}

static void time_limits(void)
{
	static const struct task_exit gone = { .kind = EXIT_STOPPED, .signal = 9 };
	struct event e;

	for (int retries = 0; retries < 2; retries++) {
		for (int asked = 0; asked < 2; asked++) {
			struct job *j = running(retries, asked);

			stop(j, STOP_TIME_LIMIT);
			leave(j, 0, gone, 63000);
			leave(j, 1, gone, 64000);
			settle(j, &e);
			OK(e.kind == (retries && asked ? EV_RETRY : EV_ENDED) &&
				   strstr(e.text, "reached its time limit of 1m"),
			   "%d retries%s: %s", retries,
			   asked ? ", after a time limit too" : "", e.text);
			if (e.kind == EV_RETRY)
				OK(j->failures == 1 && j->stop == STOP_NONE,
				   "it counts as a failure, and nothing is stopped any more");
			event_fini(&e);
			job_destroy(j);
		}
	}
}

static void cuts(void)
{
	static const struct {
		struct task_exit first, second;
		int64_t cut_ms;
		const char *law;
	} rows[] = {
		{ { .kind = EXIT_STOPPED, .code = 143 },
		  { .kind = EXIT_STOPPED },
		  0,
		  "who took their notice and left were not cut off" },
		{ { .kind = EXIT_STOPPED, .signal = 9 },
		  { .kind = EXIT_STOPPED },
		  63000,
		  "who was killed was" },
		{ { .kind = EXIT_STOPPED, .signal = 15 },
		  { .kind = EXIT_STOPPED, .signal = 9 },
		  63000,
		  "the first of them says when; a signal that nobody handles cuts off, too" },
		{ { .kind = EXIT_OOM, .signal = 9 },
		  { .kind = EXIT_CODE },
		  63000,
		  "so does want of memory" },
		{ { .kind = EXIT_CODE, .code = 1 },
		  { .kind = EXIT_CODE },
		  63000,
		  "and an error in the middle of it" },
		{ { .kind = EXIT_STOPPED, .signal = 9 },
		  { .kind = EXIT_LOST },
		  -1,
		  "of one that was lost nobody knows when" },
		{ { .kind = EXIT_UNSTARTED },
		  { .kind = EXIT_STOPPED },
		  0,
		  "one that never began wrote nothing" },
	};
	struct event e;

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct job *j = running(SPEC_ALL, true);

		stop(j, STOP_TIME_LIMIT);
		leave(j, 0, rows[i].first, 63000);
		leave(j, 1, rows[i].second, 64000);
		settle(j, &e);
		OK(e.kind == EV_RETRY && j->cut_ms == rows[i].cut_ms, "%s", rows[i].law);
		event_fini(&e);
		job_destroy(j);
	}
}

int main(void)
{
	put_off();
	at_once();
	time_limits();
	cuts();
	return END();
}
