// SPDX-License-Identifier: Apache-2.0
/* sim_spots.h - what runs on each simulated node now, and whether it may: large clusters
 * are simulated too, so a start looks at its own node only. */
#pragma once

#include <stddef.h>

#include "job/node.h"

struct spot;
struct spots;

struct stay_there { /* a task while it runs */
	const struct placement *place;
	const struct resources *limits;
	struct spot *spot; /* NULL: it does not */
	struct stay_there *prev, *next;
};

struct spots *spots_create(const struct node *nodes, size_t count); /* borrowed */
void spots_destroy(struct spots *s);                                /* NULL is fine */
/* What the yard must never ask of a machine, whatever crashed before: in words; NULL: it
 * is well. */
const char *spots_enter(struct spots *s, struct stay_there *t);
void spots_leave(struct stay_there *t);
