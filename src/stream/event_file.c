// SPDX-License-Identifier: Apache-2.0
#include "stream/event_file.h"

#include "stream/tensor.h"

/* Numbers of fields, from the public definitions of the messages. */
enum {
	EVENT_WALL_TIME = 1,
	EVENT_STEP = 2,
	EVENT_GRAPH = 4,
	EVENT_SUMMARY = 5,
	EVENT_SESSION_LOG = 7
};
enum { SESSION_STATUS = 1, SESSION_START = 1 };
enum { SUMMARY_VALUE = 1 };
enum {
	VALUE_TAG = 1,
	VALUE_SIMPLE = 2,
	VALUE_OLD_HISTOGRAM = 3,
	VALUE_IMAGE = 4,
	VALUE_HISTOGRAM = 5,
	VALUE_AUDIO = 6,
	VALUE_TENSOR = 8,
	VALUE_METADATA = 9
};
enum { METADATA_PLUGIN_DATA = 1, PLUGIN_NAME = 1 };

static double double_of(uint64_t bits)
{
	double v;

	memcpy(&v, &bits, sizeof v);
	return v;
}

static double float_of(uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	float v;

	memcpy(&v, &low, sizeof v);
	return v;
}

/* Seconds to milliseconds; a time that makes no sense is 0. */
static int64_t to_ms(double seconds)
{
	if (!(seconds > 0 && seconds < 1e12))
		return 0;
	return (int64_t)(seconds * 1000 + 0.5);
}

static int read_session(struct proto log, struct event_record *out)
{
	struct proto_field f;
	int got;

	while ((got = proto_next(&log, &f)) > 0)
		if (f.number == SESSION_STATUS && f.wire == PROTO_VARINT)
			out->restart = f.value == SESSION_START;
	return got;
}

int event_record_read(const void *data, size_t len, struct event_record *out)
{
	struct proto p = proto_of(data, len);
	struct proto_field f;
	int got;

	*out = (struct event_record){ .summary = { p.end, p.end },
				      .rest = { p.end, p.end } };
	while ((got = proto_next(&p, &f)) > 0) {
		if (f.number == EVENT_SUMMARY && f.wire == PROTO_BYTES) {
			if (out->rest.at == out->rest.end) {
				out->summary = f.sub;
				out->rest = p;
			}
		} else if (f.number == EVENT_WALL_TIME && f.wire == PROTO_FIXED64) {
			out->time_ms = to_ms(double_of(f.value));
		} else if (f.number == EVENT_STEP && f.wire == PROTO_VARINT) {
			out->step = (int64_t)f.value;
		} else if (f.number == EVENT_GRAPH && f.wire == PROTO_BYTES) {
			out->graph = true;
		} else if (f.number == EVENT_SESSION_LOG && f.wire == PROTO_BYTES &&
			   read_session(f.sub, out) < 0) {
			return -1;
		}
	}
	return got;
}

static int read_plugin(struct proto data, struct event_value *out)
{
	struct proto_field f;
	int got;

	while ((got = proto_next(&data, &f)) > 0)
		if (f.number == PLUGIN_NAME && f.wire == PROTO_BYTES) {
			out->plugin = (const char *)f.sub.at;
			out->plugin_len = proto_left(&f.sub);
		}
	return got;
}

static int read_metadata(struct proto metadata, struct event_value *out)
{
	struct proto_field f;
	int got;

	while ((got = proto_next(&metadata, &f)) > 0)
		if (f.number == METADATA_PLUGIN_DATA && f.wire == PROTO_BYTES &&
		    read_plugin(f.sub, out) < 0)
			return -1;
	return got;
}

static int read_tensor(struct proto tensor, struct event_value *out)
{
	int got = tensor_number(tensor, &out->number);

	out->kind = EVENT_TENSOR;
	out->has_number = got > 0;
	return got < 0 ? -1 : 0;
}

/* What a field of bytes is; the insides of images and the like are nobody's business. */
static int read_bytes(const struct proto_field *f, struct event_value *out)
{
	switch (f->number) {
	case VALUE_TAG:
		out->tag = (const char *)f->sub.at;
		out->tag_len = proto_left(&f->sub);
		return 0;
	case VALUE_METADATA:
		return read_metadata(f->sub, out);
	case VALUE_TENSOR:
		return read_tensor(f->sub, out);
	case VALUE_IMAGE:
		out->kind = EVENT_IMAGE;
		return 0;
	case VALUE_HISTOGRAM:
	case VALUE_OLD_HISTOGRAM:
		out->kind = EVENT_HISTOGRAM;
		return 0;
	case VALUE_AUDIO:
		out->kind = EVENT_AUDIO;
		return 0;
	}
	return 0; /* of another time than ours */
}

static int read_value(struct proto value, struct event_value *out)
{
	struct proto_field f;
	int got;

	*out = (struct event_value){ .tag = "", .plugin = "" };
	while ((got = proto_next(&value, &f)) > 0) {
		if (f.number == VALUE_SIMPLE && f.wire == PROTO_FIXED32) {
			out->kind = EVENT_NUMBER;
			out->has_number = true;
			out->number = float_of(f.value);
		} else if (f.wire == PROTO_BYTES && read_bytes(&f, out) < 0) {
			return -1;
		}
	}
	return got < 0 ? -1 : 1;
}

int event_value_next(const struct event_record *r, struct event_walk *w,
		     struct event_value *out)
{
	struct proto_field f;
	int got;

	if (!w->begun) {
		w->summary = r->summary;
		w->rest = r->rest;
		w->begun = true;
	}
	for (;;) {
		while ((got = proto_next(&w->summary, &f)) > 0)
			if (f.number == SUMMARY_VALUE && f.wire == PROTO_BYTES)
				return read_value(f.sub, out);
		if (got < 0)
			return -1;
		/* A message in two parts means both of them. */
		do
			got = proto_next(&w->rest, &f);
		while (got > 0 && !(f.number == EVENT_SUMMARY && f.wire == PROTO_BYTES));
		if (got <= 0)
			return got;
		w->summary = f.sub;
	}
}

/* 0x09 time, [0x10 step], 0x2a n, 0x0a n, 0x0a n tag, 0x15 number: keys and lengths of one
 * byte each, every length up to the record's end. */
bool event_plain_read(const uint8_t *data, size_t len, struct event_plain *out)
{
	struct proto p = proto_of(data, len);
	uint64_t bits, step = 0;
	const uint8_t *at = data + 9;

	if (len < 9 + 6 + 5 || len > 9 + 11 + 128 || data[0] != 0x09)
		return false;
	memcpy(&bits, data + 1, sizeof bits);
	if (*at == 0x10) {
		p.at = at + 1;
		if (proto_varint(&p, &step) < 0)
			return false;
		at = p.at;
	}
	size_t left = (size_t)(p.end - at);
	if (left < 6 + 5 || at[0] != 0x2a || at[1] != left - 2 || at[2] != 0x0a ||
	    at[3] != left - 4 || at[4] != 0x0a || at[5] != left - 6 - 5 || at[1] > 0x7f)
		return false;
	const uint8_t *number = at + left - 5;
	if (*number != 0x15)
		return false;
	uint32_t low;
	memcpy(&low, number + 1, sizeof low);
	out->point.step = (int64_t)step;
	out->point.time_ms = to_ms(double_of(le64toh(bits)));
	out->point.value = float_of(le32toh(low));
	out->tag = (const char *)at + 6;
	out->tag_len = at[5];
	return true;
}
