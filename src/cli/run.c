// SPDX-License-Identifier: Apache-2.0
/* run.c - `yard run`: this folder, this command, as a job; its output here, its exit code ours. */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/array.h"
#include "cli/attend.h"
#include "cli/cli.h"
#include "cli/data_flag.h"
#include "cli/key.h"
#include "cli/secret_flag.h"
#include "cli/snapshot.h"
#include "cli/view.h"
#include "cli/why_view.h"

struct run_args {
	int64_t cpu, memory, count, least, retry, priority, time_limit;
	const char *image, *name, *code, *group, *gpu, *models, *within;
	struct opts_list secrets, env, where;
	struct data_flags data;
	struct array_flags array;
	bool per_device, detach, no_code, within_must, preemptible, dry_run;
};

#define INTO(field) OPT_INTO(struct run_args, field)
/* clang-format off */
static const struct opt run_table[] = {
	{ "cpu",        'c', OPT_CPU,      INTO(cpu),        "N",         "cores of one task (1)" },
	{ "mem",        'm', OPT_BYTES,    INTO(memory),     "SIZE",      "memory of one task (1Gi)" },
	{ "gpu",        'g', OPT_TEXT,     INTO(gpu),        "N",         "gpus of one task, or a share of one such as 0.5" },
	{ "gpu-model",  0,   OPT_TEXT,     INTO(models),     "MODELS",    "gpus of one of these models, such as a100,v100" },
	{ "count",      'n', OPT_INT,      INTO(count),      "N",         "so many tasks at the same time (1)", 1, 4096 },
	{ "min",        0,   OPT_INT,      INTO(least),      "N",         "start with so many tasks if there is no room for all", 1, 4096 },
	{ "per-device", 0,   OPT_FLAG,     INTO(per_device), NULL,        "one process of the command for each device" },
	{ "where",      'w', OPT_LIST,     INTO(where),      "LABEL=VALUE", "only on nodes with this label" },
	{ "within",     0,   OPT_TEXT,     INTO(within),     "LEVEL",     "all tasks in one rack, switch, node or island if possible" },
	{ "within-must", 0,  OPT_FLAG,     INTO(within_must), NULL,       "wait until --within can be had" },
	{ "image",      0,   OPT_TEXT,     INTO(image),      "IMAGE",     "which files it sees: host, or an image of the catalogue" },
	{ "env",        'e', OPT_LIST,     INTO(env),        "KEY=VALUE", "a variable; KEY alone takes yours" },
	OPT_SECRET(struct run_args, secrets),
	{ "name",       0,   OPT_TEXT,     INTO(name),       "NAME",      "what the job is called" },
	OPT_DATA(struct run_args, data),
	{ "code",       0,   OPT_TEXT,     INTO(code),       "DIR",       "this folder instead of the current one, or a URI" },
	{ "no-code",    0,   OPT_FLAG,     INTO(no_code),    NULL,        "send no folder along" },
	{ "group",      0,   OPT_TEXT,     INTO(group),      "GROUP",     "whose quota and share it counts against" },
	{ "preemptible", 0,  OPT_FLAG,     INTO(preemptible), NULL,       "may be stopped and queued again to make way" },
	{ "time-limit", 0,   OPT_DURATION, INTO(time_limit), "TIME",      "stop it after that long" },
	{ "retry",      0,   OPT_INT,      INTO(retry),      "N",         "further attempts when it fails", 0, 1000 },
	{ "priority",   0,   OPT_INT,      INTO(priority),   "N",         "higher goes first", -1000, 1000 },
	OPT_ARRAY(struct run_args, array),
	{ "dry-run",    0,   OPT_FLAG,     INTO(dry_run),    NULL,        "send nothing; only say what `yard why` would" },
	{ "detach",     'd', OPT_FLAG,     INTO(detach),     NULL,        "print the job's id and leave it alone" },
};
/* clang-format on */

/* "gpu", or "gpu:a100|v100"; the caller frees. */
static char *gpu_kind(const char *models)
{
	char *kind = str_printf("gpu%s%s", models ? ":" : "", models ? models : "");

	for (char *p = kind; *p; p++)
		if (*p == ',')
			*p = '|';
	return kind;
}

static int put_gpu(struct json *j, const struct run_args *a, struct err *err)
{
	AUTO_FREE char *kind = gpu_kind(a->models);
	struct device_count d = { 0 };
	char text[UNITS_TEXT_MAX];

	if (device_amount(a->gpu ? a->gpu : "1", DEVICES_MAX, &d) < 0)
		return err_set(
			err, ERR_INVALID,
			"--gpu '%s': allowed is a whole number from 0 to %d, or a share of one in thousandths, such as 0.5 or 0.333",
			a->gpu, DEVICES_MAX);
	if (!d.count)
		return 0;
	json_object(j, "devices");
	json_raw(j, kind, units_show_cpu(device_milli(&d), text));
	json_end(j);
	return 0;
}

static int put_resources(struct json *j, const struct run_args *a, struct err *err)
{
	char text[UNITS_TEXT_MAX];

	if (!a->cpu && !a->memory && !a->gpu && !a->models)
		return 0;
	json_object(j, "resources");
	if (a->cpu)
		json_str(j, "cpu", units_show_cpu(a->cpu, text));
	if (a->memory)
		json_str(j, "memory", units_write_bytes(a->memory, text));
	if ((a->gpu || a->models) && put_gpu(j, a, err) < 0)
		return -1;
	json_end(j);
	return 0;
}

