// SPDX-License-Identifier: Apache-2.0
/* clone.c - `yard clone`: a job once more, as it was or with changes.
 *
 * A job's spec can be submitted again as it is shown; changes are made in it here, so that
 * everything a job file can say can be changed without the server knowing about it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/attend.h"
#include "cli/cli.h"
#include "cli/key.h"

struct clone_args {
	int64_t cpu, memory, time_limit;
	const char *gpu, *name, *retry,
		*priority; /* 0 says something, so numbers are texts */
	struct opts_list env;
	bool follow, json;
};

#define INTO(field) OPT_INTO(struct clone_args, field)
/* clang-format off */
static const struct opt clone_table[] = {
	{ "mem",        'm', OPT_BYTES,    INTO(memory),     "SIZE",      "memory of one task" },
	{ "cpu",        'c', OPT_CPU,      INTO(cpu),        "N",         "cores of one task" },
	{ "gpu",        'g', OPT_TEXT,     INTO(gpu),        "N",         "gpus of one task, or a share of one" },
	{ "time-limit", 0,   OPT_DURATION, INTO(time_limit), "TIME",      "stop it after that long" },
	{ "retry",      0,   OPT_TEXT,     INTO(retry),      "N",         "further attempts when it fails" },
	{ "priority",   0,   OPT_TEXT,     INTO(priority),   "N",         "higher goes first" },
	{ "env",        'e', OPT_LIST,     INTO(env),        "KEY=VALUE", "set a variable, the others stay" },
	{ "name",       0,   OPT_TEXT,     INTO(name),       "NAME",      "another name" },
	{ "follow",     'f', OPT_FLAG,     INTO(follow),     NULL,        "stay with it, as yard run does" },
	{ "json",       0,   OPT_FLAG,     INTO(json),       NULL,        "print the answer as JSON" },
};
/* clang-format on */

/* text NULL: the value stays. */
static int change_int(const char *text, const char *option, int64_t min, int64_t max,
		      int *out, struct err *err)
{
	int64_t value;

	if (!text)
		return 0;
	if (str_to_i64(text, min, max, &value) < 0)
		return err_set(err, ERR_INVALID,
			       "--%s '%s': allowed is a whole number from %" PRId64
			       " to %" PRId64,
			       option, text, min, max);
	*out = (int)value;
	return 0;
}

/* Of whichever models it asked for. */
static int change_gpu(struct resources *each, const char *text, struct err *err)
{
	struct device_count d = { 0 };
	const char *type = "gpu";

	if (device_amount(text, DEVICES_MAX, &d) < 0 || !d.count)
		return err_set(
			err, ERR_INVALID,
			"--gpu '%s': allowed is a whole number from 1 to %d, or a share of one in thousandths, such as 0.5 or 0.333",
			text, DEVICES_MAX);
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		if (str_starts(each->devices[i].type, "gpu:"))
			type = each->devices[i].type;
	resources_set_share(each, type, d.count, d.share_milli);
	return 0;
}

static int change_role(struct role *r, const struct clone_args *a, struct err *err)
{
	if (a->memory) {
		r->each.memory_bytes = a->memory;
		r->shm_bytes = 0; /* by default again: a share of the memory */
	}
	if (a->cpu)
		r->each.cpu_milli = a->cpu;
	if (a->gpu && change_gpu(&r->each, a->gpu, err) < 0)
		return -1;
	for (size_t i = 0; i < a->env.count; i++) {
		const char *text = a->env.items[i], *eq = strchr(text, '=');
		if (!eq || eq == text)
			return err_set(err, ERR_INVALID, "--env '%s': write KEY=VALUE",
				       text);
		AUTO_FREE char *key = mem_strndup(text, (size_t)(eq - text));
		pairs_set(&r->env, key, eq + 1);
	}
	return 0;
}

static int change_spec(struct spec *s, const struct clone_args *a, struct err *err)
{
	for (size_t i = 0; i < s->role_count; i++)
		if (change_role(&s->roles[i], a, err) < 0)
			return -1;
	if (a->time_limit)
		s->time_limit_ms = a->time_limit;
	if (a->name) {
		free(s->name);
		s->name = mem_strdup(a->name);
	}
	s->after_count = 0; /* what it came after has been */
	if (change_int(a->retry, "retry", 0, 1000, &s->retry.max, err) < 0)
		return -1;
	return change_int(a->priority, "priority", -SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX,
			  &s->priority, err);
}

/* The shared memory that is to be chosen anew must not be written as none. */
static void write_spec(const struct spec *s, struct buf *out)
{
	for (size_t i = 0; i < s->role_count; i++)
		if (!s->roles[i].shm_bytes)
			s->roles[i].shm_bytes = s->roles[i].each.memory_bytes / 2;
	spec_to_json(s, out);
}

static int submit(struct cli *c, const struct buf *spec, struct answer *out,
		  struct err *err)
{
	char key[KEY_BYTES];

	key_make(key);
	struct request r = { .method = "POST",
			     .target = "/jobs",
			     .key = key,
			     .body = spec->data,
			     .body_len = spec->len };
	if (client_call(c->client, &r, out, err) < 0) {
		for (size_t i = 0; i < out->problems.count; i++)
			cli_say(c, "%s: %s", out->problems.items[i].field,
				out->problems.items[i].text);
		return -1;
	}
	return out->doc ? 0 : err_set(err, ERR_CORRUPT, "the server's answer is no JSON");
}

static void print_id(int64_t id)
{
	AUTO_BUF struct buf line = { 0 };

	buf_printf(&line, "%" PRId64 "\n", id);
	cli_print(&line);
}

static int run_clone(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct clone_args *a = args;
	AUTO_BUF struct buf spec = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	struct wire_job w = { 0 };
	struct err err;

	int rc = cli_get_job(c, operands->items[0], &w, &err);
	if (rc == 0)
		rc = change_spec(w.job->spec, a, &err);
	if (rc == 0) {
		write_spec(w.job->spec, &spec);
		rc = submit(c, &spec, &answer, &err);
	}
	int64_t id = rc == 0 ? doc_i64(doc_root(answer.doc), "id", 0) : 0;
	int code = 0;
	if (rc < 0)
		code = cli_fail(c, &err);
	else if (a->follow)
		code = attend_job(c, id, w.job);
	else if (a->json)
		cli_print_json(&answer.body);
	else
		print_id(id);
	wire_job_fini(&w);
	return code;
}

const struct command cmd_clone = {
	.name = "clone",
	.operands = "JOB",
	.summary = "run a job once more, as it was or with changes; prints the id",
	.table = clone_table,
	.count = COUNT_OF(clone_table),
	.args_size = sizeof(struct clone_args),
	.operands_min = 1,
	.operands_max = 1,
	.run = run_clone,
};
