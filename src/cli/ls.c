// SPDX-License-Identifier: Apache-2.0
/* ls.c - `yard ls`: jobs in a table, page by page. */
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/array.h"
#include "cli/cli.h"
#include "cli/view.h"
#include "codec/url.h"

#define PAGE          900 /* rows a request; servers give at most 1000 */
#define LIMIT_DEFAULT 50
#define WATCH_S       2
#define CLEAR         "\033[H\033[J"

struct ls_args {
	bool all, json, mine, watch;
	int64_t limit;
	const char *state, *owner, *group, *name, *search, *label, *array, *color;
};

#define INTO(field) OPT_INTO(struct ls_args, field)
/* clang-format off */
static const struct opt ls_table[] = {
	{ "all",    'a', OPT_FLAG, INTO(all),    NULL,      "also those that have ended" },
	{ "state",  's', OPT_TEXT, INTO(state),  "STATE",   "only those in it: queued, running, ..., failed, ended" },
	{ "mine",   'm', OPT_FLAG, INTO(mine),   NULL,      "only yours" },
	{ "owner",  'o', OPT_TEXT, INTO(owner),  "USER",    "only those of this user" },
	{ "group",  'g', OPT_TEXT, INTO(group),  "GROUP",   "only those of this group" },
	{ "name",   0,   OPT_TEXT, INTO(name),   "NAME",    "only those of this name" },
	{ "search", 0, OPT_TEXT, INTO(search), "TEXT",    "only those with this in their name" },
	{ "label",  'l', OPT_TEXT, INTO(label),  "KEY=VALUE", "only those with this label" },
	{ "array",  0,   OPT_TEXT, INTO(array),  "JOB",     "all members of this array, with their values" },
	{ "limit",  'n', OPT_INT,  INTO(limit),  "N",       "at most so many (50)", 1, 1000000 },
	{ "watch",  'w', OPT_FLAG, INTO(watch),  NULL,      "again every two seconds, until Ctrl-C" },
	{ "json",   0,   OPT_FLAG, INTO(json),   NULL,      "as JSON" },
	OPT_COLOUR(struct ls_args, color),
};
/* clang-format on */

/* What is asked for, settled: outcomes are states, too, for people. */
struct ls_query {
	const struct ls_args *args;
	const char *state, *outcome, *owner;
	struct wire_job array; /* whose members are listed; job NULL: none's */
};

static int settle_state(struct ls_query *q, struct err *err)
{
	static const char *const groups[] = { "live", "ended", "all" };
	const char *words[JOB_STATE_COUNT + OUTCOME_COUNT + COUNT_OF(groups)];
	const char *state = q->args->state;
	size_t n = 0;

	/* Of an array one wants to see what became of it. */
	q->state = q->args->all || q->args->array ? "all" : "live";
	if (!state)
		return 0;
	for (int o = OUTCOME_NONE + 1; o < OUTCOME_COUNT; o++) {
		words[n++] = outcome_word((enum outcome)o);
		if (str_eq(state, words[n - 1])) {
			q->state = "ended";
			q->outcome = state;
			return 0;
		}
	}
	for (size_t i = 0; i < COUNT_OF(groups); i++)
		words[n++] = groups[i];
	for (int s = JOB_NEW + 1; s < JOB_STATE_COUNT; s++)
		words[n++] = job_state_word((enum job_state)s);
	q->state = state;
	for (size_t i = 0; i < n; i++)
		if (str_eq(words[i], state))
			return 0;
	const char *guess = str_guess(state, words, n);
	return err_set(err, ERR_INVALID, "--state '%s': there is no such state%s%s%s",
		       state, guess ? "; did you mean " : "", guess ? guess : "",
		       guess ? "?" : "");
}

/* Who the server takes us for; else who we are here. */
static char *own_name(struct cli *c)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct err ignored;
	const struct passwd *pw;

	if (cli_get(c, &a, &ignored, "/me") == 0) {
		const char *name = doc_str(doc_root(a.doc), "name", NULL);
		if (name)
			return mem_strdup(name);
	}
	pw = getpwuid(geteuid());
	return mem_strdup(pw ? pw->pw_name : "");
}

static void ls_target(const struct ls_query *q, int64_t before, int64_t limit,
		      struct buf *out)
{
	const struct ls_args *a = q->args;
	const struct {
		const char *name, *value;
	} more[] = { { "outcome", q->outcome }, { "owner", q->owner },
		     { "group", a->group },     { "name", a->name },
		     { "search", a->search },   { "label", a->label } };

	buf_printf(out, "/jobs?state=%s&limit=%" PRId64, q->state, limit);
	if (q->array.job)
		buf_printf(out, "&array=%" PRId64, q->array.job->id);
	if (before)
		buf_printf(out, "&before=%" PRId64, before);
	for (size_t i = 0; i < COUNT_OF(more); i++)
		if (more[i].value)
			url_query_add(out, more[i].name, more[i].value);
}

/* Of a member its values; of an array how far it is, when nothing else is to say. */
static void ls_remark(struct table *t, const struct wire_row *r, const struct job *array,
		      const char *state)
{
	AUTO_BUF struct buf text = { 0 };

	if (array)
		array_words(&array->spec->array, r->index, &text);
	if (r->reason && *r->reason && !str_eq(r->reason, state))
		buf_printf(&text, "%s%s", text.len ? "  " : "", r->reason);
	table_cell(t, TABLE_DIM, "%s", buf_str(&text));
}

static void ls_tasks(struct table *t, const struct wire_row *r)
{
	AUTO_BUF struct buf text = { 0 };

	if (r->members)
		array_progress(r->members_ended, r->members, r->members_failed, &text);
	else
		buf_printf(&text, "%d", r->task_count);
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&text));
}

