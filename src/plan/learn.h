// SPDX-License-Identifier: Apache-2.0
/* learn.h - how long jobs run, learned from those that ended; and how good such guesses are.
 *
 * Whole numbers; what is known depends on what was noted, in order.  Kept small: a bounded
 * number of keys, the oldest unused goes.  Keys from the nearest to the farthest: (user,
 * command, devices), (user, command), (user, devices), (group, devices), everybody.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct learn;

/* What was run, without what differs from run to run: numbers, and digits in names and
 * paths, become '#'.  argv ends with NULL; a shell line is an argv of one.  Bounded. */
void learn_fingerprint(const char *const *argv, struct buf *out);

struct learn_who {
	const char *user, *group; /* NULL: unknown */
	const char *command;      /* its fingerprint; NULL: unknown */
	int64_t device_milli;
};

struct guess {
	int64_t low_ms, likely_ms,
		high_ms; /* 10 %, 50 % and 90 % of the like ended sooner */
	int64_t mean_ms;
	int64_t count; /* of how many that is known; 0: nothing is */
};

struct learn *learn_create(void);
void learn_destroy(struct learn *l);
void learn_note(struct learn *l, const struct learn_who *who, int64_t ran_ms);
void learn_guess(const struct learn *l, const struct learn_who *who, struct guess *out);
int64_t learn_seen(const struct learn *l); /* how many were ever noted */
/* Of one that runs since then: what is left, given that it has run so long. */
void learn_left(const struct learn *l, const struct learn_who *who, int64_t ran_ms,
		struct guess *out);

/* Estimates of starts, scored: what was told when it was submitted, and what came. */
struct learn_score {
	int64_t told;     /* estimates that can be judged */
	int64_t within;   /* that came between soonest and latest */
	int64_t close;    /* within a fifth of the time told, or a minute */
	int64_t error_ms; /* median of |told - came| over the last */
};
void learn_scored(struct learn *l, int64_t waited_ms, int64_t soonest_ms,
		  int64_t likely_ms, int64_t latest_ms);
void learn_score(const struct learn *l, struct learn_score *out);
/* How often, in percent, estimates hold that should hold so often: what was scored, and
 * where little was, what they should. */
int learn_sure(const struct learn *l, int nominal);
