// SPDX-License-Identifier: Apache-2.0
/* quota.c - `yard quota ...` and `yard group quota`: what may be used at a time. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/people.h"
#include "cli/view.h"

/* ---- show ---- */

struct show_args {
	bool json;
	const char *color;
};

/* clang-format off */
static const struct opt show_table[] = {
	{ "json", 0, OPT_FLAG, OPT_INTO(struct show_args, json), NULL, "as JSON" },
	OPT_COLOUR(struct show_args, color),
};
/* clang-format on */

static bool limited(const struct doc_node *q, const char *key)
{
	return doc_i64(q, key, -1) >= 0;
}

static void quota_row(struct table *t, const struct doc_node *n)
{
	const struct doc_node *q = doc_get(n, "quota"), *devices = doc_get(q, "devices");
	AUTO_BUF struct buf held = { 0 };
	char text[UNITS_TEXT_MAX];

	for (const struct doc_node *d = devices ? devices->first : NULL; d; d = d->next)
		buf_printf(&held, "%s%s:%s", held.len ? "," : "", d->key, d->text);
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "scope", ""));
	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
	table_cell(t, TABLE_PLAIN, "%s",
		   limited(q, "cpu_milli")
			   ? units_show_cpu(doc_i64(q, "cpu_milli", 0), text)
			   : "-");
	table_cell(t, TABLE_PLAIN, "%s",
		   limited(q, "memory_bytes")
			   ? units_show_bytes(doc_i64(q, "memory_bytes", 0), text)
			   : "-");
	table_cell(t, TABLE_PLAIN, "%s", held.len ? held.data : "-");
	if (limited(q, "max_running_jobs"))
		table_cell(t, TABLE_PLAIN, "%" PRId64, doc_i64(q, "max_running_jobs", 0));
	else
		table_cell(t, TABLE_PLAIN, "-");
}

static int check_scope(const struct opts_list *operands, struct err *err)
{
	if (operands->count >= 2 &&
	    (str_eq(operands->items[0], "user") || str_eq(operands->items[0], "group")))
		return 0;
	return err_set(err, ERR_INVALID, "whose quota? write: user NAME, or: group NAME");
}

static char *quota_target(const char *scope, const char *name)
{
	AUTO_FREE char *kind = str_printf("quotas/%s", scope);

	return people_target(kind, name, "");
}

static int run_show(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "OF",      "NAME",    ">CPU",
					     ">MEMORY", "DEVICES", ">RUNNING JOBS" };
	const struct show_args *a = args;
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_FREE char *target = NULL;
	struct err err;

	if (cli_colour(c, a->color, &err) < 0 ||
	    (operands->count && check_scope(operands, &err) < 0))
		return cli_fail(c, &err);
	target = operands->count ? quota_target(operands->items[0], operands->items[1])
				 : mem_strdup("/quotas");
	if (a->json)
		return view_json(c, target);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	struct table *t = table_create(heads, COUNT_OF(heads));
	const struct doc_node *root = doc_root(answer.doc),
			      *list = doc_get(root, "quotas");
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next)
		quota_row(t, n);
	if (!list)
		quota_row(t, root);
	if (!list || list->first)
		view_print(c, t);
	else
		cli_hint(c, "no quota is set that concerns you");
	table_destroy(t);
	return 0;
}

#define QUOTA_SHOW(words)                                                                \
	{                                                                                \
		.name = (words), .group = COMMAND_PEOPLE,                                \
		.operands = "[user NAME | group NAME]",                                  \
		.summary = "tell what may be used at a time, by a user or a group",      \
		.table = show_table, .count = COUNT_OF(show_table),                      \
		.args_size = sizeof(struct show_args), .operands_max = 2,                \
		.run = run_show,                                                         \
	}
const struct command cmd_quota = QUOTA_SHOW("quota");
const struct command cmd_quota_show = QUOTA_SHOW("quota show");

/* ---- set ---- */

struct set_args {
	const char *cpu, *memory, *gpus, *jobs;
	struct opts_list devices;
};

/* clang-format off */
static const struct opt set_table[] = {
	{ "cpu", 'c', OPT_TEXT, OPT_INTO(struct set_args, cpu), "N", "cores at a time, or none for no limit" },
	{ "mem", 'm', OPT_TEXT, OPT_INTO(struct set_args, memory), "SIZE", "memory at a time, such as 64Gi, or none" },
	{ "gpu", 'g', OPT_TEXT, OPT_INTO(struct set_args, gpus), "N", "gpus at a time, or none" },
	{ "device", 'd', OPT_LIST, OPT_INTO(struct set_args, devices), "TYPE=N", "devices of another type at a time, or TYPE=none" },
	{ "jobs", 'j', OPT_TEXT, OPT_INTO(struct set_args, jobs), "N", "jobs that run at a time, or none" },
};
/* clang-format on */

/* text NULL: leave it.  "none": no limit. */
static int put_number(const char *option, const char *text, const char *allowed,
		      int (*read)(const char *text, int64_t *out), int64_t *out,
		      struct err *err)
{
	if (!text)
		return 0;
	if (str_eq(text, "none"))
		*out = -1;
	else if (read(text, out) < 0)
		return err_set(err, ERR_INVALID, "--%s '%s': allowed is %s, or none",
			       option, text, allowed);
	return 0;
}

