// SPDX-License-Identifier: Apache-2.0
/* record.h - the frame of event files (TFRecord); seen inside this room alone.
 *
 *   8 bytes length | 4 bytes its CRC | the data | 4 bytes its CRC
 *
 * all of the lowest byte first, CRCs masked CRC-32C.  A record of which the end is missing is
 * not there yet.  A wrong CRC ends a file: where the next record begins is not known.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RECORD_HEAD  12
#define RECORD_EXTRA 16 /* bytes around the data */
#define RECORD_MAX                                                                       \
	(64u << 20) /* of one that is given; a longer one is checked and passed over */

struct record_buffer; /* lent to one reader after the other: their memory */
struct record_buffer *record_buffer_create(void);
void record_buffer_destroy(struct record_buffer *b); /* NULL is fine */

struct record_reader {
	int fd;
	int64_t offset; /* of the next record: where to go on another time */
	int64_t size;   /* of the file: what is beyond is read another time */
	struct record_buffer *buffer;
	size_t from, to; /* bytes of the buffer that are to be read yet */
};

/* Borrows both until it is no longer used. */
void record_reader_init(struct record_reader *r, int fd, int64_t offset, int64_t size,
			struct record_buffer *b);

enum record_got {
	RECORD_FAILED = -1, /* with err: ERR_CORRUPT, or ERR_IO */
	RECORD_WAIT,        /* nothing whole is behind the offset yet */
	RECORD_HERE,        /* data is valid until the next call */
	RECORD_LONG,        /* one beyond RECORD_MAX was passed over; *len: how long */
};
enum record_got record_next(struct record_reader *r, const uint8_t **data, uint64_t *len,
			    struct err *err);

uint32_t record_mask(uint32_t crc); /* as it stands in the file */
