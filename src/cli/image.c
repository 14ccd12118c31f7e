// SPDX-License-Identifier: Apache-2.0
/* image.c - `yard image ls|set|rm`: what jobs may be asked to run in. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/cli.h"
#include "cli/people.h"
#include "codec/url.h"

struct ls_args {
	const char *framework, *version, *accelerator, *scope, *use;
	bool json;
};
struct set_args {
	const char *uri, *framework, *version, *accelerator, *python, *os, *runs, *text;
	struct opts_list uses, labels;
	bool own, workspace;
};

/* clang-format off */
#define LS(field) OPT_INTO(struct ls_args, field)
static const struct opt ls_table[] = {
	{ "framework",   'f', OPT_TEXT, LS(framework),   "NAME", "of this framework, such as PyTorch" },
	{ "version",     'v', OPT_TEXT, LS(version),     "VERSION", "of this version of it; latest: only the highest" },
	{ "accelerator", 'a', OPT_TEXT, LS(accelerator), "KIND", "made for CPU, GPU or NPU" },
	{ "scope",       0,   OPT_TEXT, LS(scope),       "SCOPE", "official, workspace or own" },
	{ "use",         0,   OPT_TEXT, LS(use),         "USE", "good for training, inference or develop" },
	{ "json",        0,   OPT_FLAG, LS(json),        NULL, "as JSON" },
};
#define SET(field) OPT_INTO(struct set_args, field)
static const struct opt set_table[] = {
	{ "framework",   'f', OPT_TEXT, SET(framework),   "NAME", "such as PyTorch" },
	{ "version",     'v', OPT_TEXT, SET(version),     "VERSION", "of the framework" },
	{ "accelerator", 'a', OPT_TEXT, SET(accelerator), "KIND", "CPU, GPU or NPU (CPU)" },
	{ "python",      0,   OPT_TEXT, SET(python),      "VERSION", "of Python" },
	{ "os",          0,   OPT_TEXT, SET(os),          "NAME", "the system, such as debian12" },
	{ "runs",        0,   OPT_TEXT, SET(runs),        "WHAT", "host: the machine itself; else a container image (host)" },
	{ "uri",         0,   OPT_TEXT, SET(uri),         "URI", "what else it answers to; made of the rest if not given" },
	{ "use",         0,   OPT_LIST, SET(uses),        "USE", "training, inference or develop; may be given several times" },
	{ "label",       'l', OPT_LIST, SET(labels),      "NAME=TEXT", "whatever else is to be known of it" },
	{ "text",        't', OPT_TEXT, SET(text),        "TEXT", "a description" },
	{ "own",         0,   OPT_FLAG, SET(own),         NULL, "for yourself alone; else it is official, which takes an admin" },
	{ "workspace",   0,   OPT_FLAG, SET(workspace),   NULL, "for all, but not official (for admins)" },
};
/* clang-format on */

static void add_query(struct buf *target, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(target, "%c%s=", strchr(buf_str(target), '?') ? '&' : '?', name);
	url_encode(target, value);
}

static void row(struct table *t, const struct doc_node *n)
{
	static const char *const keys[] = { "version", "accelerator", "python",
					    "scope",   "runs",        "uri" };
	const char *framework = doc_str(n, "framework", "");

	table_cell(t, TABLE_PLAIN, "%s", doc_str(n, "name", ""));
	table_cell(t, TABLE_PLAIN, "%s", *framework ? framework : "-");
	for (size_t i = 0; i < COUNT_OF(keys); i++)
		table_cell(t, TABLE_PLAIN, "%s", doc_str(n, keys[i], ""));
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { "NAME",   "FRAMEWORK", "VERSION", "FOR",
					     "PYTHON", "SCOPE",     "RUNS",    "URI" };
	const struct ls_args *a = args;
	AUTO_BUF struct buf target = { 0 };

	buf_adds(&target, "/images");
	add_query(&target, "framework", a->framework);
	add_query(&target, "version", a->version);
	add_query(&target, "accelerator", a->accelerator);
	add_query(&target, "scope", a->scope);
	add_query(&target, "use", a->use);
	add_query(&target, "q", operands->count ? operands->items[0] : NULL);
	return people_print_list(
		c, &(struct people_list){
			   .target = buf_str(&target),
			   .key = "images",
			   .heads = heads,
			   .head_count = COUNT_OF(heads),
			   .row = row,
			   .none = "no such image; `yard image ls` alone shows all",
			   .json = a->json });
}

static void add_text(struct json *j, const char *key, const char *value)
{
	if (value)
		json_str(j, key, value);
}

static int add_labels(struct json *j, const struct opts_list *labels, struct err *err)
{
	json_object(j, "labels");
	for (size_t i = 0; i < labels->count; i++) {
		const char *sign = strchr(labels->items[i], '=');
		if (!sign || sign == labels->items[i])
			return err_set(err, ERR_INVALID,
				       "--label '%s': NAME=TEXT is wanted",
				       labels->items[i]);
		AUTO_FREE char *key =
			mem_strndup(labels->items[i], (size_t)(sign - labels->items[i]));
		json_str(j, key, sign + 1);
	}
	json_end(j);
	return 0;
}

static int make_body(const struct set_args *a, struct buf *body, struct err *err)
{
	struct json j;

	if (a->own && a->workspace)
		return err_set(err, ERR_INVALID, "--own and --workspace: one of them");
	json_init(&j, body);
	json_object(&j, NULL);
	json_str(&j, "scope", a->own ? "own" : a->workspace ? "workspace" : "official");
	add_text(&j, "uri", a->uri);
	add_text(&j, "framework", a->framework);
	add_text(&j, "version", a->version);
	add_text(&j, "accelerator", a->accelerator);
	add_text(&j, "python", a->python);
	add_text(&j, "os", a->os);
	add_text(&j, "runs", a->runs);
	add_text(&j, "description", a->text);
	if (a->uses.count) {
		json_array(&j, "use");
		for (size_t i = 0; i < a->uses.count; i++)
			json_str(&j, NULL, a->uses.items[i]);
		json_end(&j);
	}
	if (add_labels(&j, &a->labels, err) < 0)
		return -1;
	json_end(&j);
	return 0;
}

static int run_set(struct cli *c, const void *args, const struct opts_list *operands)
{
	AUTO_FREE char *target = people_target("images", operands->items[0], "");
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;

	if (make_body(args, &body, &err) < 0)
		return cli_fail(c, &err);
	struct request r = {
		.method = "PUT", .target = target, .body = body.data, .body_len = body.len
	};
	if (client_call(c->client, &r, &answer, &err) < 0)
		return cli_fail(c, &err);
	cli_hint(c, "jobs may name it %s, or %s", operands->items[0],
		 doc_str(doc_root(answer.doc), "uri", ""));
	return 0;
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	(void)args;
	return people_remove(c, "images", operands);
}

const struct command cmd_image_ls = {
	.name = "image ls",
	.group = COMMAND_YARD,
	.operands = "[TEXT]",
	.summary = "list the images that jobs may name",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.starts = true,
	.operands_max = 1,
	.run = run_ls,
};

const struct command cmd_image_set = {
	.name = "image set",
	.group = COMMAND_YARD,
	.operands = "NAME",
	.summary = "make or replace an entry of the catalogue of images",
	.table = set_table,
	.count = COUNT_OF(set_table),
	.args_size = sizeof(struct set_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = 1,
	.run = run_set,
};

const struct command cmd_image_rm = {
	.name = "image rm",
	.group = COMMAND_YARD,
	.operands = "NAME...",
	.summary = "remove entries of the catalogue of images",
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
