// SPDX-License-Identifier: Apache-2.0
/* Event files: records cut at every byte, changed at any, and what a value may be. */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "event_writer.h"
#include "stream/event_file.h"
#include "stream/tensor.h"
#include "tap.h"

static int file_of(const struct buf *bytes, size_t len)
{
	char name[] = "/tmp/yard-events-XXXXXX";
	int fd = mkstemp(name);

	assert(fd >= 0 && write(fd, buf_str(bytes), len) == (ssize_t)len);
	unlink(name);
	return fd;
}

/* Reads all there is: how many records, and what ended it. */
static size_t read_all(int fd, int64_t size, int64_t *offset, enum record_got *end)
{
	struct record_buffer *b = record_buffer_create();
	struct record_reader r;
	const uint8_t *data;
	uint64_t len;
	struct err err;
	size_t count = 0;

	record_reader_init(&r, fd, *offset, size, b);
	while ((*end = record_next(&r, &data, &len, &err)) == RECORD_HERE ||
	       *end == RECORD_LONG)
		count++;
	*offset = r.offset;
	record_buffer_destroy(b);
	return count;
}

static void cut_anywhere(void)
{
	AUTO_BUF struct buf file = { 0 };
	size_t ends[4];
	bool good = true, goes_on = true;

	put_version(&file);
	ends[0] = file.len;
	for (int i = 1; i < 4; i++) {
		put_scalar(&file, "loss", i, (float)i);
		ends[i] = file.len;
	}
	for (size_t len = 0; len <= file.len; len++) {
		int fd = file_of(&file, len);
		int64_t offset = 0;
		enum record_got end;
		size_t whole = 0, count = read_all(fd, (int64_t)len, &offset, &end);
		while (whole < 4 && ends[whole] <= len)
			whole++;
		good = good && count == whole && end == RECORD_WAIT &&
		       offset == (whole ? (int64_t)ends[whole - 1] : 0);
		assert(pwrite(fd, file.data + len, file.len - len, (off_t)len) ==
		       (ssize_t)(file.len - len));
		count += read_all(fd, (int64_t)file.len, &offset, &end);
		goes_on = goes_on && count == 4 && offset == (int64_t)file.len;
		close(fd);
	}
	OK(good, "cut at every byte: whole records are read, the rest is waited for");
	OK(goes_on, "and when the rest comes it is read, each record once");
}

static void changed_anywhere(void)
{
	AUTO_BUF struct buf file = { 0 };
	size_t ends[3], missed = 0;

	for (int i = 0; i < 3; i++) {
		put_scalar(&file, "loss", i, 1);
		ends[i] = file.len;
	}
	for (size_t at = 0; at < file.len; at++)
		for (int bit = 0; bit < 8; bit++) {
			file.data[at] = (char)(file.data[at] ^ 1 << bit);
			int fd = file_of(&file, file.len);
			int64_t offset = 0;
			enum record_got end;
			size_t good = 0,
			       count = read_all(fd, (int64_t)file.len, &offset, &end);
			while (ends[good] <= at)
				good++;
			missed += count != good || end != RECORD_FAILED;
			close(fd);
			file.data[at] = (char)(file.data[at] ^ 1 << bit);
		}
	IS_INT((long long)missed, 0,
	       "any single bit that is wrong is found, and what was good before it is read");
}

static void long_ones(void)
{
	AUTO_BUF struct buf data = { 0 }, file = { 0 };
	int64_t offset = 0;
	enum record_got end;

	buf_reserve(&data, RECORD_MAX + 10);
	memset(data.data, 7, RECORD_MAX + 1);
	data.len = RECORD_MAX + 1;
	put_record(&file, &data);
	put_scalar(&file, "loss", 1, 1);
	int fd = file_of(&file, file.len);
	OK(read_all(fd, (int64_t)file.len, &offset, &end) == 2 && end == RECORD_WAIT,
	   "a record beyond the bound is passed over, the next one is read");
	offset = 0;
	file.data[file.len / 2] ^= 1;
	close(fd);
	fd = file_of(&file, file.len);
	OK(read_all(fd, (int64_t)file.len, &offset, &end) == 0 && end == RECORD_FAILED,
	   "its CRC is checked all the same");
	close(fd);

	AUTO_BUF struct buf lie = { 0 };
	uint64_t len = UINT64_MAX - 20;
	uint32_t crc = record_mask(crc32c_add(0, &len, sizeof len));
	buf_add(&lie, &len, sizeof len);
	buf_add(&lie, &crc, sizeof crc);
	buf_add(&lie, "0123456789", 10);
	fd = file_of(&lie, lie.len);
	offset = 0;
	OK(read_all(fd, (int64_t)lie.len, &offset, &end) == 0 && end == RECORD_FAILED,
	   "a length beyond every file is corrupt, though its CRC is right");
	close(fd);
}

