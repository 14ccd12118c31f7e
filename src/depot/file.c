// SPDX-License-Identifier: Apache-2.0
#include "depot/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/open.h"
#include "depot/volume_path.h"

#define FOLDER_MODE 0755
#define SUM_BYTES   (256u << 10)

const char *file_kind_word(enum file_kind kind)
{
	static const char *const words[FILE_KIND_COUNT] = {
		[FILE_FILE] = "file",
		[FILE_FOLDER] = "folder",
		[FILE_LINK] = "link",
		[FILE_OTHER] = "other",
	};
	return words[kind];
}

/* A file that is replaced has another inode, one that is written to another time. */
void file_info_of(const struct stat *st, struct file_info *out)
{
	*out = (struct file_info){
		.kind = S_ISREG(st->st_mode)   ? FILE_FILE
			: S_ISDIR(st->st_mode) ? FILE_FOLDER
			: S_ISLNK(st->st_mode) ? FILE_LINK
					       : FILE_OTHER,
		.size = S_ISREG(st->st_mode) || S_ISLNK(st->st_mode) ? st->st_size : 0,
		.modified_ms = (int64_t)st->st_mtim.tv_sec * 1000 +
			       st->st_mtim.tv_nsec / 1000000,
		.executable = S_ISREG(st->st_mode) && st->st_mode & S_IXUSR,
	};
	snprintf(out->etag, sizeof out->etag, "\"%" PRIx64 "-%" PRIx64 "-%" PRIx64 "\"",
		 (uint64_t)st->st_ino, (uint64_t)st->st_size,
		 (uint64_t)st->st_ctim.tv_sec * 1000000000u +
			 (uint64_t)st->st_ctim.tv_nsec);
}

void file_page_fini(struct file_page *page)
{
	for (size_t i = 0; i < page->count; i++)
		free(page->entries[i].name);
	free(page->entries);
	*page = (struct file_page){ 0 };
}

/* The smallest names so far, as a heap with the largest of them on top: a folder of a
 * million names needs no more memory than the page. */
struct smallest {
	char **names;
	size_t count, most;
};

static void sift_up(struct smallest *s, size_t i)
{
	while (i > 0 && strcmp(s->names[(i - 1) / 2], s->names[i]) < 0) {
		char *above = s->names[(i - 1) / 2];
		s->names[(i - 1) / 2] = s->names[i];
		s->names[i] = above;
		i = (i - 1) / 2;
	}
}

static void sift_down(struct smallest *s)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < s->count; i = child) {
		if (child + 1 < s->count &&
		    strcmp(s->names[child], s->names[child + 1]) < 0)
			child++;
		if (strcmp(s->names[i], s->names[child]) >= 0)
			return;
		char *below = s->names[child];
		s->names[child] = s->names[i];
		s->names[i] = below;
	}
}

