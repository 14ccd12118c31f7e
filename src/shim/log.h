// SPDX-License-Identifier: Apache-2.0
/* log.h - writes a task's output as records into segments of bounded total size.
 *
 * Laws: every byte written is a byte of a whole record (a write that the disk cuts is
 * taken back); all segments together never exceed the limit by more than one record;
 * what cannot be written is dropped and counted, and a LOG_NOTE tells it as soon as the
 * disk takes bytes again.  Nothing here waits for a reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/logframe.h"

#define LOG_SEGMENTS 8 /* about this many make up the limit */

struct log {
	int dir; /* the attempt's folder; borrowed */
	int fd;  /* segment that is written, -1: none yet */
	int64_t limit, segment_limit;
	uint64_t offset;        /* of the next byte, since the attempt began */
	uint64_t segment_start; /* offset of the present segment's first byte */
	uint64_t starts[4 * LOG_SEGMENTS]; /* of the segments on disk, oldest first */
	int count;
	uint64_t dropped; /* bytes that were lost since the last note */
	int error;        /* errno of the last failed write */
};

void log_init(struct log *l, int dir, int64_t limit);
void log_fini(struct log *l);
/* At most LOGFRAME_DATA_MAX bytes of one stream, as one record. */
void log_write(struct log *l, enum log_stream stream, const char *data, size_t len);
void log_note(struct log *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* On a full disk: gives up the oldest segment; false: there is none to give. */
bool log_give_way(struct log *l);
