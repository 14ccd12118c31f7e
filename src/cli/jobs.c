// SPDX-License-Identifier: Apache-2.0
/* jobs.c - looking at jobs and machines: ls, why, wait, stop, nodes, version. */
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
#include "cli/view.h"
#include "codec/url.h"

#define PAGE 1000

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
		return s == JOB_RUNNING ? TABLE_BUSY : TABLE_PLAIN;
	return o == OUTCOME_SUCCEEDED ? TABLE_GOOD
	       : o == OUTCOME_FAILED  ? TABLE_BAD
				      : TABLE_DIM;
}

static int print_json(struct cli *c, const char *target)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err err;

	if (cli_get(c, &a, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	cli_print_json(&a.body);
	return 0;
}

struct ls_args {
	bool all, json;
	int64_t limit;
	const char *owner, *name;
};

/* clang-format off */
static const struct opt ls_table[] = {
	{ "all", 'a', OPT_FLAG, OPT_INTO(struct ls_args, all), NULL, "also those that have ended" },
	{ "limit", 'n', OPT_INT, OPT_INTO(struct ls_args, limit), "N", "at most so many (50)", 1, 1000000 },
	{ "name", 0, OPT_TEXT, OPT_INTO(struct ls_args, name), "NAME", "only those of this name" },
	{ "owner", 0, OPT_TEXT, OPT_INTO(struct ls_args, owner), "USER", "only those of this user" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct ls_args, json), NULL, "as JSON" },
};
/* clang-format on */

static void ls_target(const struct ls_args *a, int64_t before, int64_t limit,
		      struct buf *out)
{
	buf_printf(out, "/jobs?state=%s&limit=%" PRId64, a->all ? "all" : "live", limit);
	if (before)
		buf_printf(out, "&before=%" PRId64, before);
	if (a->owner)
		url_query_add(out, "owner", a->owner);
	if (a->name)
		url_query_add(out, "name", a->name);
}

static void ls_row(struct table *t, const struct wire_row *r, int64_t now)
{
	char took[UNITS_TEXT_MAX] = "", age[UNITS_TEXT_MAX];
	const char *state = r->state == JOB_ENDED ? outcome_word(r->outcome)
						  : job_state_word(r->state);

	if (r->started_ms)
		units_show_duration((r->ended_ms ? r->ended_ms : now) - r->started_ms,
				    took);
	table_cell(t, TABLE_PLAIN, "%" PRId64, r->id);
	table_cell(t, TABLE_PLAIN, "%s", r->name);
	table_cell(t, view_colour(r->state, r->outcome), "%s", state);
	table_cell(t, TABLE_PLAIN, "%d", r->task_count);
	table_cell(t, TABLE_PLAIN, "%s", r->owner);
	table_cell(t, TABLE_PLAIN, "%s", units_show_age(now - r->submitted_ms, age));
	table_cell(t, TABLE_PLAIN, "%s", took);
	table_cell(t, TABLE_DIM, "%s",
		   r->reason && !str_eq(r->reason, state) ? r->reason : "");
}

/* One page into the table; gives how many rows there were, *next: where the rest begins. */
static int64_t ls_page(struct cli *c, const char *target, struct table *t, int64_t *next,
		       struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	int64_t rows = 0, now = cli_now_ms();

	if (cli_get(c, &a, err, "%s", target) < 0)
		return -1;
	const struct doc_node *list = doc_get(doc_root(a.doc), "jobs");
	for (const struct doc_node *n = list ? list->first : NULL; n;
	     n = n->next, rows++) {
		struct wire_row row;
		wire_row_read(n, &row);
		ls_row(t, &row, now);
	}
	*next = doc_i64(doc_root(a.doc), "next", 0);
	return rows;
}

/* All pages as one answer, in the form of one. */
static int ls_json(struct cli *c, const struct ls_args *a, int64_t left)
{
	AUTO_BUF struct buf out = { 0 };
	int64_t next = 0, got;
	struct json j;
	struct err err;

	json_init(&j, &out);
	json_object(&j, NULL);
	json_array(&j, "jobs");
	do {
		AUTO_BUF struct buf target = { 0 };
		AUTO_ANSWER struct answer page = { 0 };
		got = 0;
		ls_target(a, next, left < PAGE ? left : PAGE, &target);
		if (cli_get(c, &page, &err, "%s", target.data) < 0)
			return cli_fail(c, &err);
		const struct doc_node *list = doc_get(doc_root(page.doc), "jobs");
		for (const struct doc_node *n = list ? list->first : NULL; n;
		     n = n->next, got++)
			doc_write_json(n, &j, NULL);
		left -= got;
		next = doc_i64(doc_root(page.doc), "next", 0);
	} while (got > 0 && left > 0 && next);
	json_end(&j);
	if (next)
		json_i64(&j, "next", next);
	else
		json_null(&j, "next");
	json_end(&j);
	cli_print_json(&out);
	return 0;
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { ">ID",   "NAME", "STATE", ">TASKS",
					     "OWNER", ">AGE", ">TOOK", "REASON" };
	const struct ls_args *a = args;
	int64_t left = a->limit ? a->limit : 50, next = 0, total = 0, got = 0;
	struct err err;

	(void)operands;
	if (a->json)
		return ls_json(c, a, left);
	struct table *t = table_create(heads, COUNT_OF(heads));
	do {
		AUTO_BUF struct buf target = { 0 };
		ls_target(a, next, left < PAGE ? left : PAGE, &target);
		got = ls_page(c, target.data, t, &next, &err);
		total += got;
		left -= got;
	} while (got > 0 && left > 0 && next);
	if (got >= 0 && total)
		view_print(c, t);
	table_destroy(t);
	if (got < 0)
		return cli_fail(c, &err);
	if (!total)
		cli_hint(
			c,
			a->all ? "no jobs yet"
			       : "no job is live; `yard ls -a` shows those that have ended");
	return 0;
}

