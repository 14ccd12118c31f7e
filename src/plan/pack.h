// SPDX-License-Identifier: Apache-2.0
/* pack.h - where the places are that rules promise: see promise.h.
 *
 * The same for everybody who looks: first those in use, then the free ones of all groups,
 * the largest first, each on the node with the fewest devices and then the least cpu that
 * will do.
 */
#pragma once

#include "plan/queue.h"

/* Somebody who is about to start, and where. */
struct newcomer {
	const struct entry *e;
	const struct picks *picks;
};

struct pack_for {
	struct tenant *mine; /* whose jobs look: what is in use of its own is theirs */
	size_t shape;        /* so many of that shape of its own, which are free, too */
	int but;
	const struct newcomer *new; /* NULL: nobody */
};

/* Takes the places out of a view, which is what is obtainable.  Gives how many there are. */
int pack(struct plan *p, const struct pack_for *f, struct view *v);
