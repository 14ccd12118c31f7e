// SPDX-License-Identifier: Apache-2.0
/* /dev, /proc and /sys of a task: its own processes, its own terminals, the devices it
 * was given, and the machine's description read-only. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/mount.h"
#include "shim/sandbox_parts.h"

static const char *const nodes[] = { "/dev/null",   "/dev/zero",    "/dev/full",
				     "/dev/random", "/dev/urandom", "/dev/tty" };

/* Root mode: made anew and given to the task.  Private mode: a bind of the host's, the
 * only way without the right to make devices. */
static int device(const struct sandbox *s, const char *path, struct err *err)
{
	const char *name = strrchr(path, '/') + 1;
	AUTO_FREE char *parent = mem_strndup(path, (size_t)(name - path - 1));
	AUTO_FD int dir = sandbox_folder(s, parent, err);
	struct stat st;

	if (dir < 0)
		return -1;
	if (stat(path, &st) < 0 || (!S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode)))
		return err_set(err, ERR_NOT_FOUND, "%s is not a device of this machine",
			       path);
	if (s->root_mode) {
		if (mknodat(dir, name, (st.st_mode & S_IFMT) | 0666, st.st_rdev) < 0 ||
		    fchownat(dir, name, s->owner, s->owner, AT_SYMLINK_NOFOLLOW) < 0)
			return err_sys(err, "make %s in the sandbox", path);
		return 0;
	}
	if (sandbox_file(s, dir, name, 0666, (struct bytes){ 0 }, err) < 0)
		return -1;
	return mount_bind(path, dir, name, 0, false, err);
}

static int devpts(const struct sandbox *s, struct err *err)
{
	char gid[32];
	const char *with[] = { "ptmxmode=0666", "mode=0620", gid, NULL };
	const char *without[] = { "ptmxmode=0666", "mode=0620", NULL };
	int fd;

	snprintf(gid, sizeof gid, "gid=%lld", (long long)s->owner + 5); /* tty */
	fd = mount_new("devpts", with, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, NULL);
	if (fd < 0) /* a single uid: there is no group tty */
		fd = mount_new("devpts", without, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC,
			       err);
	return fd < 0 ? -1 : mount_place(fd, AT_FDCWD, "root/dev/pts", err);
}

static int shm(const struct sandbox *s, struct err *err)
{
	char size[48];
	const char *options[] = { "mode=1777", size, NULL };
	int64_t bytes = s->task->shm_bytes;
	int fd;

	snprintf(size, sizeof size, bytes > 0 ? "size=%lld" : "size=50%%",
		 (long long)bytes);
	fd = mount_new("tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, err);
	return fd < 0 ? -1 : mount_place(fd, AT_FDCWD, "root/dev/shm", err);
}

static int dev(const struct sandbox *s, struct err *err)
{
	static const char *const links[][2] = {
		{ "pts/ptmx", "root/dev/ptmx" },
		{ "/proc/self/fd", "root/dev/fd" },
		{ "/proc/self/fd/0", "root/dev/stdin" },
		{ "/proc/self/fd/1", "root/dev/stdout" },
		{ "/proc/self/fd/2", "root/dev/stderr" },
	};

	for (size_t i = 0; i < COUNT_OF(nodes); i++) {
		if (device(s, nodes[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < COUNT_OF(links); i++) {
		if (sandbox_link(s, links[i][0], links[i][1], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < s->task->devices.count; i++) {
		const char *path = s->task->devices.items[i];

		if (!str_starts(path, "/dev/") || strstr(path, "/../"))
			return err_set(err, ERR_INVALID, "%s is not below /dev", path);
		if (device(s, path, err) < 0)
			return -1;
	}
	if (sandbox_mkdir(s, s->root, "dev/pts", 0755, err) < 0 ||
	    sandbox_mkdir(s, s->root, "dev/shm", 01777, err) < 0)
		return -1;
	return devpts(s, err) < 0 || shm(s, err) < 0 ? -1 : 0;
}

/* v2: the task's own group as the top, so that a program which asks for its limits finds
 * them; what cannot be had it does without. */
static void own_groups(unsigned attr)
{
	static const char *const none[] = { NULL };
	struct err unseen = { 0 };
	int fd;

	if (access("/sys/fs/cgroup/cgroup.controllers", F_OK) < 0)
		return;
	fd = mount_new("cgroup2", none, attr, &unseen);
	if (fd >= 0)
		mount_place(fd, AT_FDCWD, "root/sys/fs/cgroup", &unseen);
}

int sandbox_kernel(struct sandbox *s, struct err *err)
{
	static const char *const none[] = { NULL };
	const unsigned quiet = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
	int proc;

	if (dev(s, err) < 0)
		return -1;
	proc = mount_new("proc", none, quiet, err);
	if (proc < 0 || mount_place(proc, AT_FDCWD, "root/proc", err) < 0)
		return err_wrap(err, "a /proc of its own");
	/* Without root, mounts below it come along: they may not be taken apart there. */
	if (mount_bind("/sys", AT_FDCWD, "root/sys", MOUNT_ATTR_RDONLY | quiet,
		       !s->root_mode, err) < 0)
		return -1;
	own_groups(MOUNT_ATTR_RDONLY | quiet);
	return 0;
}
