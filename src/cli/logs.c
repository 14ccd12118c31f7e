// SPDX-License-Identifier: Apache-2.0
/* logs.c - `yard logs`. */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/follow.h"
#include "cli/outcome.h"
#include "cli/sieve.h"
#include "cli/verdict.h"

struct logs_args {
	bool follow, timestamps, raw, errors, any_case;
	const char *task, *attempt, *tail, *grep, *since, *color;
};

#define INTO(field) OPT_INTO(struct logs_args, field)
/* clang-format off */
static const struct opt logs_table[] = {
	{ "follow",      'f', OPT_FLAG, INTO(follow),     NULL,      "go on until the job has ended" },
	{ "task",        't', OPT_TEXT, INTO(task),       "TASK",    "only this one: its rank, or role-index" },
	{ "tail",        'n', OPT_TEXT, INTO(tail),       "N",       "only the last N lines of each task" },
	{ "attempt",     0,   OPT_TEXT, INTO(attempt),    "N",       "of this attempt; last (as usual) or all" },
	{ "grep",        'g', OPT_TEXT, INTO(grep),       "PATTERN", "only lines that match (POSIX extended)" },
	{ "ignore-case", 'i', OPT_FLAG, INTO(any_case),   NULL,      "capitals match small letters in --grep" },
	{ "since",       's', OPT_TEXT, INTO(since),      "TIME",    "only what came after: 10m ago, or 14:05" },
	{ "errors",      'e', OPT_FLAG, INTO(errors),     NULL,      "only errors; the first task that failed first" },
	{ "timestamps",  'T', OPT_FLAG, INTO(timestamps), NULL,      "when each line was written" },
	{ "raw",         0,   OPT_FLAG, INTO(raw),        NULL,      "another's, with what a terminal acts on" },
	OPT_COLOUR(struct logs_args, color),
};
/* clang-format on */

/* Whether what the job wrote is our own doing. */
static bool is_ours(const struct job *j)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw && str_eq(pw->pw_name, j->owner);
}

/* An attempt that was never made is said, not shown as an empty log. */
static int check_attempt(const struct job *j, const char *text, struct err *err)
{
	int64_t n;

	if (!text || str_eq(text, "last") || str_eq(text, "all"))
		return 0;
	if (str_to_i64(text, 1, INT32_MAX, &n) < 0)
		return err_set(err, ERR_INVALID,
			       "--attempt '%s': allowed is a number, last or all", text);
	if (n <= j->attempt)
		return 0;
	if (j->attempt == 0)
		return err_set(err, ERR_NOT_FOUND,
			       "job %" PRId64
			       " has not been started yet: it has no attempt %s",
			       j->id, text);
	if (j->attempt == 1)
		return err_set(err, ERR_NOT_FOUND,
			       "job %" PRId64 " has no attempt %s: there was just one, 1",
			       j->id, text);
	return err_set(err, ERR_NOT_FOUND,
		       "job %" PRId64 " has no attempt %s: there were 1 to %d", j->id,
		       text, j->attempt);
}

/* Who looks at a failed job on a terminal wants to know this before anything else. */
static void say_first_error(struct cli *c, const struct wire_job *w)
{
	struct blame blame;
	struct verdict v;

	if (w->job->state != JOB_ENDED || w->job->outcome != OUTCOME_FAILED)
		return;
	outcome_blame(c, w, &blame);
	verdict_make(w->job, &(struct verdict_log){ blame.first, NULL }, &v);
	if (v.error)
		cli_say_bad(c, "%s", v.error);
	verdict_fini(&v);
	blame_fini(&blame);
}

/* The task that failed first, then the others in their order. */
static int errors_in_order(struct cli *c, struct follow *f, struct err *err)
{
	int first = verdict_rank(f->names), rc = 0;

	if (f->rank >= 0 || f->follow || first < 0)
		return follow_log(c, f, err);
	f->prefixes = f->names->task_count > 1;
	f->rank = first;
	rc = follow_log(c, f, err);
	for (size_t i = 0; i < f->names->task_count && rc == 0; i++) {
		f->rank = (int)i;
		if (f->rank != first)
			rc = follow_log(c, f, err);
	}
	return rc;
}

/* An empty screen says nothing: why there is no log to follow yet. */
static void say_wait(const struct cli *c, const struct wire_job *w)
{
	const struct job *j = w->job;

	if ((j->state == JOB_HELD || j->state == JOB_QUEUED) && j->attempt == 0 && w->why)
		cli_hint(c, "job %" PRId64 " is %s: %s", j->id, job_state_word(j->state),
			 w->why);
}

static int print_log(struct cli *c, const struct logs_args *a, const struct wire_job *w,
		     struct follow f, struct err *err)
{
	/* By its number from now on: a name may come to mean a newer job. */
	AUTO_FREE char *id = str_printf("%" PRId64, w->job->id);
	struct sieve_ask ask = { a->grep, a->any_case, a->errors, a->since };
	struct sieve sieve;

	if (a->task && (f.rank = cli_task_rank(w->job, a->task, err)) < 0)
		return -1;
	if (check_attempt(w->job, a->attempt, err) < 0)
		return -1;
	if (sieve_init(&sieve, &ask, (size_t)spec_task_count(w->job->spec), cli_now_ms(),
		       err) < 0)
		return -1;
	f.job = id;
	f.names = w->job;
	f.plain = !a->raw && !is_ours(w->job);
	if (sieve_used(&sieve)) {
		f.keep = sieve_keep;
		f.keep_arg = &sieve;
	} else if (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)) {
		say_first_error(c, w);
	}
	if (f.follow && isatty(STDERR_FILENO))
		say_wait(c, w);
	int rc = a->errors ? errors_in_order(c, &f, err) : follow_log(c, &f, err);
	sieve_fini(&sieve);
	return rc;
}

static int run_logs(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct logs_args *a = args;
	struct wire_job w = { 0 };
	struct err err;
	struct follow f = { .rank = -1,
			    .attempt = a->attempt,
			    .tail = -1,
			    .follow = a->follow,
			    .timestamps = a->timestamps,
			    .other = -1 };

	int rc = cli_colour(c, a->color, &err);
	if (rc == 0 && a->tail && str_to_i64(a->tail, 0, INT32_MAX, &f.tail) < 0)
		rc = err_set(&err, ERR_INVALID,
			     "--tail '%s': allowed is a whole number of lines", a->tail);
	if (rc == 0)
		rc = cli_get_job(c, operands->items[0], &w, &err);
	if (rc == 0)
		rc = print_log(c, a, &w, f, &err);
	wire_job_fini(&w);
	return rc < 0 ? cli_fail(c, &err) : 0;
}

const struct command cmd_logs = {
	.name = "logs",
	.operands = "JOB",
	.summary = "print a job's output",
	.table = logs_table,
	.count = COUNT_OF(logs_table),
	.args_size = sizeof(struct logs_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_logs,
};
