// SPDX-License-Identifier: Apache-2.0
#include "shim/memfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define SEEN_MAX 1024 /* a power of two; what finds no room there is counted again */

struct seen {
	ino_t ino[SEEN_MAX]; /* by its low bits, then the next free */
	int count;
};

static bool seen_before(struct seen *s, ino_t ino)
{
	size_t at = ino % SEEN_MAX;

	while (s->ino[at] && s->ino[at] != ino)
		at = (at + 1) % SEEN_MAX;
	if (s->ino[at] == ino)
		return true;
	if (s->count < SEEN_MAX / 2) {
		s->ino[at] = ino;
		s->count++;
	}
	return false;
}

int64_t memfile_tmpfs(int fd)
{
	struct statfs st;

	if (fd < 0 || fstatfs(fd, &st) < 0)
		return 0;
	return (int64_t)(st.f_blocks - st.f_bfree) * st.f_bsize;
}

static DIR *open_dir(int at, const char *path)
{
	int fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? NULL : fdopendir(fd);
}

/* They are all in one file system of the kernel's, so the inode tells them apart. */
static int64_t of_process(int proc, const char *pid, struct seen *s)
{
	static const char memfd[] = "/memfd:";
	char path[300], link[sizeof memfd];
	struct stat st;
	int64_t sum = 0;

	snprintf(path, sizeof path, "%s/fd", pid);
	DIR *d = open_dir(proc, path);
	for (struct dirent *e; d && (e = readdir(d));) {
		ssize_t n = readlinkat(dirfd(d), e->d_name, link, sizeof memfd - 1);

		if (n == sizeof memfd - 1 && memcmp(link, memfd, (size_t)n) == 0 &&
		    fstatat(dirfd(d), e->d_name, &st, 0) == 0 &&
		    !seen_before(s, st.st_ino))
			sum += (int64_t)st.st_blocks * 512;
	}
	if (d)
		closedir(d);
	return sum;
}

int64_t memfile_open(int proc)
{
	struct seen seen = { .count = 0 };
	DIR *d = open_dir(proc, ".");
	int64_t sum = 0;

	for (struct dirent *e; d && (e = readdir(d));) {
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9')
			sum += of_process(proc, e->d_name, &seen);
	}
	if (d)
		closedir(d);
	return sum;
}
