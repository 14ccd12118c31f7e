// SPDX-License-Identifier: Apache-2.0
/* What a folder of the storage has, by page; and the folders that are none on any disk. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "codec/url.h"
#include "depot/volume_setup.h"
#include "http/files.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/params.h"
#include "http/route.h"
#include "store/list.h"
#include "wire/shape.h"

static bool is_utf8(const char *s)
{
	size_t left = strlen(s), n = 1;

	for (; left && n; s += n, left -= n)
		n = utf8_sequence(s, left);
	return n > 0;
}

static void write_entry(struct json *j, const struct file_entry *e)
{
	json_object(j, NULL);
	json_str(j, "name", e->name);
	files_write_info(j, &e->info);
	if (!is_utf8(e->name)) { /* JSON cannot say it: a query can */
		AUTO_BUF struct buf escaped = { 0 };
		url_encode(&escaped, e->name);
		json_str(j, "escaped", buf_str(&escaped));
	}
	json_end(j);
}

static void answer_page(struct exchange *ex, const char *path,
			const struct file_page *page)
{
	struct buf *out = answer_scratch(ex);
	AUTO_BUF struct buf next = { 0 };
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "path", path);
	json_array(&j, "entries");
	for (size_t i = 0; i < page->count; i++)
		write_entry(&j, &page->entries[i]);
	json_end(&j);
	if (page->more && page->count)
		url_encode(&next, page->entries[page->count - 1].name);
	json_str(&j, "next", next.len ? next.data : NULL);
	json_end(&j);
	answer_json(ex, 200, out);
}

static void list_work(struct file_ask *a)
{
	file_list(&a->place, a->after, a->limit, &a->page, &a->err);
	if (a->may_lack && a->err.code == ERR_NOT_FOUND)
		a->err.code = ERR_NONE;
}

static void list_answer(struct file_ask *a)
{
	answer_page(a->ex, a->path, &a->page);
}

/* Names that come from nowhere but us, in whatever order; those up to `after` are left out. */
struct names {
	struct file_page page;
	size_t cap;
};

static void add(struct names *n, const char *name)
{
	mem_grow(&n->page.entries, &n->cap, n->page.count, sizeof *n->page.entries);
	n->page.entries[n->page.count++] =
		(struct file_entry){ .name = mem_strdup(name),
				     .info = { .kind = FILE_FOLDER } };
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file_entry *)a)->name,
		      ((const struct file_entry *)b)->name);
}

static void answer_names(struct file_ask *a, struct names *n)
{
	struct file_page shown = { .entries = n->page.entries };
	size_t first = 0;

	if (n->page.count)
		qsort(n->page.entries, n->page.count, sizeof *n->page.entries, by_name);
	while (a->after && first < n->page.count &&
	       strcmp(n->page.entries[first].name, a->after) <= 0)
		first++;
	shown.entries += first;
	shown.count = n->page.count - first;
	shown.more = shown.count > a->limit;
	if (shown.more)
		shown.count = a->limit;
	answer_page(a->ex, a->place.path, &shown);
	file_page_fini(&n->page);
	files_ask_free(a);
}

static void add_group(void *arg, const struct who_group *g)
{
	add(arg, g->name);
}

static void list_groups(struct file_ask *a)
{
	const struct exchange *ex = a->ex;
	struct names n = { 0 };

	if (ex->who->role == ROLE_ADMIN)
		who_each_group(ex->server->config.who, add_group, &n);
	else
		for (size_t i = 0; i < ex->who->group_count; i++)
			if (principal_in(ex->who, ex->who->groups[i]))
				add(&n, ex->who->groups[i]);
	answer_names(a, &n);
}

/* A folder of the daemon's own that holds areas: an admin sees all there are. */
static void list_own(struct file_ask *a, char *folder)
{
	free(a->place.folder);
	a->place.area = VOLUME_OUTPUT; /* no home, no share: read as the daemon may */
	a->place.folder = folder;
	a->may_lack = true;
	a->path = (free(a->path), mem_strdup(a->place.path));
	files_run(a, list_work, list_answer);
}

