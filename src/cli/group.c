// SPDX-License-Identifier: Apache-2.0
/* group.c - `yard group ...`: who shares their jobs with whom. */
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/people.h"
#include "cli/tenant.h"
#include "cli/view.h"
#include "codec/url.h"

struct add_args {
	const char *text;
	struct opts_list members;
};

/* clang-format off */
static const struct opt add_table[] = {
	{ "text", 't', OPT_TEXT, OPT_INTO(struct add_args, text), "TEXT", "what it is for" },
	{ "member", 'm', OPT_LIST, OPT_INTO(struct add_args, members), "USER", "a user who is in it" },
};
/* clang-format on */

/* PUT or DELETE of each below the group's members; the first failure ends it. */
static int change_members(struct cli *c, const char *method, const char *group,
			  const struct opts_list *users, struct err *err)
{
	AUTO_FREE char *members = people_target("groups", group, "/members/");

	for (size_t i = 0; i < users->count; i++) {
		AUTO_BUF struct buf target = { 0 };
		buf_adds(&target, members);
		url_encode(&target, users->items[i]);
		if (people_send(c, method, buf_str(&target), NULL, NULL, err) < 0)
			return -1;
	}
	return 0;
}

static int run_add(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct add_args *a = args;
	AUTO_BUF struct buf body = { 0 };
	struct err err;
	struct json j;

	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "name", operands->items[0]);
	if (a->text)
		json_str(&j, "text", a->text);
	json_end(&j);
	if (people_send(c, "POST", "/groups", &body, NULL, &err) < 0 ||
	    change_members(c, "PUT", operands->items[0], &a->members, &err) < 0)
		return cli_fail(c, &err);
	return 0;
}

const struct command cmd_group_add = {
	.name = "group add",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "make a group: its members see and touch each other's jobs",
	.table = add_table,
	.count = COUNT_OF(add_table),
	.args_size = sizeof(struct add_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_add,
};

struct set_args {
	const char *text;
	struct opts_list add, remove;
	struct tenant_flags tenant;
};

/* clang-format off */
static const struct opt set_table[] = {
	{ "text", 't', OPT_TEXT, OPT_INTO(struct set_args, text), "TEXT", "what it is for" },
	{ "add", 'a', OPT_LIST, OPT_INTO(struct set_args, add), "USER", "a user who is in it from now on" },
	{ "remove", 'r', OPT_LIST, OPT_INTO(struct set_args, remove), "USER", "a user who is in it no more" },
	OPT_TENANT(struct set_args, tenant),
};
/* clang-format on */

static int set_group(struct cli *c, const char *group, const struct set_args *a,
		     struct err *err)
{
	AUTO_FREE char *target = people_target("groups", group, "");
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	json_init(&j, &body);
	json_object(&j, NULL);
	if (a->text)
		json_str(&j, "text", a->text);
	if (tenant_flags_given(&a->tenant) && tenant_flags_write(&j, &a->tenant, err) < 0)
		return -1;
	json_end(&j);
	return people_send(c, "PATCH", target, &body, NULL, err);
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct set_args *a = args;
	const char *group = operands->items[0];
	struct err err;

	if (((a->text || tenant_flags_given(&a->tenant)) &&
	     set_group(c, group, a, &err) < 0) ||
	    change_members(c, "PUT", group, &a->add, &err) < 0 ||
	    change_members(c, "DELETE", group, &a->remove, &err) < 0)
		return cli_fail(c, &err);
	if (tenant_flags_given(&a->tenant))
		tenant_warn(c);
	return 0;
}

const struct command cmd_group_set = {
	.name = "group set",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "change who is in a group, what it is for, and its share of the nodes",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_set,
};

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

static void group_row(struct table *t, const struct doc_node *n)
{
	AUTO_BUF struct buf members = { 0 };

	people_words(doc_get(n, "members"), &members);
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&members));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "text", ""));
	people_age(t, n, "created_ms", "-");
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME", "MEMBERS", "FOR", ">AGE" };
	const struct list_args *a = args;

	(void)operands;
	return people_print_list(
		c, &(struct people_list){ .target = "/groups",
					  .key = "groups",
					  .heads = heads,
					  .head_count = COUNT_OF(heads),
					  .row = group_row,
					  .none = "there are no groups that you are in",
					  .color = a->color,
					  .json = a->json });
}

const struct command cmd_group_ls = {
	.name = "group ls",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary = "list groups: yours, or as an admin all",
	.table = list_table,
	.count = COUNT_OF(list_table),
	.args_size = sizeof(struct list_args),
	.run = run_ls,
};

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct list_args *a = args;
	AUTO_FREE char *target = people_target("groups", operands->items[0], "");
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf out = { 0 };
	AUTO_BUF struct buf members = { 0 };
	char when[UNITS_TEXT_MAX];
	struct err err;

	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	const struct doc_node *n = doc_root(answer.doc);
	people_words(doc_get(n, "members"), &members);
	buf_printf(&out, "name:     %s\nfor:      %s\nmembers:  %s\ncreated:  %s\n",
		   doc_str(n, "name", ""), doc_str(n, "text", ""), buf_str(&members),
		   units_show_time(doc_i64(n, "created_ms", 0), when));
	tenant_words(doc_get(n, "tenant"), &out);
	cli_print(&out);
	return 0;
}

const struct command cmd_group_show = {
	.name = "group show",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "tell of a group and who is in it",
	.table = list_table,
	.count = COUNT_OF(list_table),
	.args_size = sizeof(struct list_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_show,
};

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return people_remove(c, "groups", operands);
}

const struct command cmd_group_rm = {
	.name = "group rm",
	.group = COMMAND_PEOPLE,
	.operands = "NAME...",
	.summary = "take away groups that are empty",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
