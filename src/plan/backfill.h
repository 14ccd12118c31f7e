// SPDX-License-Identifier: Apache-2.0
/* backfill.h - when can the heads start, and who does not make that later.
 *
 * Each head (order.h), in order, gets a reservation: the earliest time at which it fits
 * when running jobs end as believed and the heads before it run in their places at their
 * times, for as long as they are believed to.  One who is behind some heads may start if
 * it ends before their time, or takes what is free both now and then beside them; and if
 * they stay within their quotas.
 *
 * Law: at each start no head that is ahead of it gets a later time; and the first head of
 * all, which stays the first until it starts, never gets a later one by whatever is behind
 * it (of gangs with several roles: as far as packing is exact).  A reservation is worked
 * out anew whenever something changed: of heads behind the first the places may then be
 * others, and with them the time.
 */
#pragma once

#include "plan/order.h"

#define FOREVER INT64_MAX

/* When a head can start at the latest, and what is free beside it. */
struct reservation {
	const struct entry *head; /* NULL: not worked out yet */
	int64_t at_ms;            /* FOREVER: hangs on jobs without a limit */
	bool any;                 /* spare is known */
	bool alone;   /* there is no room beside heads before it: as if they were not */
	int64_t last; /* the job whose end makes room, 0: none known */
	struct view *after; /* free then, this head and those before it in place */
	struct view *spare; /* free now and then */
	struct picks picks;
};

struct heads {
	bool known; /* for these versions: */
	uint64_t version, turns;
	size_t count, reserved;
	struct entry *items[HEADS_MAX];
	struct reservation r[HEADS_MAX];
	struct view *spare;            /* beside the heads of `spare_set` */
	unsigned spare_set, asked_set; /* asked_set: of the last backfill_room() */
	uint64_t epoch;                /* moves with the reservations */
};

/* The heads as they are now. */
const struct heads *backfill_heads(struct plan *p);
void backfill_forget(struct plan *p); /* somebody does not fit that was not among them */
void heads_fini(struct plan *p);
/* So many of the heads are ahead of it. */
size_t backfill_ahead(struct plan *p, const struct entry *e);
/* May e start beside the first so many heads, quotas and time considered?  Gives the view
 * in which it has to fit; NULL: it may not.  stopper: the head in its way, or for whose
 * sake that view is not all that is free. */
const struct view *backfill_room(struct plan *p, const struct entry *e, size_t ahead,
				 int64_t now_ms, const struct reservation **stopper);
bool backfill_quota_ok(const struct entry *e, const struct entry *head);
