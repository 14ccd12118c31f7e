// SPDX-License-Identifier: Apache-2.0
/* shape.h - what is asked of the nodes: equal requests are one shape. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "fleet/ask.h"
#include "plan/plan.h"
#include "plan/tree.h"

#define TENANT_TYPES_MAX 8 /* device types in all rules together: see tenant.h */
#define TENANT_DIMS_MAX  (2 + TENANT_TYPES_MAX)

enum shape_state {
	SHAPE_IDLE,
	SHAPE_OPEN,
	SHAPE_BLOCKED,
	SHAPE_BACK,
	SHAPE_NEVER,
	SHAPE_STATE_COUNT
};

struct view;
struct picks;

struct shape {
	char *key;
	size_t refs;
	struct ask *ask;
	enum shape_state state;
	struct tree ready;             /* buckets that no quota parks */
	struct tree_node at;           /* in plan.shapes[state] */
	uint64_t ever_version;         /* of the nodes for which `ever` was found out */
	bool ever;                     /* fits when nothing else runs */
	int64_t want[TENANT_DIMS_MAX]; /* of what rules speak of, */
	uint64_t dims_version;         /* in this version of them */
	/* A pass found that it does not fit beside these heads: see step.c. */
	uint64_t no_spare_version;
	unsigned no_spare_heads;
};

/* Shared by all who ask the same; one ref for the caller. */
struct shape *shape_get(struct plan *p, const struct plan_job *job);
/* Not shared and not remembered: to see what a request would meet.  */
struct shape *shape_make(const struct plan *p, const struct plan_job *job);
void shape_free(struct shape *s);
void shape_put(struct plan *p, struct shape *s);
bool shape_fits(const struct plan *p, const struct view *v, const struct shape *s,
		struct picks *out);
bool shape_ever(const struct plan *p, struct shape *s); /* when nothing else runs */
void shapes_refresh(struct plan *p); /* after a node was set: there may be new kinds */
