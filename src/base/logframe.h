// SPDX-License-Identifier: Apache-2.0
/* logframe.h - the frame of one log record, written by the shim, read by stream and cli.
 *
 * A record is a 16-byte header, then len bytes of a task's output as they came (not cut
 * into lines).  Segments of one attempt: "log.<offset of its first byte, 20 digits>".
 * A record never spans two segments; a torn last record (power cut) is ignored.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define LOGFRAME_BYTES    16
#define LOGFRAME_DATA_MAX (256u << 10)
#define LOGFRAME_MAGIC    0xa7

enum log_stream {
	LOG_STDOUT = 1,
	LOG_STDERR = 2,
	LOG_NOTE = 3, /* said by the platform: "12 bytes lost: disk full" */
};

struct logframe {
	enum log_stream stream;
	uint32_t len;
	int64_t time_us; /* wall clock */
};

/* bytes: magic u8, stream u8, zero u16, len u32, time_us i64; little endian */
void logframe_write(const struct logframe *f, uint8_t out[LOGFRAME_BYTES]);
/* -1: not a frame. */
int logframe_read(const uint8_t in[LOGFRAME_BYTES], struct logframe *out);
