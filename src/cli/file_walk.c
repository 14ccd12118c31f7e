// SPDX-License-Identifier: Apache-2.0
#include "cli/file_walk.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/part.h"

#define NOBODY SIZE_MAX

struct folder {
	char *from, *to;
	bool there;    /* at the other end */
	size_t parent; /* in the list; NOBODY: the top */
	uint64_t node; /* local: which folder it is, by whatever way we came */
};

struct tree {
	struct walk *walk;
	char *root; /* local: the real path of the top */
	struct folder *folders;
	size_t count, cap;
};

static char *shown(enum place_kind kind, const char *path)
{
	struct buf out = { 0 };

	place_show(kind, path, &out);
	return buf_take(&out);
}

static void fail(struct walk *w, const char *path, const struct err *err)
{
	AUTO_FREE char *name = shown(w->from, path);

	haul_fail(w->haul, name, err);
}

static void skip(struct walk *w, const char *path, const char *why)
{
	AUTO_FREE char *name = shown(w->from, path);

	haul_skip(w->haul, name, why);
}

static enum haul_way way_of(const struct walk *w)
{
	if (w->from == PLACE_LOCAL)
		return HAUL_PUT;
	return w->to == PLACE_LOCAL ? HAUL_GET : HAUL_RELAY;
}

/* A query can name anything, JSON what is UTF-8. */
static bool is_utf8(const char *text)
{
	size_t len = strlen(text), n;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_sequence(text + i, len - i);
		if (n == 0)
			return false;
	}
	return true;
}

void walk_file(struct walk *w, const char *from, const char *to,
	       const struct file_info *what, const struct file_info *there)
{
	struct err err;

	if (there->kind == FILE_FOLDER) {
		err_set(&err, ERR_CONFLICT, "a folder is in its place");
		fail(w, from, &err);
		return;
	}
	if (w->to == PLACE_YARD && what->size > PART_BYTES && !is_utf8(to)) {
		err_set(&err, ERR_INVALID,
			"its name is not UTF-8, and it is large: rename it");
		fail(w, from, &err);
		return;
	}
	bool sized = there->kind == FILE_PLAIN && there->size == what->size;
	if (!w->checksum && file_info_same(what, there)) {
		haul_there(w->haul, 1);
		return;
	}
	struct haul_file f = { .way = way_of(w),
			       .from = mem_strdup(from),
			       .to = mem_strdup(to),
			       .size = what->size,
			       .modified_ms = what->modified_ms,
			       .executable = what->executable,
			       .compare = w->checksum && sized };
	if (!w->would) {
		haul_add(w->haul, &f);
		return;
	}
	w->would(w->arg, &f);
	free(f.from);
	free(f.to);
}

static int list(struct walk *w, enum place_kind kind, const char *path, const char *root,
		struct file_list *out, struct err *err)
{
	return kind == PLACE_YARD ? file_list_yard(w->cli->client, path, out, err)
				  : file_list_local(path, root, out, err);
}

static int make_folder(struct walk *w, const char *path, struct err *err)
{
	AUTO_BUF struct buf body = { 0 };
	AUTO_ANSWER struct answer a = { 0 };
	struct json j;

	if (w->to == PLACE_LOCAL)
		return mkdir(path, 0777) < 0 && errno != EEXIST
			       ? err_sys(err, "make the folder %s", path)
			       : 0;
	if (!is_utf8(path))
		return err_set(err, ERR_INVALID,
			       "its name is not UTF-8, and it has no files: rename it");
	json_init(&j, &body);
	json_object(&j, NULL);
	json_str(&j, "path", path);
	json_bool(&j, "parents", true);
	json_end(&j);
	struct request r = { .method = "POST",
			     .target = "/files/folders",
			     .body = buf_str(&body),
			     .body_len = body.len };
	return client_call(w->cli->client, &r, &a, err);
}

/* A link may lead to a folder that it is itself in. */
static bool goes_round(const struct tree *t, size_t at, uint64_t node)
{
	for (; at != NOBODY; at = t->folders[at].parent)
		if (t->folders[at].node == node)
			return true;
	return false;
}

static void add_folder(struct tree *t, const struct folder *f)
{
	mem_grow(&t->folders, &t->cap, t->count, sizeof *t->folders);
	t->folders[t->count++] = *f;
}