static void add_name(struct smallest *s, const char *name)
{
	if (s->count < s->most) {
		s->names[s->count] = mem_strdup(name);
		sift_up(s, s->count++);
	} else if (strcmp(name, s->names[0]) < 0) {
		free(s->names[0]);
		s->names[0] = mem_strdup(name);
		sift_down(s);
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(const struct volume_place *p, DIR *dir, const char *after,
		      struct smallest *s, struct err *err)
{
	const struct dirent *e;

	while (errno = 0, (e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    (!*p->rel && str_eq(e->d_name, VOLUME_OWN_FOLDER)))
			continue;
		if (!after || strcmp(e->d_name, after) > 0)
			add_name(s, e->d_name);
	}
	return errno ? open_error(p, "read", err) : 0;
}

/* What vanished since its name was read is left out. */
static void look_at_each(int fd, struct smallest *s, struct file_page *out)
{
	struct stat st;

	out->entries = mem_alloc(s->count + 1, sizeof *out->entries);
	for (size_t i = 0; i < s->count; i++) {
		if (fstatat(fd, s->names[i], &st, AT_SYMLINK_NOFOLLOW) < 0) {
			free(s->names[i]);
			continue;
		}
		struct file_entry *e = &out->entries[out->count++];
		e->name = s->names[i];
		file_info_of(&st, &e->info);
	}
	s->count = 0;
}

static int list_folder(const struct volume_place *p, int fd, const char *after,
		       struct smallest *s, struct file_page *out, struct err *err)
{
	struct acting a;
	DIR *dir = fdopendir(fd);

	if (!dir) {
		close(fd);
		return open_error(p, "read", err);
	}
	int rc = read_names(p, dir, after, s, err);
	if (rc == 0 && (rc = act_as_reader(&a, p, dirfd(dir), err)) == 0) {
		qsort(s->names, s->count, sizeof *s->names, by_name);
		out->more = s->count == s->most;
		if (out->more)
			free(s->names[--s->count]);
		look_at_each(dirfd(dir), s, out);
		act_end(&a);
	}
	closedir(dir);
	return rc;
}

int file_list(const struct volume_place *p, const char *after, size_t limit,
	      struct file_page *out, struct err *err)
{
	struct smallest s = { .most = limit + 1 };
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int at = area < 0 ? -1 : open_beneath(area, p, 0, err);
	struct stat st;

	if (at < 0 || fstatat(at, "", &st, AT_EMPTY_PATH) < 0)
		return at < 0 ? -1 : open_error(p, "look at", err);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_CONFLICT, "%s is not a folder", p->path);
	int fd = open_folder(p, at, err);
	if (fd < 0)
		return -1;
	*out = (struct file_page){ 0 };
	s.names = mem_alloc(s.most, sizeof *s.names);
	int rc = list_folder(p, fd, after, &s, out, err);
	for (size_t i = 0; i < s.count; i++)
		free(s.names[i]);
	free(s.names);
	return rc;
}

int file_stat(const struct volume_place *p, struct file_info *out, struct err *err)
{
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int fd = area < 0 ? -1 : open_beneath(area, p, 0, err);
	struct stat st;

	if (fd < 0 && area >= 0 && *p->rel) {
		AUTO_FD int link = open_beneath(area, p, O_NOFOLLOW, NULL);
		if (link < 0 || fstatat(link, "", &st, AT_EMPTY_PATH) < 0 ||
		    !S_ISLNK(st.st_mode))
			return -1; /* err says why the first try failed */
		file_info_of(&st, out);
		return 0;
	}
	if (fd < 0)
		return -1;
	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return open_error(p, "look at", err);
	file_info_of(&st, out);
	return 0;
}

int file_open(const struct volume_place *p, struct file_info *out, struct err *err)
{
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int at = area < 0 ? -1 : open_beneath(area, p, 0, err);
	struct stat st;

	if (at < 0)
		return -1;
	int fd = open_file(p, at, &st, err);
	if (fd >= 0)
		file_info_of(&st, out);
	return fd;
}

int file_make_folder(const struct volume_place *p, bool parents, struct err *err)
{
	struct acting a;
	const char *name;
	struct stat st;
	AUTO_FD int area = open_area(p, err);

	if (area < 0 || (!*p->rel && parents))
		return area < 0 ? -1 : 0;
	AUTO_FD int at = open_parent(area, p, parents, &name, err);
	if (at < 0 || act_as_owner(&a, p, at, err) < 0)
		return -1;
	int rc = mkdirat(at, name, FOLDER_MODE), failure = errno;
	act_end(&a);
	errno = failure;
	if (rc == 0)
		return 0;
	if (errno != EEXIST)
		return open_error(p, "make", err);
	AUTO_FD int there = open_beneath(area, p, 0, NULL);
	if (parents && there >= 0 && fstatat(there, "", &st, AT_EMPTY_PATH) == 0 &&
	    S_ISDIR(st.st_mode))
		return 0;
	return err_set(err, ERR_CONFLICT, "%s is there already", p->path);
}

static int move_error(const struct volume_place *from, const struct volume_place *to,
		      struct err *err)
{
	switch (errno) {
	case EEXIST:
	case ENOTEMPTY:
		return err_set(err, ERR_CONFLICT, "%s is there already", to->path);
	case EISDIR:
		return err_set(err, ERR_CONFLICT, "%s is a folder, and %s is none",
			       to->path, from->path);
	case ENOTDIR:
		return err_set(err, ERR_CONFLICT, "%s is a folder, and %s is none",
			       from->path, to->path);
	case EINVAL:
		return err_set(err, ERR_INVALID, "%s cannot be moved into itself",
			       from->path);
	case EXDEV:
		return err_set(err, ERR_UNSUPPORTED,
			       "%s and %s lie on different disks: copy, then remove",
			       from->path, to->path);
	default:
		return open_error(from, "move", err);
	}
}

static int move_name(int from, const char *old, int to, const char *name, bool replace)
{
	struct stat st;

	if (replace)
		return renameat(from, old, to, name);
	if (renameat2(from, old, to, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -1;
	/* A file system that cannot promise it: look first. */
	if (fstatat(to, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		errno = EEXIST;
		return -1;
	}
	return renameat(from, old, to, name);
}

int file_move(const struct volume_place *from, const struct volume_place *to,
	      bool replace, struct err *err)
{
	struct acting a;
	const char *old, *name;

	if (!str_eq(from->folder, to->folder))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s and %s do not belong to the same: copy, then remove",
			       from->path, to->path);
	AUTO_FD int area = open_area(from, err);
	AUTO_FD int at = area < 0 ? -1 : open_parent(area, from, false, &old, err);
	AUTO_FD int into = at < 0 ? -1 : open_parent(area, to, false, &name, err);
	if (into < 0 || act_as_owner(&a, from, at, err) < 0)
		return -1;
	int rc = move_name(at, old, into, name, replace), failure = errno;
	act_end(&a);
	errno = failure;
	return rc < 0 ? move_error(from, to, err) : 0;
}

static int sum_bytes(const struct volume_place *p, int fd, struct checksum_run *run,
		     const atomic_bool *stop, struct err *err)
{
	AUTO_FREE char *piece = mem_alloc(1, SUM_BYTES);
	ssize_t n;

	while ((n = read(fd, piece, SUM_BYTES)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return open_error(p, "read", err);
		if (atomic_load(stop))
			return err_set(err, ERR_BUSY, "nobody waits any more");
		checksum_add(run, piece, (size_t)n);
	}
	return 0;
}

int file_sum(const struct volume_place *p, enum checksum_kind kind,
	     const atomic_bool *stop, struct file_info *out, struct checksum *sum,
	     struct err *err)
{
	AUTO_FD int fd = file_open(p, out, err);
	struct checksum_run *run;

	if (fd < 0)
		return -1;
	run = checksum_begin(kind);
	if (sum_bytes(p, fd, run, stop, err) < 0) {
		checksum_drop(run);
		return -1;
	}
	checksum_end(run, sum);
	return 0;
}

int file_free_bytes(const struct volume_place *p, int64_t *out, struct err *err)
{
	struct statvfs fs;
	AUTO_FD int area = open_area(p, err);

	if (area < 0)
		return -1;
	if (fstatvfs(area, &fs) < 0)
		return open_error(p, "look at the disk of", err);
	*out = (int64_t)(fs.f_bavail * fs.f_frsize);
	return 0;
}

int file_sync(const struct volume_place *p, struct err *err)
{
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int fd =
		area < 0 ? -1 : openat(area, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (area < 0)
		return -1;
	if (fd < 0 || syncfs(fd) < 0)
		return open_error(p, "make durable", err);
	return 0;
}
