// SPDX-License-Identifier: Apache-2.0
/* cells.h - the nodes as an estimate sees them: amounts that go down and up again.
 *
 * Coarser than a view and far quicker to change: no single devices, no distances.  For
 * each request of interest it is kept how many tasks of it would fit, and where to look
 * for room first, so that a start or an end costs by the nodes it touches.
 */
#pragma once

#include "plan/model.h"

#define CELLS_KINDS 8  /* of devices; what is of further kinds is not limited */
#define CELLS_WANTS 16 /* roles of different requests */

struct cell {
	int64_t cpu_milli, memory_bytes;
	int32_t tasks, ports;
	int32_t devices[CELLS_KINDS]; /* in 1/1000 */
};

/* A role that may come to be placed. */
struct want {
	const struct shape *shape;
	const struct ask_role *role;
	struct stay stay;      /* whose windows are its own, and how long from 0 on */
	const uint64_t *where; /* bit: the node is open, and has its labels */
	int64_t have;          /* so many tasks fit, each node for itself */
	int *nodes;            /* where there may be room: the last first */
	size_t count, cap;
};

struct cells {
	const struct fleet *fleet;
	struct view *empty; /* nothing runs; not in a copy */
	struct cell *items;
	size_t count;
	int64_t at_ms, since_ms;
	int64_t edge_ms; /* from since_ms until then no window opens or closes for a want */
	int *kept;       /* nodes with windows */
	size_t kept_count;
	int kinds[CELLS_KINDS];
	size_t kind_count;
	struct want wants[CELLS_WANTS];
	size_t want_count;
};

struct cells_take { /* tasks of one role on one node */
	int node, count;
	size_t role;
	int8_t kinds
		[DEVICE_KINDS_MAX]; /* what each task took its devices of; -1: no matter */
};

struct cells_takes {
	struct cells_take *items;
	size_t count, cap;
};

struct cells *cells_create(const struct plan *p, int64_t now_ms); /* as it is now */
struct cells *cells_copy(const struct cells *from);
void cells_destroy(struct cells *c);
/* Its number here; -1: no place for one more.  Before anything is taken. */
int cells_want(struct cells *c, const struct entry *e);
/* It is that time: nodes are kept for others then, and no more for some. */
void cells_at(struct cells *c, int64_t ms);
/* Each role alone would fit: enough when there is but one. */
bool cells_enough(const struct cells *c, int want);
/* Takes what is asked for; false: it does not fit, and nothing is taken. */
bool cells_take(struct cells *c, int want, struct cells_takes *out);
/* One that runs gives back all it has, or (-1) has it again. */
void cells_end(struct cells *c, const struct entry *e, int sign);
/* The same of what was taken here. */
void cells_move(struct cells *c, const struct shape *s, const struct cells_takes *takes,
		int sign);
