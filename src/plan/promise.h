// SPDX-License-Identifier: Apache-2.0
/* promise.h - guarantees as shapes: "two whole 8-device nodes" (after HiveD's cells).
 *
 * A rule promises its part of the tree so many places, each of so many devices of one type
 * on one node.  A place is kept when it is in use, free, or obtainable:
 *   in use      jobs of that part run on a node that can still make the place whole; what
 *               they leave of it stays theirs
 *   free        looked for anew whenever something changes, the largest places first, each
 *               where it leaves the fewest devices behind; with its part of the node's cpu
 *               and memory
 *   obtainable  the same, but preemptible jobs are there, and the policy preempts
 *
 * Law: no start makes fewer places kept.  So who asks for a place that it was promised and
 * does not use yet gets it at once, or when those are gone who give way; provided that all
 * were kept once (rules that can be kept: rules.h; what ran before has ended) and no node
 * left since.  Preemptible jobs may start anywhere when the policy preempts.  (Where one rule
 * has shapes of several sizes, and its own jobs lie across them, an end may, rarely, make
 * one place fewer be found: which place a job is in is worked out anew each time.)
 */
#pragma once

#include "plan/queue.h"

/* Into `v`, which is at most what is free now, as far as promises let it. */
bool promise_fit(struct plan *p, const struct entry *e, const struct view *v,
		 const struct stay *stay, struct picks *picks);
bool promise_binds(const struct plan *p,
		   const struct entry *e); /* else: v alone counts */
/* Takes out of a view what is promised to others than e. */
void promise_keep(struct plan *p, const struct entry *e, struct view *v);
void promise_forget(struct tenant *t); /* its rule changes, or it goes */
