// SPDX-License-Identifier: Apache-2.0
/* events - how fast scalars are read from event files.
 *
 *   bench-events write FILE BYTES    a file of four scalars a step, as SummaryWriter writes it
 *   bench-events read FOLDER         prints: seconds, of these by the processor, points, peak memory in KiB
 *   bench-events json FOLDER [POINTS]  what the API would answer
 */
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "stream/metrics.h"
#include "stream/record.h"

#define FLUSH_BYTES (1u << 20)

static const char *const tags[] = { "train/loss", "train/accuracy", "train/lr",
				    "valid/loss" };

static void add_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addc(b, (char)(v | 0x80));
	buf_addc(b, (char)v);
}

static void add_record(struct buf *out, const struct buf *data)
{
	uint64_t len = htole64(data->len);
	uint32_t crc = htole32(record_mask(crc32c_add(0, &len, sizeof len)));

	buf_add(out, &len, sizeof len);
	buf_add(out, &crc, sizeof crc);
	buf_add(out, data->data, data->len);
	crc = htole32(record_mask(crc32c_add(0, data->data, data->len)));
	buf_add(out, &crc, sizeof crc);
}

/* wall_time, step, summary { value { tag, simple_value } } */
static void add_event(struct buf *out, struct buf *event, int64_t step, const char *tag)
{
	size_t tag_len = strlen(tag);
	double time = 1.7e9 + (double)step * 0.01;
	float value = 1.0f / (float)(1 + step % 1000);

	buf_clear(event);
	buf_addc(event, 0x09);
	buf_add(event, &time, sizeof time);
	if (step) {
		buf_addc(event, 0x10);
		add_varint(event, (uint64_t)step);
	}
	buf_addc(event, 0x2a);
	add_varint(event, tag_len + 9);
	buf_addc(event, 0x0a);
	add_varint(event, tag_len + 7);
	buf_addc(event, 0x0a);
	add_varint(event, tag_len);
	buf_add(event, tag, tag_len);
	buf_addc(event, 0x15);
	buf_add(event, &value, sizeof value);
	add_record(out, event);
}

static int write_file(const char *path, int64_t bytes)
{
	AUTO_BUF struct buf out = { 0 }, event = { 0 };
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int64_t written = 0;

	if (fd < 0)
		return 1;
	buf_addc(&event, 0x09);
	buf_add(&event, &(double){ 1.7e9 }, sizeof(double));
	buf_addc(&event, 0x1a);
	buf_addc(&event, 13);
	buf_adds(&event, "brain.Event:2");
	add_record(&out, &event);
	for (int64_t step = 0; written < bytes; step++) {
		for (size_t i = 0; i < COUNT_OF(tags); i++)
			add_event(&out, &event, step, tags[i]);
		if (out.len < FLUSH_BYTES && written + (int64_t)out.len < bytes)
			continue;
		if (write(fd, out.data, out.len) != (ssize_t)out.len)
			return 1;
		written += (int64_t)out.len;
		buf_clear(&out);
	}
	return 0;
}

static struct metrics *read_folder(const char *folder)
{
	struct metrics *m = metrics_create();

	metrics_add_folder(m, &(struct metrics_folder){ .base = folder });
	metrics_look(m);
	while (metrics_read(m, NULL, 0))
		;
	return m;
}

static void tell(const struct metrics *m, size_t points, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	metrics_write(m, &(struct metrics_want){ .points = points }, &j);
}

static int read_all(const char *folder)
{
	AUTO_BUF struct buf out = { 0 };
	struct timespec a, b, cpu;
	struct rusage use;
	struct err err;
	int64_t points = 0;

	clock_gettime(CLOCK_MONOTONIC, &a);
	struct metrics *m = read_folder(folder);
	clock_gettime(CLOCK_MONOTONIC, &b);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	tell(m, 0, &out);
	AUTO_DOC struct doc *d = doc_parse_json(out.data, out.len, &err);
	const struct doc_node *n = d ? doc_get(doc_root(d), "series")->first : NULL;
	for (; n; n = n->next)
		points += doc_i64(n, "count", 0);
	getrusage(RUSAGE_SELF, &use);
	printf("%.3f %.3f %" PRId64 " %ld\n",
	       (double)(b.tv_sec - a.tv_sec) + (double)(b.tv_nsec - a.tv_nsec) / 1e9,
	       (double)cpu.tv_sec + (double)cpu.tv_nsec / 1e9, points, use.ru_maxrss);
	metrics_destroy(m);
	return 0;
}

static int print_json(const char *folder, size_t points)
{
	AUTO_BUF struct buf out = { 0 };
	struct metrics *m = read_folder(folder);

	tell(m, points, &out);
	puts(buf_str(&out));
	metrics_destroy(m);
	return 0;
}

int main(int argc, char **argv)
{
	int64_t n = SERIES_POINTS_MAX;

	if (argc == 4 && str_to_i64(argv[3], 0, INT64_MAX, &n) < 0)
		return 2;
	if (argc == 4 && str_eq(argv[1], "write"))
		return write_file(argv[2], n);
	if (argc == 3 && str_eq(argv[1], "read"))
		return read_all(argv[2]);
	if (argc >= 3 && str_eq(argv[1], "json"))
		return print_json(argv[2], (size_t)n);
	fprintf(stderr,
		"usage: bench-events write FILE BYTES | read FOLDER | json FOLDER [POINTS]\n");
	return 2;
}
