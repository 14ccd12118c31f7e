// SPDX-License-Identifier: Apache-2.0
#include "stream/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"

#define TRIES 16 /* a name that is moved about while it is looked up */

static int open_how(int at, const char *path, int flags, uint64_t resolve)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC),
				.resolve = resolve };
	long fd;

	for (int i = 0; i < TRIES; i++) {
		fd = syscall(SYS_openat2, at, path, &how, sizeof how);
		if (fd >= 0 || (errno != EAGAIN && errno != EINTR))
			break;
	}
	return (int)fd;
}

int beneath_root(const char *path, struct err *err)
{
	int fd = open_how(AT_FDCWD, path, O_RDONLY | O_DIRECTORY, RESOLVE_NO_MAGICLINKS);

	return fd < 0 ? err_sys(err, "%s", path) : fd;
}

#define BELOW (RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS)

int beneath_folder(int root, const char *path, struct err *err)
{
	int fd = open_how(root, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, BELOW);

	return fd < 0 ? err_sys(err, "%s", path) : fd;
}

int beneath_file(int root, const char *path, struct stat *st, struct err *err)
{
	AUTO_FD int seen = open_how(root, path, O_PATH | O_NOFOLLOW, BELOW);
	char self[64];

	if (seen < 0 || fstat(seen, st) < 0)
		return err_sys(err, "%s", path);
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INVALID, "%s: no plain file", path);
	snprintf(self, sizeof self, "/proc/self/fd/%d", seen);
	int fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? err_sys(err, "%s", path) : fd;
}
