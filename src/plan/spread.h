// SPDX-License-Identifier: Apache-2.0
/* spread.h - how often which duration came: counts in eighths of an octave.
 *
 * Durations from 64 ms to 200 days in steps of at most an eighth of themselves; what was
 * noted long ago fades: all counts are halved when they add up to SPREAD_MEMORY.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SPREAD_FIRST  6 /* below 2^6 ms: one step */
#define SPREAD_LAST   34
#define SPREAD_COUNT  ((SPREAD_LAST - SPREAD_FIRST) * 8 + 1)
#define SPREAD_WEIGHT 64  /* of one that was just noted */
#define SPREAD_MEMORY 512 /* so many at most count fully */

struct spread {
	uint16_t weight[SPREAD_COUNT];
	int64_t sum;  /* of the weights */
	int64_t seen; /* ever noted */
};

/* The same as parts of SPREAD_ONE, so that several can be mixed. */
#define SPREAD_ONE (INT64_C(1) << 24)
struct spread_mix {
	int64_t mass[SPREAD_COUNT];
	bool known; /* something was mixed in */
};

int spread_step(int64_t ms);
int64_t spread_floor(int step); /* the shortest of a step */
void spread_note(struct spread *s, int64_t ms);
/* What s saw, beside what m says, which counts as much as `prior` observations. */
void spread_mix(struct spread_mix *m, const struct spread *s, int64_t prior);
/* Only those that lasted longer than that are left; false: none. */
bool spread_longer(struct spread_mix *m, int64_t ms);
/* So many of 1000 were shorter. */
int64_t spread_quantile(const struct spread_mix *m, int64_t milli);
int64_t spread_mean(const struct spread_mix *m);
