// SPDX-License-Identifier: Apache-2.0
/* series.h - values over steps, in memory that does not grow with their number.
 *
 * Points are numbered as they come and stand in groups of `stride` numbers.  Of a group its
 * first, its last, its least and its greatest point are kept; when too many are, the stride
 * is doubled, which puts groups together two by two.  So what is kept depends on the points
 * and nothing else, the ends and the extremes of the whole are exact, and a spike is never
 * thinned away.  NaN is neither least nor greatest.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SERIES_POINTS_MAX 2048 /* kept of one; as long as there are fewer, all are */
#define SERIES_POINTS_MIN 64   /* a bound may not be less */

struct series_point {
	int64_t step, time_ms;
	double value;
};

struct series_kept {
	uint64_t number;
	struct series_point point;
};

struct series {
	uint64_t count, nan_count;
	double min, max; /* NaN: no point is a number */
	struct series_point last;
	uint64_t next, stride; /* the number of the next point; 0 when zeroed: means 1 */
	struct series_kept *kept;
	size_t kept_count, cap;
	size_t group; /* where the last group begins */
};

void series_fini(struct series *s); /* zeroed is empty and valid */
/* bound: how many may be kept, from SERIES_POINTS_MIN to SERIES_POINTS_MAX. */
void series_add(struct series *s, const struct series_point *p, size_t bound);
void series_thin(struct series *s, size_t bound); /* to half of it, if there are more */
/* Forgets the points of this step and later ones, as a training that begins again there
 * makes them untrue; in a group of which points were dropped count and extremes are then of
 * what was kept. */
void series_forget_from(struct series *s, int64_t step);
/* At most `max` of its points in their order, chosen in the same way; gives how many. */
size_t series_sample(const struct series *s, struct series_point *out, size_t max);
