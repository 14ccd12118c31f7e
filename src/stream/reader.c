// SPDX-License-Identifier: Apache-2.0
/* reader.c - goes through the records of a log by offset, while it is being written.
 *
 * The reader holds the segment it reads open, so that one removed under its feet is
 * still read to its end; only what was removed before it came there is skipped.  It
 * never blocks and holds no buffer while there is nothing to read: a thousand parked
 * followers cost a descriptor each.
 */
#include "stream/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "stream/segment.h"
#include "stream/tail.h"

/* Small at first, so that a quiet log stays cheap; the largest keeps within a core's cache. */
#define BUFFER_MIN (32u << 10)
#define BUFFER_MAX (512u << 10)

/* From segment to segment without a record, in one call: a folder whose segments cannot be
 * opened though they are there must not hold us for ever. */
#define MOVES_MAX 1000

_Static_assert(BUFFER_MAX >= LOGFRAME_BYTES + LOGFRAME_DATA_MAX,
	       "a record fits in the buffer");

struct log_reader {
	char *folder;
	uint64_t offset, skipped;
	uint64_t start; /* of the open segment */
	int fd;         /* -1: none is open */
	uint32_t cut;   /* bytes of the next record's data that are not wanted */
	uint8_t *buffer;
	size_t cap, head, tail; /* buffer[head] is the byte at offset */
};

static struct log_reader *reader_create(const char *folder, uint64_t offset, uint32_t cut)
{
	struct log_reader *r = mem_alloc(1, sizeof *r);

	r->folder = mem_strdup(folder);
	r->offset = offset;
	r->cut = cut;
	r->fd = -1;
	return r;
}

struct log_reader *log_reader_open(const char *folder, uint64_t offset, struct err *err)
{
	(void)err; /* a log that cannot be read says so at the first record */
	return reader_create(folder, offset, 0);
}

struct log_reader *log_reader_open_tail(const char *folder, int64_t lines,
					struct err *err)
{
	struct log_place place;

	if (tail_find(folder, lines, &place, err) < 0)
		return NULL;
	return reader_create(folder, place.offset, place.cut);
}

void log_reader_close(struct log_reader *r)
{
	if (!r)
		return;
	if (r->fd >= 0)
		close(r->fd);
	free(r->buffer);
	free(r->folder);
	free(r);
}

uint64_t log_reader_offset(const struct log_reader *r)
{
	return r->offset;
}

uint64_t log_reader_skipped(const struct log_reader *r)
{
	return r->skipped;
}

/* What the buffer begins with: 1 a whole record, 0 part of one, -1 no record at all. */
static int parse(struct log_reader *r, struct logframe *frame, const char **data)
{
	size_t have = r->tail - r->head;
	const uint8_t *at;

	if (have < LOGFRAME_BYTES)
		return 0;
	at = r->buffer + r->head;
	if (logframe_read(at, frame) < 0)
		return -1;
	if (have < LOGFRAME_BYTES + frame->len)
		return 0;
	*data = (const char *)at + LOGFRAME_BYTES;
	r->head += LOGFRAME_BYTES + frame->len;
	r->offset += LOGFRAME_BYTES + frame->len;
	return 1;
}

/* Reads on in the open segment: how many bytes came, or -1. */
static int64_t fill(struct log_reader *r, struct err *err)
{
	size_t have = r->tail - r->head;
	size_t want = r->cap && r->tail == r->cap ? r->cap * 2 : r->cap;
	int64_t n;

	if (r->fd < 0)
		return 0;
	if (want < BUFFER_MIN)
		want = BUFFER_MIN;
	if (want > BUFFER_MAX)
		want = BUFFER_MAX;
	if (have)
		memmove(r->buffer, r->buffer + r->head, have);
	r->head = 0;
	r->tail = have;
	if (want != r->cap)
		r->buffer = mem_realloc(r->buffer, r->cap = want, 1);
	n = segment_read(r->fd, r->offset - r->start + have, r->buffer + have,
			 r->cap - have, err);
	if (n > 0)
		r->tail += (size_t)n;
	return n;
}

static void enter(struct log_reader *r, int fd, uint64_t start)
{
	if (r->fd >= 0)
		close(r->fd);
	r->fd = fd;
	r->start = start;
	r->head = r->tail = 0;
	if (r->offset < start) {
		r->skipped += start - r->offset;
		r->offset = start;
		r->cut = 0;
	}
}

