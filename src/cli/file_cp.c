// SPDX-License-Identifier: Apache-2.0
/* file_cp.c - `yard cp`: files and folders to the yard, from it, and inside it.
 *
 * Where a copy ends up does not depend on whether an earlier one got there: a folder's copy
 * has the name it is given, or goes inside when that is written as a folder ("data/", ".").
 * So the same command, after a kill, goes on; it never makes a copy inside the copy.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "cli/bar.h"
#include "cli/file_read.h"
#include "cli/file_walk.h"
#include "cli/part.h"
#include "cli/plain.h"

#define PARALLEL 8

struct cp_args {
	bool recursive, checksum, dry_run, merge, progress, quiet, json;
	int64_t parallel;
};

/* clang-format off */
static const struct opt cp_table[] = {
	{ "recursive", 'r', OPT_FLAG, OPT_INTO(struct cp_args, recursive), NULL, "folders with all that is in them; links that lead out of one are left out, others are followed" },
	{ "checksum", 'c', OPT_FLAG, OPT_INTO(struct cp_args, checksum), NULL, "compare what is there by content, not by size and time" },
	{ "merge", 0, OPT_FLAG, OPT_INTO(struct cp_args, merge), NULL, "put what is in SOURCE beside what is in a folder TARGET of another name" },
	{ "jobs", 'j', OPT_INT, OPT_INTO(struct cp_args, parallel), "N", "connections at a time; 8 unless said", 1, 64 },
	{ "dry-run", 'n', OPT_FLAG, OPT_INTO(struct cp_args, dry_run), NULL, "only list what would be copied" },
	{ "progress", 'p', OPT_FLAG, OPT_INTO(struct cp_args, progress), NULL, "tell how far it is, also where there is no terminal" },
	{ "quiet", 'q', OPT_FLAG, OPT_INTO(struct cp_args, quiet), NULL, "say nothing but what failed" },
	{ "json", 0, OPT_FLAG, OPT_INTO(struct cp_args, json), NULL, "a summary as JSON" },
};
/* clang-format on */

struct copy {
	struct cli *cli;
	const struct cp_args *args;
	struct place to;
	bool inside; /* sources go into `to`, by their own names */
	struct walk walk;
};

static int stat_place(struct copy *k, const struct place *p, struct file_info *out,
		      struct err *err)
{
	int rc = p->kind == PLACE_YARD ? file_stat_yard(k->cli->client, p->path, out, err)
				       : file_stat_local(p->path, out, err);
	AUTO_BUF struct buf name = { 0 };

	place_show(p->kind, p->path, &name);
	return rc < 0 ? err_wrap(err, "%s", buf_str(&name)) : 0;
}

/* The name that a source has in a folder it is copied into; the caller frees. */
static char *own_name(const struct place *p, const struct file_info *i)
{
	if (*place_base(p->path))
		return mem_strdup(place_base(p->path));
	if (p->kind == PLACE_YARD)
		return mem_strdup(place_base(i->name ? i->name : ""));
	AUTO_FREE char *real = realpath(*p->path ? p->path : ".", NULL);
	return mem_strdup(real ? place_base(real) : "");
}

/* The folder `to` has another name than what is to become it, and holds things that are not
 * in it: most likely the copy was meant to go inside. */
static int check_merge(struct copy *k, const struct place *from, const char *name,
		       struct err *err)
{
	AUTO_LIST struct file_list inside = { 0 }, others = { 0 };
	AUTO_INFO struct file_info to = { 0 };
	struct client *c = k->cli->client;

	if (k->args->merge || str_eq(name, place_base(k->to.path)))
		return 0;
	if (stat_place(k, &k->to, &to, err) < 0)
		return -1;
	if (to.kind != FILE_FOLDER)
		return 0;
	if ((k->to.kind == PLACE_YARD
		     ? file_list_yard(c, k->to.path, &others, err)
		     : file_list_local(k->to.path, "/", &others, err)) < 0 ||
	    (from->kind == PLACE_YARD
		     ? file_list_yard(c, from->path, &inside, err)
		     : file_list_local(from->path, "/", &inside, err)) < 0)
		return -1;
	for (size_t i = 0; i < others.count; i++) {
		if (file_list_find(&inside, others.items[i].name) ||
		    part_is_partial(others.items[i].name))
			continue;
		AUTO_BUF struct buf shown = { 0 };
		place_show(k->to.kind, k->to.path, &shown);
		return err_set(
			err, ERR_CONFLICT,
			"%s is there already, with other things in it (%s): to copy "
			"into it say %s/, to add to what is in it say --merge",
			buf_str(&shown), others.items[i].name, buf_str(&shown));
	}
	return 0;
}

