// SPDX-License-Identifier: Apache-2.0
/* rate.h - how good one node is for one task, by each of the rules; plain numbers in,
 * plain numbers out.
 *
 * The rule of the yard is a sum of terms, each in 1/1,000,000 of a device and times a
 * weight; a place with the greater sum is the better one:
 *
 *   fragment  how much less of what is left there typical asks could not use (FGD's F)
 *   balance   how many devices fewer will stand idle there for want of cpu
 *   gap       - what the cut of a shared device loses against a perfect one: prices.h
 *   scarcity  - what is taken of devices that others cannot do without
 *   slack     - what is left on the node: nodes are filled, not sprinkled
 *
 * The published rules it is compared with: FGD, best fit, dot product, clustering and
 * packing, as their authors' simulator has them.
 */
#pragma once

#include "fleet/fleet.h"
#include "fleet/score.h"
#include "fleet/typical.h"

#define RATE_NONE INT32_MIN /* no room */

enum task_size { TASK_SHARE, TASK_ONE, TASK_TWO, TASK_FOUR, TASK_MORE, TASK_SIZES };

/* A node as rules see it. */
struct stand {
	int64_t cpu_milli; /* free */
	int sum;           /* free milli of all devices */
	int spot_count;
	struct spot spots[FLEET_POOLS];
	struct { /* of each spot */
		int pool;
		bool will_do;               /* the task may have these */
		uint16_t left[DEVICES_MAX]; /* by device */
	} of[FLEET_POOLS];
	int64_t fragment; /* of the only spot, as it is; -1: not worked out */
	uint8_t sizes;    /* bit: tasks of that size are there; for clustering */
};

struct rater {
	enum placement_rule rule;
	struct placement_weights weights;
	const struct typical *typical;
	int64_t cpu_most; /* of the largest node, and milli of devices */
	int64_t milli_most;
};

enum task_size task_size(const struct need *n);
/* There must be room for the task.  Without `scarcity`: that is the same for all nodes of
 * a kind and changes with every task, see score.c. */
void rate(const struct rater *x, const struct stand *s, const struct ask_role *r,
	  struct score *out);
