// SPDX-License-Identifier: Apache-2.0
/* file_ls.c - `yard file ls` and `du`: what lies in the yard's storage, and how much. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/bar.h"
#include "cli/file_info.h"
#include "cli/file_place.h"
#include "cli/plain.h"
#include "cli/view.h"

struct ls_args {
	bool all_columns, bytes, reverse, json;
	int64_t sort;
};

enum ls_sort { BY_NAME, BY_SIZE, BY_TIME };

/* clang-format off */
static const struct opt ls_table[] = {
	{ "long", 'l', OPT_FLAG, OPT_INTO(struct ls_args, all_columns), NULL, "sizes and times too" },
	{ "bytes", 'b', OPT_FLAG, OPT_INTO(struct ls_args, bytes), NULL, "sizes in bytes" },
	{ "sort", 's', OPT_CHOICE, OPT_INTO(struct ls_args, sort), "name|size|time", "the largest or newest first; by name unless said" },
	{ "reverse", 0, OPT_FLAG, OPT_INTO(struct ls_args, reverse), NULL, "the other way round" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct ls_args, json), NULL, "as JSON" },
};
/* clang-format on */

static int by_size(const void *a, const void *b)
{
	const struct file_info *x = a, *y = b;

	if (x->size != y->size)
		return x->size < y->size ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int by_time(const void *a, const void *b)
{
	const struct file_info *x = a, *y = b;

	if (x->modified_ms != y->modified_ms)
		return x->modified_ms < y->modified_ms ? 1 : -1;
	return strcmp(x->name, y->name);
}

static void sort_list(struct file_list *l, const struct ls_args *a)
{
	if (l->count && a->sort != BY_NAME)
		qsort(l->items, l->count, sizeof *l->items,
		      a->sort == BY_SIZE ? by_size : by_time);
	for (size_t i = 0; a->reverse && i < l->count / 2; i++) {
		struct file_info other = l->items[i];
		l->items[i] = l->items[l->count - 1 - i];
		l->items[l->count - 1 - i] = other;
	}
}

static const char *mark(enum file_kind kind)
{
	return kind == FILE_FOLDER ? "/" : kind == FILE_LINK ? "@" : "";
}

/* To a terminal made harmless, to a pipe as it is. */
static char *shown_name(const char *name)
{
	char *text = mem_strdup(name);

	if (isatty(STDOUT_FILENO))
		plain_text(text, "");
	return text;
}

static const char *show_local_time(int64_t ms, char out[UNITS_TEXT_MAX])
{
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(out, UNITS_TEXT_MAX, "%Y-%m-%d %H:%M", &tm);
	return out;
}

static void print_long(const struct cli *c, const struct file_list *l, bool bytes)
{
	static const char *const heads[] = { ">SIZE", "MODIFIED", "NAME" };
	struct table *t = table_create(heads, COUNT_OF(heads));
	char text[UNITS_TEXT_MAX];

	for (size_t i = 0; i < l->count; i++) {
		const struct file_info *f = &l->items[i];
		AUTO_FREE char *name = shown_name(f->name);
		if (f->kind == FILE_FOLDER)
			table_cell(t, TABLE_DIM, "-");
		else if (bytes)
			table_cell(t, TABLE_PLAIN, "%" PRId64, f->size);
		else
			table_cell(t, TABLE_PLAIN, "%s", units_show_bytes(f->size, text));
		table_cell(t, TABLE_DIM, "%s", show_local_time(f->modified_ms, text));
		table_cell(t,
			   f->kind == FILE_FOLDER ? TABLE_BUSY
			   : f->executable        ? TABLE_GOOD
						  : TABLE_PLAIN,
			   "%s%s", name, mark(f->kind));
	}
	view_print(c, t);
	table_destroy(t);
}

static void print_names(const struct file_list *l)
{
	AUTO_BUF struct buf out = { 0 };

	for (size_t i = 0; i < l->count; i++) {
		AUTO_FREE char *name = shown_name(l->items[i].name);
		buf_printf(&out, "%s%s\n", name, mark(l->items[i].kind));
	}
	cli_print(&out);
}

static void print_json(const struct file_list *l, struct json *j)
{
	static const char *const words[] = { [FILE_PLAIN] = "file",
					     [FILE_FOLDER] = "folder",
					     [FILE_LINK] = "link",
					     [FILE_OTHER] = "other" };

	json_array(j, "entries");
	for (size_t i = 0; i < l->count; i++) {
		const struct file_info *f = &l->items[i];
		json_object(j, NULL);
		json_str(j, "name", f->name);
		json_str(j, "kind", words[f->kind]);
		json_i64(j, "size", f->size);
		json_i64(j, "modified_ms", f->modified_ms);
		json_bool(j, "executable", f->executable);
		json_end(j);
	}
	json_end(j);
}

/* A folder's entries; of a file just itself. */
static int read_place(struct cli *c, const struct place *p, struct file_list *out,
		      struct err *err)
{
	AUTO_INFO struct file_info what = { 0 };

	if (file_stat_yard(c->client, p->path, &what, err) < 0)
		return -1;
	if (what.kind == FILE_NONE)
		return err_set(err, ERR_NOT_FOUND,
			       "yard:%s: there is no such file or folder", p->path);
	if (what.kind == FILE_FOLDER)
		return file_list_yard(c->client, p->path, out, err);
	out->items = mem_alloc(1, sizeof *out->items);
	out->count = out->cap = 1;
	out->items[0] = what;
	out->items[0].name = mem_strdup(p->path);
	out->items[0].etag = NULL;
	return 0;
}

static int list_one(struct cli *c, const char *operand, const struct ls_args *a,
		    struct json *j)
{
	AUTO_PLACE struct place p = { 0 };
	AUTO_LIST struct file_list list = { 0 };
	struct err err;

	place_read_yard(&p, operand);
	if (read_place(c, &p, &list, &err) < 0)
		return cli_fail(c, &err);
	sort_list(&list, a);
	if (j) {
		json_object(j, NULL);
		json_str(j, "path", p.path);
		print_json(&list, j);
		json_end(j);
	} else if (a->all_columns && list.count) {
		print_long(c, &list, a->bytes);
	} else {
		print_names(&list);
	}
	return 0;
}

static int run_ls(struct cli *c, const void *args, const struct opts_list *operands)
{
	const struct ls_args *a = args;
	AUTO_BUF struct buf out = { 0 };
	struct json j;
	int code = 0;

	json_init(&j, &out);
	if (a->json)
		json_array(&j, NULL);
	for (size_t i = 0; i < operands->count || i == 0; i++) {
		const char *what = operands->count ? operands->items[i] : "yard:";
		if (operands->count > 1 && !a->json) {
			AUTO_BUF struct buf head = { 0 };
			AUTO_FREE char *name = shown_name(what);
			buf_printf(&head, "%s%s:\n", i ? "\n" : "", name);
			cli_print(&head);
		}
		int rc = list_one(c, what, a, a->json ? &j : NULL);
		code = rc ? rc : code;
	}
	if (a->json) {
		json_end(&j);
		cli_print_json(&out);
	}
	return code;
}

struct du_args {
	bool bytes, json;
};

/* clang-format off */
static const struct opt du_table[] = {
	{ "bytes", 'b', OPT_FLAG, OPT_INTO(struct du_args, bytes), NULL, "sizes in bytes" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct du_args, json), NULL, "as JSON" },
};
/* clang-format on */

