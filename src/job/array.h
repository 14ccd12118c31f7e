// SPDX-License-Identifier: Apache-2.0
/* array.h - one job file, many jobs: a number of members, or the grid of a sweep.
 *
 * The job that was submitted is the parent.  Its members are ordinary jobs, numbered from
 * 0; of a sweep the number says the value on each axis: axes in the order they were
 * written, the last one fastest.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define ARRAY_MEMBERS_MAX 1000000
#define ARRAY_AXES_MAX    16
#define ARRAY_BYTES_MAX   (INT64_C(4) << 30) /* of all members' specs together */

struct spec;

/* The values of one name: a list, or from, from + step, ... without being written out. */
struct axis {
	char *name;
	char **values; /* JSON; NULL: a range */
	size_t value_cap;
	int64_t count;
	int64_t from, step;
};

struct array {
	int count; /* of members; 0: the job is no array.  Of a sweep: filled by the check */
	struct axis *axes;
	size_t axis_count;
	int parallel;   /* members alive at once; 0: as many as the yard thinks right */
	int stop_after; /* failed members that end the rest; 0: none does */
};

void array_fini(struct array *a);
struct axis *array_add_axis(struct array *a, const char *name); /* until the next */
void axis_add_value(struct axis *x, const char *json);
/* "1..5" or "0..100..10", both ends included; -1: it is no range, or too long a one. */
int axis_set_range(struct axis *x, const char *text);
void axis_write_range(const struct axis *x, struct buf *out);
/* Members of the grid; -1: more than ARRAY_MEMBERS_MAX. */
int64_t array_grid(const struct array *a);
/* The value that a member has on an axis, as JSON. */
void array_value(const struct array *a, size_t axis, int64_t index, struct buf *out);
/* "lr=0.1 seed=3", for people; nothing without a sweep. */
void array_words(const struct array *a, int64_t index, struct buf *out);

/* The spec of a member: the parent's, with its values among the hyperparameters and in
 * place of {NAME} and {index} in its commands.  The parent must have passed the check. */
struct spec *array_member(const struct spec *parent, int64_t index);
/* Bytes that filling in may add to a command's text at most; -1: a value does not fit
 * safely into this shell line (*axis: whose). */
int64_t array_fill_growth(const struct array *a, const char *text, bool shell,
			  const struct axis **axis);
