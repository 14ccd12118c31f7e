// SPDX-License-Identifier: Apache-2.0
/* user.c - `yard user ...`: who has an account. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/people.h"
#include "cli/view.h"

/* ---- add ---- */

struct add_args {
	const char *password, *role;
	struct opts_list groups;
	bool password_stdin, no_password, json;
};

/* clang-format off */
static const struct opt add_table[] = {
	{ "password", 'p', OPT_TEXT, OPT_INTO(struct add_args, password), "P", "their password, which others on this machine may see here; asked for if not given" },
	{ "password-stdin", 0, OPT_FLAG, OPT_INTO(struct add_args, password_stdin), NULL, "the password is the first line of stdin" },
	{ "no-password", 0, OPT_FLAG, OPT_INTO(struct add_args, no_password), NULL, "none: they come by the unix socket only" },
	{ "role", 'r', OPT_TEXT, OPT_INTO(struct add_args, role), "ROLE", "viewer, member (the usual) or admin" },
	{ "group", 'g', OPT_LIST, OPT_INTO(struct add_args, groups), "GROUP", "a group they are in; the first is where their jobs go" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct add_args, json), NULL, "print the account as JSON" },
};
/* clang-format on */

/* A password to set: as given, of stdin, or asked for twice. */
static char *new_password(const char *given, bool from_stdin, const char *whose,
			  struct err *err)
{
	AUTO_FREE char *question = str_printf("new password for %s", whose);

	if (given)
		return mem_strdup(given);
	return from_stdin ? ask_stdin(err) : ask_new_password(question, err);
}

static void wipe(struct buf *body)
{
	if (body->data)
		explicit_bzero(body->data, body->len);
	buf_fini(body);
}

static int run_add(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct add_args *a = args;
	const char *name = operands->items[0];
	AUTO_ANSWER struct answer answer = { 0 };
	struct buf body = { 0 };
	struct err err = { 0 };
	struct json j;
	char *password = NULL;

	if (!a->no_password) {
		password = new_password(a->password, a->password_stdin, name, &err);
		if (!password)
			return cli_fail(c, &err);
	}
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "name", name);
	if (password)
		json_str(&j, "password", password);
	if (a->role)
		json_str(&j, "role", a->role);
	if (a->groups.count)
		people_json_list(&j, "groups", &a->groups);
	json_end(&j);
	ask_forget(password);
	int rc = people_send(c, "POST", "/users", &body, &answer, &err);
	wipe(&body);
	if (rc < 0)
		return cli_fail(c, &err);
	return a->json ? people_print_json(&answer) : 0;
}

const struct command cmd_user_add = {
	.name = "user add",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "give somebody an account",
	.table = add_table,
	.count = COUNT_OF(add_table),
	.args_size = sizeof(struct add_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_add,
};

/* ---- ls, show ---- */

struct list_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt list_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct list_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct list_args, color),
};
/* clang-format on */

static void user_row(struct table *t, const struct doc_node *n)
{
	AUTO_BUF struct buf groups = { 0 };
	bool disabled = doc_bool(n, "disabled", false);

	people_words(doc_get(n, "groups"), &groups);
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "role", ""));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&groups));
	table_cell(t, disabled ? TABLE_BAD : TABLE_PLAIN, "%s",
		   disabled                         ? "disabled"
		   : doc_bool(n, "password", false) ? "password"
						    : "socket only");
	people_age(t, n, "created_ms", "-");
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME", "ROLE", "GROUPS", "COMES BY",
					     ">AGE" };
	const struct list_args *a = args;

	(void)operands;
	return people_print_list(
		c,
		&(struct people_list){
			.target = "/users",
			.key = "users",
			.heads = heads,
			.head_count = COUNT_OF(heads),
			.row = user_row,
			.none = "nobody has an account yet; `yard user add NAME` makes one",
			.color = a->color,
			.json = a->json });
}

const struct command cmd_user_ls = {
	.name = "user ls",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "list who has an account",
	.table = list_table,
	.count = COUNT_OF(list_table),
	.args_size = sizeof(struct list_args),
	.run = run_ls,
};

