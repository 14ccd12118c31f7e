// SPDX-License-Identifier: Apache-2.0
/* node.c - `yard node ...`: what an administrator says of machines. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/people.h"
#include "cli/sieve.h"

/* All that are named are there: a slip of the pen changes none. */
static int check_all(struct cli *c, const struct opts_list *nodes, struct err *err)
{
	for (size_t i = 0; i < nodes->count && nodes->count > 1; i++) {
		AUTO_FREE char *target = people_target("nodes", nodes->items[i], "");
		AUTO_ANSWER struct answer a = { 0 };
		if (cli_get(c, &a, err, "%s", target) < 0)
			return -1;
	}
	return 0;
}

/* A PATCH of every machine that is named; the first failure ends it. */
static int send_all(struct cli *c, const struct opts_list *nodes, const struct buf *body)
{
	struct err err;

	if (check_all(c, nodes, &err) < 0)
		return cli_fail(c, &err);
	for (size_t i = 0; i < nodes->count; i++) {
		AUTO_FREE char *target = people_target("nodes", nodes->items[i], "");
		if (people_send(c, "PATCH", target, body, NULL, &err) < 0)
			return cli_fail(c, &err);
	}
	return 0;
}

/* ---- states ---- */

struct state_args {
	const char *reason;
};

/* clang-format off */
static const struct opt state_table[] = {
	{ "reason", 'r', OPT_TEXT, OPT_INTO(struct state_args, reason), "TEXT", "why, for those who look" },
};
/* clang-format on */

static int set_state(struct cli *c, const char *state, const char *reason,
		     const struct opts_list *nodes)
{
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "state", state);
	if (reason)
		json_str(&j, "reason", reason);
	json_end(&j);
	return send_all(c, nodes, &body);
}

static int run_drain(struct cli *c, const void *args, const struct opts_list *operands)
{
	return set_state(c, "drain", ((const struct state_args *)args)->reason, operands);
}

