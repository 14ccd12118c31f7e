// SPDX-License-Identifier: Apache-2.0
/* change.c - what is done to jobs: stop, rm, priority. */
#include <inttypes.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/outcome.h"

struct stop_args {
	const char *reason;
	bool now;
};

/* clang-format off */
static const struct opt stop_table[] = {
	{ "reason", 'r', OPT_TEXT, OPT_INTO(struct stop_args, reason), "TEXT", "why: kept with the job" },
	{ "now", 'n', OPT_FLAG, OPT_INTO(struct stop_args, now), NULL, "without grace: kill what runs, also what is being stopped already" },
};
/* clang-format on */

static int stop_job(struct cli *c, const char *job, const struct stop_args *how,
		    struct err *err)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = cli_job_target(job, "/stop");
	struct json j;

	json_init(&j, &body);
	json_object(&j, NULL);
	if (how->reason)
		json_str(&j, "reason", how->reason);
	if (how->now)
		json_bool(&j, "now", true);
	json_end(&j);
	struct request r = { .method = "POST",
			     .target = target,
			     .body = body.data,
			     .body_len = body.len };
	return client_call(c->client, &r, &answer, err);
}

static int run_stop(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct stop_args *a = args;
	struct err err;
	int code = 0;

	for (size_t i = 0; i < operands->count; i++)
		if (stop_job(c, operands->items[i], a, &err) < 0)
			code = cli_fail(c, &err);
	return code;
}

const struct command cmd_stop = {
	.name = "stop",
	.operands = "JOB...",
	.summary = "end jobs: ask, then, after their grace, kill",
	.table = stop_table,
	.count = COUNT_OF(stop_table),
	.args_size = sizeof(struct stop_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_stop,
};

struct rm_args {
	bool stop;
};

/* clang-format off */
static const struct opt rm_table[] = {
	{ "stop", 's', OPT_FLAG, OPT_INTO(struct rm_args, stop), NULL, "those that are live are stopped first" },
};
/* clang-format on */

static int remove_job(struct cli *c, const char *job, bool stop, struct err *err)
{
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = cli_job_target(job, "");
	struct request r = { .method = "DELETE", .target = target };

	if (stop) {
		struct wire_job w = { 0 };
		if (stop_job(c, job, &(struct stop_args){ .reason = "removed" }, err) <
			    0 ||
		    outcome_wait(c, job, -1, &w, err) < 0)
			return -1;
		wire_job_fini(&w);
	}
	return client_call(c->client, &r, &answer, err);
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct rm_args *a = args;
	struct err err;
	int code = 0;

	for (size_t i = 0; i < operands->count; i++)
		if (remove_job(c, operands->items[i], a->stop, &err) < 0)
			code = cli_fail(c, &err);
	return code;
}

const struct command cmd_rm = {
	.name = "rm",
	.operands = "JOB...",
	.summary = "forget jobs that have ended: logs, outputs and all",
	.table = rm_table,
	.count = COUNT_OF(rm_table),
	.args_size = sizeof(struct rm_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};

static int run_priority(struct cli *c, const void *args, const struct opts_list *operands)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = cli_job_target(operands->items[0], "");
	int64_t priority;
	struct err err;

	(void)args;
	if (str_to_i64(operands->items[1], -SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX,
		       &priority) < 0) {
		err_set(&err, ERR_INVALID,
			"priority '%s': allowed is a whole number from %d to %d",
			operands->items[1], -SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX);
		return cli_fail(c, &err);
	}
	buf_printf(&body, "{\"priority\":%" PRId64 "}", priority);
	struct request r = { .method = "PATCH",
			     .target = target,
			     .body = body.data,
			     .body_len = body.len };
	return client_call(c->client, &r, &answer, &err) < 0 ? cli_fail(c, &err) : 0;
}

const struct command cmd_priority = {
	.name = "priority",
	.operands = "JOB N",
	.summary = "change a job's priority, -1000 to 1000; higher goes first",
	.operands_min = 2,
	.operands_max = 2,
	.run = run_priority,
};
