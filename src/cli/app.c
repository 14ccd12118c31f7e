// SPDX-License-Identifier: Apache-2.0
/* app.c - `yard open`, `yard tensorboard` and `yard app`: jobs in a browser. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "codec/url.h"

#define LOOK_MS     200
#define PATIENCE_MS 30000 /* a program needs some seconds to begin; a queue has no end */

struct board_args {
	const char *output;
	bool open, json;
};

/* clang-format off */
static const struct opt board_table[] = {
	{ "open",   'o', OPT_FLAG, OPT_INTO(struct board_args, open), NULL, "open it in a browser" },
	{ "output", 0,   OPT_TEXT, OPT_INTO(struct board_args, output), "NAME",
		"which output holds the event files; the one named logs or tensorboard" },
	{ "json",   0,   OPT_FLAG, OPT_INTO(struct board_args, json), NULL, "print the answer as JSON" },
};
struct open_args {
	bool print;
};
static const struct opt open_table[] = {
	{ "print", 'p', OPT_FLAG, OPT_INTO(struct open_args, print), NULL, "only print the address" },
};
struct url_args {
	bool open;
};
static const struct opt url_table[] = {
	{ "open", 'o', OPT_FLAG, OPT_INTO(struct url_args, open), NULL, "open it in a browser" },
};
struct ls_args {
	const char *kind, *color;
	bool json;
};
static const struct opt ls_table[] = {
	{ "kind", 0, OPT_TEXT, OPT_INTO(struct ls_args, kind), "KIND", "apps of this kind only" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct ls_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct ls_args, color),
};
/* clang-format on */

extern char **environ;

/* What the person has for it; it says nothing and is not waited for. */
static int open_browser(const char *url, struct err *err)
{
	const char *own = getenv("BROWSER");
	const char *names[] = { own && *own ? own : "xdg-open", "open",
				"sensible-browser" };
	posix_spawn_file_actions_t files;
	int rc = ENOENT;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
	for (size_t i = 0; i < COUNT_OF(names) && rc != 0; i++) {
		AUTO_FREE char *name = mem_strdup(names[i]), *target = mem_strdup(url);
		char *argv[] = { name, target, NULL };
		rc = posix_spawnp(&pid, name, &files, NULL, argv, environ);
	}
	posix_spawn_file_actions_destroy(&files);
	if (rc == 0)
		return 0;
	return err_set(err, ERR_UNSUPPORTED,
		       "--open: no browser was found; set BROWSER, or open the address "
		       "yourself");
}

static int show_url(struct cli *c, const char *url, bool open)
{
	AUTO_BUF struct buf line = { 0 };
	struct err err;

	buf_printf(&line, "%s\n", url);
	cli_print(&line);
	if (open && open_browser(url, &err) < 0)
		return cli_fail(c, &err);
	return 0;
}

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = LOOK_MS * 1000000L }, NULL);
}

/* Until it is up, has ended, or that takes longer than somebody waits.  Each look gives an
 * address of its own: the last one counts. */
static int await_app(struct cli *c, int64_t app, struct answer *out, struct err *err)
{
	int64_t end = cli_now_ms() + PATIENCE_MS;

	for (;;) {
		answer_fini(out);
		*out = (struct answer){ 0 };
		if (cli_get(c, out, err, "/apps/%" PRId64, app) < 0)
			return -1;
		const char *state = doc_str(doc_root(out->doc), "state", "");
		if (!str_eq(state, "starting") || cli_now_ms() >= end)
			return 0;
		nap();
	}
}

static int say_how_it_is(struct cli *c, const struct doc_node *app)
{
	const char *state = doc_str(app, "state", "");
	long long id = doc_i64(app, "app", 0);
	struct err err;

	if (str_eq(state, "ended")) {
		err_set(&err, ERR_CONFLICT,
			"the board ended at once: `yard logs %lld` tells why", id);
		return cli_fail(c, &err);
	}
	if (str_eq(state, "starting"))
		cli_hint(
			c,
			"TensorBoard is not up yet (`yard why %lld`); until then the page shows "
			"the yard's own view",
			id);
	else if (str_eq(doc_str(app, "served_by", ""), "yard"))
		cli_hint(
			c,
			"no tensorboard is installed there: the yard shows the series itself");
	return 0;
}

static int run_board(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct board_args *a = args;
	AUTO_FREE char *target = cli_job_target(operands->items[0], "/tensorboard");
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf body = { 0 };
	struct json j;
	struct err err;

	json_init(&j, &body);
	json_object(&j, NULL);
	if (a->output)
		json_str(&j, "output", a->output);
	json_end(&j);
	struct request r = { "POST", target, .body = buf_str(&body),
			     .body_len = body.len };
	if (client_call(c->client, &r, &answer, &err) < 0 ||
	    await_app(c, doc_i64(doc_root(answer.doc), "app", 0), &answer, &err) < 0)
		return cli_fail(c, &err);
	if (a->json) {
		cli_print_json(&answer.body);
		return 0;
	}
	int rc = say_how_it_is(c, doc_root(answer.doc));
	return rc ? rc : show_url(c, doc_str(doc_root(answer.doc), "url", ""), a->open);
}