static int make_parents(const char *path, struct err *err)
{
	AUTO_FREE char *at = mem_strdup(path);

	for (char *slash = strchr(at + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(at, 0777) < 0 && errno != EEXIST && errno != EISDIR)
			return err_sys(err, "make the folder %s", at);
		*slash = '/';
	}
	return 0;
}

static int copy_folder(struct copy *k, const struct place *from, const char *name,
		       struct err *err)
{
	AUTO_FREE char *to =
		k->inside ? place_join(k->to.path, name) : mem_strdup(k->to.path);

	if (!k->args->recursive)
		return err_set(err, ERR_INVALID, "it is a folder: -r copies it");
	if (k->inside && !*name)
		return err_set(err, ERR_INVALID, "it has no name of its own: give one");
	if (!k->inside && check_merge(k, from, name, err) < 0)
		return -1;
	if (k->to.kind == PLACE_LOCAL && !k->args->dry_run && make_parents(to, err) < 0)
		return -1;
	walk_tree(&k->walk, from->path, to);
	return 0;
}

static int copy_file(struct copy *k, const struct place *from, const char *name,
		     const struct file_info *what, struct err *err)
{
	AUTO_INFO struct file_info there = { 0 };
	struct place to = { k->to.kind, mem_strdup(k->to.path), false };
	bool inside = k->inside;
	int rc = inside ? 0 : stat_place(k, &to, &there, err);

	if (rc == 0 && there.kind == FILE_FOLDER)
		inside = true;
	if (rc == 0 && inside) {
		free(to.path);
		to.path = place_join(k->to.path, name);
		file_info_fini(&there);
		rc = stat_place(k, &to, &there, err);
	}
	if (rc == 0 && to.kind == PLACE_LOCAL && !k->args->dry_run)
		rc = make_parents(to.path, err);
	if (rc == 0)
		walk_file(&k->walk, from->path, to.path, what, &there);
	place_fini(&to);
	return rc;
}

/* -1 with err: this source cannot be copied. */
static int copy_source(struct copy *k, const char *operand, struct err *err)
{
	AUTO_PLACE struct place from = { 0 };
	AUTO_INFO struct file_info what = { 0 };

	place_read(&from, operand);
	if (from.kind == PLACE_STREAM)
		return err_set(err, ERR_INVALID, "stdin is copied alone");
	if (from.kind == PLACE_LOCAL && k->to.kind == PLACE_LOCAL)
		return err_set(
			err, ERR_INVALID,
			"neither this nor the target is in the yard: yard:PATH is");
	if (stat_place(k, &from, &what, err) < 0)
		return -1;
	AUTO_FREE char *name = own_name(&from, &what);
	k->walk.from = from.kind;
	switch (what.kind) {
	case FILE_FOLDER:
		return copy_folder(k, &from, name, err);
	case FILE_PLAIN:
		return copy_file(k, &from, name, &what, err);
	case FILE_NONE:
		return err_set(err, ERR_NOT_FOUND, "there is no such file or folder");
	case FILE_LINK:
	case FILE_OTHER:
		break;
	}
	return err_set(err, ERR_INVALID, "it is neither a file nor a folder");
}

static void tell_json(const struct haul_sum *s)
{
	AUTO_BUF struct buf out = { 0 };
	struct json j;

	json_init(&j, &out);
	json_object(&j, NULL);
	json_i64(&j, "files", s->files);
	json_i64(&j, "bytes", s->bytes);
	json_i64(&j, "there_already", s->there);
	json_i64(&j, "left_out", s->skipped);
	json_i64(&j, "failed", s->failed);
	json_i64(&j, "took_ms", s->ms);
	json_end(&j);
	cli_print_json(&out);
}

