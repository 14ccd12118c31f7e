// SPDX-License-Identifier: Apache-2.0
/* admin.c - `yard admin ...`: the audit log, and a copy of the database. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/people.h"
#include "cli/view.h"
#include "codec/url.h"

struct audit_args {
	int64_t limit, before;
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt audit_table[] = {
	{ "limit", 'n', OPT_INT, OPT_INTO(struct audit_args, limit), "N", "how many; 50 if not given", 1, 1000 },
	{ "before", 0, OPT_INT, OPT_INTO(struct audit_args, before), "SEQ", "only those before this one", 1, INT64_MAX },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct audit_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct audit_args, color),
};
/* clang-format on */

static void audit_row(struct table *t, const struct doc_node *n)
{
	char when[UNITS_TEXT_MAX];

	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "seq", 0));
	table_cell(t, TABLE_PLAIN, "%s", units_show_time(doc_i64(n, "time_ms", 0), when));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "by", "-"));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "action", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "object", ""));
}

static int run_audit(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { ">SEQ", "WHEN", "WHO", "DID", "TO" };
	const struct audit_args *a = args;
	AUTO_BUF struct buf target = { 0 };

	(void)operands;
	buf_printf(&target, "/audit?limit=%" PRId64, a->limit ? a->limit : 50);
	if (a->before)
		buf_printf(&target, "&before=%" PRId64, a->before);
	return people_print_list(c, &(struct people_list){ .target = buf_str(&target),
							   .key = "entries",
							   .heads = heads,
							   .head_count = COUNT_OF(heads),
							   .row = audit_row,
							   .none = "nothing was changed",
							   .color = a->color,
							   .json = a->json });
}

const struct command cmd_admin_audit = {
	.name = "admin audit",
	.group = COMMAND_YARD,
	.operands = "",
	.summary = "tell who changed what of the yard, newest first",
	.table = audit_table,
	.count = COUNT_OF(audit_table),
	.args_size = sizeof(struct audit_args),
	.run = run_audit,
};

static int run_backup(struct cli *c, const void *args, const struct opts_list *operands)
{
	const char *path = operands->items[0];
	AUTO_FREE char *here = *path == '/' ? NULL : getcwd(NULL, 0);
	AUTO_FREE char *whole = here ? str_printf("%s/%s", here, path) : mem_strdup(path);
	AUTO_BUF struct buf body = { 0 };
	struct err err;
	struct json j;

	(void)args;
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "path", whole);
	json_end(&j);
	if (people_send(c, "POST", "/backup", &body, NULL, &err) < 0)
		return cli_fail(c, &err);
	cli_say(c, "%s holds a copy; `yardd --restore %s` puts it in place", whole,
		whole);
	return 0;
}

const struct command cmd_admin_backup = {
	.name = "admin backup",
	.group = COMMAND_YARD,
	.operands = "FILE",
	.summary =
		"write a consistent copy of the database while the yard works, on its machine",
	.operands_min = 1,
	.operands_max = 1,
	.run = run_backup,
};
