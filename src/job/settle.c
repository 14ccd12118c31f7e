// SPDX-License-Identifier: Apache-2.0
/* The verdict on an attempt: try again or end, and the one sentence that says why. */
#include <inttypes.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/units.h"
#include "job/job.h"

#define EXIT_STOPPED_CODE    143 /* as a shell says of SIGTERM */
#define EXIT_TIME_LIMIT_CODE 124 /* as timeout(1) says it */

static bool ran(const struct job *j)
{
	return j->task_count && j->tasks[0].state == TASK_OVER;
}

/* A role of which not enough tasks succeeded, though none of its failures ended the job. */
static const struct role *short_role(const struct job *j, int *ok)
{
	for (size_t i = 0; i < j->spec->role_count; i++) {
		const struct role *r = &j->spec->roles[i];

		*ok = j->tallies[i].ok;
		if (r->succeed_after != SPEC_ALL && *ok < r->succeed_after)
			return r;
	}
	return NULL;
}

/* The first failed task in words: "worker-1: exit code 7". */
static void failure_words(const struct job *j, struct buf *out)
{
	const struct task *t;
	int ok;
	const struct role *r = j->decided == OUTCOME_NONE ? short_role(j, &ok) : NULL;

	if (r) {
		buf_printf(out, "%d of the %d tasks of %s that had to succeed did; ", ok,
			   r->succeed_after, r->name);
	}
	if (j->first_failed < 0) {
		buf_adds(out, "a task failed");
		return;
	}
	t = &j->tasks[j->first_failed];
	if (j->task_count > 1)
		buf_printf(out, "%s-%d: ", j->spec->roles[t->role].name, t->index);
	exit_words(&t->exit, out);
}

static int64_t backoff_ms(const struct job *j)
{
	const struct retry *r = &j->spec->retry;
	int64_t ms = r->backoff_ms;

	for (int i = 0; i < j->failures && ms < r->backoff_max_ms; i++)
		ms *= 2;
	return ms > r->backoff_max_ms ? r->backoff_max_ms : ms;
}

/* No task was cut off: what there was to do is done, or has failed, all the same. */
static bool all_judged(const struct job *j)
{
	size_t judged = 0;

	for (size_t i = 0; i < j->spec->role_count; i++)
		judged += (size_t)(j->tallies[i].ok + j->tallies[i].failed);
	return judged == j->task_count || j->decided == OUTCOME_SUCCEEDED;
}

/* NONE: it was cut off in the middle, to give way. */
static enum outcome verdict(const struct job *j)
{
	int ok;

	switch (j->stop) {
	case STOP_USER:
	case STOP_DEPENDENCY:
	case STOP_ARRAY:
		return OUTCOME_STOPPED;
	case STOP_TIME_LIMIT:
		return OUTCOME_FAILED;
	case STOP_PREEMPTED:
		if (!all_judged(j))
			return OUTCOME_NONE;
		break;
	case STOP_NONE:
	case STOP_POLICY:
	case STOP_KIND_COUNT:
		break;
	}
	if (job_is_array(j))
		return j->members.ended == j->spec->array.count && !j->members.failed &&
				       !j->members.stopped
			       ? OUTCOME_SUCCEEDED
			       : OUTCOME_FAILED;
	if (j->decided == OUTCOME_NONE)
		return short_role(j, &ok) ? OUTCOME_FAILED : OUTCOME_SUCCEEDED;
	return j->decided;
}

/* "3 of 10 failed: 12.4, 12.7, 12.9; see yard logs 12.4" */
static void members_words(const struct job *j, struct buf *out)
{
	const struct members *m = &j->members;
	int64_t count = j->spec->array.count, bad = m->failed + m->stopped;

	if (j->stop == STOP_POLICY)
		buf_printf(out, "stopped after %d failure%s; ", j->spec->array.stop_after,
			   j->spec->array.stop_after == 1 ? "" : "s");
	if (m->failed)
		buf_printf(out, "%" PRId64 " of %" PRId64 " failed", m->failed, count);
	if (m->stopped)
		buf_printf(out, "%s%" PRId64 " of %" PRId64 " %s stopped",
			   m->failed ? ", " : "", m->stopped, count,
			   m->stopped == 1 ? "was" : "were");
	for (int64_t i = 0; i < bad && i < MEMBERS_NAMED; i++)
		buf_printf(out, "%s%" PRId64 ".%" PRId64, i ? ", " : ": ", j->id,
			   m->not_ok[i]);
	if (bad > MEMBERS_NAMED)
		buf_adds(out, ", ...");
	if (m->made < count)
		buf_printf(out, "; %" PRId64 " never began", count - m->made);
	if (bad)
		buf_printf(out, "; see yard logs %" PRId64 ".%" PRId64, j->id,
			   m->not_ok[0]);
}

