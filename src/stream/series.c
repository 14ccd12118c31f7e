// SPDX-License-Identifier: Apache-2.0
#include "stream/series.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

#define GROUP_MAX 4 /* kept of one */

void series_fini(struct series *s)
{
	free(s->kept);
	*s = (struct series){ 0 };
}

static bool less(double a, double b) /* a number before what is none */
{
	return a < b || (isnan(b) && !isnan(a));
}

/* Of a group in order its first, least, greatest and last; `to` may be the same place. */
static size_t pick(struct series_kept *to, const struct series_kept *from, size_t count)
{
	size_t least = 0, greatest = 0, kept = 0;

	for (size_t i = 1; i < count; i++) {
		if (less(from[i].point.value, from[least].point.value))
			least = i;
		if (less(-from[i].point.value, -from[greatest].point.value))
			greatest = i;
	}
	for (size_t i = 0; i < count; i++)
		if (i == 0 || i == least || i == greatest || i == count - 1)
			to[kept++] = from[i];
	return kept;
}

/* Groups of that stride, one after the other; *group: where the last of them begins. */
static size_t regroup(struct series_kept *list, size_t count, uint64_t stride,
		      size_t *group)
{
	size_t kept = 0;

	*group = 0;
	for (size_t i = 0, end; i < count; i = end) {
		uint64_t which = list[i].number / stride;
		for (end = i + 1; end < count && list[end].number / stride == which;)
			end++;
		*group = kept;
		kept += pick(list + kept, list + i, end - i);
	}
	return kept;
}

void series_thin(struct series *s, size_t bound)
{
	if (s->kept_count <= bound)
		return;
	while (s->kept_count > bound / 2) {
		s->stride = (s->stride ? s->stride : 1) * 2;
		s->kept_count = regroup(s->kept, s->kept_count, s->stride, &s->group);
	}
}

static bool within(double v, double a, double b)
{
	return a < b ? v >= a && v <= b : v >= b && v <= a;
}

/* Whether a new last point just takes the place of the old one: the least and the greatest
 * of the full group are those in its middle, and the new one is neither. */
static bool replaces_last(const struct series_kept *group, double v)
{
	double a = group[1].point.value, b = group[2].point.value;

	return within(v, a, b) && within(group[0].point.value, a, b) &&
	       within(group[3].point.value, a, b);
}

static void keep(struct series *s, const struct series_point *p, size_t bound)
{
	if (s->kept_count >= bound)
		series_thin(s, bound - 1);
	uint64_t number = s->next++;
	/* A stride is a power of two: where a group begins is seen without a division. */
	bool same = s->group < s->kept_count && s->stride > 1 &&
		    (s->kept[s->group].number ^ number) < s->stride;
	if (same && s->kept_count - s->group == GROUP_MAX &&
	    replaces_last(s->kept + s->group, p->value)) {
		s->kept[s->kept_count - 1] = (struct series_kept){ number, *p };
		return;
	}
	mem_grow(&s->kept, &s->cap, s->kept_count, sizeof *s->kept);
	if (!same)
		s->group = s->kept_count;
	s->kept[s->kept_count++] = (struct series_kept){ number, *p };
	struct series_kept *group = s->kept + s->group;
	if (s->kept_count - s->group > GROUP_MAX)
		s->kept_count = s->group + pick(group, group, GROUP_MAX + 1);
}

static void sum_up(struct series *s, double value)
{
	if (s->count == 0)
		s->min = s->max = NAN;
	s->count++;
	if (isnan(value)) {
		s->nan_count++;
		return;
	}
	if (!(value >= s->min)) /* also when there is none yet */
		s->min = value;
	if (!(value <= s->max))
		s->max = value;
}

void series_add(struct series *s, const struct series_point *p, size_t bound)
{
	assert(bound >= SERIES_POINTS_MIN && bound <= SERIES_POINTS_MAX);
	sum_up(s, p->value);
	s->last = *p;
	keep(s, p, bound);
}

void series_forget_from(struct series *s, int64_t step)
{
	size_t left = 0;
	uint64_t count = s->count;

	for (size_t i = 0; i < s->kept_count; i++)
		if (s->kept[i].point.step < step)
			s->kept[left++] = s->kept[i];
	if (left == s->kept_count)
		return;
	s->kept_count = left;
	s->count = s->nan_count = 0;
	for (size_t i = 0; i < left; i++)
		sum_up(s, s->kept[i].point.value);
	if (s->stride > 1 && left) /* many were dropped: as many as their share */
		s->count = s->kept[left - 1].number + 1 < count
				   ? s->kept[left - 1].number + 1
				   : count;
	s->last = left ? s->kept[left - 1].point : (struct series_point){ 0 };
	/* The next point opens a group of its own, of which all are there. */
	uint64_t stride = s->stride ? s->stride : 1;
	s->next = (s->next + stride - 1) / stride * stride;
	s->group = left;
}

size_t series_sample(const struct series *s, struct series_point *out, size_t max)
{
	size_t count = s->kept_count, bytes = count * sizeof(struct series_kept), ignored;
	uint64_t stride = s->stride ? s->stride : 1;

	if (!count || !max)
		return 0;
	struct series_kept *list = mem_dup(s->kept, bytes);
	/* Not by doubling: that would often leave half of what is asked for. */
	while (count > max && stride <= s->next) {
		stride += stride / 8 + 1;
		memcpy(list, s->kept, bytes);
		count = regroup(list, s->kept_count, stride, &ignored);
	}
	if (count >
	    max) { /* fewer than a group's four are wanted: the last, and the first */
		list[max - 1] = list[count - 1];
		count = max;
	}
	for (size_t i = 0; i < count; i++)
		out[i] = list[i].point;
	free(list);
	return count;
}
