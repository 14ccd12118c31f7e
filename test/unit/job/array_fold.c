// SPDX-License-Identifier: Apache-2.0
/* The parent of an array as the fold of its events: every history of three members of which
 * two are alive at a time, with and without a bound on failures. */
#include "tap.h"

#include "base/mem.h"
#include "job/job.h"

#define MEMBERS 3
#define WINDOW  2
#define LENGTH  7

enum letter { OK_END, FAILED_END, STOPPED_END, USER_STOP, LETTERS };

static struct job *submit(int stop_after, int64_t after)
{
	struct event e = { .kind = EV_SUBMITTED, .seq = 1, .job = 12, .time_ms = 1000 };
	struct spec *s = spec_create();
	struct problems p = { 0 };
	struct job *j;

	s->name = mem_strdup("grid");
	role_set_shell(spec_add_role(s), "true");
	s->array.count = MEMBERS;
	s->array.stop_after = stop_after;
	if (after)
		spec_add_after(s, after, false);
	spec_check(s, &p);
	problems_fini(&p);
	e.by = mem_strdup("alice");
	j = job_create(&e, s);
	event_fini(&e);
	return j;
}

/* What is true, kept beside the fold. */
struct truth {
	int64_t made, ended, failed, stopped;
	bool user, bound;
	long wrong, ends, succeeded;
};

static void fill(struct truth *t, const struct job *j)
{
	while (j->state == JOB_OPEN && t->made < MEMBERS && t->made - t->ended < WINDOW)
		t->made++;
}

static struct event event_of(const struct truth *t, enum letter l)
{
	static char bob[] = "bob";
	struct event e = { .job = 12, .time_ms = 2000, .count = t->made };

	e.kind = l == USER_STOP ? EV_STOP : EV_MEMBER;
	e.index = t->ended;
	e.member = 100 + t->ended;
	if (l == USER_STOP) {
		e.stop = STOP_USER;
		e.by = bob;
	} else {
		e.outcome = l == OK_END       ? OUTCOME_SUCCEEDED
			    : l == FAILED_END ? OUTCOME_FAILED
					      : OUTCOME_STOPPED;
	}
	return e;
}

static void note(struct truth *t, enum letter l, int stop_after)
{
	t->user |= l == USER_STOP;
	t->ended += l != USER_STOP;
	t->failed += l == FAILED_END;
	t->stopped += l == STOPPED_END;
	t->bound |= stop_after && t->failed >= stop_after && t->ended < MEMBERS;
}

static void settle(struct truth *t, struct job *j)
{
	struct event e;
	bool good = t->ended == MEMBERS && !t->failed && !t->stopped;
	enum outcome want = t->user ? OUTCOME_STOPPED
			    : good  ? OUTCOME_SUCCEEDED
				    : OUTCOME_FAILED;

	job_settle(j, 3000, &e);
	t->wrong += e.kind != EV_ENDED || e.outcome != want || !e.text;
	t->wrong += !job_legal(j, &e);
	job_apply(j, &e);
	t->wrong += j->state != JOB_ENDED || j->ended_ms != 3000;
	t->ends++;
	t->succeeded += want == OUTCOME_SUCCEEDED;
	event_fini(&e);
}

/* Plays one history, given as the digits of a number. */
static void play(struct truth *sum, int history, int stop_after)
{
	struct job *j = submit(stop_after, 0);
	struct truth t = { 0 };

	for (int i = 0; i < LENGTH && j->state != JOB_ENDED; i++, history /= LETTERS) {
		enum letter l = (enum letter)(history % LETTERS);
		struct event e;
		bool may, over;

		fill(&t, j);
		e = event_of(&t, l);
		may = l == USER_STOP || t.ended < t.made;
		t.wrong += job_legal(j, &e) != may;
		if (!may)
			continue;
		job_apply(j, &e);
		note(&t, l, stop_after);
		over = t.ended == MEMBERS || ((t.user || t.bound) && t.ended == t.made);
		t.wrong += (j->state == JOB_SETTLING) != over;
		t.wrong += !over && (j->state == JOB_DRAINING) != (t.user || t.bound);
		t.wrong += j->members.ended != t.ended || j->members.failed != t.failed ||
			   j->members.stopped != t.stopped;
		if (over)
			settle(&t, j);
	}
	sum->wrong += t.wrong;
	sum->ends += t.ends;
	sum->succeeded += t.succeeded;
	job_destroy(j);
}

static void histories(void)
{
	struct truth sum = { 0 };
	int all = 1;

	for (int i = 0; i < LENGTH; i++)
		all *= LETTERS;
	for (int h = 0; h < all; h++)
		for (int stop_after = 0; stop_after <= 2; stop_after++)
			play(&sum, h, stop_after);
	IS_INT(sum.wrong, 0,
	       "an array ends when the last member made has, and as its members did");
	OK(sum.ends > all && sum.succeeded > 0, "%ld of them end, %ld well", sum.ends,
	   sum.succeeded);
}

static void words(void)
{
	struct job *j = submit(0, 0);
	struct truth t = { 0 };
	struct event e;

	for (int i = 0; i < MEMBERS; i++) {
		fill(&t, j);
		e = event_of(&t, i == 0 ? OK_END : FAILED_END);
		e.index = MEMBERS - 1 - i;
		job_apply(j, &e);
		t.ended++;
	}
	job_settle(j, 3000, &e);
	IS(e.text, "2 of 3 failed: 12.0, 12.1; see yard logs 12.0",
	   "the sentence names those that failed, by number");
	OK(job_exit_code(j) == 0 && !job_would_retry(j), "an array is not tried again");
	event_fini(&e);
	job_destroy(j);
}

static void held(void)
{
	struct job *j = submit(0, 5);
	struct event ready = { .job = 12, .kind = EV_READY, .time_ms = 1500 };

	OK(j->state == JOB_HELD && j->task_count == 0,
	   "an array waits for the jobs it depends on, and has no tasks itself");
	OK(job_legal(j, &ready) && job_apply(j, &ready) == FX_MEMBERS &&
		   j->state == JOB_OPEN,
	   "then its members are made");
	job_destroy(j);
}

int main(void)
{
	histories();
	words();
	held();
	return END();
}
