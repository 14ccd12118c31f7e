// SPDX-License-Identifier: Apache-2.0
/* stats.h - numbers about the whole yard: for /metrics and the queue. */
#pragma once

#include "yard/yard.h"

#define YARD_COMMIT_BUCKETS 11

extern const int64_t yard_commit_bounds_ms[YARD_COMMIT_BUCKETS];

struct yard_stats {
	/* Since this daemon began. */
	int64_t submitted, ended[OUTCOME_COUNT];
	int64_t commits[YARD_COMMIT_BUCKETS +
			1]; /* by how long they took; the last: longer */
	int64_t commit_sum_ms;
	/* Now. */
	size_t jobs[JOB_STATE_COUNT]; /* live ones */
	size_t waiting;
	int64_t oldest_wait_ms; /* of those in the queue; 0: none waits */
};

void yard_stats(const struct yard *y, struct yard_stats *out);
/* Goes up, before any answer, whenever the store was written to: what was read may be old. */
uint64_t yard_commits(const struct yard *y);
/* Ids of those who wait, from that position on (1 is the head); gives how many. */
size_t yard_queue(const struct yard *y, size_t position, int64_t *out, size_t max);
size_t yard_queue_length(const struct yard *y);
