// SPDX-License-Identifier: Apache-2.0
#include "stream/record.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/mem.h"

#define USUAL_BYTES   (256u << 10) /* stays in the processor's cache */
#define SHORT_LENGTHS 256

struct record_buffer {
	uint8_t *bytes;
	size_t cap;
	/* What the lengths of short records have for CRCs: nearly all are, and summing up a
	 * length anew takes longer than its data's reading. */
	uint32_t short_crcs[SHORT_LENGTHS];
};

static uint32_t crc_of_length(uint64_t len)
{
	uint64_t bytes = htole64(len);

	return record_mask(crc32c_add(0, &bytes, sizeof bytes));
}

struct record_buffer *record_buffer_create(void)
{
	struct record_buffer *b = mem_alloc(1, sizeof *b);

	b->bytes = mem_alloc(1, USUAL_BYTES);
	b->cap = USUAL_BYTES;
	for (uint64_t n = 0; n < SHORT_LENGTHS; n++)
		b->short_crcs[n] = crc_of_length(n);
	return b;
}

void record_buffer_destroy(struct record_buffer *b)
{
	if (!b)
		return;
	free(b->bytes);
	free(b);
}

uint32_t record_mask(uint32_t crc)
{
	return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

void record_reader_init(struct record_reader *r, int fd, int64_t offset, int64_t size,
			struct record_buffer *b)
{
	*r = (struct record_reader){
		.fd = fd, .offset = offset, .size = size, .buffer = b
	};
}

static inline uint32_t read_u32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof v);
	return le32toh(v);
}

static bool has(const struct record_reader *r, uint64_t need)
{
	return r->to - r->from >= need;
}

/* Reads on behind what is there, until `need` bytes are or the file ends: 0; -1 with err. */
static int fill(struct record_reader *r, size_t need, struct err *err)
{
	struct record_buffer *b = r->buffer;

	if (r->to - r->from >= need)
		return 0;
	memmove(b->bytes, b->bytes + r->from, r->to - r->from);
	r->to -= r->from;
	r->from = 0;
	if (need > b->cap) {
		b->bytes = mem_realloc(b->bytes, 1, need);
		b->cap = need;
	}
	while (r->to < need) {
		int64_t at = r->offset + (int64_t)r->to;
		ssize_t n = pread(r->fd, b->bytes + r->to, b->cap - r->to, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "byte %lld cannot be read", (long long)at);
		if (n == 0)
			return 0;
		r->to += (size_t)n;
	}
	return 0;
}

/* One too long to be held: its CRC is summed piece by piece. */
static enum record_got pass_long(struct record_reader *r, uint64_t len, struct err *err)
{
	struct record_reader ahead = *r;
	uint32_t crc = 0;

	ahead.from = ahead.to = 0;
	ahead.offset += RECORD_HEAD;
	r->from = r->to = 0; /* the buffer is used for other bytes now */
	for (uint64_t left = len; left;) {
		size_t want = left < USUAL_BYTES ? (size_t)left : USUAL_BYTES;
		if (fill(&ahead, want, err) < 0)
			return RECORD_FAILED;
		if (ahead.to - ahead.from < want)
			return RECORD_WAIT;
		crc = crc32c_add(crc, ahead.buffer->bytes + ahead.from, want);
		ahead.from += want;
		ahead.offset += (int64_t)ahead.from;
		memmove(ahead.buffer->bytes, ahead.buffer->bytes + ahead.from,
			ahead.to - ahead.from);
		ahead.to -= ahead.from;
		ahead.from = 0;
		left -= want;
	}
	if (fill(&ahead, 4, err) < 0)
		return RECORD_FAILED;
	if (ahead.to - ahead.from < 4)
		return RECORD_WAIT;
	if (read_u32(ahead.buffer->bytes + ahead.from) != record_mask(crc)) {
		err_set(err, ERR_CORRUPT, "the record at byte %lld is corrupt",
			(long long)r->offset);
		return RECORD_FAILED;
	}
	r->offset = ahead.offset + 4;
	return RECORD_LONG;
}

enum record_got record_next(struct record_reader *r, const uint8_t **data, uint64_t *len,
			    struct err *err)
{
	uint64_t n;

	if (!has(r, RECORD_HEAD) && fill(r, RECORD_HEAD, err) < 0)
		return RECORD_FAILED;
	if (!has(r, RECORD_HEAD))
		return RECORD_WAIT;
	const uint8_t *head = r->buffer->bytes + r->from;
	memcpy(&n, head, sizeof n);
	n = le64toh(n);
	uint32_t crc = n < SHORT_LENGTHS ? r->buffer->short_crcs[n] : crc_of_length(n);
	if (read_u32(head + 8) != crc ||
	    n > (uint64_t)(INT64_MAX - r->offset) - RECORD_EXTRA) {
		err_set(err, ERR_CORRUPT,
			"the length of the record at byte %lld is corrupt",
			(long long)r->offset);
		return RECORD_FAILED;
	}
	*len = n;
	if (r->offset + (int64_t)n + RECORD_EXTRA > r->size)
		return RECORD_WAIT;
	if (n > RECORD_MAX)
		return pass_long(r, n, err);
	if (!has(r, n + RECORD_EXTRA) && fill(r, (size_t)n + RECORD_EXTRA, err) < 0)
		return RECORD_FAILED;
	if (!has(r, n + RECORD_EXTRA))
		return RECORD_WAIT;
	*data = r->buffer->bytes + r->from + RECORD_HEAD;
	if (read_u32(*data + n) != record_mask(crc32c_add(0, *data, n))) {
		err_set(err, ERR_CORRUPT, "the record at byte %lld is corrupt",
			(long long)r->offset);
		return RECORD_FAILED;
	}
	r->from += n + RECORD_EXTRA;
	r->offset += (int64_t)n + RECORD_EXTRA;
	return RECORD_HERE;
}