static void ls_row(struct table *t, const struct wire_row *r, const struct job *array,
		   int64_t now)
{
	char took[UNITS_TEXT_MAX] = "", age[UNITS_TEXT_MAX];
	const char *state = view_state(r->state, r->outcome);

	if (r->started_ms)
		units_show_duration((r->ended_ms ? r->ended_ms : now) - r->started_ms,
				    took);
	if (r->array)
		table_cell(t, TABLE_PLAIN, "%" PRId64 ".%" PRId64, r->array, r->index);
	else
		table_cell(t, TABLE_PLAIN, "%" PRId64, r->id);
	table_cell(t, TABLE_PLAIN, "%s", r->name);
	table_cell(t, view_colour(r->state, r->outcome), "%s", state);
	ls_tasks(t, r);
	table_cell(t, TABLE_PLAIN, "%s", r->owner);
	table_cell(t, TABLE_PLAIN, "%s", units_show_age(now - r->submitted_ms, age));
	table_cell(t, TABLE_PLAIN, "%s", took);
	ls_remark(t, r, array, state);
}

/* Calls each for every job, page by page; *next: where those that were left out begin.
 * Gives how many there were, or -1. */
static int64_t ls_each(struct cli *c, const struct ls_query *q, int64_t *next,
		       void (*each)(void *arg, const struct doc_node *row), void *arg,
		       struct err *err)
{
	int64_t left = q->args->limit ? q->args->limit : LIMIT_DEFAULT, total = 0;
	int64_t got, before;

	*next = 0;
	do {
		AUTO_BUF struct buf target = { 0 };
		AUTO_ANSWER struct answer page = { 0 };
		got = 0;
		before = *next;
		ls_target(q, before, left < PAGE ? left : PAGE, &target);
		if (cli_get(c, &page, err, "%s", target.data) < 0)
			return -1;
		const struct doc_node *list = doc_get(doc_root(page.doc), "jobs");
		for (const struct doc_node *n = list ? list->first : NULL; n;
		     n = n->next, got++)
			each(arg, n);
		left -= got;
		total += got;
		*next = doc_i64(doc_root(page.doc), "next", 0);
	} while (left > 0 && *next && *next != before); /* also after an empty page */
	return total;
}

static void add_json(void *arg, const struct doc_node *row)
{
	doc_write_json(row, arg, NULL);
}

/* All pages as one answer, in the form of one. */
static int ls_json(struct cli *c, const struct ls_query *q, struct err *err)
{
	AUTO_BUF struct buf out = { 0 };
	int64_t next;
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	json_array(&j, "jobs");
	if (ls_each(c, q, &next, add_json, &j, err) < 0)
		return -1;
	json_end(&j);
	if (next)
		json_i64(&j, "next", next);
	else
		json_null(&j, "next");
	json_end(&j);
	cli_print_json(&out);
	return 0;
}

struct ls_rows {
	struct table *table;
	const struct job *array;
};

static void add_row(void *arg, const struct doc_node *row)
{
	const struct ls_rows *rows = arg;
	struct wire_row r;

	wire_row_read(row, &r);
	ls_row(rows->table, &r, rows->array, cli_now_ms());
}

static int ls_once(struct cli *c, const struct ls_query *q, struct err *err)
{
	static const char *const heads[] = { ">ID",   "NAME", "STATE", ">TASKS",
					     "OWNER", ">AGE", ">TOOK", "REASON" };
	struct table *t = table_create(heads, COUNT_OF(heads));
	struct ls_rows rows = { t, q->array.job };
	int64_t next, total = ls_each(c, q, &next, add_row, &rows, err);

	if (q->args->watch && total >= 0 && isatty(STDOUT_FILENO))
		cli_write(STDOUT_FILENO, CLEAR, sizeof CLEAR - 1);
	if (total > 0)
		view_print(c, t);
	table_destroy(t);
	if (total == 0)
		cli_hint(
			c,
			str_eq(q->state, "live") && !q->args->search && !q->args->name
				? "no job is live; `yard ls -a` shows those that have ended"
				: "no such jobs");
	if (total > 0 && next && !q->args->watch)
		cli_hint(c, "there are more; `yard ls --limit %" PRId64 "` shows them",
			 total * 4);
	return total < 0 ? -1 : 0;
}

static int ls_array(struct cli *c, struct ls_query *q, struct err *err)
{
	if (cli_get_job(c, q->args->array, &q->array, err) < 0)
		return -1;
	if (job_is_array(q->array.job))
		return 0;
	wire_job_fini(&q->array);
	return err_set(err, ERR_INVALID, "--array %s: that job is no array",
		       q->args->array);
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct ls_args *a = args;
	struct ls_query q = { .args = a, .owner = a->owner };
	AUTO_FREE char *me = NULL;
	struct err err;

	(void)operands;
	if (cli_colour(c, a->color, &err) < 0 || settle_state(&q, &err) < 0)
		return cli_fail(c, &err);
	const char *eq = a->label ? strchr(a->label, '=') : NULL;
	if (a->label && (!eq || eq == a->label)) {
		err_set(&err, ERR_INVALID, "--label '%s': write KEY=VALUE", a->label);
		return cli_fail(c, &err);
	}
	if (a->array && ls_array(c, &q, &err) < 0)
		return cli_fail(c, &err);
	if (a->mine)
		q.owner = me = own_name(c);
	int rc = a->json ? ls_json(c, &q, &err) : ls_once(c, &q, &err);
	while (rc == 0 && a->watch) {
		sleep(WATCH_S);
		rc = a->json ? ls_json(c, &q, &err) : ls_once(c, &q, &err);
	}
	wire_job_fini(&q.array);
	return rc < 0 ? cli_fail(c, &err) : 0;
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
