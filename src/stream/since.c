// SPDX-License-Identifier: Apache-2.0
/* since.c - where a log stood at a moment.  Records carry their time, segments begin with a
 * record: what is wholly older is passed by, the rest is for the reader to sift. */
#include "stream/stream.h"

#include <unistd.h>

#include "base/mem.h"
#include "stream/segment.h"

/* 1: the segment's first record has a time; 0: it has none (yet). */
static int begins_at(const char *folder, uint64_t start, int64_t *time_us,
		     struct err *err)
{
	uint8_t bytes[LOGFRAME_BYTES];
	struct logframe frame;
	int opened;

	if (segment_open(folder, start, &opened, err) < 0)
		return -1;
	AUTO_FD int fd = opened;
	if (fd < 0)
		return 0;
	int64_t n = segment_read(fd, 0, bytes, sizeof bytes, err);
	if (n < 0)
		return -1;
	if (n < (int64_t)sizeof bytes || logframe_read(bytes, &frame) < 0)
		return 0;
	*time_us = frame.time_us;
	return 1;
}

int log_since_offset(const char *folder, int64_t since_us, uint64_t *offset,
		     struct err *err)
{
	struct segments s;
	int64_t time_us;
	int found = 1;

	*offset = 0;
	if (segments_list(folder, &s, err) < 0)
		return -1;
	for (size_t i = 0; i < s.count && found >= 0; i++) {
		found = begins_at(folder, s.starts[i], &time_us, err);
		if (found > 0 && time_us >= since_us && i > 0)
			break;
		*offset = s.starts[i];
	}
	segments_fini(&s);
	return found < 0 ? -1 : 0;
}
