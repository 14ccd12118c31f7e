// SPDX-License-Identifier: Apache-2.0
/* What `yard simulate` reads and writes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/simulate.h"

int simulate_read(const char *path, struct buf *out, struct err *err)
{
	bool in = str_eq(path, "-");
	AUTO_FD int fd = in ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
	char chunk[65536];
	ssize_t n;

	if (fd < 0)
		return err_sys(err, "%s", path);
	while ((n = read(fd, chunk, sizeof chunk)) > 0 && out->len <= SIMULATE_BYTES_MAX)
		buf_add(out, chunk, (size_t)n);
	if (n < 0)
		return err_sys(err, "%s", path);
	if (out->len > SIMULATE_BYTES_MAX)
		return err_set(err, ERR_TOO_LARGE, "%s: larger than %u MiB", path,
			       SIMULATE_BYTES_MAX >> 20);
	return 0;
}

int simulate_write(const char *path, const struct buf *text, struct err *err)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	size_t at = 0;

	if (fd < 0)
		return err_sys(err, "%s", path);
	while (at < text->len) {
		ssize_t n = write(fd, text->data + at, text->len - at);
		if (n < 0 && errno != EINTR)
			return err_sys(err, "%s", path);
		at += n > 0 ? (size_t)n : 0;
	}
	return 0;
}

int simulate_cluster(const char *given, struct sim_cluster *out, struct err *err)
{
	AUTO_BUF struct buf text = { 0 };
	struct stat st;

	if (given[strspn(given, "0123456789")] == 'x' && stat(given, &st) < 0)
		return sim_cluster_short(given, out, err);
	if (simulate_read(given, &text, err) < 0)
		return err_wrap(err, "the nodes, such as --cluster 80x8 or a file");
	if (sim_cluster_read(buf_str(&text), text.len, out, err) < 0)
		return err_wrap(err, "%s", given);
	return 0;
}
