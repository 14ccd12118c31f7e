// SPDX-License-Identifier: Apache-2.0
#include "depot/tree.h"

#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"

/* Levels held open at once.  A deeper tree can only be a task's own doing. */
#define TREE_DEPTH_MAX 200
/* From here on one syncfs() is cheaper than an fsync() a file. */
#define TREE_SYNC_EACH 128

int tree_make(const char *path, mode_t mode, struct err *err)
{
	AUTO_FREE char *p = mem_strdup(path);

	if (mkdir(p, mode) == 0 || errno == EEXIST)
		return 0;
	if (errno != ENOENT)
		return err_sys(err, "make folder %s", path);
	for (char *slash = strchr(p + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(p, mode) < 0 && errno != EEXIST)
			return err_sys(err, "make folder %s", p);
		*slash = '/';
	}
	if (mkdir(p, mode) < 0 && errno != EEXIST)
		return err_sys(err, "make folder %s", path);
	return 0;
}

/* What to do on the way: with each entry that is no folder, and with each folder after
 * all that is in it.  `name` is relative to `at`; for the root, folder's name is NULL. */
struct visitor {
	int (*entry)(void *arg, int at, const char *name, const struct stat *st,
		     struct err *err);
	int (*folder)(void *arg, int at, const char *name, int fd, struct err *err);
	void *arg;
};

struct level {
	DIR *dir;
	char *name;
};

static int level_open(struct level *l, int at, const char *name, struct err *err)
{
	int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "open folder %s", name);
	l->dir = fdopendir(fd);
	if (!l->dir) {
		close(fd);
		return err_sys(err, "open folder %s", name);
	}
	l->name = mem_strdup(name);
	return 0;
}

static int visit_next(const struct visitor *v, struct level *levels, int *depth,
		      struct err *err)
{
	struct level *l = &levels[*depth - 1];
	int fd = dirfd(l->dir), rc = 0;
	struct stat st;

	errno = 0;
	const struct dirent *e = readdir(l->dir);
	if (!e) {
		if (errno)
			return err_sys(err, "read folder %s", l->name);
		int above = *depth > 1 ? dirfd(levels[*depth - 2].dir) : AT_FDCWD;
		if (v->folder)
			rc = v->folder(v->arg, above, *depth > 1 ? l->name : NULL, fd,
				       err);
		closedir(l->dir);
		free(l->name);
		--*depth;
		return rc;
	}
	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
		return 0;
	if (fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "look at %s", e->d_name);
	if (!S_ISDIR(st.st_mode))
		return v->entry ? v->entry(v->arg, fd, e->d_name, &st, err) : 0;
	if (*depth == TREE_DEPTH_MAX)
		return err_set(err, ERR_TOO_LARGE, "folders nested deeper than %d",
			       TREE_DEPTH_MAX);
	if (level_open(&levels[*depth], fd, e->d_name, err) < 0)
		return -1;
	++*depth;
	return 0;
}

static int visit(const char *root, const struct visitor *v, struct err *err)
{
	AUTO_FREE struct level *levels = mem_alloc(TREE_DEPTH_MAX, sizeof *levels);
	int depth = 0, rc = level_open(&levels[0], AT_FDCWD, root, err);

	if (rc < 0)
		return -1;
	depth = 1;
	while (depth > 0 && rc == 0)
		rc = visit_next(v, levels, &depth, err);
	for (; depth > 0; depth--) {
		closedir(levels[depth - 1].dir);
		free(levels[depth - 1].name);
	}
	return rc < 0 ? err_wrap(err, "%s", root) : 0;
}

struct sync_walk {
	struct tree_size size;
	bool coarse; /* one syncfs() at the end does the rest */
	bool failed; /* the disk said no */
};

static int sync_entry(void *arg, int at, const char *name, const struct stat *st,
		      struct err *err)
{
	struct sync_walk *w = arg;

	w->size.files++;
	if (!S_ISREG(st->st_mode))
		return 0;
	w->size.bytes += st->st_size;
	if (w->size.files > TREE_SYNC_EACH)
		w->coarse = true;
	if (w->coarse)
		return 0;
	AUTO_FD int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) { /* a sub-uid's private file, in private mode */
		w->coarse = true;
		return 0;
	}
	w->failed = fsync(fd) < 0;
	return w->failed ? err_sys(err, "make %s durable", name) : 0;
}

static int sync_folder(void *arg, int at, const char *name, int fd, struct err *err)
{
	struct sync_walk *w = arg;

	(void)at;
	w->failed = !w->coarse && fsync(fd) < 0;
	return w->failed ? err_sys(err, "make folder %s durable", name ? name : ".") : 0;
}

