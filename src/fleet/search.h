// SPDX-License-Identifier: Apache-2.0
/* search.h - nodes with room for tasks of a role, the tightest first.
 *
 * Tightest: of a class the first in its order of buckets (layout.h), then by rank; of
 * several classes one without devices (there by idle cpu), then the fewest idle devices,
 * then rank.
 */
#pragma once

#include "fleet/space.h"

/* All nodes, or one rack's or switch's. */
struct area {
	enum level level; /* LEVEL_ANY, LEVEL_RACK, LEVEL_SWITCH */
	int number;
};

struct candidate {
	int step, at; /* how far its class was looked through */
	int node;     /* -1: not looked for yet; -2: there is none any more */
	int idle;
};

struct search {
	const struct view *v;
	const struct ask_role *r;
	const struct stay *stay;
	struct area area;
	uint64_t classes; /* that could do */
	int want;         /* tasks on one node */
	int seen;         /* the largest room met that was not enough */
	struct candidate next[CLASSES_MAX];
};

/* The tightest node for one task; -1: none. */
int search_one(const struct view *v, const struct ask_role *r, const struct stay *stay);

void search_init(struct search *x, const struct view *v, const struct ask_role *r,
		 const struct stay *stay, struct area area);
void search_want(struct search *x, int want); /* starts from the first */
/* Nodes that are marked (fleet.mark) are left out. */
int search_next(struct search *x); /* -1: no more */
/* No node holds more; below `want` none holds more than that after the search ended. */
int search_most(const struct search *x, int below);
/* At least so many tasks are more than the area can hold: never fewer than it does. */
int64_t search_bound(const struct view *v, const struct ask_role *r, struct area area);
/* The same for every rack or switch at once: added to bounds[number]. */
void search_bounds(const struct view *v, const struct ask_role *r, enum level level,
		   int64_t *bounds);
/* How many tasks fit on a node that has the labels. */
int64_t role_room(const struct view *v, const struct ask_role *r, int node, int64_t most);
