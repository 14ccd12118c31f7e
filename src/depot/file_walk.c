// SPDX-License-Identifier: Apache-2.0
/* file_walk.c - folders of the storage as wholes: removed, measured.
 *
 * The walk goes by descriptors, down only: no link is followed, no other file system is
 * entered, and a folder that a task moves meanwhile stays within its area.  A level is one
 * open descriptor, so there is a depth beyond which folders are brought up before they are
 * entered (to be removed) or left out (to be measured).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "depot/file.h"
#include "depot/open.h"

#define DEPTH_MAX  128
#define ASIDE_MAX  40 /* bytes of a name in the storage's own folder */
#define PASSES_MAX 8  /* through one folder to which somebody keeps adding */

struct level {
	DIR *dir;
	char *name;
	int passes;
};

struct walk {
	const struct volume_place *place;
	struct level levels[DEPTH_MAX];
	int depth;
	dev_t device;
	struct tree_size size;
	/* To remove: */
	int aside;    /* where folders from too deep down are put */
	size_t below; /* how many were */
	uint64_t unique;
	const atomic_bool *stop;
};

static int enter(struct walk *w, int at, const char *name, struct err *err)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
				.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS |
					   RESOLVE_NO_XDEV };
	AUTO_FD int path = (int)syscall(SYS_openat2, at, name, &how, sizeof how);

	if (path < 0)
		return open_error(w->place, "open a folder in", err);
	int fd = open_folder(w->place, path, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return fd < 0 ? -1 : open_error(w->place, "open a folder in", err);
	}
	w->levels[w->depth++] = (struct level){ dir, mem_strdup(name), 0 };
	return 0;
}

static void leave(struct walk *w)
{
	struct level *l = &w->levels[--w->depth];

	closedir(l->dir);
	free(l->name);
}

static void aside_name(const struct walk *w, size_t n, char out[ASIDE_MAX])
{
	snprintf(out, ASIDE_MAX, "trash-%016llx-%zu", (unsigned long long)w->unique, n);
}

/* 0; or an errno, also in errno; or -1 with err: nobody may act there. */
static int unlink_as_owner(const struct walk *w, int at, const char *name, int flags,
			   struct err *err)
{
	struct acting a;

	if (act_as_owner(&a, w->place, at, err) < 0)
		return -1;
	int failure = unlinkat(at, name, flags) < 0 ? errno : 0;
	act_end(&a);
	return errno = failure;
}

/* Too deep: it is put aside, to be removed afterwards from there. */
static int put_aside(struct walk *w, int at, const char *name, struct err *err)
{
	char aside[ASIDE_MAX];
	struct acting a;

	aside_name(w, w->below + 1, aside);
	if (w->aside < 0 || act_as_owner(&a, w->place, at, err) < 0)
		return err_set(err, ERR_TOO_LARGE, "%s has folders nested too deep",
			       w->place->path);
	int rc = renameat(at, name, w->aside, aside), failure = errno;
	act_end(&a);
	errno = failure;
	if (rc < 0)
		return open_error(w->place, "remove", err);
	w->below++;
	return 0;
}

static int remove_entry(struct walk *w, int at, const char *name, struct err *err)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : open_error(w->place, "look at", err);
	if (S_ISDIR(st.st_mode))
		return w->depth == DEPTH_MAX ? put_aside(w, at, name, err)
					     : enter(w, at, name, err);
	int failure = unlink_as_owner(w, at, name, 0, err);
	if (failure && failure != ENOENT)
		return failure < 0 ? -1
				   : open_error(w->place, "remove something in", err);
	w->size.files++;
	w->size.bytes += S_ISREG(st.st_mode) && st.st_nlink == 1 ? st.st_size : 0;
	return 0;
}

/* The folder has been read to its end: it goes, unless something came meanwhile. */
static int remove_folder(struct walk *w, int top, struct err *err)
{
	struct level *l = &w->levels[w->depth - 1];
	int at = w->depth > 1 ? dirfd(w->levels[w->depth - 2].dir) : top;

	int failure = unlink_as_owner(w, at, l->name, AT_REMOVEDIR, err);
	if ((failure == ENOTEMPTY || failure == EEXIST) && l->passes++ < PASSES_MAX) {
		rewinddir(l->dir);
		return 0;
	}
	if (failure && failure != ENOENT)
		return failure < 0 ? -1 : open_error(w->place, "remove a folder in", err);
	leave(w);
	return 0;
}

static int remove_step(struct walk *w, int top, struct err *err)
{
	DIR *dir = w->levels[w->depth - 1].dir;
	const struct dirent *e;

	errno = 0;
	e = readdir(dir);
	if (!e && errno)
		return open_error(w->place, "read a folder in", err);
	if (!e)
		return remove_folder(w, top, err);
	if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
		return 0;
	return remove_entry(w, dirfd(dir), e->d_name, err);
}

