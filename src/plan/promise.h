// SPDX-License-Identifier: Apache-2.0
/* promise.h - guarantees as shapes: "two whole 8-device nodes" (after HiveD's cells).
 *
 * A rule promises its part of the tree so many places, each of so many devices of one type
 * on one node.  A node where jobs of that part run counts for as many places as they touch
 * and the node can still make whole; the rest of such a place stays theirs.  The places
 * not touched yet are looked for anew whenever something changes, the largest first, each
 * where it leaves the fewest devices behind; with its part of the node's cpu and memory.
 *
 * Law: whoever is not of that part of the tree takes nothing of these places, unless it is
 * preemptible and the policy preempts: so every place that is promised and not in use is
 * free, or held by jobs that give way; it was so when the rule was set, or as soon as what
 * ran there then has ended, and stays so until nodes leave.
 */
#pragma once

#include "plan/queue.h"

/* What e may take of `v`, which is at most what is free now. */
const struct view *promise_open(struct plan *p, const struct entry *e,
				const struct view *v);
/* Takes out of a view what is promised to others than e. */
void promise_keep(struct plan *p, const struct entry *e, struct view *v);
void promise_forget(struct tenant *t); /* its rule changes, or it goes */
