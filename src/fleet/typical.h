// SPDX-License-Identifier: Apache-2.0
/* typical.h - what is likely to be asked for: counts of the last asks, and what scores
 * need of them.
 *
 * An ask is known by cpu, memory, how many devices (or what share of one) and which kinds
 * will do.  After every TYPICAL_WINDOW asks the older ones count half.  Nothing is learned
 * from fewer than TYPICAL_FIRST; later it is learned anew as their number grows.
 */
#pragma once

#include "fleet/ask.h"
#include "fleet/prices.h"

#define TYPICAL_MAX    1024 /* different asks that are remembered */
#define TYPICAL_WINDOW 4096
#define TYPICAL_FIRST  64
#define TYPICAL_BITS   20
#define TYPICAL_ONE    (1 << TYPICAL_BITS) /* the weights of all typical asks together */

struct typical_shape {
	int64_t cpu_milli, memory_bytes;
	int count, milli; /* devices, and how much of each; 0 devices: cpu only */
	char type[DEVICE_TYPE_MAX];
	uint64_t kinds; /* that will do, when it was learned */
	int64_t seen;
	int64_t part; /* of all, × TYPICAL_ONE, when it was learned */
};

/* Typical asks that may have devices of a kind, and differ only in cpu or in which other
 * kinds would do. */
struct typical_group {
	int count, milli;
	int weights_at; /* weights[weights_at + i]: of those that need at most limits[i] */
};

struct typical {
	struct typical_shape *shapes;
	size_t shape_count;
	uint16_t *slots;      /* hash table: shape + 1, 0: free */
	int64_t noted, since; /* asks in all, since the counts were halved */
	bool given;           /* by somebody who knows what will come; nothing is noted */
	int64_t learn_at;     /* when so many were noted */
	int64_t learned_at;   /* the same, of the last time */
	uint64_t learned;     /* how often; 0: nothing is known */
	struct typical_group *groups;  /* of each kind: by milli */
	size_t kind_at[KINDS_MAX + 1]; /* where those of a kind begin */
	size_t group_count;
	int64_t *limits; /* of cpu, ascending */
	size_t limit_count;
	int32_t *weights;
	int64_t cpu_per_device; /* milli; mean of those that use devices */
	bool shares;            /* some want part of a device */
	struct prices prices;
};

void typical_init(struct typical *t);
void typical_fini(struct typical *t);
/* `times` of them.  True: it is time to learn. */
bool typical_note(struct typical *t, const struct ask_role *r, int64_t times);
/* Somebody knows what will come: from then on nothing is noted. */
void typical_give(struct typical *t, const struct ask_role *r, int64_t times);
void typical_forget(struct typical *t); /* all that was noted or given */
/* Works out everything below `learned`.  typical_due(): false when what was learned is
 * still right by and large; it is looked at again when more was noted. */
bool typical_due(struct typical *t);
void typical_learn(struct typical *t, const struct fleet *f);

/* The devices of one kind on a node, as scores see them. */
struct spot {
	int kind, count, sum;
	uint16_t left[DEVICES_MAX]; /* ascending; DEVICE_SHARE: idle */
};

void spot_set(struct spot *s, int kind, const uint16_t *left, int count);
/* A share of a device that has `from` left; so many idle devices: it must have these. */
void spot_share(struct spot *s, int from, int share);
void spot_whole(struct spot *s, int count);
/* How much of what is left there typical asks cannot use, in milli, averaged over these:
 * × TYPICAL_ONE. */
int64_t typical_fragment(const struct typical *t, const struct spot *s,
			 int64_t cpu_milli);