/* The segment that holds the offset; else the first behind it (what was between is gone). */
static int find_segment(struct log_reader *r, uint64_t above, bool *found,
			uint64_t *start, struct err *err)
{
	struct segments s;

	if (segments_list(r->folder, &s, err) < 0)
		return -1;
	*found = false;
	for (size_t i = 0; i < s.count; i++) {
		if (s.starts[i] < above || (*found && s.starts[i] > r->offset))
			continue;
		*start = s.starts[i];
		*found = true;
	}
	segments_fini(&s);
	return 0;
}

/* No segment is open yet. */
static int enter_first(struct log_reader *r, struct err *err)
{
	uint64_t start = r->offset;
	bool found;
	int fd;

	if (segment_open(r->folder, start, &fd, err) < 0)
		return -1;
	if (fd < 0) {
		if (find_segment(r, 0, &found, &start, err) < 0)
			return -1;
		if (!found)
			return 0;
		if (segment_open(r->folder, start, &fd, err) < 0)
			return -1;
		if (fd < 0)
			return 1; /* removed just now: look again */
	}
	enter(r, fd, start);
	return 1;
}

/* The open segment has no whole record left: 1 there is something new to parse, 0 not yet. */
static int advance(struct log_reader *r, struct err *err)
{
	uint64_t start = r->offset;
	struct stat st;
	bool found;
	int64_t n;
	int fd;

	if (r->fd < 0)
		return enter_first(r, err);
	/* A segment that begins where we stand can only have been made once ours was full. */
	if (r->head == r->tail && r->offset > r->start) {
		if (segment_open(r->folder, start, &fd, err) < 0)
			return -1;
		if (fd >= 0) {
			enter(r, fd, start);
			return 1;
		}
		if (fstat(r->fd, &st) < 0)
			return err_sys(err, "look at the log in %s", r->folder);
		if (st.st_nlink)
			return 0;
	}
	/* Removed under our feet, or a torn record: is there a later segment? */
	if (find_segment(r, r->start + 1, &found, &start, err) < 0)
		return -1;
	if (!found)
		return 0;
	/* It may have been written to its end after we looked, and before the later one was made. */
	n = fill(r, err);
	if (n)
		return n < 0 ? -1 : 1;
	if (segment_open(r->folder, start, &fd, err) < 0)
		return -1;
	if (fd >= 0)
		enter(r, fd, start);
	return 1;
}

static bool all_zero(const uint8_t *p, size_t len)
{
	while (len && !*p)
		p++, len--;
	return len == 0;
}

/* No record where one should be: what a power cut leaves, or an offset that never was.
 * What can be read in later segments is worth more than an error about this one. */
static int no_record(struct log_reader *r, struct err *err)
{
	const uint8_t *at = r->buffer + r->head;
	uint64_t start;
	bool found;
	int fd;

	if (find_segment(r, r->start + 1, &found, &start, err) < 0)
		return -1;
	if (!found && all_zero(at, LOGFRAME_BYTES))
		return 0;
	if (!found)
		return err_set(err, ERR_CORRUPT, "no record at offset %llu of the log",
			       (unsigned long long)r->offset);
	if (segment_open(r->folder, start, &fd, err) < 0)
		return -1;
	if (fd >= 0)
		enter(r, fd, start);
	return 1;
}

/* Nothing to hold on to while there is nothing to read. */
static int nothing_yet(struct log_reader *r)
{
	r->head = r->tail = r->cap = 0;
	free(r->buffer);
	r->buffer = NULL;
	return 0;
}

int log_reader_next(struct log_reader *r, struct logframe *frame, const char **data,
		    struct err *err)
{
	for (int moves = 0; moves < MOVES_MAX;) {
		int got = parse(r, frame, data);

		if (got > 0 && r->cut) {
			uint32_t cut = r->cut < frame->len ? r->cut : frame->len;

			r->cut = 0;
			*data += cut;
			frame->len -= cut;
		}
		if (got > 0)
			return 1;
		if (got == 0) {
			int64_t n = fill(r, err);

			if (n < 0)
				return -1;
			if (n > 0)
				continue;
		}
		got = got < 0 ? no_record(r, err) : advance(r, err);
		if (got <= 0)
			return got < 0 ? -1 : nothing_yet(r);
		moves++;
	}
	return nothing_yet(r);
}
