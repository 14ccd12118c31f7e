// SPDX-License-Identifier: Apache-2.0
#include "shim/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define FILE_MAX (64u << 10)

static int read_all(int fd, struct buf *out)
{
	for (;;) {
		ssize_t n;

		buf_reserve(out, 4096);
		n = read(fd, out->data + out->len, 4096);
		if (n <= 0)
			return (int)n;
		out->len += (size_t)n;
		out->data[out->len] = 0;
		if (out->len > FILE_MAX) {
			errno = EFBIG;
			return -1;
		}
	}
}

int folder_read(int dir, const char *name, struct buf *out, struct err *err)
{
	AUTO_FD int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", name);
	if (read_all(fd, out) < 0)
		return err_sys(err, "read %s", name);
	return 1;
}

int folder_put(int dir, const char *name, const struct buf *content, struct err *err)
{
	char tmp[32];
	size_t done = 0;

	snprintf(tmp, sizeof tmp, "%s.new", name);
	AUTO_FD int fd = openat(dir, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "create %s", tmp);
	while (done < content->len) {
		ssize_t n = write(fd, content->data + done, content->len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(err, "write %s", tmp);
		done += (size_t)n;
	}
	if (renameat(dir, tmp, dir, name) < 0)
		return err_sys(err, "keep %s", name);
	return TAKE_FD(fd);
}

int folder_sync(int dir, int fd, struct err *err)
{
	AUTO_FD int file = fd;

	return fsync(file) < 0 || fsync(dir) < 0 ? err_sys(err, "make a file durable")
						 : 0;
}

void boot_id(char *out, size_t size)
{
	AUTO_FD int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, out, size - 1);

	out[n > 0 ? n : 0] = 0;
	out[strcspn(out, "\n")] = 0;
}

int64_t process_start(int64_t pid)
{
	char path[64], text[1024], *at;
	int64_t start;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (n = read(fd, text, sizeof text - 1)) <= 0)
		return -1;
	text[n] = 0;
	if (!(at = strrchr(text, ')'))) /* the name before it may contain anything */
		return -1;
	for (int field = 2; field < 22 && at; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return -1;
	at[1 + strcspn(at + 1, " ")] = 0;
	return str_to_i64(at + 1, 0, INT64_MAX, &start) < 0 ? -1 : start;
}
