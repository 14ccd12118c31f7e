// SPDX-License-Identifier: Apache-2.0
/* The mounts a bundle lists: inputs, outputs, code, small files. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/mount.h"
#include "shim/sandbox_parts.h"
#include "shim/userns.h"

static bool in_range(const struct shim_task *t, uid_t uid)
{
	return uid >= t->uid_base && uid < t->uid_base + t->uid_count;
}

/* A path that runs through a link may lead to what its author could not read himself. */
static bool has_links(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_NO_SYMLINKS };
	int fd = (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);

	if (fd >= 0)
		close(fd);
	return fd < 0;
}

/* Root mode: the mount's owner outside is uid 0 inside, so that what the task may read is what
 * the owner may, and what it writes is the owner's.  -1 in *map: nothing to map. */
static int owner_map(const struct sandbox *s, const struct shim_mount *m, const struct stat *st, int *map,
		     struct err *err)
{
	struct idrange uids = { st->st_uid, s->task->uid_base, 1 };
	struct idrange gids = { st->st_gid, s->task->uid_base, 1 };

	*map = -1;
	if (!s->root_mode || in_range(s->task, st->st_uid))
		return 0;
	if (m->kind != SHIM_SCRATCH && (st->st_uid == 0 || has_links(m->source))) {
		/* Root's own files: read as anybody may.  Never written: a setuid file made
		 * inside would be root's outside. */
		if (m->kind == SHIM_BIND_RO)
			return 0;
		return err_set(err, ERR_DENIED,
			       "%s belongs to uid %u: a task may not write there for its owner", m->source,
			       st->st_uid);
	}
	*map = userns_create(&uids, &gids, err);
	return *map < 0 ? -1 : 0;
}

/* A copy of the source, with its owner mapped where the file system can. */
static int source_mount(const struct sandbox *s, const struct shim_mount *m, const struct stat *st,
			struct err *err)
{
	uint64_t attr = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	int map;
	AUTO_FD int fd = mount_copy(m->source, !s->root_mode && m->kind != SHIM_SCRATCH, err);

	if (fd < 0 || owner_map(s, m, st, &map, err) < 0)
		return -1;
	AUTO_FD int map_fd = map;
	if (m->kind != SHIM_BIND_RW)
		attr |= MOUNT_ATTR_RDONLY;
	if (mount_change(fd, attr, map_fd, !s->root_mode && m->kind != SHIM_SCRATCH, err) == 0)
		return TAKE_FD(fd);
	if (map_fd < 0 || m->kind == SHIM_BIND_RW)
		return err_wrap(err, "the file system of %s cannot map owners: give it to uid %lld",
				m->source, (long long)s->task->uid_base);
	return mount_change(fd, attr, -1, false, err) < 0 ? -1 : TAKE_FD(fd);
}

static int bind(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	const char *name = strrchr(m->target, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(m->target, (size_t)(name - m->target - 1));
	struct stat st;

	if (stat(m->source, &st) < 0)
		return err_sys(err, "open %s", m->source);
	AUTO_FD int fd = source_mount(s, m, &st, err);
	if (fd < 0)
		return -1;
	if (S_ISDIR(st.st_mode)) {
		AUTO_FD int at = sandbox_folder(s, m->target, err);
		return at < 0 ? -1 : mount_place(TAKE_FD(fd), at, "", err);
	}
	AUTO_FD int dir = sandbox_folder(s, parent[0] ? parent : "/", err);
	if (dir < 0)
		return -1;
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 &&
	    sandbox_file(s, dir, name, 0644, NULL, 0, err) < 0)
		return -1;
	return mount_place(TAKE_FD(fd), dir, name, err);
}

static int scratch(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	char lower[16];
	struct stat st;
	int n;

	if (stat(m->source, &st) < 0)
		return err_sys(err, "open %s", m->source);
	AUTO_FD int at = sandbox_folder(s, m->target, err);
	AUTO_FD int fd = source_mount(s, m, &st, err);
	if (at < 0 || fd < 0 || (n = sandbox_overlay_slot(s, err)) < 0)
		return -1;
	snprintf(lower, sizeof lower, "l%d", n);
	if (mount_place(TAKE_FD(fd), AT_FDCWD, lower, err) < 0)
		return -1;
	return sandbox_overlay(s, n, false, at, err);
}

/* Where the folder cannot be written (a read-only bind), a file of our own is bound over it. */
static int bind_file(const struct sandbox *s, const struct shim_mount *m, int dir, const char *name,
		     struct err *err)
{
	char own[32];

	snprintf(own, sizeof own, "f%td", m - s->task->mounts);
	if (sandbox_file(s, AT_FDCWD, own, 0644, m->content, m->content_len, err) < 0)
		return -1;
	return mount_bind(own, dir, name, 0, false, err);
}

static int small_file(const struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	const char *name = strrchr(m->target, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(m->target, (size_t)(name - m->target - 1));
	AUTO_FD int dir = sandbox_folder(s, parent[0] ? parent : "/", err);

	if (dir < 0)
		return -1;
	if (str_eq(parent, "/etc") && s->etc_filled)
		return 0;
	if (unlinkat(dir, name, 0) < 0 && errno == EROFS)
		return bind_file(s, m, dir, name, err);
	if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return err_sys(err, "replace %s", m->target);
	return sandbox_file(s, dir, name, 0644, m->content, m->content_len, err);
}

static int one(struct sandbox *s, const struct shim_mount *m, struct err *err)
{
	switch (m->kind) {
	case SHIM_BIND_RO:
	case SHIM_BIND_RW:
		return bind(s, m, err);
	case SHIM_SCRATCH:
		return scratch(s, m, err);
	case SHIM_FILE:
		return small_file(s, m, err);
	case SHIM_DIR: {
		AUTO_FD int fd = sandbox_folder(s, m->target, err);
		return fd < 0 ? -1 : 0;
	}
	case SHIM_MOUNT_COUNT:
		break;
	}
	return err_set(err, ERR_INTERNAL, "unknown kind of mount");
}

int sandbox_mounts(struct sandbox *s, struct err *err)
{
	for (size_t i = 0; i < s->task->mount_count; i++) {
		if (one(s, &s->task->mounts[i], err) < 0)
			return err_wrap(err, "mount %s", s->task->mounts[i].target);
	}
	/* The working folder is always there. */
	AUTO_FD int work = sandbox_folder(s, s->task->workdir, err);
	return work < 0 ? -1 : 0;
}
