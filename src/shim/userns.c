// SPDX-License-Identifier: Apache-2.0
#include "shim/userns.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

static int put(pid_t pid, const char *file, const char *text, struct err *err)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	AUTO_FD int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return err_sys(err, "write %s '%s'", file, text);
	return 0;
}

static int put_map(pid_t pid, const char *file, const struct idrange *r, struct err *err)
{
	char text[80];

	snprintf(text, sizeof text, "%lld %lld %lld\n", (long long)r->inside,
		 (long long)r->outside, (long long)r->count);
	return put(pid, file, text, err);
}

static int wait_here(void *unused)
{
	(void)unused;
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
	return 0;
}

/* What /proc calls the process.  A caller in a younger pid namespace still sees the /proc of
 * an older one, and there the number that clone() gave is somebody else's. */
static pid_t name_in_proc(int pidfd)
{
	char path[64], text[512];
	int64_t pid;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pidfd);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (n < 0)
		return -1;
	text[n] = 0;
	char *at = strstr(text, "\nPid:\t");
	if (!at)
		return -1;
	at += strlen("\nPid:\t");
	at[strcspn(at, "\n")] = 0;
	return str_to_i64(at, 1, INT32_MAX, &pid) < 0 ? -1 : (pid_t)pid;
}

/* The holder shares our memory (no page tables are copied: 0.1 ms less than a fork) and
 * lives only until its namespace has maps and a descriptor. */
struct holder {
	pid_t pid, name; /* name: in /proc */
};

static int hold_userns(struct holder *h, struct err *err)
{
	_Alignas(16) static char stack[4096];
	AUTO_FD int pidfd = -1;

	h->pid = clone(wait_here, stack + sizeof stack,
		       CLONE_VM | CLONE_NEWUSER | CLONE_PIDFD | SIGCHLD, NULL, &pidfd);
	if (h->pid < 0)
		return err_sys(err, "create a user namespace");
	h->name = name_in_proc(pidfd);
	if (h->name >= 0)
		return 0;
	kill(h->pid, SIGKILL);
	return err_set(err, ERR_IO, "create a user namespace: /proc does not show it");
}

static int open_userns(const struct holder *h, struct err *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof path, "/proc/%d/ns/user", (int)h->name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "open %s", path) : fd;
}

int userns_create(const struct idrange *uids, const struct idrange *gids, struct err *err)
{
	struct holder h = { 0 };
	int fd = -1;

	if (hold_userns(&h, err) < 0)
		return -1;
	if (put_map(h.name, "uid_map", uids, err) == 0 &&
	    put_map(h.name, "gid_map", gids, err) == 0)
		fd = open_userns(&h, err);
	kill(h.pid, SIGKILL);
	while (waitpid(h.pid, NULL, 0) < 0 && errno == EINTR)
		;
	return fd;
}

/* Whatever has an id here has the same id below. */
static int copy_map(pid_t below, const char *file, struct err *err)
{
	AUTO_BUF struct buf same = { 0 };
	char path[64], line[128];

	snprintf(path, sizeof path, "/proc/self/%s", file);
	FILE *from = fopen(path, "re");
	while (from && fgets(line, sizeof line, from)) {
		char *at = line, *word[3] = { NULL };
		int n = 0;

		for (char *w; n < 3 && (w = strsep(&at, " \n"));) {
			if (*w)
				word[n++] = w; /* inside, outside, count */
		}
		if (n == 3)
			buf_printf(&same, "%s %s %s\n", word[0], word[0], word[2]);
	}
	if (from)
		fclose(from);
	return put(below, file, buf_str(&same), err);
}

int userns_below(struct err *err)
{
	struct holder h = { 0 };
	int fd = -1;

	if (hold_userns(&h, err) < 0)
		return -1;
	if (copy_map(h.name, "uid_map", err) == 0 &&
	    copy_map(h.name, "gid_map", err) == 0)
		fd = open_userns(&h, err);
	kill(h.pid, SIGKILL);
	return fd;
}

int userns_range(int64_t base, int64_t count, struct err *err)
{
	struct idrange r = { 0, base, count };

	return userns_create(&r, &r, err);
}

/* Lines of /etc/subuid: "name-or-uid:first:count". */
static int subids(const char *file, const char *user, int64_t id, struct idrange *out)
{
	AUTO_FREE char *line = NULL;
	size_t cap = 0;
	char number[24];
	FILE *f = fopen(file, "re");
	int found = -1;

	if (!f)
		return -1;
	snprintf(number, sizeof number, "%lld", (long long)id);
	while (found < 0 && getline(&line, &cap, f) > 0) {
		char *at = line, *name = strsep(&at, ":"), *first = strsep(&at, ":"),
		     *count = at;

		if (!count || (!str_eq(name, user) && !str_eq(name, number)))
			continue;
		count[strcspn(count, "\n")] = 0;
		if (str_to_i64(first, 1, UINT32_MAX, &out->outside) == 0 &&
		    str_to_i64(count, 1, UINT32_MAX, &out->count) == 0)
			found = 0;
	}
	fclose(f);
	return found;
}

/* newuidmap and newgidmap are setuid: they alone may map what is not ours. */
static pid_t start_newidmap(const char *program, pid_t child, int64_t own,
			    const struct idrange *sub)
{
	char pid[16], id[24], first[24], count[24];
	char zero[] = "0", one[] = "1", name[16];
	char *argv[] = { name, pid, zero, id, one, one, first, count, NULL };
	char *env[] = { NULL };
	pid_t p;

	snprintf(name, sizeof name, "%s", strrchr(program, '/') + 1);
	snprintf(pid, sizeof pid, "%d", (int)child);
	snprintf(id, sizeof id, "%lld", (long long)own);
	snprintf(first, sizeof first, "%lld", (long long)sub->outside);
	snprintf(count, sizeof count, "%lld", (long long)sub->count);
	return posix_spawn(&p, program, NULL, NULL, argv, env) == 0 ? p : -1;
}

static bool ended_well(pid_t pid)
{
	int status = -1;

	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status == 0;
}

static int map_subids(pid_t child)
{
	struct idrange uids = { 1, 0, 0 }, gids = { 1, 0, 0 };
	/* Not getpwuid: it cannot be linked statically. */
	const char *user = getenv("USER");

	if (!user)
		user = "";
	if (subids("/etc/subuid", user, geteuid(), &uids) < 0 ||
	    subids("/etc/subgid", user, geteuid(), &gids) < 0)
		return -1;
	/* Side by side: each takes a ms. */
	pid_t first = start_newidmap("/usr/bin/newuidmap", child, geteuid(), &uids);
	pid_t second = start_newidmap("/usr/bin/newgidmap", child, getegid(), &gids);
	bool one = ended_well(first), two = ended_well(second);
	return one && two ? 0 : -1;
}

int userns_map_self(pid_t child, struct err *err)
{
	struct idrange uid = { 0, geteuid(), 1 }, gid = { 0, getegid(), 1 };

	if (map_subids(child) == 0)
		return 0;
	/* newuidmap may have written one map and failed on the other: EPERM then, in words. */
	if (put(child, "setgroups", "deny", err) < 0 ||
	    put_map(child, "gid_map", &gid, err) < 0)
		return -1;
	return put_map(child, "uid_map", &uid, err);
}