/* The one value of an event made of these bytes. */
static int value_of(const struct buf *event, struct event_value *v)
{
	struct event_record r;
	struct event_walk w = { 0 };

	if (event_record_read(buf_str(event), event->len, &r) < 0)
		return -1;
	return event_value_next(&r, &w, v);
}

static void order_of_fields(void)
{
	AUTO_BUF struct buf value = { 0 }, summary = { 0 }, event = { 0 };
	struct event_record r;
	struct event_walk w = { 0 };
	struct event_value v;

	put_float(&value, 2, -0.5f);
	put_text(&value, 1, "late/tag");
	put_bytes(&summary, 1, buf_str(&value), value.len);
	put_bytes(&event, 5, buf_str(&summary), summary.len);
	put_key(&event, 99, 0); /* of another time */
	put_varint(&event, 5);
	put_key(&event, 2, 0);
	put_varint(&event, (uint64_t)-7);
	put_double(&event, 1, 1.5);
	put_bytes(&event, 5, buf_str(&summary), summary.len);
	OK(event_record_read(event.data, event.len, &r) == 0 && r.step == -7 &&
		   r.time_ms == 1500,
	   "fields in any order; a step below 0");
	int n = 0;
	while (event_value_next(&r, &w, &v) > 0)
		n += v.kind == EVENT_NUMBER && v.number == -0.5 && v.tag_len == 8;
	IS_INT(n, 2, "a summary in two parts means both");
	event.data[0] = 0x2b; /* field 5 as a group */
	OK(event_record_read(event.data, event.len, &r) < 0,
	   "a group is no field of ours");
}

static void times(void)
{
	static const double bad[] = { NAN, INFINITY, -1, 1e300, -INFINITY };
	struct event_record r;
	int wrong = 0;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		AUTO_BUF struct buf event = { 0 };
		put_double(&event, 1, bad[i]);
		wrong += event_record_read(event.data, event.len, &r) < 0 ||
			 r.time_ms != 0;
	}
	IS_INT(wrong, 0, "a time that makes no sense is none");
}

struct tensor_case {
	int dtype, field;
	const char *what;
	uint64_t bits;
	int bytes; /* of the content, and packed */
	double want;
};

static const struct tensor_case tensors[] = {
	{ 1, 5, "float", 0x3fc00000, 4, 1.5 },
	{ 2, 6, "double", 0xbff8000000000000, 8, -1.5 },
	{ 3, 7, "int32", 0xfffffffe, 4, -2 },
	{ 4, 7, "uint8", 0xff, 1, 255 },
	{ 5, 7, "int16", 0xffff, 2, -1 },
	{ 6, 7, "int8", 0x80, 1, -128 },
	{ 9, 10, "int64", 0xffffffffffffff00, 8, -256 },
	{ 10, 11, "bool", 1, 1, 1 },
	{ 14, 13, "bfloat16", 0x3fc0, 2, 1.5 },
	{ 17, 7, "uint16", 0xffff, 2, 65535 },
	{ 19, 13, "half", 0xc100, 2, -2.5 },
	{ 22, 16, "uint32", 0xffffffff, 4, 4294967295.0 },
	{ 23, 17, "uint64", 1ull << 63, 8, 9223372036854775808.0 },
};

