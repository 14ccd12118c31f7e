// SPDX-License-Identifier: Apache-2.0
#include "cli/file_info.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/file_place.h"
#include "codec/url.h"

#define PAGE "1000" /* entries asked for at a time */

void file_info_fini(struct file_info *i)
{
	free(TAKE(i->name));
	free(TAKE(i->etag));
}

void file_list_fini(struct file_list *l)
{
	for (size_t i = 0; i < l->count; i++)
		file_info_fini(&l->items[i]);
	free(l->items);
	*l = (struct file_list){ 0 };
}

static int by_name(const void *a, const void *b)
{
	const struct file_info *x = a, *y = b;

	return strcmp(x->name, y->name);
}

const struct file_info *file_list_find(const struct file_list *l, const char *name)
{
	size_t from = 0, to = l->count;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		int rc = strcmp(name, l->items[mid].name);
		if (rc == 0)
			return &l->items[mid];
		if (rc < 0)
			to = mid;
		else
			from = mid + 1;
	}
	return NULL;
}

static struct file_info *add(struct file_list *l)
{
	mem_grow(&l->items, &l->cap, l->count, sizeof *l->items);
	l->items[l->count] = (struct file_info){ 0 };
	return &l->items[l->count++];
}

bool file_info_same(const struct file_info *a, const struct file_info *b)
{
	return a->kind == FILE_PLAIN && b->kind == FILE_PLAIN && a->size == b->size &&
	       a->modified_ms == b->modified_ms && a->executable == b->executable;
}

static enum file_kind read_kind(const char *word)
{
	static const char *const words[] = {
		[FILE_PLAIN] = "file", [FILE_FOLDER] = "folder", [FILE_LINK] = "link"
	};

	for (size_t i = FILE_PLAIN; i < COUNT_OF(words); i++)
		if (str_eq(word, words[i]))
			return (enum file_kind)i;
	return FILE_OTHER;
}

static void read_yard(const struct doc_node *n, const char *name, struct file_info *out)
{
	*out = (struct file_info){
		.name = mem_strdup(doc_str(n, name, "")),
		.kind = read_kind(doc_str(n, "kind", "")),
		.size = doc_i64(n, "size", 0),
		.modified_ms = doc_i64(n, "modified_ms", 0),
		.executable = doc_bool(n, "executable", false),
		.etag = mem_strdup(doc_str(n, "etag", NULL)),
	};
}

int file_stat_yard(struct client *c, const char *path, struct file_info *out,
		   struct err *err)
{
	AUTO_FREE char *target = place_target("/files/stat", path);
	AUTO_ANSWER struct answer a = { 0 };
	struct request r = { .method = "GET", .target = target };

	*out = (struct file_info){ .kind = FILE_NONE };
	if (client_call(c, &r, &a, err) < 0)
		return a.status == 404 ? 0 : -1;
	read_yard(doc_root(a.doc), "path", out);
	return 0;
}

static int read_page(const struct doc_node *map, struct file_list *out, struct err *err)
{
	const struct doc_node *list = doc_get(map, "entries");

	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct file_info *i = add(out);
		const char *escaped = doc_str(n, "escaped", NULL);
		read_yard(n, "name", i);
		if (escaped) { /* JSON cannot carry it */
			free(i->name);
			i->name = url_decode(escaped, strlen(escaped), 0, err);
			if (!i->name)
				return -1;
		}
		if (!place_name_ok(i->name))
			return err_set(err, ERR_CORRUPT,
				       "the server lists a name that is none: '%s'",
				       i->name);
	}
	return 0;
}

int file_list_yard(struct client *c, const char *path, struct file_list *out,
		   struct err *err)
{
	AUTO_FREE char *cursor = NULL;

	do {
		AUTO_ANSWER struct answer a = { 0 };
		AUTO_BUF struct buf target = { 0 };
		buf_adds(&target, "/files");
		url_query_add(&target, "path", *path ? path : "~");
		url_query_add(&target, "limit", PAGE);
		if (cursor)
			url_query_add(&target, "cursor", cursor);
		struct request r = { .method = "GET", .target = buf_str(&target) };
		if (client_call(c, &r, &a, err) < 0 ||
		    read_page(doc_root(a.doc), out, err) < 0)
			return -1;
		free(cursor);
		cursor = mem_strdup(doc_str(doc_root(a.doc), "next", NULL));
	} while (cursor);
	if (out->count)
		qsort(out->items, out->count, sizeof *out->items, by_name);
	return 0;
}

int64_t file_modified_ms(const struct stat *st)
{
	int64_t ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;

	return ms < 0 ? 0 : ms;
}

static void read_local(const struct stat *st, struct file_info *out)
{
	out->kind = S_ISREG(st->st_mode)   ? FILE_PLAIN
		    : S_ISDIR(st->st_mode) ? FILE_FOLDER
		    : S_ISLNK(st->st_mode) ? FILE_LINK
					   : FILE_OTHER;
	out->size = S_ISREG(st->st_mode) ? st->st_size : 0;
	out->modified_ms = file_modified_ms(st);
	out->executable = S_ISREG(st->st_mode) && (st->st_mode & S_IXUSR);
	out->node = (uint64_t)st->st_ino ^ (uint64_t)st->st_dev << 40;
}

int file_stat_local(const char *path, struct file_info *out, struct err *err)
{
	struct stat st;

	*out = (struct file_info){ .kind = FILE_NONE };
	if (stat(path, &st) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s", path);
	read_local(&st, out);
	return 0;
}

/* Follows a link that stays below root; else it is one that leads outside. */
static void follow(int folder, const char *path, const char *root, struct file_info *i)
{
	AUTO_FREE char *full = place_join(path, i->name);
	AUTO_FREE char *real = realpath(full, NULL);
	size_t n = strlen(root);
	struct stat st;

	bool below = real && strncmp(real, root, n) == 0 &&
		     (real[n] == '/' || real[n] == '\0' || n == 1);
	i->outside = !below || fstatat(folder, i->name, &st, 0) < 0;
	if (i->outside)
		return;
	read_local(&st, i);
	i->link = true;
}

static int read_folder(DIR *d, const char *path, const char *root, struct file_list *out,
		       struct err *err)
{
	const struct dirent *e;

	while (errno = 0, (e = readdir(d)) != NULL) {
		struct stat st;
		if (!place_name_ok(e->d_name))
			continue;
		if (fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
			if (errno == ENOENT) /* gone meanwhile */
				continue;
			return err_sys(err, "%s/%s", path, e->d_name);
		}
		struct file_info *i = add(out);
		i->name = mem_strdup(e->d_name);
		read_local(&st, i);
		if (i->kind == FILE_LINK)
			follow(dirfd(d), path, root, i);
	}
	return errno ? err_sys(err, "read the folder %s", path) : 0;
}

int file_list_local(const char *path, const char *root, struct file_list *out,
		    struct err *err)
{
	int fd = open(*path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d) {
		err_sys(err, "open the folder %s", path);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	int rc = read_folder(d, path, root, out, err);
	closedir(d);
	if (out->count)
		qsort(out->items, out->count, sizeof *out->items, by_name);
	return rc;
}
