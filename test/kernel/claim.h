// SPDX-License-Identifier: Apache-2.0
/* claim.h - a claim about the kernel, tried out: the sandbox stands on each of them.
 *
 * A program prints "ok - words", "not ok - words" or "skip - words # why"; the script
 * `claims` runs it as root, as a user with sub-uids and as one without, and numbers them.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CLAIM(cond, words)                                                               \
	do {                                                                             \
		errno = 0;                                                               \
		bool held_ = (cond);                                                     \
		printf("%s - %s", held_ ? "ok" : "not ok", words);                       \
		printf(held_ ? "\n" : " (%s)\n", strerror(errno));                       \
		fflush(stdout);                                                          \
	} while (0)
#define CANNOT(words, why) (printf("skip - %s # %s\n", words, why), fflush(stdout))

static inline bool put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* Into new namespaces, a user namespace among them, as its root. */
static inline bool enter(int flags)
{
	char map[64];
	unsigned uid = geteuid(), gid = getegid();

	if (unshare(CLONE_NEWUSER | flags) < 0)
		return false;
	put_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof map, "0 %u 1", gid);
	if (!put_text("/proc/self/gid_map", map))
		return false;
	snprintf(map, sizeof map, "0 %u 1", uid);
	return put_text("/proc/self/uid_map", map);
}

/* Runs fn in a child; its exit code, or 128 and the signal. */
static inline int in_child(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fn());
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
