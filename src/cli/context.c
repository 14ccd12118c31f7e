// SPDX-License-Identifier: Apache-2.0
/* context.c - `yard context`: the servers one has logged in to. */
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/contexts.h"
#include "cli/view.h"

struct context_args {
	bool json;
};

/* clang-format off */
static const struct opt context_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct context_args, json), NULL, "print JSON" },
};
/* clang-format on */

/* Never the token itself. */
static void write_context(struct json *j, const struct contexts *c,
			  const struct context *x)
{
	json_object(j, NULL);
	json_str(j, "name", x->name);
	json_str(j, "server", x->server);
	json_str(j, "user", x->user);
	json_bool(j, "logged_in", x->token != NULL);
	json_str(j, "fingerprint", x->fingerprint);
	json_bool(j, "current", str_eq(c->current, x->name));
	json_end(j);
}

static void list_json(const struct contexts *c)
{
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	json_str(&j, "current", c->current ? c->current : CONTEXT_LOCAL);
	json_array(&j, "contexts");
	for (size_t i = 0; i < c->count; i++)
		write_context(&j, c, &c->items[i]);
	json_end(&j);
	json_end(&j);
	cli_print_json(&out);
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "", "NAME", "USER", "SERVER" };
	const struct context_args *a = args;
	AUTO_CONTEXTS struct contexts known = { .items = NULL };
	struct err err;

	(void)operands;
	if (contexts_load(&known, &err) < 0)
		return cli_fail(c, &err);
	if (a->json) {
		list_json(&known);
		return 0;
	}
	struct table *t = table_create(heads, COUNT_OF(heads));
	table_cell(t, TABLE_GOOD, "%s", known.current ? "" : "*");
	table_cell(t, TABLE_PLAIN, "%s", CONTEXT_LOCAL);
	table_cell(t, TABLE_DIM, "-");
	table_cell(t, TABLE_DIM, "the yard of this machine");
	for (size_t i = 0; i < known.count; i++) {
		const struct context *x = &known.items[i];
		table_cell(t, TABLE_GOOD, "%s",
			   str_eq(known.current, x->name) ? "*" : "");
		table_cell(t, TABLE_PLAIN, "%s", x->name);
		table_cell(t, x->token ? TABLE_PLAIN : TABLE_DIM, "%s",
			   x->token && x->user ? x->user : "-");
		table_cell(t, TABLE_PLAIN, "%s", x->server);
	}
	view_print(c, t);
	table_destroy(t);
	return 0;
}

const struct command cmd_context_ls = {
	.name = "context ls",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "list the servers you have logged in to",
	.table = context_table,
	.count = COUNT_OF(context_table),
	.args_size = sizeof(struct context_args),
	.alone = true,
	.run = run_ls,
};

static int make_current(struct contexts *c, void *arg, struct err *err)
{
	bool local = str_eq(arg, CONTEXT_LOCAL);

	if (!local && !contexts_get(c, arg, err))
		return -1;
	free(c->current);
	c->current = local ? NULL : mem_strdup(arg);
	return 0;
}

static int run_use(struct cli *c, const void *args, const struct opts_list *operands)
{
	AUTO_FREE char *name = mem_strdup(operands->items[0]);
	struct err err;

	(void)args;
	if (contexts_change(make_current, name, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c, "context %s is now the current one", name);
	if (getenv("YARD_SERVER"))
		cli_say(c, "but YARD_SERVER is set and stands above it");
	return 0;
}

const struct command cmd_context_use = {
	.name = "context use",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "talk to this server from now on; local is this machine's",
	.operands_min = 1,
	.operands_max = 1,
	.alone = true,
	.run = run_use,
};

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct context_args *a = args;
	AUTO_CONTEXTS struct contexts known = { .items = NULL };
	AUTO_BUF struct buf out = { 0 };
	struct json j;
	struct err err;

	if (contexts_load(&known, &err) < 0)
		return cli_fail(c, &err);
	const char *name = operands->count ? operands->items[0] : known.current;
	if (!name || str_eq(name, CONTEXT_LOCAL)) {
		err_set(&err, ERR_NOT_FOUND,
			"the context is local: the yard of this machine; there is nothing "
			"to show");
		return cli_fail(c, &err);
	}
	const struct context *x = contexts_get(&known, name, &err);
	if (!x)
		return cli_fail(c, &err);
	if (a->json) {
		json_init(&j, &out);
		write_context(&j, &known, x);
		cli_print_json(&out);
		return 0;
	}
	buf_printf(&out, "name         %s%s\n", x->name,
		   str_eq(known.current, x->name) ? " (current)" : "");
	buf_printf(&out, "server       %s\n", x->server);
	buf_printf(&out, "user         %s\n", x->user ? x->user : "-");
	buf_printf(&out, "logged in    %s\n", x->token ? "yes" : "no");
	buf_printf(&out, "certificate  %s\n",
		   x->fingerprint ? x->fingerprint : "as authorities vouch");
	cli_print(&out);
	return 0;
}

const struct command cmd_context_show = {
	.name = "context show",
	.group = COMMAND_PEOPLE,
	.operands = "[NAME]",
	.summary = "show one of them, the current one if not named",
	.table = context_table,
	.count = COUNT_OF(context_table),
	.args_size = sizeof(struct context_args),
	.operands_max = 1,
	.alone = true,
	.run = run_show,
};

static int remove_one(struct contexts *c, void *arg, struct err *err)
{
	if (!contexts_get(c, arg, err))
		return -1;
	contexts_remove(c, arg);
	return 0;
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	AUTO_FREE char *name = mem_strdup(operands->items[0]);
	struct err err;

	(void)args;
	if (contexts_change(remove_one, name, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c,
		"context %s is forgotten; its token, if any, still holds until it ends",
		name);
	return 0;
}

const struct command cmd_context_rm = {
	.name = "context rm",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "forget a server (`yard logout` first revokes the token)",
	.operands_min = 1,
	.operands_max = 1,
	.alone = true,
	.run = run_rm,
};