const struct command cmd_node_drain = {
	.name = "node drain",
	.group = COMMAND_YARD,
	.operands = "NODE...",
	.summary = "let what runs there end, and nothing new begin",
	.table = state_table,
	.count = COUNT_OF(state_table),
	.args_size = sizeof(struct state_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_drain,
};

static int run_quarantine(struct cli *c, const void *args,
			  const struct opts_list *operands)
{
	const struct state_args *a = args;
	struct err err;

	if (!a->reason || !*a->reason) {
		err_set(&err, ERR_INVALID, "say what is wrong with it: --reason TEXT");
		return cli_fail(c, &err);
	}
	return set_state(c, "quarantine", a->reason, operands);
}

const struct command cmd_node_quarantine = {
	.name = "node quarantine",
	.group = COMMAND_YARD,
	.operands = "NODE...",
	.summary = "keep new tasks away because something is wrong there",
	.table = state_table,
	.count = COUNT_OF(state_table),
	.args_size = sizeof(struct state_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_quarantine,
};

static int run_open(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return set_state(c, "open", NULL, operands);
}

const struct command cmd_node_open = {
	.name = "node open",
	.group = COMMAND_YARD,
	.operands = "NODE...",
	.summary = "let tasks begin there again",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_open,
};

/* ---- windows ---- */

struct reserve_args {
	const char *from, *to, *group;
	bool clear;
};

/* clang-format off */
static const struct opt reserve_table[] = {
	{ "from", 0, OPT_TEXT, OPT_INTO(struct reserve_args, from), "TIME", "when it begins: a time such as 14:05 or 2026-11-15T14:05, or 2h from now (now)" },
	{ "to", 0, OPT_TEXT, OPT_INTO(struct reserve_args, to), "TIME", "when it ends: a time, or 4h from its beginning" },
	{ "group", 'g', OPT_TEXT, OPT_INTO(struct reserve_args, group), "GROUP", "whose jobs may run there then; nobody's if not given" },
	{ "clear", 0, OPT_FLAG, OPT_INTO(struct reserve_args, clear), NULL, "take back all windows that there are" },
};
/* clang-format on */

/* A time of day or a date, or so long after `base`. */
static int read_time(const char *option, const char *text, int64_t base_ms, int64_t *out,
		     struct err *err)
{
	int64_t span;

	if (units_duration(text, &span) == 0) {
		*out = base_ms + span;
		return 0;
	}
	if (sieve_time(text, base_ms, out) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		       "--%s '%s': allowed is a time such as 14:05 or 2026-11-15T14:05, "
		       "or a span such as 2h",
		       option, text);
}

static void put_window(struct json *j, int64_t from_ms, int64_t to_ms, const char *group)
{
	json_object(j, NULL);
	json_i64(j, "from_ms", from_ms);
	json_i64(j, "to_ms", to_ms);
	json_str(j, "group", group);
	json_end(j);
}

/* Those that are over make room for new ones. */
static void put_old(struct json *j, const struct doc_node *list, int64_t now_ms)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		if (doc_i64(n, "to_ms", 0) > now_ms)
			put_window(j, doc_i64(n, "from_ms", 0), doc_i64(n, "to_ms", 0),
				   doc_str(n, "group", ""));
}

static int reserve_one(struct cli *c, const char *node, const struct node_window *w,
		       bool clear, struct err *err)
{
	AUTO_FREE char *target = people_target("nodes", node, "");
	AUTO_ANSWER struct answer now = { 0 };
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	if (cli_get(c, &now, err, "%s", target) < 0)
		return -1;
	json_init(&j, &body);
	json_object(&j, NULL);
	json_array(&j, "windows");
	if (!clear)
		put_old(&j, doc_get(doc_root(now.doc), "windows"), cli_now_ms());
	if (w->to_ms)
		put_window(&j, w->from_ms, w->to_ms, w->group);
	json_end(&j);
	json_end(&j);
	return people_send(c, "PATCH", target, &body, NULL, err);
}

static int read_window(const struct reserve_args *a, struct node_window *w,
		       struct err *err)
{
	if (a->clear && !a->to && !a->from)
		return 0;
	if (!a->to)
		return err_set(err, ERR_INVALID, "until when? --to TIME");
	if (a->group && strlen(a->group) >= sizeof w->group)
		return err_set(err, ERR_INVALID, "no group has so long a name");
	if (a->group)
		memcpy(w->group, a->group, strlen(a->group) + 1);
	w->from_ms = cli_now_ms();
	if (a->from && !str_eq(a->from, "now") &&
	    read_time("from", a->from, cli_now_ms(), &w->from_ms, err) < 0)
		return -1;
	if (read_time("to", a->to, w->from_ms, &w->to_ms, err) < 0)
		return -1;
	if (w->to_ms <= w->from_ms)
		return err_set(err, ERR_INVALID, "it would end before it begins");
	return 0;
}

static int run_reserve(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct reserve_args *a = args;
	struct node_window w = { 0 };
	struct err err;

	if (read_window(a, &w, &err) < 0 || check_all(c, operands, &err) < 0)
		return cli_fail(c, &err);
	for (size_t i = 0; i < operands->count; i++)
		if (reserve_one(c, operands->items[i], &w, a->clear, &err) < 0)
			return cli_fail(c, &err);
	return 0;
}

const struct command cmd_node_reserve = {
	.name = "node reserve",
	.group = COMMAND_YARD,
	.operands = "NODE...",
	.summary = "keep machines free for a group for a time",
	.table = reserve_table,
	.count = COUNT_OF(reserve_table),
	.args_size = sizeof(struct reserve_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_reserve,
};

/* ---- facts ---- */

struct set_args {
	const char *rack, *net, *island, *rings;
	struct opts_list labels;
};

/* clang-format off */
static const struct opt set_table[] = {
	{ "rack", 0, OPT_TEXT, OPT_INTO(struct set_args, rack), "NAME", "where it stands; '' as found" },
	{ "switch", 0, OPT_TEXT, OPT_INTO(struct set_args, net), "NAME", "behind which switch; '' as found" },
	{ "label", 'l', OPT_LIST, OPT_INTO(struct set_args, labels), "LABEL=VALUE", "what jobs may ask for by where; LABEL= takes it away" },
	{ "island", 0, OPT_TEXT, OPT_INTO(struct set_args, island), "N", "so many devices are linked closely; 0: all" },
	{ "rings", 0, OPT_TEXT, OPT_INTO(struct set_args, rings), "on|off", "islands are rings with the rules of Ascend 910" },
};
/* clang-format on */

static const char *given(const struct opts_list *labels, const char *key)
{
	size_t n = strlen(key);

	for (size_t i = labels->count; i-- > 0;)
		if (strncmp(labels->items[i], key, n) == 0 && labels->items[i][n] == '=')
			return labels->items[i] + n + 1;
	return NULL;
}

/* Those there were and are not named anew, then those that are. */
static int put_labels(struct json *j, const struct doc_node *old,
		      const struct opts_list *labels, struct err *err)
{
	json_object(j, "labels");
	for (const struct doc_node *n = old ? old->first : NULL; n; n = n->next)
		if (!given(labels, n->key))
			json_str(j, n->key, n->text);
	for (size_t i = 0; i < labels->count; i++) {
		const char *text = labels->items[i], *eq = strchr(text, '=');
		if (!eq || eq == text)
			return err_set(err, ERR_INVALID,
				       "--label '%s': write LABEL=VALUE", text);
		AUTO_FREE char *key = mem_strndup(text, (size_t)(eq - text));
		if (eq[1] && given(labels, key) == eq + 1)
			json_str(j, key, eq + 1);
	}
	json_end(j);
	return 0;
}

static int put_facts(struct json *j, const struct set_args *a, struct err *err)
{
	int64_t island;

	if (a->rack)
		json_str(j, "rack", a->rack);
	if (a->net)
		json_str(j, "switch", a->net);
	if (a->island) {
		if (str_to_i64(a->island, 0, DEVICES_MAX, &island) < 0)
			return err_set(err, ERR_INVALID,
				       "--island '%s': a whole number from 0 to %d",
				       a->island, DEVICES_MAX);
		json_i64(j, "island", island);
	}
	if (a->rings) {
		if (!str_eq(a->rings, "on") && !str_eq(a->rings, "off"))
			return err_set(err, ERR_INVALID, "--rings '%s': on or off",
				       a->rings);
		json_bool(j, "rings", str_eq(a->rings, "on"));
	}
	return 0;
}

static int set_one(struct cli *c, const char *node, const struct set_args *a,
		   struct err *err)
{
	AUTO_FREE char *target = people_target("nodes", node, "");
	AUTO_ANSWER struct answer now = { 0 };
	AUTO_BUF struct buf body = { 0 };
	struct json j;

	if (cli_get(c, &now, err, "%s", target) < 0)
		return -1;
	json_init(&j, &body);
	json_object(&j, NULL);
	if (put_facts(&j, a, err) < 0 ||
	    (a->labels.count &&
	     put_labels(&j, doc_get(doc_root(now.doc), "labels"), &a->labels, err) < 0))
		return -1;
	json_end(&j);
	return people_send(c, "PATCH", target, &body, NULL, err);
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct err err;

	for (size_t i = 0; i < operands->count; i++)
		if (set_one(c, operands->items[i], args, &err) < 0)
			return cli_fail(c, &err);
	return 0;
}

const struct command cmd_node_set = {
	.name = "node set",
	.group = COMMAND_YARD,
	.operands = "NODE...",
	.summary = "say where machines stand, and label them",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_set,
};
