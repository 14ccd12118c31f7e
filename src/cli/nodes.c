// SPDX-License-Identifier: Apache-2.0
/* nodes.c - `yard nodes`, `yard node show`: the machines, what is taken, how they stand. */
#include <stdio.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/people.h"
#include "cli/plain.h"
#include "cli/view.h"

struct nodes_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt nodes_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct nodes_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct nodes_args, color),
};
/* clang-format on */

static void add_devices(const struct wire_node *n, struct buf *out)
{
	char used[UNITS_TEXT_MAX];

	for (size_t i = 0; i < DEVICE_KINDS_MAX && n->node.capacity.devices[i].count > 0;
	     i++) {
		const struct device_count *d = &n->node.capacity.devices[i];
		buf_printf(out, "%s%s %s/%d", i ? ", " : "", d->type,
			   units_show_cpu(resources_milli(&n->used, d->type), used),
			   d->count);
	}
	if (out->len && n->node.simulated_devices)
		buf_adds(out, " (simulated)");
	if (!out->len)
		buf_adds(out, "none");
}

/* "kept for lab, in 2h for 30m" */
static void add_window(const struct node_window *w, int64_t now, struct buf *out)
{
	char from[UNITS_TEXT_MAX], length[UNITS_TEXT_MAX];

	if (w->to_ms <= now)
		return;
	buf_printf(out, "%skept for %s", out->len ? "; " : "",
		   w->group[0] ? w->group : "nobody");
	if (w->from_ms > now)
		buf_printf(out, ", in %s for %s", units_show_age(w->from_ms - now, from),
			   units_show_age(w->to_ms - w->from_ms, length));
	else
		buf_printf(out, ", %s more", units_show_age(w->to_ms - now, length));
}

static void add_note(const struct node *n, int64_t now, struct buf *out)
{
	buf_adds(out, n->reason);
	for (size_t i = 0; i < n->window_count; i++)
		add_window(&n->windows[i], now, out);
	if (n->labels[0])
		buf_printf(out, "%s%s", out->len ? "; " : "", n->labels);
}

static const char *state_word(const struct node *n)
{
	if (!n->up)
		return "down";
	return n->state == NODE_OPEN ? "up" : node_state_word(n->state);
}

static enum table_colour state_colour(const struct node *n)
{
	if (!n->up || n->state == NODE_QUARANTINE)
		return TABLE_BAD;
	return n->state == NODE_OPEN ? TABLE_GOOD : TABLE_WARN;
}

static void node_row(struct table *t, const struct wire_node *n, int64_t now)
{
	char used[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX];
	AUTO_BUF struct buf devices = { 0 }, note = { 0 };

	add_devices(n, &devices);
	add_note(&n->node, now, &note);
	table_cell(t, TABLE_PLAIN, "%s", n->node.name);
	table_cell(t, state_colour(&n->node), "%s", state_word(&n->node));
	table_cell(t, TABLE_PLAIN, "%d", n->tasks);
	table_cell(t, TABLE_PLAIN, "%s/%s", units_show_cpu(n->used.cpu_milli, used),
		   units_show_cpu(n->node.capacity.cpu_milli, all));
	table_cell(t, TABLE_PLAIN, "%s/%s", units_show_bytes(n->used.memory_bytes, used),
		   units_show_bytes(n->node.capacity.memory_bytes, all));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&devices));
	table_cell(t, TABLE_DIM, "%s", buf_str(&note));
}

static int run_nodes(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME",    "STATE",   ">TASKS", ">CPU",
					     ">MEMORY", "DEVICES", "NOTE" };
	const struct nodes_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	(void)operands;
	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, "/nodes");
	if (cli_get(c, &answer, &err, "/nodes") < 0)
		return cli_fail(c, &err);
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *list = doc_get(doc_root(answer.doc), "nodes");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct wire_node node;
		wire_node_read(n, &node);
		node_row(t, &node, cli_now_ms());
	}
	view_print(c, t);
	table_destroy(t);
	return 0;
}

#define NODE_LIST(words)                                                                 \
	{                                                                                \
		.name = (words), .group = COMMAND_YARD, .operands = "",                  \
		.summary = "list the machines and what is taken on them",                \
		.table = nodes_table, .count = COUNT_OF(nodes_table),                    \
		.args_size = sizeof(struct nodes_args), .run = run_nodes,                \
	}
const struct command cmd_nodes = NODE_LIST("nodes");
const struct command cmd_node_ls = NODE_LIST("node ls");

static void line(struct buf *out, const char *name, const char *value)
{
	if (*value)
		buf_printf(out, "%-9s %s\n", name, value);
}

static void add_windows(const struct node *n, struct buf *out)
{
	char from[UNITS_TEXT_MAX], to[UNITS_TEXT_MAX];

	for (size_t i = 0; i < n->window_count; i++)
		buf_printf(out, "%-9s %s to %s, %s\n",
			   "kept:", units_show_time(n->windows[i].from_ms, from),
			   units_show_time(n->windows[i].to_ms, to),
			   n->windows[i].group[0] ? n->windows[i].group : "for nobody");
}

static void add_node(const struct wire_node *w, struct buf *out)
{
	const struct node *n = &w->node;
	char used[UNITS_TEXT_MAX], all[UNITS_TEXT_MAX], text[2 * UNITS_TEXT_MAX + 8];
	AUTO_FREE char *reason = mem_strdup(n->reason);
	AUTO_BUF struct buf devices = { 0 };

	add_devices(w, &devices);
	line(out, "name:", n->name);
	line(out, "state:", state_word(n));
	plain_text(reason, ""); /* what somebody wrote */
	line(out, "reason:", reason);
	add_windows(n, out);
	snprintf(text, sizeof text, "%d", w->tasks);
	line(out, "tasks:", text);
	snprintf(text, sizeof text, "%s/%s", units_show_cpu(w->used.cpu_milli, used),
		 units_show_cpu(n->capacity.cpu_milli, all));
	line(out, "cpu:", text);
	snprintf(text, sizeof text, "%s/%s", units_show_bytes(w->used.memory_bytes, used),
		 units_show_bytes(n->capacity.memory_bytes, all));
	line(out, "memory:", text);
	line(out, "devices:", buf_str(&devices));
	snprintf(text, sizeof text, "%d", n->island);
	line(out, "island:", n->island ? text : "");
	line(out, "rings:", n->rings ? "yes" : "");
	line(out, "rack:", n->rack);
	line(out, "switch:", n->net);
	line(out, "labels:", n->labels);
}

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct nodes_args *a = args;
	AUTO_FREE char *target = people_target("nodes", operands->items[0], "");
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf out = { 0 };
	struct wire_node node;
	struct err err;

	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	wire_node_read(doc_root(answer.doc), &node);
	add_node(&node, &out);
	cli_print(&out);
	return 0;
}

const struct command cmd_node_show = {
	.name = "node show",
	.group = COMMAND_YARD,
	.operands = "NODE",
	.summary = "tell of a machine: its state, what is taken, where it stands",
	.table = nodes_table,
	.count = COUNT_OF(nodes_table),
	.args_size = sizeof(struct nodes_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_show,
};
