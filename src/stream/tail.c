// SPDX-License-Identifier: Apache-2.0
/* tail.c - finds the last lines of a log.
 *
 * Records can be walked forwards only: what looks like a header may be a task's own
 * output.  So the newest segment is walked once by its headers, remembering a record
 * about every BLOCK bytes; then lines are counted backwards, block by block, and only
 * as far as needed.  Older segments are opened only when the newer ones did not do.
 */
#include "stream/tail.h"

#include <string.h>
#include <sys/stat.h>

#include "base/logframe.h"
#include "base/mem.h"
#include "stream/segment.h"
#include "stream/stream.h"

#define BLOCK  (256u << 10)
#define SPARSE (2u << 10) /* behind a record as large the next header is read alone */

struct marks { /* positions of records in a segment, the last one its end */
	uint64_t *at;
	size_t count, cap;
};

struct search {
	int64_t lines; /* still wanted */
	bool any; /* a byte of the log was seen: its last newline ends the last line */
	bool found;
	struct log_place place;
};

static void marks_add(struct marks *m, uint64_t pos)
{
	mem_grow(&m->at, &m->cap, m->count, sizeof *m->at);
	m->at[m->count++] = pos;
}

/* Walks a segment by its headers; a torn record at the end is not counted. */
static int mark_blocks(int fd, struct marks *m, struct err *err)
{
	AUTO_FREE uint8_t *window = mem_alloc(1, BLOCK);
	uint64_t base = 0, pos = 0, end = 0; /* the window is [base, end) */
	size_t want = BLOCK;
	struct logframe frame;
	struct stat st;

	marks_add(m, 0);
	if (fstat(fd, &st) < 0)
		return err_sys(err, "look at the log");
	for (;;) {
		if (pos + LOGFRAME_BYTES > end) {
			int64_t n = segment_read(fd, pos, window, want, err);

			if (n < 0)
				return -1;
			base = pos;
			end = pos + (uint64_t)n;
		}
		if (pos + LOGFRAME_BYTES > end ||
		    logframe_read(window + (pos - base), &frame) < 0)
			break;
		if (pos + LOGFRAME_BYTES + frame.len > (uint64_t)st.st_size)
			break;
		pos += LOGFRAME_BYTES + frame.len;
		want = frame.len > SPARSE ? LOGFRAME_BYTES : BLOCK;
		if (pos - m->at[m->count - 1] >= BLOCK)
			marks_add(m, pos);
	}
	if (m->at[m->count - 1] != pos)
		marks_add(m, pos);
	return 0;
}

/* Counts lines backwards in one record that begins at `offset` of the log. */
static void search_record(struct search *s, uint64_t offset, const uint8_t *data,
			  uint32_t len)
{
	size_t left = len;
	const uint8_t *nl;

	if (left && !s->any) {
		s->any = true;
		left -= data[left - 1] == '\n';
	}
	while (left && (nl = memrchr(data, '\n', left))) {
		left = (size_t)(nl - data);
		if (--s->lines > 0)
			continue;
		s->found = true;
		s->place = (struct log_place){ offset, (uint32_t)left + 1 };
		if (s->place.cut == len)
			s->place = (struct log_place){ offset + LOGFRAME_BYTES + len, 0 };
		return;
	}
}

static int search_block(struct search *s, int fd, uint64_t start, const uint64_t span[2],
			struct err *err)
{
	size_t len = (size_t)(span[1] - span[0]), pos = 0, count = 0, cap = 0;
	AUTO_FREE uint8_t *block = mem_alloc(1, len);
	AUTO_FREE size_t *records = NULL;
	struct logframe frame;

	if (segment_read(fd, span[0], block, len, err) < 0)
		return -1;
	while (pos + LOGFRAME_BYTES <= len && logframe_read(block + pos, &frame) == 0 &&
	       pos + LOGFRAME_BYTES + frame.len <= len) {
		mem_grow(&records, &cap, count, sizeof *records);
		records[count++] = pos;
		pos += LOGFRAME_BYTES + frame.len;
	}
	while (count-- > 0 && !s->found) {
		const uint8_t *at = block + records[count];

		logframe_read(at, &frame);
		search_record(s, start + span[0] + records[count], at + LOGFRAME_BYTES,
			      frame.len);
	}
	return 0;
}

static int search_segment(struct search *s, int fd, uint64_t start, struct err *err)
{
	struct marks m = { 0 };
	int rc = mark_blocks(fd, &m, err);

	if (rc == 0 && !s->any)
		s->place.offset = start + m.at[m.count - 1]; /* the log's end */
	if (s->lines == 0)
		s->found = true;
	for (size_t i = m.count - 1; rc == 0 && i > 0 && !s->found; i--)
		rc = search_block(s, fd, start, &m.at[i - 1], err);
	free(m.at);
	return rc;
}

int tail_find(const char *folder, int64_t lines, struct log_place *out, struct err *err)
{
	struct search s = { .lines = lines };
	struct segments segments;
	int rc = 0;

	*out = (struct log_place){ 0 };
	if (lines < 0)
		return 0;
	if (segments_list(folder, &segments, err) < 0)
		return -1;
	for (size_t i = segments.count; rc == 0 && i-- > 0 && !s.found;) {
		AUTO_FD int fd = -1;

		rc = segment_open(folder, segments.starts[i], &fd, err);
		if (rc == 0 && fd < 0)
			break; /* removed just now, and so are all older ones */
		if (rc == 0)
			rc = search_segment(&s, fd, segments.starts[i], err);
		if (rc == 0 && !s.found)
			*out = (struct log_place){ segments.starts[i], 0 };
	}
	segments_fini(&segments);
	if (rc == 0 && s.found)
		*out = s.place;
	return rc;
}

int log_tail_offset(const char *folder, int64_t lines, uint64_t *offset, struct err *err)
{
	struct log_place place;

	if (tail_find(folder, lines, &place, err) < 0)
		return -1;
	*offset = place.offset;
	return 0;
}