static void enter(struct tree *t, size_t at, const struct file_info *what,
		  const struct file_info *there)
{
	struct walk *w = t->walk;
	AUTO_FREE char *from = place_join(t->folders[at].from, what->name);
	struct err err;

	if (what->link && goes_round(t, at, what->node)) {
		skip(w, from, "left out: a link to a folder that it lies in");
		return;
	}
	if (there->kind != FILE_NONE && there->kind != FILE_FOLDER) {
		err_set(&err, ERR_CONFLICT, "a file is in its place");
		fail(w, from, &err);
		return;
	}
	struct folder f = { .from = TAKE(from),
			    .to = place_join(t->folders[at].to, what->name),
			    .there = there->kind == FILE_FOLDER,
			    .parent = at,
			    .node = what->node };
	add_folder(t, &f);
}

/* A listing of the yard tells that it is a link, a question where it leads to.  Links here
 * were followed before: what is still one leads outside. */
static void look_at_link(struct walk *w, const char *from, const char *to,
			 const struct file_info *there)
{
	AUTO_INFO struct file_info what = { .kind = FILE_LINK };
	struct err ignored;

	if (w->from == PLACE_YARD &&
	    file_stat_yard(w->cli->client, from, &what, &ignored) < 0)
		what.kind = FILE_LINK;
	if (what.kind == FILE_PLAIN)
		walk_file(w, from, to, &what, there);
	else if (what.kind == FILE_FOLDER)
		skip(w, from, "left out: a link to a folder");
	else
		skip(w, from, "left out: a link that leads outside, or nowhere");
}

static void look_at(struct tree *t, size_t at, const struct file_info *what,
		    const struct file_list *others)
{
	static const struct file_info nothing = { .kind = FILE_NONE };
	const struct file_info *there = file_list_find(others, what->name);
	AUTO_FREE char *from = place_join(t->folders[at].from, what->name);
	AUTO_FREE char *to = place_join(t->folders[at].to, what->name);

	there = there ? there : &nothing;
	switch (what->kind) {
	case FILE_FOLDER:
		enter(t, at, what, there);
		break;
	case FILE_PLAIN:
		if (part_is_partial(what->name))
			skip(t->walk, from, "left out: an unfinished download");
		else
			walk_file(t->walk, from, to, what, there);
		break;
	case FILE_LINK:
		look_at_link(t->walk, from, to, there);
		break;
	case FILE_OTHER:
	case FILE_NONE:
		skip(t->walk, from, "left out: neither a file nor a folder");
		break;
	}
}

/* Whether the other end must be told of it: files bring their folders with them. */
static bool needs_making(const struct walk *w, const struct folder *f,
			 const struct file_list *inside)
{
	if (f->there || w->would)
		return false;
	if (w->to == PLACE_LOCAL)
		return true;
	for (size_t i = 0; i < inside->count; i++)
		if (inside->items[i].kind == FILE_PLAIN)
			return false;
	return true;
}

static void visit(struct tree *t, size_t at)
{
	struct walk *w = t->walk;
	struct folder f = t->folders[at]; /* the list may move */
	AUTO_LIST struct file_list inside = { 0 }, others = { 0 };
	struct err err;

	if (list(w, w->from, f.from, t->root, &inside, &err) < 0 ||
	    (f.there && list(w, w->to, f.to, "/", &others, &err) < 0)) {
		fail(w, f.from, &err);
		return;
	}
	if (needs_making(w, &f, &inside) && make_folder(w, f.to, &err) < 0) {
		fail(w, f.from, &err);
		return;
	}
	for (size_t i = 0; i < inside.count && !haul_dead(w->haul); i++)
		look_at(t, at, &inside.items[i], &others);
}

void walk_tree(struct walk *w, const char *from, const char *to)
{
	struct tree t = { .walk = w };
	struct folder top = { .from = mem_strdup(from),
			      .to = mem_strdup(to),
			      .parent = NOBODY };
	AUTO_INFO struct file_info here = { 0 }, other = { 0 };
	struct err err;
	int rc = w->to == PLACE_YARD ? file_stat_yard(w->cli->client, to, &other, &err)
				     : file_stat_local(to, &other, &err);

	if (rc == 0 && other.kind != FILE_NONE && other.kind != FILE_FOLDER)
		rc = err_set(&err, ERR_CONFLICT, "%s is there, and no folder", to);
	top.there = other.kind == FILE_FOLDER;
	if (rc == 0 && w->from == PLACE_LOCAL) {
		t.root = realpath(*from ? from : ".", NULL);
		rc = t.root ? file_stat_local(t.root, &here, &err)
			    : err_sys(&err, "find");
		top.node = here.node;
	}
	if (rc < 0)
		fail(w, from, &err);
	add_folder(&t, &top);
	for (size_t i = 0; rc == 0 && i < t.count && !haul_dead(w->haul); i++)
		visit(&t, i);
	for (size_t i = 0; i < t.count; i++) {
		free(t.folders[i].from);
		free(t.folders[i].to);
	}
	free(t.folders);
	free(t.root);
}
