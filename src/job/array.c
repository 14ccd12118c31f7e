// SPDX-License-Identifier: Apache-2.0
#include "job/array.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"

/* Far from where a sum of them could overflow. */
#define RANGE_MOST INT64_C(1000000000000000)

void array_fini(struct array *a)
{
	for (size_t i = 0; i < a->axis_count; i++) {
		for (int64_t k = 0; a->axes[i].values && k < a->axes[i].count; k++)
			free(a->axes[i].values[k]);
		free(a->axes[i].values);
		free(a->axes[i].name);
	}
	free(a->axes);
	*a = (struct array){ 0 };
}

struct axis *array_add_axis(struct array *a, const char *name)
{
	a->axes = mem_realloc(a->axes, a->axis_count + 1, sizeof *a->axes);
	a->axes[a->axis_count] = (struct axis){ .name = mem_strdup(name) };
	return &a->axes[a->axis_count++];
}

void axis_add_value(struct axis *x, const char *json)
{
	mem_grow(&x->values, &x->value_cap, (size_t)x->count, sizeof(char *));
	x->values[x->count++] = mem_strdup(json);
}

/* Reads a number and moves behind it. */
static int take_number(const char **text, int64_t *out)
{
	bool minus = **text == '-';
	size_t n = str_leading_i64(*text + minus, out);

	if (!n || *out > RANGE_MOST)
		return -1;
	if (minus)
		*out = -*out;
	*text += n + minus;
	return 0;
}

static int take_dots(const char **text)
{
	if (!str_starts(*text, ".."))
		return -1;
	*text += 2;
	return 0;
}

int axis_set_range(struct axis *x, const char *text)
{
	int64_t from, to, step = 1, count;

	if (take_number(&text, &from) < 0 || take_dots(&text) < 0 ||
	    take_number(&text, &to) < 0)
		return -1;
	if (*text && (take_dots(&text) < 0 || take_number(&text, &step) < 0))
		return -1;
	if (*text || !step || (to - from) / step < 0 || (to < from) != (step < 0))
		return -1;
	count = (to - from) / step + 1;
	if (count > ARRAY_MEMBERS_MAX)
		return -1;
	x->from = from;
	x->step = step;
	x->count = count;
	return 0;
}

void axis_write_range(const struct axis *x, struct buf *out)
{
	buf_printf(out, "%" PRId64 "..%" PRId64, x->from,
		   x->from + (x->count - 1) * x->step);
	if (x->step != 1)
		buf_printf(out, "..%" PRId64, x->step);
}

int64_t array_grid(const struct array *a)
{
	int64_t total = 1;

	for (size_t i = 0; i < a->axis_count; i++) {
		int64_t n = a->axes[i].count;
		if (n > ARRAY_MEMBERS_MAX || total * n > ARRAY_MEMBERS_MAX)
			return -1;
		total *= n;
	}
	return a->axis_count ? total : 0;
}

void array_value(const struct array *a, size_t axis, int64_t index, struct buf *out)
{
	const struct axis *x = &a->axes[axis];

	for (size_t i = a->axis_count - 1; i > axis; i--)
		index /= a->axes[i].count;
	index %= x->count;
	if (x->values)
		buf_adds(out, x->values[index]);
	else
		buf_printf(out, "%" PRId64, x->from + index * x->step);
}

void array_words(const struct array *a, int64_t index, struct buf *out)
{
	for (size_t i = 0; i < a->axis_count; i++) {
		buf_printf(out, "%s%s=", i ? " " : "", a->axes[i].name);
		array_value(a, i, index, out);
	}
}