static int read_id(const char *text, int64_t *out, struct err *err)
{
	if (str_to_i64(text, 1, INT64_MAX, out) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "'%.40s': an app is named by its number; `yard app ls`", text);
}

static int run_url(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct url_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;
	int64_t id;

	if (read_id(operands->items[0], &id, &err) < 0 ||
	    cli_get(c, &answer, &err, "/apps/%" PRId64, id) < 0)
		return cli_fail(c, &err);
	return show_url(c, doc_str(doc_root(answer.doc), "url", ""), a->open);
}

/* The address was printed: where there is no browser it is opened elsewhere. */
static int run_open(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct open_args *a = args;
	AUTO_FREE char *target = cli_job_target(operands->items[0], "/page");
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	const char *url = doc_str(doc_root(answer.doc), "url", "");
	show_url(c, url, false);
	if (!a->print && open_browser(url, &err) < 0)
		cli_hint(c, "no browser was found here: open that address in yours");
	return 0;
}

static int run_stop(struct cli *c, const void *args, const struct opts_list *operands)
{
	int rc = 0;

	(void)args;
	for (size_t i = 0; i < operands->count; i++) {
		AUTO_ANSWER struct answer answer = { 0 };
		struct err err;
		int64_t id;
		if (read_id(operands->items[i], &id, &err) < 0) {
			rc = cli_fail(c, &err);
			continue;
		}
		AUTO_FREE char *target = str_printf("/apps/%" PRId64, id);
		struct request r = { "DELETE", target };
		if (client_call(c->client, &r, &answer, &err) < 0)
			rc = cli_fail(c, &err);
	}
	return rc;
}

static void app_row(struct table *t, const struct doc_node *n, int64_t now)
{
	int64_t of = doc_i64(n, "of", 0), ends = doc_i64(n, "ends_ms", 0);
	char left[UNITS_TEXT_MAX];
	bool up = str_eq(doc_str(n, "state", ""), "running");

	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "app", 0));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "kind", ""));
	if (of)
		table_cell(t, TABLE_PLAIN, "%" PRId64, of);
	else
		table_cell(t, TABLE_DIM, "-");
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "owner", ""));
	table_cell(t, up ? TABLE_GOOD : TABLE_DIM, "%s", doc_str(n, "state", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "served_by", ""));
	if (ends)
		table_cell(t, TABLE_PLAIN, "%s",
			   units_show_age(ends > now ? ends - now : 0, left));
	else
		table_cell(t, TABLE_DIM, "-");
	table_cell(t, TABLE_DIM, "%s", doc_str(n, "path", ""));
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { ">APP",  "KIND",      ">OF JOB", "OWNER",
					     "STATE", "SERVED BY", ">LEFT",   "PATH" };
	const struct ls_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf target = { 0 };
	struct err err;
	size_t rows = 0;

	(void)operands;
	buf_adds(&target, "/apps");
	if (a->kind)
		url_query_add(&target, "kind", a->kind);
	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, buf_str(&target));
	if (cli_get(c, &answer, &err, "%s", buf_str(&target)) < 0)
		return cli_fail(c, &err);
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *list = doc_get(doc_root(answer.doc), "apps");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next, rows++)
		app_row(t, n, cli_now_ms());
	if (rows)
		view_print(c, t);
	else
		cli_hint(c, "no app runs; `yard tensorboard JOB` starts one");
	table_destroy(t);
	return 0;
}

const struct command cmd_open = {
	.name = "open",
	.operands = "JOB",
	.summary = "show a job in a browser: state, log, use, metrics",
	.table = open_table,
	.count = COUNT_OF(open_table),
	.args_size = sizeof(struct open_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_open,
};

const struct command cmd_tensorboard = {
	.name = "tensorboard",
	.operands = "JOB",
	.summary = "show a job's event files in a browser",
	.table = board_table,
	.count = COUNT_OF(board_table),
	.args_size = sizeof(struct board_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_board,
};

const struct command cmd_app_ls = {
	.name = "app ls",
	.operands = "",
	.summary = "list what runs for a browser",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.run = run_ls,
};

const struct command cmd_app_url = {
	.name = "app url",
	.operands = "APP",
	.summary = "print an address that opens an app, once and within a minute",
	.table = url_table,
	.count = COUNT_OF(url_table),
	.args_size = sizeof(struct url_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_url,
};

const struct command cmd_app_stop = {
	.name = "app stop",
	.operands = "APP...",
	.summary = "end an app",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_stop,
};
