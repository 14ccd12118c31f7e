// SPDX-License-Identifier: Apache-2.0
/* jobs.c - single questions about jobs and machines: why, wait, version. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/outcome.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/verdict.h"
#include "cli/view.h"
#include "cli/why_view.h"
#include "cli/width.h"

size_t view_width(void)
{
	struct winsize w;

	return isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0
		       ? w.ws_col
		       : 0;
}

void view_print(const struct cli *c, const struct table *t)
{
	AUTO_BUF struct buf out = { 0 };

	table_render(t, c->colour_out, view_width(), &out);
	cli_print(&out);
}

enum table_colour view_colour(enum job_state s, enum outcome o)
{
	if (s != JOB_ENDED)
		return s == JOB_RUNNING   ? TABLE_BUSY
		       : s == JOB_BACKOFF ? TABLE_WARN
					  : TABLE_PLAIN;
	return o == OUTCOME_SUCCEEDED ? TABLE_GOOD
	       : o == OUTCOME_FAILED  ? TABLE_BAD
				      : TABLE_DIM;
}

const char *view_state(enum job_state s, enum outcome o)
{
	return s == JOB_ENDED ? outcome_word(o) : job_state_word(s);
}

int view_json(struct cli *c, const char *target)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err err;

	if (cli_get(c, &a, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	cli_print_json(&a.body);
	return 0;
}

struct why_args {
	bool json;
};

/* clang-format off */
static const struct opt why_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct why_args, json), NULL, "as JSON" },
};
/* clang-format on */

/* Of a job that did not succeed: what that means and what to try, as yard run says. */
static void add_advice(struct cli *c, int64_t id, struct buf *out)
{
	char job[24];
	struct wire_job w = { 0 };
	struct verdict v;
	struct err ignored; /* it may be gone by now: then there is nothing to try */

	snprintf(job, sizeof job, "%" PRId64, id);
	if (cli_get_job(c, job, &w, &ignored) < 0)
		return;
	if (w.job->state == JOB_ENDED && w.job->outcome != OUTCOME_SUCCEEDED) {
		verdict_make(w.job, &(struct verdict_log){ NULL, NULL }, &v);
		if (v.meaning) {
			width_wrap(out, v.meaning, 0, view_width());
			buf_addc(out, '\n');
		}
		buf_printf(out, "next: %s\n", v.next);
		verdict_fini(&v);
	}
	wire_job_fini(&w);
}

static void print_why(struct cli *c, const struct doc_node *map, struct buf *out)
{
	const char *why = doc_str(map, "why", NULL);
	struct why_page page = { cli_now_ms(), view_width(), c->colour_out };

	if (doc_str(map, "kind", NULL)) {
		why_lay_out(map, &page, out);
		return;
	}
	AUTO_FREE char *text =
		mem_strdup(why && *why ? why : doc_str(map, "state", "nothing is known"));
	plain_text(text, "\n\t");
	width_wrap(out, text, 0, view_width());
	buf_addc(out, '\n');
	if (str_eq(doc_str(map, "state", ""), "ended"))
		add_advice(c, doc_i64(map, "id", 0), out);
}

static int run_why(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct why_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = cli_job_target(operands->items[0], "/why");
	AUTO_BUF struct buf out = { 0 };
	struct err err;

	if (a->json)
		return view_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	print_why(c, doc_root(answer.doc), &out);
	cli_print(&out);
	return 0;
}

const struct command cmd_why = {
	.name = "why",
	.operands = "JOB",
	.summary =
		"say why a job waits, until when, and what would start now; or why it ended",
	.table = why_table,
	.count = COUNT_OF(why_table),
	.args_size = sizeof(struct why_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_why,
};

struct wait_args {
	int64_t timeout;
	bool quiet;
};

/* clang-format off */
static const struct opt wait_table[] = {
	{ "timeout", 't', OPT_DURATION, OPT_INTO(struct wait_args, timeout), "TIME", "give up after that long" },
	{ "quiet", 'q', OPT_FLAG, OPT_INTO(struct wait_args, quiet), NULL, "say nothing" },
};
/* clang-format on */

static int run_wait(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct wait_args *a = args;
	int first = 0;

	for (size_t i = 0; i < operands->count; i++) {
		const char *name = operands->items[i];
		struct wire_job w = { 0 };
		struct err err;
		int rc = outcome_wait(c, name, a->timeout ? a->timeout : -1, &w, &err);
		if (rc == 0)
			rc = err_set(&err, ERR_TIMEOUT, "job %s has not ended yet", name);
		if (rc < 0)
			return cli_fail(c, &err);
		int code = a->quiet ? w.exit_code : outcome_tell(c, &w);
		first = first ? first : code;
		wire_job_fini(&w);
	}
	return first;
}

const struct command cmd_wait = {
	.name = "wait",
	.operands = "JOB...",
	.summary = "wait for jobs to end, and return the first exit code that is not 0",
	.table = wait_table,
	.count = COUNT_OF(wait_table),
	.args_size = sizeof(struct wait_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_wait,
};

struct version_args {
	bool json;
};

/* clang-format off */
static const struct opt version_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct version_args, json), NULL, "as JSON" },
};
/* clang-format on */

static int run_version(struct cli *c, const void *args, const struct opts_list *operands)
{
	AUTO_BUF struct buf out = { 0 };
	AUTO_ANSWER struct answer a = { 0 };
	const struct version_args *v = args;
	struct err err;

	(void)operands;
	/* Nobody being there is an answer, too. */
	bool up = cli_get(c, &a, &err, "/version") == 0;
	const char *answered = up ? doc_str(doc_root(a.doc), "version", "unknown") : NULL;
	AUTO_FREE char *theirs = mem_strdup(answered);
	if (theirs)
		plain_text(theirs, "");
	if (v->json) {
		struct json j;
		json_init(&j, &out);
		json_object(&j, NULL);
		json_str(&j, "yard", YARD_VERSION);
		json_str(&j, "yardd", theirs);
		json_end(&j);
		buf_addc(&out, '\n');
	} else {
		buf_adds(&out, "yard " YARD_VERSION "\n");
		if (theirs)
			buf_printf(&out, "yardd %s\n", theirs);
	}
	cli_print(&out);
	return 0;
}

const struct command cmd_version = {
	.name = "version",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "print versions, of the daemon too if one answers",
	.table = version_table,
	.count = COUNT_OF(version_table),
	.args_size = sizeof(struct version_args),
	.run = run_version,
};
