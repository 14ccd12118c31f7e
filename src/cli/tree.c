// SPDX-License-Identifier: Apache-2.0
/* tree.c - `yard group tree`: who shares the nodes, who holds what, what each is sure of. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/tenant.h"
#include "cli/view.h"

#define DEPTH_MAX 16

struct tree_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt tree_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct tree_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct tree_args, color),
};
/* clang-format on */

static void put(struct buf *out, const char *fmt, const char *a, const char *b)
{
	buf_adds(out, out->len ? ", " : "");
	buf_printf(out, "%s%s%s", a, fmt, b);
}

static void resources_words(const struct resources *r, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	for (int i = 0; i < DEVICE_KINDS_MAX && r->devices[i].type[0]; i++)
		if (r->devices[i].count > 0)
			put(out, " ", units_show_cpu(device_milli(&r->devices[i]), text),
			    r->devices[i].type);
	if (r->cpu_milli > 0)
		put(out, " ", units_show_cpu(r->cpu_milli, text), "cpu");
	if (r->memory_bytes > 0)
		put(out, "", units_show_bytes(r->memory_bytes, text), "");
	if (!out->len)
		buf_adds(out, "-");
}

/* Of what it has a guarantee of: how much it holds beyond that. */
static void borrowed(const struct resources *held, const struct resources *sure,
		     struct resources *out)
{
	*out = (struct resources){ 0 };
	if (sure->cpu_milli >= 0 && held->cpu_milli > sure->cpu_milli)
		out->cpu_milli = held->cpu_milli - sure->cpu_milli;
	if (sure->memory_bytes >= 0 && held->memory_bytes > sure->memory_bytes)
		out->memory_bytes = held->memory_bytes - sure->memory_bytes;
	for (int i = 0; i < DEVICE_KINDS_MAX && sure->devices[i].type[0]; i++) {
		const char *type = sure->devices[i].type;
		int64_t more =
			resources_milli(held, type) - device_milli(&sure->devices[i]);
		struct device_count d = { 0 };
		device_set_milli(&d, more);
		if (more > 0)
			resources_set_share(out, type, d.count, d.share_milli);
	}
}

static void add_row(struct table *t, const struct doc_node *n, int depth)
{
	const struct doc_node *tenant = doc_get(n, "tenant");
	AUTO_BUF struct buf has = { 0 }, sure = { 0 }, over = { 0 };
	struct resources held, guarantee, beyond;

	wire_resources_read(doc_get(n, "held"), &held);
	tenant_guarantee(tenant, &guarantee);
	borrowed(&held, &guarantee, &beyond);
	resources_words(&held, &has);
	resources_words(&guarantee, &sure);
	resources_words(&beyond, &over);
	table_cell(t, TABLE_BOLD, "%*s%s", 2 * depth, "", doc_str(n, "group", ""));
	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(tenant, "weight", 1));
	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "running", 0));
	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "waiting", 0));
	table_cell(t, TABLE_PLAIN, "%" PRId64 ".%" PRId64 "%%",
		   doc_i64(n, "share_milli", 0) / 10, doc_i64(n, "share_milli", 0) % 10);
	table_cell(t, TABLE_PLAIN, "%" PRId64 ".%" PRId64 "%%",
		   doc_i64(n, "turn_milli", 0) / 10, doc_i64(n, "turn_milli", 0) % 10);
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&has));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&sure));
	table_cell(t,
		   beyond.cpu_milli || beyond.devices[0].count ? TABLE_WARN : TABLE_PLAIN,
		   "%s", buf_str(&over));
}

/* Those below a parent, and below each of them theirs: as deep as the yard lets it be. */
static void add_below(struct table *t, const struct doc_node *list, const char *parent,
		      int depth)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		if (!str_eq(doc_str(doc_get(n, "tenant"), "parent", ""), parent))
			continue;
		add_row(t, n, depth);
		if (depth < DEPTH_MAX)
			add_below(t, list, doc_str(n, "group", ""), depth + 1);
	}
}

static int run_tree(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "GROUP",    ">WEIGHT",    ">RUNNING",
					     ">WAITING", ">SHARE",     ">TURN",
					     "HOLDS",    "IS SURE OF", "BORROWED" };
	const struct tree_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	(void)operands;
	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, "/tenants");
	if (cli_get(c, &answer, &err, "/tenants") < 0)
		return cli_fail(c, &err);
	const struct doc_node *list = doc_get(doc_root(answer.doc), "tenants");
	if (!list || !list->first) {
		cli_hint(c, "there are no groups that you are in");
		return 0;
	}
	struct table *t = table_create(heads, COUNT_OF(heads));
	add_below(t, list, "", 0);
	view_print(c, t);
	table_destroy(t);
	return 0;
}

const struct command cmd_group_tree = {
	.name = "group tree",
	.group = COMMAND_PEOPLE,
	.operands = "",
	.summary =
		"show how groups share the nodes: who holds what, and what each is sure of",
	.table = tree_table,
	.count = COUNT_OF(tree_table),
	.args_size = sizeof(struct tree_args),
	.run = run_tree,
};
