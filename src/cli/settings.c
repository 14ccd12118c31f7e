// SPDX-License-Identifier: Apache-2.0
/* settings.c - `yard admin settings`: what a yard is set to, and changing it while it runs. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/people.h"
#include "cli/view.h"

struct args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct args, json), NULL, "as JSON" },
	OPT_COLOUR(struct args, color),
};
/* clang-format on */

static bool is_number(const struct doc_node *list, const char *name)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		if (str_eq(doc_str(n, "name", ""), name))
			return doc_get(n, "value") &&
			       doc_get(n, "value")->kind == DOC_NUMBER;
	return false;
}

/* NAME=VALUE, or NAME= to go back to what it was at the start. */
static int put_change(struct json *j, const char *text, const struct doc_node *list,
		      struct err *err)
{
	const char *equals = strchr(text, '=');
	int64_t number;

	if (!equals || equals == text)
		return err_set(err, ERR_INVALID,
			       "'%s' is not NAME=VALUE, such as max-jobs=500", text);
	AUTO_FREE char *name = mem_strndup(text, (size_t)(equals - text));
	if (!equals[1])
		json_null(j, name);
	else if (is_number(list, name) &&
		 str_to_i64(equals + 1, INT64_MIN, INT64_MAX, &number) == 0)
		json_i64(j, name, number);
	else
		json_str(j, name, equals + 1);
	return 0;
}

static int change(struct cli *c, const struct opts_list *operands, struct err *err)
{
	AUTO_ANSWER struct answer now = { 0 };
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	if (cli_get(c, &now, err, "/settings") < 0)
		return -1;
	json_init(&j, &body);
	json_object(&j, NULL);
	for (size_t i = 0; i < operands->count; i++)
		if (put_change(&j, operands->items[i],
			       doc_get(doc_root(now.doc), "settings"), err) < 0)
			return -1;
	json_end(&j);
	return people_send(c, "PATCH", "/settings", &body, NULL, err);
}

static void print_rows(struct cli *c, const struct doc_node *list)
{
	static const char *const heads[] = { "SETTING", "VALUE", "FROM",
					     "WHILE IT RUNS" };
	struct table *t = table_create(heads, COUNT_OF(heads));

	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		const struct doc_node *value = doc_get(n, "value");
		table_cell(t, TABLE_BOLD, "%s", doc_str(n, "name", ""));
		table_cell(t, TABLE_PLAIN, "%s",
			   value && value->kind != DOC_NULL && value->text ? value->text
									   : "-");
		table_cell(t, TABLE_DIM, "%s", doc_str(n, "from", ""));
		table_cell(t, TABLE_DIM, "%s",
			   doc_bool(n, "live", false) ? "can change" : "");
	}
	view_print(c, t);
	table_destroy(t);
}

static int run_settings(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	if (cli_colour(c, a->color, &err) < 0 ||
	    (operands->count && change(c, operands, &err) < 0))
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, "/settings");
	if (cli_get(c, &answer, &err, "/settings") < 0)
		return cli_fail(c, &err);
	print_rows(c, doc_get(doc_root(answer.doc), "settings"));
	return 0;
}

const struct command cmd_admin_settings = {
	.name = "admin settings",
	.group = COMMAND_YARD,
	.operands = "[NAME=VALUE...]",
	.summary = "tell what the yard is set to, or change it while it runs",
	.table = table,
	.count = COUNT_OF(table),
	.args_size = sizeof(struct args),
	.operands_max = 32,
	.run = run_settings,
};