int tree_sync(const char *path, struct tree_size *size, struct err *err)
{
	struct sync_walk w = { .coarse = false };
	struct visitor v = { sync_entry, sync_folder, &w };

	/* A tree that cannot be walked to its end (too deep, another uid's folder) is
	 * still made durable: syncfs() needs no walk. */
	if (visit(path, &v, err) < 0) {
		if (w.failed)
			return -1;
		w.coarse = true;
	}
	if (w.coarse) {
		AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0 || syncfs(fd) < 0)
			return err_sys(err, "make %s durable", path);
	}
	if (size)
		*size = w.size;
	return 0;
}

int tree_sync_folder(const char *path, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, "make folder %s durable", path);
	return 0;
}

struct own_walk {
	uid_t uid;
	gid_t gid;
};

static int own_one(const struct own_walk *w, int at, const char *name, mode_t mode,
		   struct err *err)
{
	mode_t want = mode & 0755;

	if (fchownat(at, name, w->uid, w->gid, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "give %s to uid %u", name, w->uid);
	if (!S_ISLNK(mode) && fchmodat(at, name, want, 0) < 0)
		return err_sys(err, "set the mode of %s", name);
	return 0;
}

static int own_entry(void *arg, int at, const char *name, const struct stat *st,
		     struct err *err)
{
	return own_one(arg, at, name, st->st_mode, err);
}

static int own_folder(void *arg, int at, const char *name, int fd, struct err *err)
{
	const struct own_walk *w = arg;

	(void)at;
	if (fchown(fd, w->uid, w->gid) < 0 || fchmod(fd, 0755) < 0)
		return err_sys(err, "give %s to uid %u", name ? name : "the folder",
			       w->uid);
	return 0;
}

int tree_own(const char *path, uid_t uid, gid_t gid, struct err *err)
{
	struct own_walk w = { uid, gid };

	return visit(path, &(struct visitor){ own_entry, own_folder, &w }, err);
}

static int remove_entry(void *arg, int at, const char *name, const struct stat *st,
			struct err *err)
{
	(void)arg, (void)st;
	return unlinkat(at, name, 0) < 0 ? err_sys(err, "remove %s", name) : 0;
}

static int remove_folder(void *arg, int at, const char *name, int fd, struct err *err)
{
	(void)arg, (void)fd;
	if (name && unlinkat(at, name, AT_REMOVEDIR) < 0)
		return err_sys(err, "remove folder %s", name);
	return 0;
}

int tree_delete(const char *path, struct err *err)
{
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	if (visit(path, &(struct visitor){ remove_entry, remove_folder, NULL }, err) < 0)
		return -1;
	return rmdir(path) < 0 && errno != ENOENT ? err_sys(err, "remove folder %s", path)
						  : 0;
}

/* The kernel's form of an access list (linux/posix_acl_xattr.h), little endian. */
struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

struct acl {
	uint32_t version;
	struct acl_entry entries[5];
};

/* The owner may do all, `uid` this, nobody else anything. */
static struct acl acl_for(uid_t uid, uint16_t perm)
{
	enum {
		USER_OBJ = 0x01,
		USER = 0x02,
		GROUP_OBJ = 0x04,
		MASK = 0x10,
		OTHER = 0x20
	};
	const uint32_t none = htole32(UINT32_MAX);

	return (struct acl){
		htole32(2),
		{ { htole16(USER_OBJ), htole16(7), none },
		  { htole16(USER), htole16(perm), htole32(uid) },
		  { htole16(GROUP_OBJ), htole16(0), none },
		  { htole16(MASK), htole16(perm), none },
		  { htole16(OTHER), htole16(0), none } },
	};
}

int tree_let_read(const char *path, uid_t uid, struct err *err)
{
	const struct acl acl = acl_for(uid, 5);

	if (setxattr(path, "system.posix_acl_access", &acl, sizeof acl, 0) < 0 ||
	    setxattr(path, "system.posix_acl_default", &acl, sizeof acl, 0) < 0)
		return errno == EOPNOTSUPP
			       ? 0
			       : err_sys(err, "let uid %u read %s", uid, path);
	return 0;
}

int tree_let_pass(const char *path, uid_t uid, struct err *err)
{
	const struct acl acl = acl_for(uid, 1);

	if (setxattr(path, "system.posix_acl_access", &acl, sizeof acl, 0) == 0)
		return 0;
	if (errno != EOPNOTSUPP || chmod(path, 0711) < 0)
		return err_sys(err, "let uid %u pass through %s", uid, path);
	return 0;
}
