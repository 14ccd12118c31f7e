// SPDX-License-Identifier: Apache-2.0
#include "stream/tensor.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"

enum { TENSOR_DTYPE = 1, TENSOR_SHAPE = 2, TENSOR_CONTENT = 4 };
enum { SHAPE_DIM = 2, SHAPE_UNKNOWN = 3, DIM_SIZE = 1 };

enum form { FORM_NONE, FORM_FLOAT, FORM_HALF, FORM_BRAIN, FORM_SIGNED, FORM_UNSIGNED };

/* A kind of element by its number in the public definition: how it stands in the
 * tensor's content, and in which field when it stands there by itself. */
static const struct dtype {
	enum form form;
	uint8_t bytes, field;
	enum proto_wire wire; /* of one that is alone in its field */
} dtypes[] = {
	/* clang-format off */
	[1]  = { FORM_FLOAT,    4, 5,  PROTO_FIXED32 },
	[2]  = { FORM_FLOAT,    8, 6,  PROTO_FIXED64 },
	[3]  = { FORM_SIGNED,   4, 7,  PROTO_VARINT },
	[4]  = { FORM_UNSIGNED, 1, 7,  PROTO_VARINT },
	[5]  = { FORM_SIGNED,   2, 7,  PROTO_VARINT },
	[6]  = { FORM_SIGNED,   1, 7,  PROTO_VARINT },
	[9]  = { FORM_SIGNED,   8, 10, PROTO_VARINT },
	[10] = { FORM_UNSIGNED, 1, 11, PROTO_VARINT }, /* true or false */
	[14] = { FORM_BRAIN,    2, 13, PROTO_VARINT },
	[17] = { FORM_UNSIGNED, 2, 7,  PROTO_VARINT },
	[19] = { FORM_HALF,     2, 13, PROTO_VARINT },
	[22] = { FORM_UNSIGNED, 4, 16, PROTO_VARINT },
	[23] = { FORM_UNSIGNED, 8, 17, PROTO_VARINT },
	/* clang-format on */
};

static double from_float(uint32_t bits)
{
	float v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static double from_double(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

/* IEEE 754 binary16. */
static double from_half(uint64_t bits)
{
	int exponent = (int)(bits >> 10 & 0x1f);
	double fraction = (double)(bits & 0x3ff) / 1024, v;

	if (exponent == 0x1f)
		v = fraction > 0 ? NAN : INFINITY;
	else if (exponent == 0)
		v = ldexp(fraction, -14);
	else
		v = ldexp(1 + fraction, exponent - 15);
	return bits >> 15 & 1 ? -v : v;
}

/* As many low bits as the element has, with its sign. */
static double to_number(const struct dtype *t, uint64_t bits)
{
	int unused = 64 - 8 * t->bytes;

	switch (t->form) {
	case FORM_FLOAT:
		return t->bytes == 4 ? from_float((uint32_t)bits) : from_double(bits);
	case FORM_HALF:
		return from_half(bits & 0xffff);
	case FORM_BRAIN:
		return from_float((uint32_t)(bits & 0xffff) << 16);
	case FORM_SIGNED:
		return (double)((int64_t)(bits << unused) >> unused);
	case FORM_UNSIGNED:
		return (double)(bits << unused >> unused);
	case FORM_NONE:
		break;
	}
	return 0;
}

/* 1: every dimension is 1, or there is none; 0; -1: no message. */
static int is_single(struct proto shape)
{
	struct proto_field f, d;
	bool single = true;
	int got, inner;

	while ((got = proto_next(&shape, &f)) > 0) {
		uint64_t size = 0;
		if (f.number == SHAPE_UNKNOWN && f.wire == PROTO_VARINT && f.value)
			single = false;
		if (f.number != SHAPE_DIM || f.wire != PROTO_BYTES)
			continue;
		while ((inner = proto_next(&f.sub, &d)) > 0)
			if (d.number == DIM_SIZE && d.wire == PROTO_VARINT)
				size = d.value;
		if (inner < 0)
			return -1;
		single = single && size == 1;
	}
	return got < 0 ? -1 : single;
}

/* The one value of a field, packed or alone; 0: there are several, or it is cut. */
static int one_value(const struct dtype *t, const struct proto_field *f, uint64_t *bits)
{
	struct proto packed = f->sub;
	int got;

	if (f->wire == t->wire) {
		*bits = f->value;
		return 1;
	}
	if (f->wire != PROTO_BYTES)
		return 0;
	got = t->wire == PROTO_VARINT ? proto_varint(&packed, bits)
				      : proto_fixed(&packed, t->bytes, bits);
	return got == 0 && packed.at == packed.end;
}

/* Of the least byte first; a scalar's content has as many as its kind. */
static int one_of_content(const struct dtype *t, const struct proto *content,
			  uint64_t *bits)
{
	*bits = 0;
	if (proto_left(content) != t->bytes)
		return 0;
	for (size_t i = 0; i < t->bytes; i++)
		*bits |= (uint64_t)content->at[i] << (8 * i);
	return 1;
}

int tensor_number(struct proto tensor, double *out)
{
	const struct dtype *t = NULL;
	struct proto p = tensor;
	struct proto_field f;
	int got, single = 1, found = 0;
	uint64_t bits = 0;

	while ((got = proto_next(&p, &f)) > 0) {
		if (f.number == TENSOR_DTYPE && f.wire == PROTO_VARINT)
			t = f.value < COUNT_OF(dtypes) ? &dtypes[f.value] : NULL;
		if (f.number == TENSOR_SHAPE && f.wire == PROTO_BYTES &&
		    (single = is_single(f.sub)) < 0)
			return -1;
	}
	if (got < 0)
		return -1;
	if (!t || t->form == FORM_NONE || !single)
		return 0;
	for (p = tensor; proto_next(&p, &f) > 0;) {
		if (f.number == TENSOR_CONTENT && f.wire == PROTO_BYTES &&
		    proto_left(&f.sub))
			found += one_of_content(t, &f.sub, &bits);
		else if (f.number == t->field)
			found += one_value(t, &f, &bits);
	}
	if (found != 1)
		return 0;
	*out = to_number(t, bits);
	return 1;
}
