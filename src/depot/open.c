// SPDX-License-Identifier: Apache-2.0
#include "depot/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "depot/volume_path.h"

#define NOBODY      65534
#define TRIES_MAX   64 /* a rename elsewhere makes the kernel ask for another try */
#define FOLDER_MODE 0755

static int walk(int at, const char *rel, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC),
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd = -1;

	for (int i = 0; i < TRIES_MAX; i++) {
		fd = (int)syscall(SYS_openat2, at, *rel ? rel : ".", &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return fd;
}

int open_supported(const char *folder, struct err *err)
{
	AUTO_FD int at = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int fd = at < 0 ? -1 : walk(at, ".", O_PATH);

	if (fd >= 0)
		return 0;
	if (errno == ENOSYS || errno == EINVAL || errno == EPERM)
		return err_set(err, ERR_UNSUPPORTED,
			       "this kernel has no openat2(), or something forbids it: "
			       "storage needs Linux 5.6 or newer");
	return err_sys(err, "open %s", folder);
}

int open_error(const struct volume_place *p, const char *what, struct err *err)
{
	switch (errno) {
	case ENOENT:
		return err_set(err, ERR_NOT_FOUND, "%s: there is no such file or folder",
			       p->path);
	case ENOTDIR:
		return err_set(err, ERR_NOT_FOUND,
			       "%s: something on the way is not a folder", p->path);
	case EXDEV:
		return err_set(err, ERR_DENIED,
			       "%s: a link on the way leads out of the storage", p->path);
	case ELOOP:
		return err_set(err, ERR_DENIED, "%s: links that lead in circles",
			       p->path);
	case EACCES:
	case EPERM:
		return err_set(err, ERR_DENIED,
			       "%s: its owner has no permission to %s it", p->path, what);
	case ENAMETOOLONG:
		return err_set(err, ERR_INVALID, "path: a name in it is too long");
	case ENOSPC:
	case EDQUOT:
		return err_set(err, ERR_IO,
			       "%s: the disk of the storage is full; make room there, "
			       "then try again",
			       p->path);
	case EROFS:
		return err_set(err, ERR_DENIED, "%s: its disk is mounted read-only",
			       p->path);
	case EISDIR:
		return err_set(err, ERR_CONFLICT, "%s is a folder", p->path);
	default:
		return err_sys(err, "%s %s", what, p->path);
	}
}

int open_area(const struct volume_place *p, struct err *err)
{
	const int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	if (p->uid == VOLUME_NO_RANGE) /* never with the daemon's own rights */
		return err_set(err, ERR_NOT_FOUND, "%s: nothing was ever put there",
			       p->path);
	int fd = open(p->folder, flags);
	if (fd < 0 && errno == ENOENT && p->make) {
		if (volume_ready(p, err) < 0)
			return -1;
		fd = open(p->folder, flags);
	}
	return fd < 0 ? open_error(p, "open", err) : fd;
}

int open_beneath(int area, const struct volume_place *p, int flags, struct err *err)
{
	int fd = walk(area, p->rel, O_PATH | flags);

	return fd < 0 ? open_error(p, "open", err) : fd;
}

int act_as_owner(struct acting *a, const struct volume_place *p, int fd, struct err *err)
{
	struct stat st;

	a->on = false;
	if (p->uid < 0)
		return 0;
	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return open_error(p, "look at", err);
	if ((int64_t)st.st_uid < p->uid || (int64_t)st.st_uid >= p->uid + VOLUME_RANGE)
		return err_set(err, ERR_DENIED,
			       "%s: something there belongs to uid %u, who is none of "
			       "its owner's",
			       p->path, st.st_uid);
	if (disguise_enter_bare(&a->disguise, st.st_uid, err) < 0)
		return -1;
	a->on = true;
	return 0;
}

void act_end(struct acting *a)
{
	if (a->on)
		disguise_leave(&a->disguise);
	a->on = false;
}

int act_as_reader(struct acting *a, const struct volume_place *p, int fd, struct err *err)
{
	if (p->area != VOLUME_PUBLIC || geteuid() != 0)
		return act_as_owner(a, p, fd, err);
	a->on = disguise_enter_bare(&a->disguise, NOBODY, err) == 0;
	return a->on ? 0 : -1;
}

/* By its descriptor: what was looked at is what is opened. */
static int reopen(const struct volume_place *p, int fd, int flags, struct err *err)
{
	struct acting a;
	char name[64];

	snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
	if (act_as_reader(&a, p, fd, err) < 0)
		return -1;
	int opened = open(name, flags | O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	int failure = errno;
	act_end(&a);
	errno = failure;
	return opened < 0 ? open_error(p, "read", err) : opened;
}

int open_file(const struct volume_place *p, int fd, struct stat *st, struct err *err)
{
	if (fstatat(fd, "", st, AT_EMPTY_PATH) < 0)
		return open_error(p, "look at", err);
	if (S_ISDIR(st->st_mode))
		return err_set(err, ERR_CONFLICT, "%s is a folder", p->path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INVALID, "%s is neither a file nor a folder",
			       p->path);
	return reopen(p, fd, 0, err);
}

int open_folder(const struct volume_place *p, int fd, struct err *err)
{
	return reopen(p, fd, O_DIRECTORY, err);
}

/* rel without what stands behind its first n bytes. */
static int walk_prefix(int area, const char *rel, size_t n)
{
	char prefix[VOLUME_PATH_MAX];

	memcpy(prefix, rel, n);
	prefix[n] = '\0';
	return walk(area, prefix, O_PATH | O_DIRECTORY);
}

static int make_one(const struct volume_place *p, int at, const char *name,
		    struct err *err)
{
	struct acting a;

	if (act_as_owner(&a, p, at, err) < 0)
		return -1;
	int rc = mkdirat(at, name, FOLDER_MODE), failure = errno;
	act_end(&a);
	errno = failure;
	return rc < 0 && errno != EEXIST ? open_error(p, "make", err) : 0;
}

/* Each folder is looked for from the area down, so that links on the way may lead up. */
static int make_prefix(int area, const struct volume_place *p, size_t len,
		       struct err *err)
{
	char name[VOLUME_PATH_MAX];
	int at = walk_prefix(area, p->rel, 0);

	for (size_t from = 0; at >= 0 && from < len;) {
		size_t n = strcspn(p->rel + from, "/");
		int next = walk_prefix(area, p->rel, from + n);
		if (next < 0 && errno == ENOENT) {
			memcpy(name, p->rel + from, n);
			name[n] = '\0';
			if (make_one(p, at, name, err) < 0) {
				close(at);
				return -1;
			}
			next = walk_prefix(area, p->rel, from + n);
		}
		close(at);
		at = next;
		from += n + 1;
	}
	return at < 0 ? open_error(p, "open", err) : at;
}

int open_parent(int area, const struct volume_place *p, bool make, const char **name,
		struct err *err)
{
	const char *slash = strrchr(p->rel, '/');
	size_t len = slash ? (size_t)(slash - p->rel) : 0;

	if (!*p->rel)
		return err_set(err, ERR_CONFLICT, "%s is a folder that stays as it is",
			       p->path);
	*name = slash ? slash + 1 : p->rel;
	int fd = walk_prefix(area, p->rel, len);
	if (fd >= 0 || errno != ENOENT)
		return fd < 0 ? open_error(p, "open", err) : fd;
	if (make)
		return make_prefix(area, p, len, err);
	return err_set(err, ERR_NOT_FOUND,
		       "%s: the folder that it should lie in is not there; make it "
		       "first, or ask for parents",
		       p->path);
}

int open_own(const struct volume_place *p, struct err *err)
{
	AUTO_FD int area = open_area(p, err);

	if (area < 0 || make_one(p, area, VOLUME_OWN_FOLDER, err) < 0)
		return -1;
	int fd = openat(area, VOLUME_OWN_FOLDER,
			O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? open_error(p, "open", err) : fd;
}