static void show_user(const struct doc_node *n, struct buf *out)
{
	AUTO_BUF struct buf groups = { 0 };
	AUTO_BUF struct buf scopes = { 0 };
	char when[UNITS_TEXT_MAX];

	people_words(doc_get(n, "groups"), &groups);
	buf_printf(out, "name:      %s\nrole:      %s\ngroups:    %s\n",
		   doc_str(n, "name", ""), doc_str(n, "role", ""), buf_str(&groups));
	if (doc_get(n, "by")) { /* oneself */
		people_words(doc_get(n, "scopes"), &scopes);
		buf_printf(out,
			   "jobs in:   %s\nknown by:  %s\nmay:       %s\naccount:   %s\n",
			   doc_str(n, "group", ""), doc_str(n, "by", ""),
			   buf_str(&scopes),
			   doc_bool(n, "account", false) ? "yes" : "no");
		return;
	}
	buf_printf(out, "password:  %s\ndisabled:  %s\ncreated:   %s\n",
		   doc_bool(n, "password", false) ? "yes" : "no",
		   doc_bool(n, "disabled", false) ? "yes" : "no",
		   units_show_time(doc_i64(n, "created_ms", 0), when));
}

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct list_args *a = args;
	AUTO_FREE char *target = operands->count
					 ? people_target("users", operands->items[0], "")
					 : mem_strdup("/me");
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct err err;

	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	show_user(doc_root(answer.doc), &out);
	cli_print(&out);
	return 0;
}

const struct command cmd_user_show = {
	.name = "user show",
	.group = COMMAND_PEOPLE,
	.operands = "[NAME]",
	.summary = "tell of a user, or who you are",
	.table = list_table,
	.count = COUNT_OF(list_table),
	.args_size = sizeof(struct list_args),
	.operands_max = 1,
	.run = run_show,
};

/* ---- set, rm, passwd ---- */

struct set_args {
	const char *role;
	struct opts_list groups;
	bool no_groups, disable, enable;
};

/* clang-format off */
static const struct opt set_table[] = {
	{ "role", 'r', OPT_TEXT, OPT_INTO(struct set_args, role), "ROLE", "viewer, member or admin" },
	{ "group", 'g', OPT_LIST, OPT_INTO(struct set_args, groups), "GROUP", "the groups they are in from now on, all of them; the first is where their jobs go" },
	{ "no-groups", 0, OPT_FLAG, OPT_INTO(struct set_args, no_groups), NULL, "they are in none" },
	{ "disable", 0, OPT_FLAG, OPT_INTO(struct set_args, disable), NULL, "keep them out" },
	{ "enable", 0, OPT_FLAG, OPT_INTO(struct set_args, enable), NULL, "let them in again" },
};
/* clang-format on */

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct set_args *a = args;
	AUTO_FREE char *target = people_target("users", operands->items[0], "");
	AUTO_BUF struct buf body = { 0 };
	struct err err;
	struct json j;

	if ((a->disable && a->enable) || (a->no_groups && a->groups.count)) {
		err_set(&err, ERR_INVALID, "the options contradict each other");
		return cli_fail(c, &err);
	}
	json_init(&j, &body);
	json_object(&j, NULL);
	if (a->role)
		json_str(&j, "role", a->role);
	if (a->groups.count || a->no_groups)
		people_json_list(&j, "groups", &a->groups);
	if (a->disable || a->enable)
		json_bool(&j, "disabled", a->disable);
	json_end(&j);
	if (people_send(c, "PATCH", target, &body, NULL, &err) < 0)
		return cli_fail(c, &err);
	return 0;
}

const struct command cmd_user_set = {
	.name = "user set",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "change a user's role, groups, or whether they may come",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_set,
};

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return people_remove(c, "users", operands);
}

const struct command cmd_user_rm = {
	.name = "user rm",
	.group = COMMAND_PEOPLE,
	.operands = "NAME...",
	.summary = "take away accounts, with their tokens and secrets",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
