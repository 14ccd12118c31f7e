// SPDX-License-Identifier: Apache-2.0
/* machine.c - `yard instance-type ls|set|rm`: kinds of machine by name. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/people.h"
#include "cli/view.h"

struct ls_args {
	bool all, json;
};
struct set_args {
	int64_t cpu_milli, memory_bytes;
	struct opts_list devices;
};

/* clang-format off */
static const struct opt ls_table[] = {
	{ "all",  'a', OPT_FLAG, OPT_INTO(struct ls_args, all),  NULL, "those too that no node of this yard has room for" },
	{ "json", 0,   OPT_FLAG, OPT_INTO(struct ls_args, json), NULL, "as JSON, all" },
};
static const struct opt set_table[] = {
	{ "cpu",    'c', OPT_CPU,   OPT_INTO(struct set_args, cpu_milli),    "N",      "cores of one task (1)" },
	{ "memory", 'm', OPT_BYTES, OPT_INTO(struct set_args, memory_bytes), "SIZE",   "memory of one task (1Gi)" },
	{ "device", 0,   OPT_LIST,  OPT_INTO(struct set_args, devices),      "TYPE=N", "devices of one task, such as gpu=1" },
};
/* clang-format on */

static void add_row(struct table *t, const struct doc_node *n)
{
	char cpu[UNITS_TEXT_MAX], memory[UNITS_TEXT_MAX];
	const struct doc_node *devices = doc_get(n, "devices");
	AUTO_BUF struct buf list = { 0 };

	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next)
		buf_printf(&list, "%s%s=%s", list.len ? " " : "", d->key, d->text);
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
	table_cell(t, TABLE_PLAIN, "%s", units_show_cpu(doc_i64(n, "cpu_milli", 0), cpu));
	table_cell(t, TABLE_PLAIN, "%s",
		   units_show_bytes(doc_i64(n, "memory_bytes", 0), memory));
	table_cell(t, TABLE_PLAIN, "%s", list.len ? buf_str(&list) : "-");
	table_cell(t, TABLE_PLAIN, "%s", doc_bool(n, "fits", false) ? "yes" : "no");
	table_cell(t, TABLE_PLAIN, "%s",
		   doc_bool(n, "builtin", false) ? "name" : "admin");
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME",    "CPU",  "MEMORY",
					     "DEVICES", "FITS", "BY" };
	const struct ls_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	size_t hidden = 0;
	struct err err;

	(void)operands;
	if (cli_get(c, &answer, &err, "/instance-types") < 0)
		return cli_fail(c, &err);
	if (a->json) {
		cli_print_json(&answer.body);
		return 0;
	}
	const struct doc_node *list = doc_get(doc_root(answer.doc), "types");
	struct table *t = table_create(heads, COUNT_OF(heads));
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		if (a->all || doc_bool(n, "fits", false))
			add_row(t, n);
		else
			hidden++;
	}
	view_print(c, t);
	table_destroy(t);
	if (hidden)
		cli_hint(c, "%zu more are larger than any node here: --all shows them",
			 hidden);
	return 0;
}

static int add_device(struct json *j, const char *text, struct err *err)
{
	const char *sign = strchr(text, '=');
	int64_t count;

	if (!sign || sign == text || str_to_i64(sign + 1, 1, DEVICES_MAX, &count) < 0)
		return err_set(err, ERR_INVALID,
			       "--device '%s': TYPE=N with 1 to %d is wanted", text,
			       DEVICES_MAX);
	AUTO_FREE char *type = mem_strndup(text, (size_t)(sign - text));
	json_i64(j, type, count);
	return 0;
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct set_args *a = args;
	AUTO_FREE char *target = people_target("instance-types", operands->items[0], "");
	AUTO_BUF struct buf body = { 0 };
	struct json j;
	struct err err;

	json_init(&j, &body);
	json_object(&j, NULL);
	json_i64(&j, "cpu_milli", a->cpu_milli ? a->cpu_milli : 1000);
	json_i64(&j, "memory_bytes",
		 a->memory_bytes ? a->memory_bytes : INT64_C(1) << 30);
	json_object(&j, "devices");
	for (size_t i = 0; i < a->devices.count; i++)
		if (add_device(&j, a->devices.items[i], &err) < 0)
			return cli_fail(c, &err);
	json_end(&j);
	json_end(&j);
	if (people_send(c, "PUT", target, &body, NULL, &err) < 0)
		return cli_fail(c, &err);
	return 0;
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return people_remove(c, "instance-types", operands);
}

const struct command cmd_instance_type_ls = {
	.name = "instance-type ls",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "list the kinds of machine that may be asked for by name",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.starts = true,
	.run = run_ls,
};

const struct command cmd_instance_type_set = {
	.name = "instance-type set",
	.group = COMMAND_YARD,
	.operands = "NAME",
	.summary = "say what a kind of machine is here (for admins)",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_set,
};

const struct command cmd_instance_type_rm = {
	.name = "instance-type rm",
	.group = COMMAND_YARD,
	.operands = "NAME...",
	.summary = "take that back",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
