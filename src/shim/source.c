// SPDX-License-Identifier: Apache-2.0
#include "shim/source.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/openat2.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define GROUPS_MAX 1024

/* This process acts on files as another user between enter and leave.  A file system uid
 * other than 0 also takes away the right to override permissions. */
struct disguise {
	gid_t groups[GROUPS_MAX];
	int count;
};

static void leave(const struct disguise *d)
{
	setfsuid(geteuid());
	setfsgid(getegid());
	if (setgroups((size_t)d->count, d->groups) < 0)
		_exit(1); /* never goes on with the rights of two */
}

static int enter(struct disguise *d, const struct shim_task *t, struct err *err)
{
	gid_t groups[GROUPS_MAX] = { 0 };
	size_t count = 0;
	int64_t gid;

	if ((d->count = getgroups(GROUPS_MAX, d->groups)) < 0)
		return err_sys(err, "read own groups");
	for (; count < t->groups.count && count < GROUPS_MAX; count++) {
		if (str_to_i64(t->groups.items[count], 0, UINT32_MAX - 1, &gid) < 0)
			return err_set(err, ERR_INVALID, "'%s' is no group",
				       t->groups.items[count]);
		groups[count] = (gid_t)gid;
	}
	if (count == 0)
		return err_set(err, ERR_INVALID, "the groups of uid %lld are not known",
			       (long long)t->owner_uid);
	if (setgroups(count, groups) < 0)
		return err_sys(err, "act as uid %lld", (long long)t->owner_uid);
	setfsgid(groups[0]);
	setfsuid((uid_t)t->owner_uid);
	/* They tell nothing of a failure; asked for an impossible id they tell what holds. */
	if ((uid_t)setfsuid((uid_t)-1) == t->owner_uid &&
	    (gid_t)setfsgid((gid_t)-1) == groups[0])
		return 0;
	leave(d);
	return err_set(err, ERR_DENIED, "cannot act as uid %lld",
		       (long long)t->owner_uid);
}

/* A path that was resolved before has no link in it, unless somebody put one there. */
static int open_plain(const char *path, struct err *err)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_DENIED, "%s leads elsewhere by now", path);
	return fd < 0 ? err_sys(err, "open %s", path) : fd;
}

static int open_as_owner(const struct shim_task *t, const char *path, struct err *err)
{
	struct disguise d;
	int fd;

	if (enter(&d, t, err) < 0)
		return -1;
	fd = open_plain(path, err);
	/* Of what is not the owner's the task sees what anybody may, so this is enough. */
	if (fd >= 0 && faccessat(fd, "", R_OK, AT_EACCESS | AT_EMPTY_PATH) < 0) {
		close(fd);
		fd = err_sys(err, "read %s", path);
	}
	leave(&d);
	return fd;
}

int source_open(const struct shim_task *t, const struct shim_mount *m, struct err *err)
{
	/* A folder of the owner's.  What the storage gives has a range, or is public. */
	bool input = t->owner_uid > 0 && (m->kind == SHIM_BIND_RO ||
					  (m->kind == SHIM_SCRATCH_OF && m->range < 0));
	/* Else whatever is mounted below the host's folder later would appear inside. */
	struct mount_attr alone = { .propagation = MS_PRIVATE };
	if (m->kind == SHIM_BIND_RO && t->owner_uid < 0)
		return err_set(err, ERR_DENIED,
			       "%s: the task's owner has no account on this machine",
			       m->source);
	AUTO_FD int at =
		input ? open_as_owner(t, m->source, err) : open_plain(m->source, err);

	if (at < 0)
		return -1;
	AUTO_FD int copy =
		open_tree(at, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH);
	if (copy < 0 || mount_setattr(copy, "", AT_EMPTY_PATH, &alone, sizeof alone) < 0)
		return err_sys(err, "bind %s", m->source);
	return TAKE_FD(copy);
}