static int remove_below(struct walk *w, int top, const char *name, struct err *err)
{
	int rc = enter(w, top, name, err);

	while (rc == 0 && w->depth > 0)
		rc = remove_step(w, top, err);
	while (w->depth > 0)
		leave(w);
	return rc;
}

/* Out of sight at once where that can be: then removed there, else where it is. */
static int remove_tree(struct walk *w, int at, const char *name, struct err *err)
{
	AUTO_FD int own = open_own(w->place, NULL);
	char aside[ASIDE_MAX];
	struct acting a;

	aside_name(w, 0, aside);
	w->aside = own;
	if (own >= 0 && act_as_owner(&a, w->place, at, NULL) == 0) {
		int rc = renameat(at, name, own, aside);
		act_end(&a);
		if (rc == 0) {
			at = own;
			name = aside;
		}
	}
	int rc = remove_below(w, at, name, err);
	for (size_t n = 1; rc == 0 && n <= w->below; n++) {
		char deeper[ASIDE_MAX];
		aside_name(w, n, deeper);
		rc = remove_below(w, own, deeper, err);
	}
	return rc;
}

static int remove_one(struct walk *w, int at, const char *name, int flags,
		      struct err *err)
{
	int failure = unlink_as_owner(w, at, name, flags, err);

	if (failure <= 0)
		return failure;
	if (failure == ENOTEMPTY || failure == EEXIST)
		return err_set(err, ERR_CONFLICT,
			       "%s is a folder that is not empty: ask for recursive=true "
			       "to remove it with all that is in it",
			       w->place->path);
	return open_error(w->place, "remove", err);
}

int file_remove(const struct volume_place *p, bool recursive, struct tree_size *removed,
		struct err *err)
{
	AUTO_FREE struct walk *w = mem_alloc(1, sizeof *w);
	AUTO_FD int area = open_area(p, err);
	const char *name;
	struct stat st;

	AUTO_FD int at = area < 0 ? -1 : open_parent(area, p, false, &name, err);
	if (at < 0)
		return -1;
	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return open_error(p, "remove", err);
	w->place = p;
	if (getrandom(&w->unique, sizeof w->unique, 0) < 0)
		return err_sys(err, "draw a name");
	int rc;
	if (S_ISDIR(st.st_mode) && recursive) {
		rc = remove_tree(w, at, name, err);
	} else {
		rc = remove_one(w, at, name, S_ISDIR(st.st_mode) ? AT_REMOVEDIR : 0, err);
		w->size.files = rc == 0;
		w->size.bytes = rc == 0 && S_ISREG(st.st_mode) ? st.st_size : 0;
	}
	if (removed)
		*removed = w->size;
	return rc;
}

static int measure_entry(struct walk *w, int at, const char *name)
{
	struct stat st;

	if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != w->device)
		return 0;
	if (S_ISDIR(st.st_mode)) {
		if (w->depth < DEPTH_MAX)
			enter(w, at, name, NULL); /* what cannot be read is left out */
		return 0;
	}
	w->size.files++;
	/* Files with holes can say what no disk holds: the sum stays a number. */
	if (S_ISREG(st.st_mode) && st.st_size <= INT64_MAX / 4 - w->size.bytes)
		w->size.bytes += st.st_size;
	else if (S_ISREG(st.st_mode))
		w->size.bytes = INT64_MAX / 4;
	return 0;
}

static void measure_step(struct walk *w)
{
	DIR *dir = w->levels[w->depth - 1].dir;
	const struct dirent *e = readdir(dir);

	if (!e)
		leave(w);
	else if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
		measure_entry(w, dirfd(dir), e->d_name);
}

int file_measure(const struct volume_place *p, const atomic_bool *stop,
		 struct tree_size *out, struct err *err)
{
	AUTO_FREE struct walk *w = mem_alloc(1, sizeof *w);
	AUTO_FD int area = open_area(p, err);
	AUTO_FD int at = area < 0 ? -1 : open_beneath(area, p, 0, err);
	struct stat st;

	if (at < 0)
		return -1;
	if (fstatat(at, "", &st, AT_EMPTY_PATH) < 0)
		return open_error(p, "look at", err);
	w->place = p;
	w->device = st.st_dev;
	if (!S_ISDIR(st.st_mode)) {
		*out = (struct tree_size){ 1, S_ISREG(st.st_mode) ? st.st_size : 0 };
		return 0;
	}
	int rc = enter(w, at, ".", err);
	while (w->depth > 0 && !(stop && atomic_load(stop)))
		measure_step(w);
	while (w->depth > 0)
		leave(w);
	if (stop && atomic_load(stop))
		return err_set(err, ERR_BUSY, "nobody waits for it any more");
	*out = w->size;
	return rc;
}
