// SPDX-License-Identifier: Apache-2.0
/* Series in bounded memory: what is kept of many points is what a picture of them needs. */
#include "stream/series.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "tap.h"

static uint64_t seed = 42;
static uint64_t draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void fill(struct series *s, int64_t count, size_t bound)
{
	for (int64_t i = 0; i < count; i++)
		series_add(s, &(struct series_point){ i, i * 10, sin((double)i / 50) },
			   bound);
}

static bool same(const struct series *a, const struct series *b)
{
	if (a->kept_count != b->kept_count || a->stride != b->stride)
		return false;
	for (size_t i = 0; i < a->kept_count; i++)
		if (a->kept[i].number != b->kept[i].number ||
		    a->kept[i].point.value != b->kept[i].point.value)
			return false;
	return true;
}

static void few_are_all_kept(void)
{
	struct series s = { 0 };
	struct series_point out[SERIES_POINTS_MAX];

	fill(&s, SERIES_POINTS_MAX - 1, SERIES_POINTS_MAX);
	size_t n = series_sample(&s, out, SERIES_POINTS_MAX);
	bool all = n == SERIES_POINTS_MAX - 1;
	for (size_t i = 0; i < n; i++)
		all = all && out[i].step == (int64_t)i;
	OK(all, "as long as there are few, every point is kept, in order");
	series_fini(&s);
}

static void many_are_thinned(void)
{
	struct series s = { 0 };
	size_t most = 0;
	bool in_order = true, first = true;

	for (int64_t i = 0; i < 300000; i++) {
		double v = i == 123457   ? 1000
			   : i == 223457 ? -1000
					 : (double)(draw() % 100);
		series_add(&s, &(struct series_point){ i, i, v }, 256);
		most = s.kept_count > most ? s.kept_count : most;
	}
	for (size_t i = 1; i < s.kept_count; i++)
		in_order = in_order && s.kept[i - 1].number < s.kept[i].number;
	OK(most <= 256, "no more than the bound is ever kept (%zu)", most);
	OK(in_order, "what is kept is in order");
	OK(s.count == 300000 && s.min == -1000 && s.max == 1000 && s.last.step == 299999,
	   "count, extremes and the last are those of all points");
	bool up = false, down = false;
	for (size_t i = 0; i < s.kept_count; i++) {
		up |= s.kept[i].point.value == 1000 && s.kept[i].point.step == 123457;
		down |= s.kept[i].point.value == -1000 && s.kept[i].point.step == 223457;
	}
	first = s.kept[0].point.step == 0;
	OK(up && down, "one spike in 300000 points is never thinned away");
	OK(first && s.kept[s.kept_count - 1].point.step == 299999,
	   "the first and the last point are kept");
	series_fini(&s);
}

static void samples_keep_the_picture(void)
{
	struct series s = { 0 };
	struct series_point out[2048];
	bool good = true, ends = true;

	fill(&s, 100000, 2048);
	for (size_t max = 1; max <= 2048; max++) {
		size_t n = series_sample(&s, out, max);
		good = good && n > 0 && n <= max;
		for (size_t i = 1; i < n; i++)
			good = good && out[i - 1].step < out[i].step;
		ends = ends && out[n - 1].step == 99999 && (max < 2 || out[0].step == 0);
	}
	OK(good, "a sample has at least one point, at most as many as asked, in order");
	OK(ends, "its last point is the last, its first the first");
	OK(series_sample(&s, out, 0) == 0, "none when none is asked for");
	size_t n = series_sample(&s, out, 100);
	double least = 2, greatest = -2;
	for (size_t i = 0; i < n; i++) {
		least = fmin(least, out[i].value);
		greatest = fmax(greatest, out[i].value);
	}
	OK(least == s.min && greatest == s.max && n > 75,
	   "a sample of 100 shows both extremes of 100000 (%zu points)", n);
	series_fini(&s);
}

static void no_numbers(void)
{
	struct series s = { 0 };

	series_add(&s, &(struct series_point){ 1, 1, NAN }, 64);
	OK(isnan(s.min) && isnan(s.max) && s.nan_count == 1, "only NaN: no extremes");
	series_add(&s, &(struct series_point){ 2, 2, -3 }, 64);
	series_add(&s, &(struct series_point){ 3, 3, NAN }, 64);
	series_add(&s, &(struct series_point){ 4, 4, INFINITY }, 64);
	OK(s.min == -3 && s.max == INFINITY && s.nan_count == 2,
	   "NaN is no extreme, infinity is");
	for (int64_t i = 5; i < 10000; i++)
		series_add(&s, &(struct series_point){ i, i, i % 3 ? NAN : (double)i },
			   64);
	OK(s.kept_count <= 64 && s.min == -3, "NaN among them is thinned as well");
	series_fini(&s);
}

static void the_same_whatever_the_way(void)
{
	struct series a = { 0 }, b = { 0 };

	fill(&a, 50000, 512);
	fill(&b, 20000, 512);
	for (int64_t i = 20000; i < 50000; i++)
		series_add(&b, &(struct series_point){ i, i * 10, sin((double)i / 50) },
			   512);
	OK(same(&a, &b), "read in two parts it is what it is read at once");
	series_fini(&a);
	series_fini(&b);
}

static void begun_again(void)
{
	struct series s = { 0 };
	struct series_point out[16];

	fill(&s, 10, 64);
	series_forget_from(&s, 6);
	OK(s.count == 6 && s.last.step == 5, "what a restart takes back is gone");
	series_add(&s, &(struct series_point){ 6, 60, 9 }, 64);
	size_t n = series_sample(&s, out, 16);
	OK(n == 7 && out[6].step == 6 && s.max == 9 && s.count == 7,
	   "and goes on from there");
	series_forget_from(&s, INT64_MIN);
	OK(s.count == 0 && series_sample(&s, out, 16) == 0,
	   "all of it may be taken back");
	fill(&s, 100000, 64);
	series_forget_from(&s, 50000);
	OK(s.last.step < 50000 && s.last.step > 40000 && s.count <= 50000,
	   "of a thinned one, too");
	fill(&s, 1000, 64);
	OK(s.kept_count <= 64 && s.last.step == 999, "and it is still bounded");
	series_fini(&s);
}

int main(void)
{
	few_are_all_kept();
	many_are_thinned();
	samples_keep_the_picture();
	no_numbers();
	the_same_whatever_the_way();
	begun_again();
	return END();
}