static int read_count(const char *text, int64_t *out)
{
	return str_to_i64(text, 0, INT32_MAX, out);
}

static void put_known(struct json *j, const char *key, int64_t value)
{
	if (value >= 0)
		json_i64(j, key, value);
}

/* "npu=2" of the options, where it names that type. */
static const char *given_device(const struct opts_list *given, const char *type, size_t n)
{
	for (size_t i = given->count; i-- > 0;)
		if (strncmp(given->items[i], type, n) == 0 && given->items[i][n] == '=')
			return given->items[i] + n + 1;
	return NULL;
}

static int put_device(struct json *j, const char *type, size_t n, const char *text,
		      struct err *err)
{
	AUTO_FREE char *key = mem_strndup(type, n);
	int64_t count;

	if (str_eq(text, "none"))
		return 0;
	if (!n || read_count(text, &count) < 0)
		return err_set(err, ERR_INVALID, "--device: '%s=%s' is not TYPE=N", key,
			       text);
	json_i64(j, key, count);
	return 0;
}

/* Those there were and are not named anew, then those that are. */
static int put_devices(struct json *j, const struct doc_node *old,
		       const struct opts_list *given, struct err *err)
{
	json_object(j, "devices");
	for (const struct doc_node *d = old ? old->first : NULL; d; d = d->next)
		if (!given_device(given, d->key, strlen(d->key)) &&
		    put_device(j, d->key, strlen(d->key), d->text, err) < 0)
			return -1;
	for (size_t i = 0; i < given->count; i++) {
		const char *item = given->items[i], *equals = strchr(item, '=');
		if (!equals)
			return err_set(err, ERR_INVALID, "--device: '%s' is not TYPE=N",
				       item);
		size_t n = (size_t)(equals - item);
		if (given_device(given, item, n) == equals + 1 &&
		    put_device(j, item, n, equals + 1, err) < 0)
			return -1;
	}
	json_end(j);
	return 0;
}

/* The server takes a quota whole: what is not named stays as it was. */
static int make_body(const struct set_args *a, const struct opts_list *devices,
		     const struct doc_node *old, struct buf *body, struct err *err)
{
	int64_t cpu = doc_i64(old, "cpu_milli", -1);
	int64_t memory = doc_i64(old, "memory_bytes", -1);
	int64_t jobs = doc_i64(old, "max_running_jobs", -1);
	struct json j;

	if (put_number("cpu", a->cpu, "a number of cores such as 2 or 0.5", units_cpu,
		       &cpu, err) < 0 ||
	    put_number("mem", a->memory, "a size such as 64Gi", units_bytes, &memory,
		       err) < 0 ||
	    put_number("jobs", a->jobs, "a whole number", read_count, &jobs, err) < 0)
		return -1;
	json_init(&j, body);
	json_object(&j, NULL);
	put_known(&j, "cpu_milli", cpu);
	put_known(&j, "memory_bytes", memory);
	put_known(&j, "max_running_jobs", jobs);
	if (put_devices(&j, doc_get(old, "devices"), devices, err) < 0)
		return -1;
	json_end(&j);
	return 0;
}

static int set_quota(struct cli *c, const struct set_args *a, const char *scope,
		     const char *name)
{
	AUTO_FREE char *target = quota_target(scope, name);
	AUTO_ANSWER struct answer old = { 0 };
	AUTO_BUF struct buf body = { 0 };
	AUTO_FREE char *gpus = str_printf("gpu=%s", a->gpus ? a->gpus : "");
	AUTO_OPTS_LIST struct opts_list devices = { 0 };
	struct err err;

	for (size_t i = 0; i < a->devices.count; i++)
		opts_list_add(&devices, a->devices.items[i]);
	if (a->gpus)
		opts_list_add(&devices, gpus);
	if (cli_get(c, &old, &err, "%s", target) < 0 ||
	    make_body(a, &devices, doc_get(doc_root(old.doc), "quota"), &body, &err) <
		    0 ||
	    people_send(c, "PUT", target, &body, NULL, &err) < 0)
		return cli_fail(c, &err);
	return 0;
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct err err;

	if (check_scope(operands, &err) < 0)
		return cli_fail(c, &err);
	return set_quota(c, args, operands->items[0], operands->items[1]);
}

const struct command cmd_quota_set = {
	.name = "quota set",
	.group = COMMAND_PEOPLE,
	.operands = "user NAME | group NAME",
	.summary = "limit what a user or a group may use at a time",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.operands_min = 2,
	.operands_max = 2,
	.run = run_set,
};

static int run_group(struct cli *c, const void *args, const struct opts_list *operands)
{
	return set_quota(c, args, "group", operands->items[0]);
}

const struct command cmd_group_quota = {
	.name = "group quota",
	.group = COMMAND_PEOPLE,
	.operands = "NAME",
	.summary = "limit what a group may use at a time",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_group,
};
