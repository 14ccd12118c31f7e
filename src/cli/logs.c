// SPDX-License-Identifier: Apache-2.0
/* logs.c - `yard logs`. */
#include <pwd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/follow.h"

struct logs_args {
	bool follow, timestamps, raw;
	const char *task, *attempt, *tail;
};

/* clang-format off */
static const struct opt logs_table[] = {
	{ "follow", 'f', OPT_FLAG, OPT_INTO(struct logs_args, follow), NULL, "go on until the job has ended" },
	{ "task", 't', OPT_TEXT, OPT_INTO(struct logs_args, task), "TASK", "only this one: its rank, or role-index" },
	{ "tail", 'n', OPT_TEXT, OPT_INTO(struct logs_args, tail), "N", "only the last N lines of each task" },
	{ "attempt", 0, OPT_TEXT, OPT_INTO(struct logs_args, attempt), "N", "of this attempt; last (as usual) or all" },
	{ "timestamps", 'T', OPT_FLAG, OPT_INTO(struct logs_args, timestamps), NULL, "when each line was written" },
	{ "raw", 0, OPT_FLAG, OPT_INTO(struct logs_args, raw), NULL, "another's, with what a terminal acts on" },
};
/* clang-format on */

/* Whether what the job wrote is our own doing. */
static bool is_ours(const struct job *j)
{
	const struct passwd *pw = getpwuid(geteuid());

	return pw && str_eq(pw->pw_name, j->owner);
}

static int run_logs(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct logs_args *a = args;
	struct wire_job w = { 0 };
	struct err err;
	int rc = 0;

	struct follow f = { .rank = -1,
			    .attempt = a->attempt,
			    .tail = -1,
			    .follow = a->follow,
			    .timestamps = a->timestamps,
			    .other = -1 };
	if (a->tail && str_to_i64(a->tail, 0, INT32_MAX, &f.tail) < 0)
		rc = err_set(&err, ERR_INVALID,
			     "--tail '%s': allowed is a whole number of lines", a->tail);
	if (rc == 0)
		rc = cli_get_job(c, operands->items[0], &w, &err);
	if (rc == 0 && a->task)
		rc = f.rank = cli_task_rank(w.job, a->task, &err);
	if (rc >= 0 && w.job) {
		/* By its number from now on: a name may come to mean a newer job. */
		AUTO_FREE char *id = str_printf("%lld", (long long)w.job->id);
		f.job = id;
		f.names = w.job;
		f.plain = !a->raw && !is_ours(w.job);
		rc = follow_log(c, &f, &err);
	}
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