static int tensor_of(const struct tensor_case *t, bool content, double *out)
{
	AUTO_BUF struct buf b = { 0 }, packed = { 0 };
	uint64_t bits = t->bits;

	put_key(&b, 1, 0);
	put_varint(&b, (uint64_t)t->dtype);
	put_bytes(&b, 2, "", 0); /* a shape without dimensions */
	if (content) {
		put_bytes(&b, 4, &bits, (size_t)t->bytes);
	} else if (t->dtype <= 2) {
		put_bytes(&b, t->field, &bits, (size_t)t->bytes);
	} else {
		int64_t wide = t->dtype == 3 || t->dtype == 5 || t->dtype == 6
				       ? (int64_t)t->want
				       : (int64_t)bits;
		put_varint(&packed, (uint64_t)wide); /* a sign goes through all 64 bits */
		put_bytes(&b, t->field, packed.data, packed.len);
	}
	return tensor_number(proto_of(b.data, b.len), out);
}

static void kinds_of_tensors(void)
{
	for (size_t i = 0; i < COUNT_OF(tensors); i++) {
		double a = 0, b = 0;
		OK(tensor_of(&tensors[i], true, &a) == 1 && a == tensors[i].want &&
			   tensor_of(&tensors[i], false, &b) == 1 && b == tensors[i].want,
		   "%s: by content (%g) and by field (%g)", tensors[i].what, a, b);
	}
	static const uint8_t halves[][3] = { { 0x00, 0x7c },
					     { 0x00, 0xfc },
					     { 0x01, 0x00 } };
	double v[3];
	for (int i = 0; i < 3; i++) {
		struct tensor_case t = { 19, 13, "", halves[i][0] | halves[i][1] << 8,
					 2,  0 };
		tensor_of(&t, true, &v[i]);
	}
	OK(v[0] == INFINITY && v[1] == -INFINITY && v[2] == ldexp(1, -24),
	   "half: infinities, and the least above 0");
}

static void no_scalars(void)
{
	AUTO_BUF struct buf two = { 0 }, shape = { 0 }, dim = { 0 }, text = { 0 };
	double v;

	put_key(&two, 1, 0);
	put_varint(&two, 1);
	put_bytes(&two, 5, "\0\0\0\0\0\0\0\0", 8);
	OK(tensor_number(proto_of(two.data, two.len), &v) == 0,
	   "two floats are no number");
	put_key(&dim, 1, 0);
	put_varint(&dim, 3);
	put_bytes(&shape, 2, dim.data, dim.len);
	buf_clear(&two);
	put_key(&two, 1, 0);
	put_varint(&two, 1);
	put_bytes(&two, 2, shape.data, shape.len);
	put_bytes(&two, 5, "\0\0\0\0", 4);
	OK(tensor_number(proto_of(two.data, two.len), &v) == 0,
	   "one float for three is no number");
	put_key(&text, 1, 0);
	put_varint(&text, 7);
	put_text(&text, 8, "1.5");
	OK(tensor_number(proto_of(text.data, text.len), &v) == 0, "nor is a text");
	OK(tensor_number(proto_of("\x08", 1), &v) < 0, "half a message is none");
}

static void hostile_messages(void)
{
	struct proto_field f;
	static const struct {
		const char *bytes;
		size_t len;
		const char *what;
	} bad[] = {
		{ "\x00\x01", 2, "field 0" },
		{ "\x0b", 1, "a group" },
		{ "\x0f\x00", 2, "a wire of no kind" },
		{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 11,
		  "a varint of 70 bits" },
		{ "\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12,
		  "of eleven bytes" },
		{ "\x0a\x05sho", 5, "less than it says" },
		{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "2^64-1 bytes" },
		{ "\x09\x01\x02", 3, "half a double" },
		{ "\x0d\x01", 2, "a quarter of a float" },
		{ "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x00", 11,
		  "a key of 64 bits" },
	};

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		struct proto p = proto_of(bad[i].bytes, bad[i].len);
		OK(proto_next(&p, &f) == -1, "refused: %s", bad[i].what);
	}
	struct proto p = proto_of("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	OK(proto_next(&p, &f) == 1 && f.value == UINT64_MAX && proto_next(&p, &f) == 0,
	   "64 bits are taken");
	AUTO_BUF struct buf b = { 0 };
	struct event_value v;
	buf_add(&b, "\x2a\x02\x0a\x05", 4);
	OK(value_of(&b, &v) < 0, "a value that is longer than its summary");
}

int main(void)
{
	cut_anywhere();
	changed_anywhere();
	long_ones();
	order_of_fields();
	times();
	kinds_of_tensors();
	no_scalars();
	hostile_messages();
	return END();
}