static void size_cell(struct table *t, const struct doc_node *map, const char *key,
		      bool bytes)
{
	const struct doc_node *n = doc_get(map, key);
	char text[UNITS_TEXT_MAX];
	int64_t value;

	if (!n || doc_whole(n, 0, INT64_MAX, &value) < 0)
		table_cell(t, TABLE_DIM, "-");
	else if (bytes)
		table_cell(t, TABLE_PLAIN, "%" PRId64, value);
	else
		table_cell(t, TABLE_PLAIN, "%s", units_show_bytes(value, text));
}

static int measure(struct cli *c, const char *operand, const struct du_args *a,
		   struct table *t)
{
	AUTO_PLACE struct place p = { 0 };
	AUTO_ANSWER struct answer answer = { 0 };
	AUTO_BUF struct buf files = { 0 };
	struct err err;

	place_read_yard(&p, operand);
	AUTO_FREE char *target = place_target("/files/usage", p.path);
	if (cli_get(c, &answer, &err, "%s", target) < 0)
		return cli_fail(c, &err);
	if (a->json) {
		cli_print_json(&answer.body);
		return 0;
	}
	const struct doc_node *map = doc_root(answer.doc);
	AUTO_FREE char *name = shown_name(p.path);
	size_cell(t, map, "bytes", a->bytes);
	bar_count(doc_i64(map, "files", 0), &files);
	table_cell(t, TABLE_PLAIN, "%s", buf_str(&files));
	size_cell(t, map, "quota_bytes", a->bytes);
	size_cell(t, map, "free_bytes", a->bytes);
	table_cell(t, TABLE_PLAIN, "yard:%s", name);
	return 0;
}

static int run_du(struct cli *c, const void *args, const struct opts_list *operands)
{
	static const char *const heads[] = { ">USED", ">FILES", ">QUOTA", ">FREE",
					     "PATH" };
	const struct du_args *a = args;
	struct table *t = table_create(heads, COUNT_OF(heads));
	int code = 0, good = 0;

	for (size_t i = 0; i < operands->count || i == 0; i++) {
		int rc = measure(c, operands->count ? operands->items[i] : "yard:", a, t);
		code = rc ? rc : code;
		good += !rc;
	}
	if (good && !a->json)
		view_print(c, t);
	table_destroy(t);
	return code;
}

const struct command cmd_file_ls = {
	.name = "file ls",
	.group = COMMAND_FILES,
	.operands = "[PATH...]",
	.summary =
		"list a folder of the yard's storage: your home there, or what a path names",
	.table = ls_table,
	.count = COUNT_OF(ls_table),
	.args_size = sizeof(struct ls_args),
	.starts = true,
	.operands_max = SIZE_MAX,
	.run = run_ls,
};

const struct command cmd_file_du = {
	.name = "file du",
	.group = COMMAND_FILES,
	.operands = "[PATH...]",
	.summary =
		"tell how much lies in a folder of the yard's storage, and how much more may",
	.table = du_table,
	.count = COUNT_OF(du_table),
	.args_size = sizeof(struct du_args),
	.starts = true,
	.operands_max = SIZE_MAX,
	.run = run_du,
};
