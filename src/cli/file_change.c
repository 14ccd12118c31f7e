// SPDX-License-Identifier: Apache-2.0
/* file_change.c - `yard file mkdir`, `mv` and `rm`: the names in the yard's storage. */
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/ask.h"
#include "cli/bar.h"
#include "cli/cli.h"
#include "cli/file_info.h"
#include "cli/file_place.h"
#include "cli/plain.h"

static int post(struct cli *c, const char *target, const struct buf *body,
		struct err *err)
{
	AUTO_ANSWER struct answer a = { 0 };
	struct request r = { .method = "POST",
			     .target = target,
			     .body = buf_str(body),
			     .body_len = body->len };

	return client_call(c->client, &r, &a, err);
}

struct mkdir_args {
	bool parents;
};

/* clang-format off */
static const struct opt mkdir_table[] = {
	{ "parents", 'p', OPT_FLAG, OPT_INTO(struct mkdir_args, parents), NULL, "with the folders above it; fine when it is there" },
};
/* clang-format on */

static int run_mkdir(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct mkdir_args *a = args;
	int code = 0;

	for (size_t i = 0; i < operands->count; i++) {
		AUTO_PLACE struct place p = { 0 };
		AUTO_BUF struct buf body = { 0 };
		struct err err;
		struct json j;
		place_read_yard(&p, operands->items[i]);
		json_init(&j, &body);
		json_object(&j, NULL);
		json_str(&j, "path", p.path);
		json_bool(&j, "parents", a->parents);
		json_end(&j);
		if (post(c, "/files/folders", &body, &err) < 0)
			code = cli_fail(c, &err);
	}
	return code;
}

struct mv_args {
	bool force;
};

/* clang-format off */
static const struct opt mv_table[] = {
	{ "force", 'f', OPT_FLAG, OPT_INTO(struct mv_args, force), NULL, "replace a file that is there" },
};
/* clang-format on */

static int move_one(struct cli *c, const char *operand, const struct place *to,
		    bool inside, bool replace)
{
	AUTO_PLACE struct place from = { 0 };
	AUTO_BUF struct buf body = { 0 };
	struct err err;
	struct json j;

	place_read_yard(&from, operand);
	AUTO_FREE char *target = inside ? place_join(to->path, place_base(from.path))
					: mem_strdup(to->path);
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "from", from.path);
	json_str(&j, "to", target);
	json_bool(&j, "replace", replace);
	json_end(&j);
	return post(c, "/files/move", &body, &err) < 0 ? cli_fail(c, &err) : 0;
}

static int run_mv(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct mv_args *a = args;
	size_t last = operands->count - 1;
	AUTO_PLACE struct place to = { 0 };
	AUTO_INFO struct file_info there = { 0 };
	struct err err;
	int code = 0;

	place_read_yard(&to, operands->items[last]);
	if (file_stat_yard(c->client, to.path, &there, &err) < 0)
		return cli_fail(c, &err);
	bool inside = to.inside || there.kind == FILE_FOLDER;
	if (last > 1 && there.kind != FILE_FOLDER) {
		err_set(&err, ERR_INVALID,
			"%s is no folder: several can only be moved into one",
			operands->items[last]);
		return cli_fail(c, &err);
	}
	for (size_t i = 0; i < last; i++) {
		int rc = move_one(c, operands->items[i], &to, inside, a->force);
		code = rc ? rc : code;
	}
	return code;
}

struct rm_args {
	bool recursive, yes;
};

/* clang-format off */
static const struct opt rm_table[] = {
	{ "recursive", 'r', OPT_FLAG, OPT_INTO(struct rm_args, recursive), NULL, "folders with all that is in them; asks first on a terminal" },
	{ "yes", 'y', OPT_FLAG, OPT_INTO(struct rm_args, yes), NULL, "do not ask" },
};
/* clang-format on */

/* 1: go on; 0: no; -1 with err. */
static int ask_about(struct cli *c, const struct place *p, struct err *err)
{
	AUTO_FREE char *target = place_target("/files/usage", p->path);
	AUTO_ANSWER struct answer a = { 0 };
	AUTO_BUF struct buf files = { 0 };
	AUTO_INFO struct file_info what = { 0 };
	char bytes[UNITS_TEXT_MAX];

	if (file_stat_yard(c->client, p->path, &what, err) < 0)
		return -1;
	if (what.kind != FILE_FOLDER) /* one name, as without -r */
		return 1;
	if (cli_get(c, &a, err, "%s", target) < 0)
		return -1;
	bar_files(doc_i64(doc_root(a.doc), "files", 0), &files);
	AUTO_FREE char *question =
		str_printf("remove yard:%s with all that is in it (%s, %s)? (yes/no)",
			   p->path, buf_str(&files),
			   units_show_bytes(doc_i64(doc_root(a.doc), "bytes", 0), bytes));
	plain_text(question, "");
	return ask_yes(question, err);
}

static int remove_one(struct cli *c, const char *operand, const struct rm_args *a)
{
	AUTO_PLACE struct place p = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	struct err err;
	int go = 1;

	place_read_yard(&p, operand);
	if (a->recursive && !a->yes && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		go = ask_about(c, &p, &err);
	if (go < 0)
		return cli_fail(c, &err);
	if (go == 0) {
		cli_say(c, "yard:%s stays", p.path);
		return 1;
	}
	AUTO_FREE char *plain = place_target("/files", p.path);
	AUTO_FREE char *target =
		str_printf("%s%s", plain, a->recursive ? "&recursive=true" : "");
	struct request r = { .method = "DELETE", .target = target };
	return client_call(c->client, &r, &answer, &err) < 0 ? cli_fail(c, &err) : 0;
}

static int run_rm(struct cli *c, const void *args, const struct opts_list *operands)
{
	int code = 0;

	for (size_t i = 0; i < operands->count; i++) {
		int rc = remove_one(c, operands->items[i], args);
		code = rc ? rc : code;
	}
	return code;
}

const struct command cmd_file_mkdir = {
	.name = "file mkdir",
	.group = COMMAND_FILES,
	.operands = "PATH...",
	.summary = "make folders in the yard's storage",
	.table = mkdir_table,
	.count = COUNT_OF(mkdir_table),
	.args_size = sizeof(struct mkdir_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_mkdir,
};

const struct command cmd_file_mv = {
	.name = "file mv",
	.group = COMMAND_FILES,
	.operands = "SOURCE... TARGET",
	.summary =
		"move or rename inside the yard's storage; `yard cp` brings files in and out",
	.table = mv_table,
	.count = COUNT_OF(mv_table),
	.args_size = sizeof(struct mv_args),
	.starts = true,
	.operands_min = 2,
	.operands_max = SIZE_MAX,
	.run = run_mv,
};

const struct command cmd_file_rm = {
	.name = "file rm",
	.group = COMMAND_FILES,
	.operands = "PATH...",
	.summary = "remove files from the yard's storage",
	.table = rm_table,
	.count = COUNT_OF(rm_table),
	.args_size = sizeof(struct rm_args),
	.starts = true,
	.operands_min = 1,
	.operands_max = SIZE_MAX,
	.run = run_rm,
};