const struct command cmd_ls = {
	.name = "ls",
	.operands = "",
	.summary = "list jobs, the newest first",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.run = run_ls,
};

struct why_args {
	bool json;
};

/* clang-format off */
static const struct opt why_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct why_args, json), NULL, "as JSON" },
};
/* clang-format on */

static int run_why(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct why_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = cli_job_target(operands->items[0], "/why");
	AUTO_BUF struct buf out = { 0 };
	struct err err;

	if (a->json)
		return print_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	const struct doc_node *map = doc_root(answer.doc);
	const char *why = doc_str(map, "why", NULL);
	AUTO_FREE char *text =
		mem_strdup(why && *why ? why : doc_str(map, "state", "nothing is known"));
	plain_text(text, "\n\t");
	buf_printf(&out, "%s\n", text);
	cli_print(&out);
	return 0;
}

const struct command cmd_why = {
	.name = "why",
	.operands = "JOB",
	.summary = "say what a job waits for, or why it ended",
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

struct stop_args {
	const char *reason;
};

/* clang-format off */
static const struct opt stop_table[] = {
	{ "reason", 'r', OPT_TEXT, OPT_INTO(struct stop_args, reason), "TEXT", "why: kept with the job" },
};
/* clang-format on */

static int run_stop(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct stop_args *a = args;
	int code = 0;

	for (size_t i = 0; i < operands->count; i++) {
		AUTO_BUF struct buf body = { 0 };
		AUTO_ANSWER struct answer answer = { 0 };
		AUTO_FREE char *target = cli_job_target(operands->items[i], "/stop");
		struct json j;
		struct err err;

		json_init(&j, &body);
		json_object(&j, NULL);
		if (a->reason)
			json_str(&j, "reason", a->reason);
		json_end(&j);
		struct request r = { .method = "POST",
				     .target = target,
				     .body = body.data,
				     .body_len = body.len };
		if (client_call(c->client, &r, &answer, &err) < 0)
			code = cli_fail(c, &err);
	}
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

struct nodes_args {
	bool json;
};

/* clang-format off */
static const struct opt nodes_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct nodes_args, json), NULL, "as JSON" },
};
/* clang-format on */

static void node_row(struct table *t, const struct wire_node *n)
{
	char used[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
	AUTO_BUF struct buf devices = { 0 };

	for (size_t i = 0; i < DEVICE_KINDS_MAX && n->node.capacity.devices[i].count > 0;
	     i++) {
		const struct device_count *d = &n->node.capacity.devices[i];
		buf_printf(&devices, "%s%s %d/%d", i ? ", " : "", d->type,
			   resources_device(&n->used, d->type), d->count);
	}
	if (devices.len && n->node.simulated_devices)
		buf_adds(&devices, " (simulated)");
	table_cell(t, TABLE_PLAIN, "%s", n->node.name);
	table_cell(t, n->node.up ? TABLE_GOOD : TABLE_BAD, "%s",
		   n->node.up ? "up" : "down");
	table_cell(t, TABLE_PLAIN, "%d", n->tasks);
	table_cell(t, TABLE_PLAIN, "%s/%s", units_show_cpu(n->used.cpu_milli, used),
		   units_show_cpu(n->node.capacity.cpu_milli, all));
	table_cell(t, TABLE_PLAIN, "%s/%s", units_show_bytes(n->used.memory_bytes, used),
		   units_show_bytes(n->node.capacity.memory_bytes, all));
	table_cell(t, TABLE_PLAIN, "%s", devices.len ? devices.data : "none");
}

static int run_nodes(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME", "STATE",   ">TASKS",
					     ">CPU", ">MEMORY", "DEVICES" };
	const struct nodes_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	(void)operands;
	if (a->json)
		return print_json(c, "/nodes");
	if (cli_get(c, &answer, &err, "/nodes") < 0)
		return cli_fail(c, &err);
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *list = doc_get(doc_root(answer.doc), "nodes");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct wire_node node;
		wire_node_read(n, &node);
		node_row(t, &node);
	}
	view_print(c, t);
	table_destroy(t);
	return 0;
}

const struct command cmd_nodes = {
	.name = "nodes",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "list the machines and what is taken on them",
	.table = nodes_table,
	.count = COUNT_OF(nodes_table),
	.args_size = sizeof(struct nodes_args),
	.run = run_nodes,
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
