// SPDX-License-Identifier: Apache-2.0
/* event_file.h - what a record of an event file says: TensorBoard's Event message.
 *
 * Only what series and lists are made of is looked at; nothing is copied, everything
 * points into the record.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/proto.h"
#include "stream/series.h"

struct event_record {
	int64_t step, time_ms;
	bool graph;   /* it holds a graph */
	bool restart; /* what was said of this step and later ones no longer counts */
	struct proto summary; /* the first one; most have just that */
	struct proto rest;    /* what stands behind it */
};

enum event_kind {
	EVENT_NOTHING, /* a tag without a value */
	EVENT_NUMBER,  /* simple_value */
	EVENT_IMAGE,
	EVENT_HISTOGRAM,
	EVENT_AUDIO,
	EVENT_TENSOR, /* what it means is for its plugin to say */
};

struct event_value {
	const char *tag, *plugin; /* no NUL behind them; plugin_len 0: none is named */
	size_t tag_len, plugin_len;
	enum event_kind kind;
	bool has_number; /* always with EVENT_NUMBER; of a tensor: it is one number */
	double number;
};

/* -1: these bytes are no Event. */
int event_record_read(const void *data, size_t len, struct event_record *out);

/* Its values, one after the other; zeroed to begin with. */
struct event_walk {
	bool begun;
	struct proto summary, rest;
};
int event_value_next(const struct event_record *r, struct event_walk *w,
		     struct event_value *out); /* 1, 0: no more, -1: no message */

/* The one form that nearly all records have: a time, a step and one tag with its
 * simple_value, in this order and nothing else.  Read at once; false: it may be anything. */
struct event_plain {
	struct series_point point;
	const char *tag;
	size_t tag_len;
};
bool event_plain_read(const uint8_t *data, size_t len, struct event_plain *out);
