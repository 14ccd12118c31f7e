// SPDX-License-Identifier: Apache-2.0
/* proto.h - protocol buffers, read field by field; seen inside this room alone.
 *
 * The bytes are a stranger's.  A field is given whole or not at all; what is not a field
 * (a number of 0, a group, a varint without an end, more bytes than there are) ends the
 * reading with -1.  Messages inside a message are read by whoever wants them, so that depth
 * is the reader's own and nothing recurses on what is read.
 */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum proto_wire {
	PROTO_VARINT = 0,
	PROTO_FIXED64 = 1,
	PROTO_BYTES = 2,
	PROTO_FIXED32 = 5,
};

struct proto {
	const uint8_t *at, *end;
};

struct proto_field {
	uint64_t number;
	enum proto_wire wire;
	uint64_t value;   /* of the first two and the last */
	struct proto sub; /* of bytes: text, packed values, or a message */
};

static inline struct proto proto_of(const void *data, size_t len)
{
	const uint8_t *p = data;

	return (struct proto){ p, p + len };
}

static inline size_t proto_left(const struct proto *p)
{
	return (size_t)(p->end - p->at);
}

/* 0, or -1: no end within ten bytes, or more than 64 bits. */
static inline int proto_varint(struct proto *p, uint64_t *out)
{
	uint64_t v = 0;

	if (p->at < p->end && *p->at < 0x80) { /* nearly all are */
		*out = *p->at++;
		return 0;
	}
	for (int shift = 0; shift < 70 && p->at < p->end; shift += 7) {
		uint64_t b = *p->at++;
		if (shift == 63 && b > 1)
			return -1;
		v |= (b & 0x7f) << shift;
		if (b < 0x80) {
			*out = v;
			return 0;
		}
	}
	return -1;
}

static inline int proto_fixed(struct proto *p, size_t bytes, uint64_t *out)
{
	uint64_t v = 0;

	if (proto_left(p) < bytes)
		return -1;
	memcpy(&v, p->at, bytes);
	p->at += bytes;
	*out = bytes == 4 ? le32toh((uint32_t)v) : le64toh(v);
	return 0;
}

/* The next field: 1, or 0: that was all, or -1: these bytes are no message.  Always inline:
 * records are short and many, and most of reading them is this. */
__attribute__((always_inline)) static inline int proto_next(struct proto *p,
							    struct proto_field *out)
{
	uint64_t key, len;

	if (p->at == p->end)
		return 0;
	out->value = 0;
	out->sub = (struct proto){ p->end, p->end };
	if (proto_varint(p, &key) < 0 || key < 8 || key >> 32)
		return -1;
	out->number = key >> 3;
	out->wire = (enum proto_wire)(key & 7);
	switch (out->wire) {
	case PROTO_VARINT:
		return proto_varint(p, &out->value) < 0 ? -1 : 1;
	case PROTO_FIXED64:
		return proto_fixed(p, 8, &out->value) < 0 ? -1 : 1;
	case PROTO_FIXED32:
		return proto_fixed(p, 4, &out->value) < 0 ? -1 : 1;
	case PROTO_BYTES:
		if (proto_varint(p, &len) < 0 || len > proto_left(p))
			return -1;
		out->sub = (struct proto){ p->at, p->at + len };
		p->at += len;
		return 1;
	}
	return -1; /* a group, or of no kind */
}
