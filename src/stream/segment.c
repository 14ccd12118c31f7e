// SPDX-License-Identifier: Apache-2.0
#include "stream/segment.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

#define SEGMENT_PREFIX "log."
#define SEGMENT_DIGITS 20

static int by_start(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int start_of(const char *name, uint64_t *out)
{
	const char *digits = name + strlen(SEGMENT_PREFIX);
	int64_t value;

	if (!str_starts(name, SEGMENT_PREFIX) || strlen(digits) != SEGMENT_DIGITS ||
	    str_to_i64(digits, 0, INT64_MAX, &value) < 0)
		return -1;
	*out = (uint64_t)value;
	return 0;
}

int segments_list(const char *folder, struct segments *out, struct err *err)
{
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	uint64_t start;
	int failed;

	*out = (struct segments){ 0 };
	if (!dir)
		return errno == ENOENT ? 0 : err_sys(err, "open %s", folder);
	while (errno = 0, entry = readdir(dir)) {
		if (start_of(entry->d_name, &start) < 0)
			continue;
		mem_grow(&out->starts, &out->cap, out->count, sizeof *out->starts);
		out->starts[out->count++] = start;
	}
	failed = errno;
	closedir(dir);
	errno = failed;
	if (failed) {
		segments_fini(out);
		return err_sys(err, "list %s", folder);
	}
	if (out->count)
		qsort(out->starts, out->count, sizeof *out->starts, by_start);
	return 0;
}

void segments_fini(struct segments *s)
{
	free(s->starts);
	*s = (struct segments){ 0 };
}

int segment_open(const char *folder, uint64_t start, int *fd, struct err *err)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof path, "%s/" SEGMENT_PREFIX "%0*" PRIu64, folder,
			   SEGMENT_DIGITS, start);

	if (len < 0 || (size_t)len >= sizeof path)
		return err_set(err, ERR_TOO_LARGE,
			       "the path of the log in %s is too long", folder);
	*fd = open(path, O_RDONLY | O_CLOEXEC);
	if (*fd < 0 && errno != ENOENT)
		return err_sys(err, "open %s", path);
	return 0;
}

int64_t segment_read(int fd, uint64_t pos, void *out, size_t len, struct err *err)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n =
			pread(fd, (char *)out + done, len - done, (off_t)(pos + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read the log");
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}
