// SPDX-License-Identifier: Apache-2.0
/* token.c - `yard token ...`: credentials for programs, each with its own rights and end. */
#include "base/mem.h"
#include "base/units.h"
#include "cli/people.h"
#include "cli/view.h"
#include "codec/url.h"

struct add_args {
	const char *label, *life;
	struct opts_list scopes;
	bool json;
};

/* clang-format off */
static const struct opt add_table[] = {
	{ "label", 'l', OPT_TEXT, OPT_INTO(struct add_args, label), "TEXT", "what it is for" },
	{ "scope", 's', OPT_LIST, OPT_INTO(struct add_args, scopes), "SCOPE", "read, write or admin; read and write if not given" },
	{ "life", 0, OPT_TEXT, OPT_INTO(struct add_args, life), "TIME", "how long it holds, such as 12h or 30d (the usual), or never" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct add_args, json), NULL, "print it with all that is known of it, as JSON" },
};
/* clang-format on */

static int run_add(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct add_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf body = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct err err;
	struct json j;

	(void)operands;
	json_init(&j, &body);
	json_object(&j, NULL);
	if (a->label)
		json_str(&j, "label", a->label);
	if (a->scopes.count)
		people_json_list(&j, "scopes", &a->scopes);
	if (a->life)
		json_str(&j, "life", a->life);
	json_end(&j);
	if (people_send(c, "POST", "/tokens", &body, &answer, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return people_print_json(&answer);
	const struct doc_node *root = doc_root(answer.doc);
	buf_printf(&out, "%s\n", doc_str(root, "token", ""));
	cli_print(&out);
	cli_hint(c, "it is shown this once; `yard token rm %s` ends it",
		 doc_str(root, "id", ""));
	return 0;
}

const struct command cmd_token_add = {
	.name = "token add",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "make a token of yours, and show it this once",
	.table = add_table,
	.count = COUNT_OF(add_table),
	.args_size = sizeof(struct add_args),
	.run = run_add,
};

struct list_args {
	bool json, all;
	const char *color, *user;
};

/* clang-format off */
static const struct opt list_table[] = {
	{ "user", 'u', OPT_TEXT, OPT_INTO(struct list_args, user), "NAME", "as an admin: of this user" },
	{ "all", 'a', OPT_FLAG, OPT_INTO(struct list_args, all), NULL, "as an admin: of everybody" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct list_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct list_args, color),
};
/* clang-format on */

static void token_row(struct table *t, const struct doc_node *n)
{
	AUTO_BUF struct buf scopes = { 0 };
	int64_t ends = doc_i64(n, "expires_ms", 0);
	char left[UNITS_TEXT_MAX];

	people_words(doc_get(n, "scopes"), &scopes);
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "id", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "user", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "label", ""));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&scopes));
	people_age(t, n, "created_ms", "-");
	people_age(t, n, "used_ms", "-");
	if (ends)
		table_cell(t, TABLE_PLAIN, "in %s",
			   units_show_age(ends - cli_now_ms(), left));
	else
		table_cell(t, TABLE_DIM, "never");
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "ID",   "USER",  "LABEL", "SCOPES",
					     ">AGE", ">USED", "ENDS" };
	const struct list_args *a = args;
	AUTO_BUF struct buf target = { 0 };

	(void)operands;
	buf_adds(&target, "/tokens");
	if (a->user || a->all)
		url_query_add(&target, "user", a->user ? a->user : "");
	return people_print_list(c, &(struct people_list){ .target = buf_str(&target),
							   .key = "tokens",
							   .heads = heads,
							   .head_count = COUNT_OF(heads),
							   .row = token_row,
							   .none = "there are none",
							   .color = a->color,
							   .json = a->json });
}

const struct command cmd_token_ls = {
	.name = "token ls",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "list tokens, never their text",
	.table = list_table,
	.count = COUNT_OF(list_table),
	.args_size = sizeof(struct list_args),
	.run = run_ls,
};

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return people_remove(c, "tokens", operands);
}

const struct command cmd_token_rm = {
	.name = "token rm",
	.group = COMMAND_PEOPLE,
	.operands = "ID...",
	.summary = "end tokens",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
