// SPDX-License-Identifier: Apache-2.0
/* writer.h - writes logs as the shim does, for the tests of their readers. */
#pragma once

#include <assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/logframe.h"

struct writer {
	char folder[256];
	uint64_t start, offset;
	int fd;
};

__attribute__((unused)) static void writer_open(struct writer *w)
{
	snprintf(w->folder, sizeof w->folder, "%s", "/tmp/yard-stream-XXXXXX");
	assert(mkdtemp(w->folder));
	w->start = w->offset = 0;
	w->fd = -1;
}

__attribute__((unused)) static void writer_path(const struct writer *w, uint64_t start,
						char out[PATH_MAX])
{
	snprintf(out, PATH_MAX, "%s/log.%020" PRIu64, w->folder, start);
}

__attribute__((unused)) static void writer_rotate(struct writer *w)
{
	char path[PATH_MAX];

	if (w->fd >= 0)
		close(w->fd);
	w->start = w->offset;
	writer_path(w, w->start, path);
	w->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert(w->fd >= 0);
}

__attribute__((unused)) static void writer_raw(struct writer *w, const void *data,
					       size_t len)
{
	if (w->fd < 0)
		writer_rotate(w);
	assert(write(w->fd, data, len) == (ssize_t)len);
}

__attribute__((unused)) static void writer_add(struct writer *w, enum log_stream stream,
					       const void *data, uint32_t len)
{
	struct logframe f = { .stream = stream,
			      .len = len,
			      .time_us = (int64_t)w->offset + 1 };
	uint8_t *record = malloc(LOGFRAME_BYTES + (size_t)len);

	logframe_write(&f, record);
	memcpy(record + LOGFRAME_BYTES, data, len);
	writer_raw(w, record, LOGFRAME_BYTES + (size_t)len);
	w->offset += LOGFRAME_BYTES + len;
	free(record);
}

__attribute__((unused)) static void writer_line(struct writer *w, const char *line)
{
	writer_add(w, LOG_STDOUT, line, (uint32_t)strlen(line));
}

__attribute__((unused)) static void writer_remove(const struct writer *w, uint64_t start)
{
	char path[PATH_MAX];

	writer_path(w, start, path);
	assert(unlink(path) == 0);
}

__attribute__((unused)) static void writer_close(struct writer *w)
{
	char command[300];
	int rc;

	if (w->fd >= 0)
		close(w->fd);
	snprintf(command, sizeof command, "rm -r '%s'", w->folder);
	rc = system(command);
	(void)rc;
}
