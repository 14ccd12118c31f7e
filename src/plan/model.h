// SPDX-License-Identifier: Apache-2.0
/* model.h - the plan itself; nobody outside this room includes it. */
#pragma once

#include "base/map.h"
#include "fleet/fleet.h"
#include "plan/backfill.h"
#include "plan/order.h"
#include "plan/owner.h"
#include "plan/preempt.h"
#include "plan/promise.h"
#include "plan/queue.h"
#include "plan/shape.h"
#include "plan/tenant.h"

#define FREED_MAX 32 /* nodes; beyond that it was everywhere */

struct scratch { /* memory that is reused; no meaning between calls */
	struct picks picks, head_picks;
	struct view *future;
	struct placement *places;
	size_t place_cap;
	const struct plan_eyes *eyes; /* of who asks plan_why() */
	struct tenant **queues;       /* of order_heads() */
	size_t queue_count, queue_cap;
	struct view *kept, *tried;  /* of promise_fit() */
	struct bucket **candidates; /* of a pass */
	size_t candidate_cap;
	struct line *lines;
	size_t line_cap;
};

struct plan {
	struct fleet *fleet;
	size_t kinds_known; /* asks were made for so many kinds of devices */
	struct plan_policy policy;
	struct map *shape_by_key, *bucket_by_key, *users, *groups;
	struct map *jobs;
	size_t fickle_shapes; /* of several roles: packing them is not monotone, see step.c */
	struct tree queue;   /* everyone who waits, by (order_key(), id) */
	struct tree running; /* by (end, id) */
	struct tree shapes[SHAPE_STATE_COUNT];
	bool grown;           /* something was given back: BLOCKED may fit now */
	int freed[FREED_MAX]; /* or only on these nodes */
	size_t freed_count;
	bool nodes_changed; /* NEVER may fit now */
	/* Of what is held; BACK and fickle shapes are tried again when it moved. */
	uint64_t version;
	uint64_t back_version;
	int64_t back_heads[HEADS_MAX]; /* whom BACK shapes would have delayed */
	size_t back_count;
	uint64_t pass;      /* the number of the last one */
	struct heads heads; /* with reservations; see backfill.h */
	int64_t now_ms;     /* of the last step */
	int64_t age_ms;     /* nobody passes the age bound before that */
	int64_t edge_ms;    /* no window opens or closes before that */
	size_t windows;     /* of all nodes */
	struct tenant *root;
	struct dims dims;
	struct use capacity; /* of nodes that are up, */
	int64_t memory_bytes;
	bool weighed;      /* shares are of this capacity */
	int64_t fade_hour; /* past use is of this hour */
	uint64_t turns;    /* moves when another is the first of a group's line */
	uint64_t firsts_turns, back_turns;
	struct preemption *preempt;
	struct scratch *scratch;
};