static int put_where(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_object(j, "where");
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i], *eq = strchr(text, '=');
		if (!eq || eq == text || !eq[1])
			return err_set(err, ERR_INVALID,
				       "--where '%s': write LABEL=VALUE", text);
		AUTO_FREE char *name = mem_strndup(text, (size_t)(eq - text));
		json_str(j, name, eq + 1);
	}
	json_end(j);
	return 0;
}

static void put_job(struct json *j, const struct run_args *a)
{
	char text[UNITS_TEXT_MAX];

	if (a->count)
		json_i64(j, "count", a->count);
	if (a->least)
		json_i64(j, "min", a->least);
	if (a->per_device)
		json_bool(j, "per-device", true);
	if (a->image)
		json_str(j, "image", a->image);
	if (a->group)
		json_str(j, "group", a->group);
	if (a->priority)
		json_i64(j, "priority", a->priority);
	if (a->preemptible)
		json_bool(j, "preemptible", true);
	if (a->within)
		json_str(j, "within", a->within);
	if (a->within_must)
		json_bool(j, "within-must", true);
	if (a->retry)
		json_i64(j, "retry", a->retry);
	if (a->time_limit)
		json_str(j, "time-limit", units_write_duration(a->time_limit, text));
}

static int put_env(struct json *j, const struct opts_list *list, struct err *err)
{
	if (!list->count)
		return 0;
	json_object(j, "env");
	for (size_t i = 0; i < list->count; i++) {
		const char *text = list->items[i], *eq = strchr(text, '=');
		AUTO_FREE char *name =
			mem_strndup(text, eq ? (size_t)(eq - text) : strlen(text));
		const char *value = eq ? eq + 1 : getenv(name);
		if (!*name || !value)
			return err_set(
				err, ERR_INVALID,
				"--env '%s': write KEY=VALUE, or the KEY of a variable you have",
				text);
		json_str(j, name, value);
	}
	json_end(j);
	return 0;
}

static int write_spec(const struct run_args *a, const struct opts_list *command,
		      const char *code, struct buf *out, struct err *err)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	if (a->name)
		json_str(&j, "name", a->name);
	json_array(&j, "command");
	for (size_t i = 0; i < command->count; i++)
		json_str(&j, NULL, command->items[i]);
	json_end(&j);
	put_job(&j, a);
	if (put_resources(&j, a, err) < 0 || put_where(&j, &a->where, err) < 0 ||
	    put_env(&j, &a->env, err) < 0 || data_flags_write(&j, &a->data, err) < 0 ||
	    secret_flag_write(&j, &a->secrets, err) < 0)
		return -1;
	if (array_flags_given(&a->array) &&
	    array_flags_write(&j, "array", &a->array, err) < 0)
		return -1;
	if (*code)
		json_str(&j, "code", code);
	json_end(&j);
	return 0;
}

static int refused(const struct cli *c, const struct run_args *a,
		   const struct problems *problems, const struct err *err)
{
	int code = 2;

	for (size_t i = 0; i < problems->count; i++)
		cli_say(c, "%s: %s", problems->items[i].field, problems->items[i].text);
	if (!problems->count)
		code = cli_fail(c, err);
	if (a->gpu && !a->models && strstr(err->text, "no node has devices"))
		cli_hint(
			c,
			"to try jobs without the hardware: `yardd --sim-device gpu=8` pretends to have some");
	return code;
}

static int run_run(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct run_args *a = args;
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	char hash[PACK_HASH_HEX] = "", key[KEY_BYTES];
	bool elsewhere = a->code && data_flag_is_uri(a->code);
	struct err err;

	if (!a->no_code && !a->dry_run && !elsewhere &&
	    snapshot_send(c, a->code, hash, &err) < 0)
		return cli_fail(c, &err);
	if (write_spec(a, operands, elsewhere ? a->code : hash, &body, &err) < 0)
		return cli_fail(c, &err);
	key_make(key);
	struct request r = { .method = "POST",
			     .target = a->dry_run ? "/jobs?dry_run=1" : "/jobs",
			     .key = key,
			     .body = body.data,
			     .body_len = body.len };
	if (client_call(c->client, &r, &answer, &err) < 0)
		return refused(c, a, &answer.problems, &err);
	if (a->dry_run) {
		struct why_page page = { cli_now_ms(), view_width(), c->colour_out };
		AUTO_BUF struct buf out = { 0 };
		why_lay_out(doc_root(answer.doc), &page, &out);
		cli_print(&out);
		return 0;
	}
	int64_t id = answer.doc ? doc_i64(doc_root(answer.doc), "id", 0) : 0;
	if (a->detach) {
		AUTO_BUF struct buf line = { 0 };
		buf_printf(&line, "%" PRId64 "\n", id);
		cli_print(&line);
		return 0;
	}
	if (array_flags_given(&a->array))
		return attend_array(c, id);
	return attend_main(c, id, a->count ? a->count : 1);
}

const struct command cmd_run = {
	.name = "run",
	.operands = "-- COMMAND...",
	.summary = "run a command as a job, with this folder as its code",
	.table = run_table,
	.count = COUNT_OF(run_table),
	.args_size = sizeof(struct run_args),
	.stop_at_first = true,
	.starts = true,
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_run,
};
