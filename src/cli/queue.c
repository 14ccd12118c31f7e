// SPDX-License-Identifier: Apache-2.0
/* queue.c - `yard queue`: who waits, in the order of their turn, and for what. */
#include <inttypes.h>

#include "base/mem.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/view.h"

#define SCORE_LEAST 10 /* estimates of starts, before their score means anything */

struct queue_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt queue_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct queue_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct queue_args, color),
};
/* clang-format on */

/* Of somebody else's job only its place and what it asks for is known. */
static void queue_row(struct table *t, const struct doc_node *n, int64_t now)
{
	const struct doc_node *ask = doc_get(n, "ask");
	char age[UNITS_TEXT_MAX], text[UNITS_TEXT_MAX];
	AUTO_BUF struct buf wants = { 0 };
	struct resources total;
	int64_t id = doc_i64(n, "id", 0);

	wire_resources_read(ask, &total);
	buf_printf(&wants, "%s cpu", units_show_cpu(total.cpu_milli, text));
	buf_printf(&wants, ", %s", units_show_bytes(total.memory_bytes, text));
	for (size_t i = 0; i < DEVICE_KINDS_MAX && total.devices[i].count > 0; i++)
		buf_printf(&wants, ", %s %s",
			   units_show_cpu(device_milli(&total.devices[i]), text),
			   total.devices[i].type);
	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "position", 0));
	if (id)
		table_cell(t, TABLE_PLAIN, "%" PRId64, id);
	else
		table_cell(t, TABLE_DIM, "-");
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", "-"));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "owner", "-"));
	table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(n, "priority", 0));
	table_cell(t, TABLE_PLAIN, "%s",
		   units_show_age(now - doc_i64(n, "since_ms", now), age));
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&wants));
	table_cell(t, TABLE_DIM, "%s", doc_str(n, "reason", ""));
}

/* How good estimates of starts were, once there are enough to say so. */
static void say_score(const struct cli *c, const struct doc_node *score)
{
	int64_t told = doc_i64(score, "told", 0), within = doc_i64(score, "within", 0);
	char text[UNITS_TEXT_MAX];

	if (told < SCORE_LEAST)
		return;
	cli_hint(
		c,
		"of %lld starts that were foretold %lld %% came within the time told; half "
		"were off by less than %s",
		(long long)told, (long long)(within * 100 / told),
		units_show_duration(doc_i64(score, "error_ms", 0), text));
}

static int run_queue(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { ">#",       ">ID",          "NAME",
					     "OWNER",    ">PRIORITY",    ">AGE",
					     "ASKS FOR", "WAITS BECAUSE" };
	const struct queue_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;
	size_t rows = 0;

	(void)operands;
	if (cli_colour(c, a->color, &err) < 0)
		return cli_fail(c, &err);
	if (a->json)
		return view_json(c, "/queue");
	if (cli_get(c, &answer, &err, "/queue") < 0)
		return cli_fail(c, &err);
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *list = doc_get(doc_root(answer.doc), "queue");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next, rows++)
		queue_row(t, n, cli_now_ms());
	if (rows)
		view_print(c, t);
	else
		cli_hint(c, "nobody waits");
	say_score(c, doc_get(doc_root(answer.doc), "estimates"));
	table_destroy(t);
	return 0;
}

const struct command cmd_queue = {
	.name = "queue",
	.operands = "",
	.summary = "list who waits, in the order of their turn, and for what",
	.table = queue_table,
	.count = COUNT_OF(queue_table),
	.args_size = sizeof(struct queue_args),
	.run = run_queue,
};