static void stopped_words(const struct job *j, struct buf *out)
{
	buf_printf(out, "stopped by %s", j->stop_by ? j->stop_by : "an administrator");
	if (job_is_array(j) && j->members.made)
		buf_printf(out, "; %" PRId64 " of %d members had been made",
			   j->members.made, j->spec->array.count);
	else if (!ran(j))
		buf_adds(out, j->attempt ? " while it waited for its next attempt"
					 : " before it ran");
	else if (j->killed_now)
		buf_adds(out, "; it was killed at once, as was asked");
	else if (j->killed)
		buf_adds(out,
			 "; it did not end by itself in its grace period and was killed");
	if (j->stop_text && *j->stop_text)
		buf_printf(out, ": %s", j->stop_text);
}

static void limit_words(const struct job *j, struct buf *out)
{
	char limit[UNITS_TEXT_MAX];

	buf_printf(out, "reached its time limit of %s",
		   units_show_duration(j->spec->time_limit_ms, limit));
}

static void ended_words(const struct job *j, enum outcome o, struct buf *out)
{
	if (j->stop == STOP_USER) {
		stopped_words(j, out);
		return;
	}
	if (j->stop == STOP_ARRAY) {
		buf_adds(out, j->stop_text ? j->stop_text : "its array was stopped");
		return;
	}
	if (j->stop == STOP_DEPENDENCY) {
		buf_adds(out, j->stop_text ? j->stop_text
					   : "a job it depends on did not succeed");
		return;
	}
	if (j->stop == STOP_TIME_LIMIT) {
		limit_words(j, out);
		if (j->spec->retry.max != 0 && j->spec->retry.time_limit)
			buf_printf(out, " (attempt %d, no more retries)", j->attempt);
		return;
	}
	if (o == OUTCOME_SUCCEEDED) {
		buf_adds(out, "succeeded");
		return;
	}
	if (job_is_array(j)) {
		members_words(j, out);
		return;
	}
	failure_words(j, out);
	if (j->spec->retry.max != 0)
		buf_printf(out, " (attempt %d, no more retries)", j->attempt);
}

/* Which one is told to those who may see it: by its number, beside these words. */
static void way_words(const struct job *j, struct buf *out)
{
	char ran[UNITS_TEXT_MAX];

	buf_adds(out, "gave way to another job");
	if (j->started_ms && j->stop_ms > j->started_ms)
		buf_printf(out, " after %s",
			   units_show_duration(j->stop_ms - j->started_ms, ran));
	buf_adds(out,
		 j->killed ? "; it had to be killed; it comes back" : "; it comes back");
}

static bool may_retry(const struct job *j, enum outcome o)
{
	if (j->stop == STOP_USER || j->stop == STOP_DEPENDENCY || j->stop == STOP_ARRAY ||
	    job_is_array(j))
		return false;
	if (j->stop == STOP_TIME_LIMIT && !j->spec->retry.time_limit)
		return false;
	if (j->stop == STOP_PREEMPTED)
		return o != OUTCOME_SUCCEEDED;
	return o == OUTCOME_FAILED &&
	       (j->spec->retry.max == SPEC_ALL || j->failures < j->spec->retry.max);
}

bool job_would_retry(const struct job *j)
{
	return may_retry(j, verdict(j));
}

void job_settle(const struct job *j, int64_t now_ms, struct event *out)
{
	enum outcome o = verdict(j);
	AUTO_BUF struct buf words = { 0 };

	*out = (struct event){ .job = j->id, .time_ms = now_ms, .attempt = j->attempt };
	if (may_retry(j, o)) {
		bool gave_way = j->stop == STOP_PREEMPTED;

		out->kind = EV_RETRY;
		out->until_ms = gave_way ? now_ms : now_ms + backoff_ms(j);
		if (gave_way)
			way_words(j, &words);
		else if (j->stop == STOP_TIME_LIMIT)
			limit_words(j, &words);
		else
			failure_words(j, &words);
		out->text = buf_take(&words);
		return;
	}
	out->kind = EV_ENDED;
	out->outcome = o;
	ended_words(j, o, &words);
	out->text = buf_take(&words);
}

int job_exit_code(const struct job *j)
{
	int code;

	if (j->outcome == OUTCOME_SUCCEEDED || j->outcome == OUTCOME_NONE)
		return 0;
	if (j->outcome == OUTCOME_STOPPED)
		return EXIT_STOPPED_CODE;
	if (j->stop == STOP_TIME_LIMIT)
		return EXIT_TIME_LIMIT_CODE;
	if (j->first_failed < 0)
		return 1;
	code = exit_shell_code(&j->tasks[j->first_failed].exit);
	return code ? code : 1;
}
