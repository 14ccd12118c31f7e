// SPDX-License-Identifier: Apache-2.0
/* model.h - the plan itself; nobody outside this room includes it. */
#pragma once

#include "base/map.h"
#include "fleet/fleet.h"
#include "plan/backfill.h"
#include "plan/owner.h"
#include "plan/preempt.h"
#include "plan/queue.h"
#include "plan/shape.h"

struct scratch { /* memory that is reused; no meaning between calls */
	struct picks picks, head_picks;
	struct view *future;
	struct placement *places;
	size_t place_cap;
	const struct plan_eyes *eyes; /* of who asks plan_why() */
};

struct plan {
	struct fleet *fleet;
	size_t kinds_known; /* asks were made for so many kinds of devices */
	struct plan_policy policy;
	struct map *shape_by_key, *bucket_by_key, *users, *groups;
	struct map *jobs;
	size_t fickle_shapes; /* of several roles: packing them is not monotone, see step.c */
	struct tree queue;   /* everyone who waits, by (-priority, id) */
	struct tree running; /* by (end, id) */
	struct tree shapes[SHAPE_STATE_COUNT];
	bool grown;         /* something was given back: BLOCKED may fit now */
	bool nodes_changed; /* NEVER may fit now */
	/* Of what is held; BACK and fickle shapes are tried again when it moved. */
	uint64_t version;
	uint64_t back_version;
	int64_t back_head; /* whom BACK shapes would have delayed */
	int64_t now_ms;    /* of the last step */
	struct preemption *preempt;
	struct scratch *scratch;
};