static void list_homes(struct file_ask *a)
{
	const struct volume *v = storage_volume(a->storage);
	struct names n = { 0 };

	if (a->ex->who->role == ROLE_ADMIN) {
		list_own(a, str_printf("%s/home", volume_root(v)));
		return;
	}
	add(&n, a->ex->who->name);
	answer_names(a, &n);
}

struct jobs {
	struct names names;
	int64_t last;
};

static void add_job(void *arg, const struct store_row *row)
{
	struct jobs *j = arg;
	char name[24];

	snprintf(name, sizeof name, "%" PRId64, row->id);
	add(&j->names, name);
	j->last = row->id;
}

/* The newest first, as everywhere. */
static void list_jobs(struct file_ask *a)
{
	struct exchange *ex = a->ex;
	struct jobs found = { 0 };
	struct store_query q = { .see = ex->who->role == ROLE_ADMIN ? NULL : ex->who,
				 .live = -1,
				 .outcome = -1,
				 .limit =
					 a->limit < LIST_MAX ? (int)a->limit : LIST_MAX };
	int64_t next = 0;
	struct err err;

	if (a->after && str_to_i64(a->after, 1, INT64_MAX, &q.before) < 0)
		err_set(&err, ERR_INVALID, "cursor: '%.40s' is not what was given",
			a->after);
	else if (store_list(yard_store(ex->server->config.yard), &q, add_job, &found,
			    &next, &err) == 0) {
		found.names.page.more = next > 0;
		answer_page(ex, a->place.path, &found.names.page);
		file_page_fini(&found.names.page);
		files_ask_free(a);
		return;
	}
	answer_error(ex, &err);
	file_page_fini(&found.names.page);
	files_ask_free(a);
}

/* Whether the job may be seen is the storage's to say, of any of its outputs. */
static void list_job(struct file_ask *a)
{
	AUTO_FREE char *any = str_printf("%s/_", a->place.path);
	AUTO_PLACE struct volume_place place = { 0 };
	struct err err;

	if (files_find(a->ex, any, VOLUME_READ, &place, &err) < 0) {
		answer_error(a->ex, &err);
		files_ask_free(a);
		return;
	}
	*strrchr(place.folder, '/') = '\0';
	list_own(a, TAKE(place.folder));
}

static void list_words(struct file_ask *a, const char *words)
{
	struct names n = { 0 };
	size_t len;

	for (const char *word; (word = wire_word_next(&words, &len));) {
		AUTO_FREE char *name = mem_strndup(word, len);
		add(&n, name);
	}
	answer_names(a, &n);
}

static void list_pfs(struct file_ask *a)
{
	struct names n = { 0 };

	add(&n, volume_dc(storage_volume(a->storage)));
	add(&n, "public");
	answer_names(a, &n);
}

static void list_virtual(struct file_ask *a)
{
	switch (a->place.which) {
	case VIRTUAL_HOMES:
		list_homes(a);
		return;
	case VIRTUAL_GROUPS:
		list_groups(a);
		return;
	case VIRTUAL_JOBS:
		list_jobs(a);
		return;
	case VIRTUAL_JOB:
		list_job(a);
		return;
	case VIRTUAL_PFS:
		list_pfs(a);
		return;
	case VIRTUAL_DC:
		list_words(a, "group home public");
		return;
	case VIRTUAL_MNT:
		list_words(a, "share user");
		return;
	case VIRTUAL_ROOT:
	case VIRTUAL_COUNT:
		break;
	}
	list_words(a, "jobs mnt pfs");
}

void handle_file_list(struct exchange *ex)
{
	const char *path = param_text(ex, "path"), *cursor = param_text(ex, "cursor");
	struct file_ask *a = files_ask(ex, path ? path : "/", 0);
	struct err err;

	if (!a)
		return;
	a->limit = (size_t)param_int(ex, "limit", FILES_DEFAULT);
	if (cursor && !(a->after = url_decode(cursor, strlen(cursor), 0, &err))) {
		err_wrap(&err, "cursor");
		answer_error(ex, &err);
		files_ask_free(a);
		return;
	}
	if (a->place.area == VOLUME_VIRTUAL) {
		list_virtual(a);
		return;
	}
	free(a->path);
	a->path = mem_strdup(a->place.path); /* the canonical one is what is answered */
	files_run(a, list_work, list_answer);
}
