// SPDX-License-Identifier: Apache-2.0
/* Bytes as an event file, and as records whose CRCs are right: no crash, no more than the
 * bounds allow, and what is told is JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/doc.h"
#include "base/mem.h"
#include "stream/board.h"
#include "stream/event_file.h"
#include "stream/metrics.h"
#include "stream/metrics_inside.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_file(const uint8_t *bytes, size_t size)
{
	struct record_buffer *b = record_buffer_create();
	struct record_reader r;
	const uint8_t *data;
	uint64_t len;
	struct err err = { 0 };
	int fd = memfd_create("events", MFD_CLOEXEC);
	enum record_got got;

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	record_reader_init(&r, fd, 0, (int64_t)size, b);
	while ((got = record_next(&r, &data, &len, &err)) > RECORD_WAIT)
		if (r.offset > (int64_t)size || (got == RECORD_HERE && len > RECORD_MAX))
			abort();
	if (got == RECORD_FAILED && !*err.text)
		abort();
	close(fd);
	record_buffer_destroy(b);
}

/* The first byte of a piece says how long it is: the fuzzer makes many records of few bytes. */
static void as_records(const uint8_t *data, size_t size)
{
	struct metrics *m = metrics_create();
	struct metric_run *run = metric_set_run(&m->set, METRIC_TENSORBOARD, ".");
	AUTO_BUF struct buf out = { 0 };
	struct err err;
	struct json j;

	while (size) {
		size_t len = *data * 4u;
		data++;
		size--;
		len = len < size ? len : size;
		board_take(run, data, len);
		data += len;
		size -= len;
	}
	if (m->set.series_count > METRIC_SERIES_MAX ||
	    m->set.other_count > METRIC_OTHERS_MAX)
		abort();
	json_init(&j, &out);
	metrics_write(m, &(struct metrics_want){ .points = 10 }, &j);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&out), out.len, &err);
	if (!d)
		abort();
	metrics_destroy(m);
}

/* The quick way reads the same as the whole one, or leaves it to that. */
static void both_ways(const uint8_t *data, size_t size)
{
	struct event_plain plain;
	struct event_record r;
	struct event_walk w = { 0 };
	struct event_value v;

	if (!event_plain_read(data, size, &plain))
		return;
	if (event_record_read(data, size, &r) < 0 || event_value_next(&r, &w, &v) != 1)
		abort();
	if (r.step != plain.point.step || r.time_ms != plain.point.time_ms ||
	    v.kind != EVENT_NUMBER || v.tag_len != plain.tag_len ||
	    memcmp(v.tag, plain.tag, v.tag_len) != 0 ||
	    memcmp(&v.number, &plain.point.value, sizeof v.number) != 0)
		abort();
	if (event_value_next(&r, &w, &v) != 0 || r.restart || r.graph)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct metric_set set;

	both_ways(data, size);

	as_file(data, size);
	as_records(data, size);
	metric_set_init(&set);
	board_take(metric_set_run(&set, METRIC_TENSORBOARD, "."), data, size);
	metric_set_fini(&set);
	return 0;
}
