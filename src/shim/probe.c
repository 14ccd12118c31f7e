// SPDX-License-Identifier: Apache-2.0
#include "shim/probe.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "shim/cgroup.h"
#include "shim/folder.h"

/* 1: held by somebody; 0: free; -1. */
static int lock_held(int dir, struct err *err)
{
	AUTO_FD int fd = openat(dir, "lock", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open lock");
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0; /* given back by the close */
	return errno == EWOULDBLOCK ? 1 : err_sys(err, "lock");
}

static int exit_of(int dir, struct shim_probe *out, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };
	int got = folder_read(dir, "exit", &b, err);

	if (got <= 0)
		return got;
	/* Cut by a power failure before it was durable: as if it were not there. */
	if (shim_exit_decode(b.data, b.len, &out->exit, err) < 0)
		return 0;
	out->state = SHIM_OVER;
	return 1;
}

static int mark_of(int dir, struct shim_probe *out, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };
	int got = folder_read(dir, "mark", &b, err);

	if (got <= 0)
		return got;
	return shim_mark_decode(b.data, b.len, &out->mark, err) < 0 ? -1 : 1;
}

/* The marked process, if it is still that one: a pid alone may be somebody else's by now. */
static int open_pid(const struct shim_mark *m)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)m->pid, 0);

	if (fd >= 0 && process_start(m->pid) != m->start) {
		close(fd);
		return -1;
	}
	return fd;
}

static int probe_marked(int dir, struct shim_probe *out, struct err *err)
{
	char boot[sizeof out->mark.boot];
	int held, got;

	boot_id(boot, sizeof boot);
	if (!str_eq(boot, out->mark.boot)) {
		out->state = SHIM_VANISHED;
		snprintf(out->lost, sizeof out->lost,
			 "the machine was restarted while it ran");
		return 0;
	}
	if ((held = lock_held(dir, err)) < 0)
		return -1;
	if (held && (out->pidfd = open_pid(&out->mark)) >= 0) {
		out->state = SHIM_ALIVE;
		return 0;
	}
	/* It may have ended between our look for `exit` and now: what it left decides. */
	if ((got = exit_of(dir, out, err)) != 0)
		return got < 0 ? -1 : 0;
	out->state = held ? SHIM_BUSY : SHIM_VANISHED;
	snprintf(out->lost, sizeof out->lost, "the process that held it was killed");
	return 0;
}

int shim_probe(const char *folder, struct shim_probe *out, struct err *err)
{
	AUTO_FD int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int got, held;

	*out = (struct shim_probe){ .state = SHIM_NONE, .pidfd = -1 };
	if (dir < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", folder);
	if ((got = exit_of(dir, out, err)) != 0)
		return got < 0 ? err_wrap(err, "%s", folder) : 0;
	/* Lock before mark: a free lock seen first and no mark after it means that none is
	 * being made now. */
	if ((held = lock_held(dir, err)) < 0 || (got = mark_of(dir, out, err)) < 0)
		return err_wrap(err, "%s", folder);
	if (got == 0) {
		out->state = held ? SHIM_BUSY : SHIM_NONE;
		return 0;
	}
	return probe_marked(dir, out, err);
}

static int put_unstarted(int dir, const char *why, struct err *err)
{
	AUTO_BUF struct buf b = { 0 };
	struct shim_exit e = { .kind = SHIM_UNSTARTED };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	e.ended_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
	snprintf(e.text, sizeof e.text, "%.255s", why);
	shim_exit_encode(&e, &b);
	/* Not synced: it keeps out shims that live now, and a power cut ends those too. */
	AUTO_FD int fd = folder_put(dir, "exit", &b, err);
	return fd < 0 ? -1 : 0;
}

int shim_fence(const char *folder, const char *why, struct err *err)
{
	struct shim_probe probe;
	int got;

	AUTO_FD int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return err_sys(err, "open %s", folder);
	AUTO_FD int lock = openat(dir, "lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (lock < 0)
		return err_sys(err, "open %s/lock", folder);
	if (flock(lock, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? 0 : err_sys(err, "lock %s", folder);
	/* A cut exit file says nothing and is made anew. */
	if (faccessat(dir, "mark", F_OK, 0) == 0 || (got = exit_of(dir, &probe, err)) > 0)
		return 0;
	return got < 0 || put_unstarted(dir, why, err) < 0 ? err_wrap(err, "%s", folder)
							   : 1;
}

/* Whether a process has this file open; of one we may not look into: no. */
static bool has_open(const char *pid, const struct stat *file)
{
	char path[64];
	const struct dirent *e;
	bool found = false;
	DIR *d;

	snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
	if (!(d = opendir(path)))
		return false;
	while (!found && (e = readdir(d))) {
		struct stat st;

		found = e->d_name[0] != '.' &&
			fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
			st.st_dev == file->st_dev && st.st_ino == file->st_ino;
	}
	closedir(d);
	return found;
}

int shim_kill(const char *folder)
{
	AUTO_FREE char *lock = str_printf("%s/lock", folder);
	const struct dirent *e;
	struct stat file;
	int64_t pid;
	int count = 0;
	DIR *d;

	if (stat(lock, &file) < 0 || !(d = opendir("/proc")))
		return 0;
	while ((e = readdir(d))) {
		if (str_to_i64(e->d_name, 2, INT32_MAX, &pid) < 0 || pid == getpid())
			continue;
		/* The pidfd first: what is found to hold the file is then either that process,
		 * or that process is gone and the signal goes nowhere. */
		AUTO_FD int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
		if (fd >= 0 && has_open(e->d_name, &file))
			count +=
				syscall(SYS_pidfd_send_signal, fd, SIGKILL, NULL, 0) == 0;
	}
	closedir(d);
	return count;
}

int shim_connect(const char *folder, int *fd, struct err *err)
{
	AUTO_FD int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FD int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	if (dir < 0 || s < 0)
		return err_sys(err, "open %s", folder);
	/* Short whatever the folder's path: sun_path has 108 bytes. */
	snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/sock", dir);
	if (connect(s, (struct sockaddr *)&a, sizeof a) < 0)
		return err_sys(err, "connect to the task's shim");
	*fd = TAKE_FD(s);
	return 0;
}

void shim_settle(void)
{
	cgroup_settle();
	cgroup_tidy();
}

void shim_sweep(const struct shim_mark *mark)
{
	cgroup_sweep(mark->cgroup);
}
