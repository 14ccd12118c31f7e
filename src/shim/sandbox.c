// SPDX-License-Identifier: Apache-2.0
#include "shim/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/keyctl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "shim/mount.h"
#include "shim/sandbox_parts.h"
#include "shim/seccomp.h"

int sandbox_mkdir(const struct sandbox *s, int dir, const char *path, mode_t mode,
		  struct err *err)
{
	if (mkdirat(dir, path, mode) < 0)
		return errno == EEXIST ? 0 : err_sys(err, "make %s in the sandbox", path);
	if (s->root_mode &&
	    fchownat(dir, path, s->owner, s->owner, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "give %s to the task", path);
	if (mode & ~0755u && fchmodat(dir, path, mode, 0) < 0)
		return err_sys(err, "make %s in the sandbox", path);
	return 0;
}

int sandbox_file(const struct sandbox *s, int dir, const char *path, mode_t mode,
		 struct bytes content, struct err *err)
{
	AUTO_FD int fd = openat(
		dir, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return err_sys(err, "make %s in the sandbox", path);
	for (size_t done = 0; done < content.len;) {
		ssize_t n = write(fd, content.data + done, content.len - done);

		if (n <= 0)
			return err_sys(err, "write %s in the sandbox", path);
		done += (size_t)n;
	}
	if (mode & 022 && fchmod(fd, mode) < 0) /* which the umask took away */
		return err_sys(err, "make %s in the sandbox", path);
	if (s->root_mode && fchown(fd, s->owner, s->owner) < 0)
		return err_sys(err, "give %s to the task", path);
	return 0;
}

int sandbox_link(const struct sandbox *s, const char *to, const char *path,
		 struct err *err)
{
	if (symlinkat(to, AT_FDCWD, path) < 0 ||
	    (s->root_mode &&
	     fchownat(AT_FDCWD, path, s->owner, s->owner, AT_SYMLINK_NOFOLLOW) < 0))
		return err_sys(err, "make %s in the sandbox", path);
	return 0;
}

static int open_inside(int root, const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT };

	return (int)syscall(SYS_openat2, root, path, &how, sizeof how);
}

int sandbox_folder(const struct sandbox *s, const char *path, struct err *err)
{
	AUTO_FREE char *part = mem_strdup(path);
	AUTO_FD int parent = -1;
	int fd = open_inside(s->root, path);

	if (fd >= 0)
		return fd;
	/* Walks down from the root, because any prefix may be a link or missing. */
	for (char *end = part; end;) {
		const char *name;

		end = strchr(end + 1, '/');
		if (end)
			*end = 0;
		fd = open_inside(s->root, part);
		if (fd < 0 && errno == ENOENT) {
			name = strrchr(part, '/') + 1;
			if (sandbox_mkdir(s, parent >= 0 ? parent : s->root, name, 0755,
					  err) < 0)
				return -1;
			fd = open_inside(s->root, part);
		}
		if (fd < 0)
			return err_sys(err, "open %s in the sandbox", part);
		if (parent >= 0)
			close(parent);
		parent = fd;
		if (end)
			*end = '/';
	}
	return TAKE_FD(parent);
}

/* One tmpfs holds the root and every overlay's upper: writes vanish with the namespace, and
 * each further tmpfs would cost 0.1 ms. */
static int stage(struct sandbox *s, struct err *err)
{
	char size[48], uid[32], gid[32];
	const char *options[] = { "mode=0755", uid, gid, size, NULL };
	int64_t bytes = s->task->memory_bytes;
	int fd;

	snprintf(uid, sizeof uid, "uid=%u", s->owner);
	snprintf(gid, sizeof gid, "gid=%u", s->owner);
	snprintf(size, sizeof size, bytes > 0 ? "size=%lld" : "size=50%%",
		 (long long)bytes);
	if ((fd = mount_new("tmpfs", options, 0, err)) < 0)
		return -1;
	/* Any folder will do to mount at; only this namespace sees it. */
	if (mount_place(fd, AT_FDCWD, s->task->folder, err) < 0)
		return -1;
	if (chdir(s->task->folder) < 0)
		return err_sys(err, "enter %s", s->task->folder);
	if (sandbox_mkdir(s, AT_FDCWD, "root", 0755, err) < 0 ||
	    sandbox_mkdir(s, AT_FDCWD, "empty", 0755, err) < 0 ||
	    mount_bind("root", AT_FDCWD, "root", 0, false, err) < 0)
		return -1;
	s->root = open("root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return s->root < 0 ? err_sys(err, "open the sandbox") : 0;
}

static int pivot(struct err *err)
{
	if (chdir("root") < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_sys(err, "enter the sandbox");
	return 0;
}

int sandbox_build(const struct shim_task *t, const struct sandbox_maps *m,
		  struct err *err)
{
	struct sandbox s = { .task = t, .maps = m, .root = -1 };
	mode_t mask = umask(0);
	int done;

	s.root_mode = t->uid_base >= 0;
	s.owner = s.root_mode ? (uid_t)t->uid_base : 0;
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_sys(err, "make mounts private");
	done = stage(&s, err) < 0 || sandbox_skeleton(&s, err) < 0 ||
			       sandbox_system(&s, err) < 0 ||
			       sandbox_kernel(&s, err) < 0 || sandbox_mounts(&s, err) < 0
		       ? -1
		       : pivot(err);
	if (s.root >= 0)
		close(s.root);
	umask(mask);
	return done;
}

int sandbox_become(int userns, bool may_mount, struct err *err)
{
	/* Not the daemon's keys. */
	syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL);
	if (userns >= 0 && setns(userns, CLONE_NEWUSER) < 0)
		return err_sys(err, "enter the user namespace");
	/* With a single uid groups cannot be changed, and none of ours has a name inside. */
	if (setgroups(0, NULL) < 0 && errno != EPERM)
		return err_sys(err, "leave groups");
	if (setresgid(0, 0, 0) < 0 || setresuid(0, 0, 0) < 0)
		return err_sys(err, "become root of the sandbox");
	return sandbox_filter(may_mount, err);
}

int sandbox_enter(const struct shim_task *t, int userns, bool may_mount, struct err *err)
{
	if (t->hostname && sethostname(t->hostname, strlen(t->hostname)) < 0)
		return err_sys(err, "set the host name");
	if (userns < 0 && sandbox_lock(err) < 0)
		return -1;
	return sandbox_become(userns, may_mount, err);
}

/* Only ever lowered: a machine may forbid raising, and a task never needs it. */
static void lower(__rlimit_resource_t what, int64_t to)
{
	struct rlimit now, want;

	if (to < 0 || getrlimit(what, &now) < 0)
		return;
	want.rlim_cur = want.rlim_max = (rlim_t)to;
	if (now.rlim_max != RLIM_INFINITY && want.rlim_max > now.rlim_max)
		want.rlim_cur = want.rlim_max = now.rlim_max;
	setrlimit(what, &want);
}

void sandbox_rlimits(const struct shim_task *t, bool pids_by_cgroup)
{
	lower(RLIMIT_NOFILE, t->nofile);
	lower(RLIMIT_CORE, t->core_bytes);
	lower(RLIMIT_MEMLOCK, t->memlock_bytes);
	/* Counted in the task's own user namespace, so it is a limit of this task alone. */
	if (!pids_by_cgroup && t->pids_max > 0)
		lower(RLIMIT_NPROC, t->pids_max);
}