/* "787 files, 94 MiB in 2s; 9,213 were there already; 1 was left out" */
static void tell(const struct cli *c, const struct haul_sum *s)
{
	AUTO_BUF struct buf out = { 0 };
	char bytes[UNITS_TEXT_MAX], time[UNITS_TEXT_MAX];
	const struct {
		int64_t count;
		const char *one, *many;
	} rest[] = { { s->there, "was there already", "were there already" },
		     { s->skipped, "was left out", "were left out" },
		     { s->failed, "failed", "failed" } };

	bar_files(s->files, &out);
	buf_printf(&out, ", %s in %s", units_show_bytes(s->bytes, bytes),
		   units_show_duration(s->ms, time));
	for (size_t i = 0; i < COUNT_OF(rest); i++) {
		if (!rest[i].count)
			continue;
		buf_adds(&out, "; ");
		bar_count(rest[i].count, &out);
		buf_printf(&out, " %s", rest[i].count == 1 ? rest[i].one : rest[i].many);
	}
	cli_say(c, "%s", buf_str(&out));
}

static int copy_all(struct copy *k, const struct opts_list *operands)
{
	const struct cp_args *a = k->args;
	const struct haul_options o = {
		.parallel = a->parallel ? (int)a->parallel : PARALLEL,
		.show = a->progress              ? HAUL_ALWAYS
			: a->quiet || a->dry_run ? HAUL_QUIET
						 : HAUL_AUTO,
		.again = "the same command again goes on from here"
	};
	struct haul_sum sum;
	struct err err;

	k->walk.haul = haul_create(k->cli, &o);
	for (size_t i = 0; i + 1 < operands->count && !haul_dead(k->walk.haul); i++)
		if (copy_source(k, operands->items[i], &err) < 0)
			haul_fail(k->walk.haul, operands->items[i], &err);
	int rc = haul_finish(k->walk.haul, &sum, &err);
	int code = rc < 0 ? cli_fail(k->cli, &err) : sum.failed ? 1 : 0;
	if (rc < 0)
		cli_hint(k->cli, "%s", o.again);
	if (a->json)
		tell_json(&sum);
	else if (a->progress || (isatty(STDERR_FILENO) && !a->quiet && !a->dry_run))
		tell(k->cli, &sum);
	return code;
}

static void would_copy(void *arg, const struct haul_file *f)
{
	const struct copy *k = arg;
	AUTO_BUF struct buf out = { 0 };

	place_show(k->walk.from, f->from, &out);
	buf_adds(&out, " -> ");
	place_show(k->to.kind, f->to, &out);
	AUTO_FREE char *text = buf_take(&out);
	if (isatty(STDOUT_FILENO))
		plain_text(text, "");
	buf_adds(&out, text);
	buf_addc(&out, '\n');
	cli_print(&out);
}

static int run_cp(struct cli *c, const void *args, const struct opts_list *operands)
{
	struct copy k = { .cli = c, .args = args };
	const char *first = operands->items[0],
		   *last = operands->items[operands->count - 1];
	struct err err;
	int code;

	place_read(&k.to, last);
	if (k.to.kind == PLACE_STREAM) {
		code = file_cat(c, operands->items, operands->count - 1, NULL);
	} else if (operands->count == 2 && str_eq(first, "-")) {
		code = k.to.kind == PLACE_YARD && !k.to.inside
			       ? file_put_stdin(c, k.to.path, &err)
			       : err_set(&err, ERR_INVALID,
					 "%s: stdin goes to a file of the yard, yard:PATH",
					 last);
		code = code < 0 ? cli_fail(c, &err) : 0;
	} else {
		k.inside = k.to.inside || operands->count > 2;
		k.walk = (struct walk){ .cli = c,
					.to = k.to.kind,
					.checksum = k.args->checksum,
					.would = k.args->dry_run ? would_copy : NULL,
					.arg = &k };
		code = copy_all(&k, operands);
	}
	place_fini(&k.to);
	return code;
}

#define CP_COMMAND(called)                                                               \
	{                                                                                \
		.name = called, .group = COMMAND_FILES, .operands = "SOURCE... TARGET",  \
		.summary = "copy files to the yard's storage (yard:PATH), from it or "   \
			   "inside it; started again, it goes on",                       \
		.table = cp_table, .count = COUNT_OF(cp_table),                          \
		.args_size = sizeof(struct cp_args), .starts = true, .operands_min = 2,  \
		.operands_max = SIZE_MAX, .run = run_cp,                                 \
	}

const struct command cmd_cp = CP_COMMAND("cp");
const struct command cmd_file_cp = CP_COMMAND("file cp");
