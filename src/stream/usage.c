// SPDX-License-Identifier: Apache-2.0
#include "stream/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "stream/segment.h"

#define SAMPLE_BYTES                                                                     \
	sizeof(struct                                                                    \
	       usage_sample) /* never leaves this machine: its own order of bytes */

static int path_of(const char *folder, const char *name, char out[PATH_MAX],
		   struct err *err)
{
	int len = snprintf(out, PATH_MAX, "%s/%s", folder, name);

	if (len < 0 || len >= PATH_MAX)
		return err_set(err, ERR_TOO_LARGE, "the path of %s is too long", folder);
	return 0;
}

static int read_samples(int fd, struct usage_sample **out, size_t *count, struct err *err)
{
	AUTO_FREE struct usage_sample *s = mem_alloc(USAGE_SAMPLES_MAX, SAMPLE_BYTES);
	int64_t n = segment_read(fd, 0, s, USAGE_SAMPLES_MAX * SAMPLE_BYTES, err);

	if (n < 0)
		return -1;
	*count = (size_t)n / SAMPLE_BYTES; /* a torn last one is not counted */
	*out = TAKE(s);
	return 0;
}

/* Another file takes the place of the full one, so that a reader sees the one or the other. */
static int thin(const char *folder, int fd, struct err *err)
{
	AUTO_FREE struct usage_sample *s = NULL;
	char path[PATH_MAX], fresh[PATH_MAX];
	size_t count, kept = 0;

	if (read_samples(fd, &s, &count, err) < 0 ||
	    path_of(folder, "usage", path, err) < 0 ||
	    path_of(folder, "usage.new", fresh, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i += 2)
		s[kept++] = s[i];
	AUTO_FD int to = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (to < 0 ||
	    write(to, s, kept * SAMPLE_BYTES) != (ssize_t)(kept * SAMPLE_BYTES) ||
	    rename(fresh, path) < 0)
		return err_sys(err, "write %s", fresh);
	return 1;
}

int usage_append(const char *folder, const struct usage_sample *s, struct err *err)
{
	char path[PATH_MAX];
	struct stat st;

	if (path_of(folder, "usage", path, err) < 0)
		return -1;
	AUTO_FD int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "open %s", path);
	size_t count = (size_t)st.st_size / SAMPLE_BYTES;

	/* At the place of the next whole one: a torn one is written over. */
	if (pwrite(fd, s, SAMPLE_BYTES, (off_t)(count * SAMPLE_BYTES)) !=
	    (ssize_t)SAMPLE_BYTES)
		return err_sys(err, "write %s", path);
	return count + 1 < USAGE_SAMPLES_MAX ? 0 : thin(folder, fd, err);
}

int usage_read(const char *folder, struct usage_sample **out, size_t *count,
	       struct err *err)
{
	char path[PATH_MAX];

	*out = NULL;
	*count = 0;
	if (path_of(folder, "usage", path, err) < 0)
		return -1;
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", path);
	return read_samples(fd, out, count, err);
}
