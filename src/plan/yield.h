// SPDX-License-Identifier: Apache-2.0
/* yield.h - who may be asked to give way to whom, and in which order.
 *
 * Standing: first whether one is within a guarantee (one that waits: with what it asks for;
 * one that runs: with all that its group holds), then whether one is not preemptible, then
 * among preemptible ones the priority.
 *   - Who is within a guarantee may ask everybody who is not, preemptible or not: what was
 *     borrowed is taken back.
 *   - Else one may ask those of equal standing there who are preemptible, when it is not, or
 *     has the higher priority, or is shorter where the group goes by that (length.h).
 * Nobody gives way to one who would have to give way to it: this is a strict order.
 */
#pragma once

#include "plan/queue.h"

struct candidate {
	struct entry *e;
	bool borrows; /* and what it holds is asked for by one within a guarantee */
	int64_t lost; /* devices × time since what was kept */
};

struct candidates { /* the least loss first */
	struct candidate *items;
	size_t count, cap;
};

/* May e, which waits behind `ahead`, ask others before that one does? */
bool yield_passes(const struct entry *e, const struct entry *ahead);
/* When it has run long enough to be asked. */
int64_t yield_ripe_ms(const struct plan *p, const struct entry *e);

/* Where to look, up to a bound: those who run and were not told.  With guarantees everybody
 * may have to go, else those who said that they would. */
struct yields {
	struct tree_node *next;
	bool all;
	int left;
};
struct entry *yield_first(const struct plan *p, struct yields *y); /* NULL: nobody */
struct entry *yield_next(struct yields *y);
/* until_ms becomes less when there will be somebody sooner, though nothing else happens. */
void yield_collect(struct plan *p, const struct entry *by, struct candidates *out,
		   int64_t *until_ms);
