// SPDX-License-Identifier: Apache-2.0
/* demo_day.h - a day on a cluster of 64 devices: who submits what, when, and how long it runs.
 *
 * Made from a seed; the same seed is the same day.  Nothing of it is anybody's trace.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

#define DEMO_NODES   8
#define DEMO_DEVICES 8 /* gpu, on each */

struct demo_person {
	const char *name, *group;
};
#define DEMO_PEOPLE 6
extern const struct demo_person demo_people[DEMO_PEOPLE];

struct demo_job {
	int64_t at_ms; /* since midnight */
	size_t person;
	size_t kind;
	int64_t run_ms, limit_ms; /* 0: no limit */
	int number;               /* the how manieth of the day */
};

/* In the order of their times; the caller frees. */
struct demo_job *demo_day(uint64_t seed, size_t *count);
/* The job file, as JSON, on a clock that runs `speed` times as fast. */
void demo_job_file(const struct demo_job *j, int64_t speed, struct buf *out);
