// SPDX-License-Identifier: Apache-2.0
/* event_writer.h - makes event files byte by byte, for the tests of their readers. */
#pragma once

#include <assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/crc32c.h"
#include "stream/record.h"

__attribute__((unused)) static void put_varint(struct buf *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		buf_addc(b, (char)(v | 0x80));
	buf_addc(b, (char)v);
}

__attribute__((unused)) static void put_key(struct buf *b, int field, int wire)
{
	put_varint(b, (uint64_t)field << 3 | (uint64_t)wire);
}

__attribute__((unused)) static void put_bytes(struct buf *b, int field, const void *data,
					      size_t len)
{
	put_key(b, field, 2);
	put_varint(b, len);
	buf_add(b, data, len);
}

__attribute__((unused)) static void put_text(struct buf *b, int field, const char *text)
{
	put_bytes(b, field, text, strlen(text));
}

__attribute__((unused)) static void put_double(struct buf *b, int field, double v)
{
	put_key(b, field, 1);
	buf_add(b, &v, sizeof v);
}

__attribute__((unused)) static void put_float(struct buf *b, int field, float v)
{
	put_key(b, field, 5);
	buf_add(b, &v, sizeof v);
}

/* A record around the data. */
__attribute__((unused)) static void put_record(struct buf *out, const struct buf *data)
{
	uint64_t len = data->len;
	uint32_t crc = record_mask(crc32c_add(0, &len, sizeof len));

	buf_add(out, &len, sizeof len);
	buf_add(out, &crc, sizeof crc);
	buf_add(out, buf_str(data), data->len);
	crc = record_mask(crc32c_add(0, buf_str(data), data->len));
	buf_add(out, &crc, sizeof crc);
}

/* An Event with one value, whose message is given. */
__attribute__((unused)) static void put_event(struct buf *out, int64_t step, double time,
					      const struct buf *value)
{
	AUTO_BUF struct buf summary = { 0 }, event = { 0 };

	put_bytes(&summary, 1, buf_str(value), value->len);
	put_double(&event, 1, time);
	put_key(&event, 2, 0);
	put_varint(&event, (uint64_t)step);
	put_bytes(&event, 5, buf_str(&summary), summary.len);
	put_record(out, &event);
}

__attribute__((unused)) static void put_scalar(struct buf *out, const char *tag,
					       int64_t step, float v)
{
	AUTO_BUF struct buf value = { 0 };

	put_text(&value, 1, tag);
	put_float(&value, 2, v);
	put_event(out, step, 1000.0 + (double)step, &value);
}

__attribute__((unused)) static void put_version(struct buf *out)
{
	AUTO_BUF struct buf event = { 0 };

	put_double(&event, 1, 1000);
	put_text(&event, 3, "brain.Event:2");
	put_record(out, &event);
}

__attribute__((unused)) static void write_file(const char *folder, const char *name,
					       const void *data, size_t len, int flags)
{
	char path[512];
	int fd;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CREAT | flags, 0644);
	assert(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}
