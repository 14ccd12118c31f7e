// SPDX-License-Identifier: Apache-2.0
/* grace.h - how long a stop waits for a checkpoint that is being written.
 *
 * After the notice a job has its grace.  Near the end of it the folder of its checkpoints
 * is looked at every GRACE_LOOK_MS; when the end comes and something was written in the last
 * GRACE_QUIET_MS, the end is put off by GRACE_STEP_MS, again and again, but never beyond
 * its longest grace.  Nobody is killed who was not looked at for GRACE_LOOK_MS: so after
 * a very short grace, or by a daemon that comes back late.
 *
 * Pure: moments are told, of one clock that never goes back.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GRACE_LOOK_MS  2000
#define GRACE_QUIET_MS 5000
#define GRACE_STEP_MS  10000

struct grace {
	int64_t until_ms; /* as told so far */
	int64_t max_ms;   /* not later, whatever grows */
	int looks;
	int64_t first_ms; /* of the first */
	uint64_t print;   /* what the last look saw */
	int64_t grew_ms; /* when a look last saw another thing than the one before; 0: never */
};

enum grace_verdict {
	GRACE_LOOK,   /* look again at at_ms */
	GRACE_EXTEND, /* it has until at_ms now: tell so; then grace_first() */
	GRACE_OVER,   /* kill what still runs */
};

struct grace_step {
	enum grace_verdict verdict;
	int64_t at_ms;
};

/* until_ms and max_ms from now on; never less than nothing. */
void grace_begin(struct grace *g, int64_t until_ms, int64_t max_ms);
/* When to look next at the earliest, before or after an end was put off. */
int64_t grace_first(const struct grace *g, int64_t now_ms);
/* A look at now_ms saw this. */
struct grace_step grace_seen(struct grace *g, uint64_t print, int64_t now_ms);
