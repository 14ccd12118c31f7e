// SPDX-License-Identifier: Apache-2.0
/* step.h - what a step asks of one that fits: may it start now?  The same answer for those
 * who decide (step.c) and for those who explain (reason.c). */
#pragma once

#include "plan/backfill.h"

enum hold {
	HOLD_NONE,    /* it may, by these picks */
	HOLD_HEAD,    /* it would delay a head, or take of its quota */
	HOLD_PROMISE, /* there is room only where places are promised to others */
	HOLD_WINDOW,  /* or on nodes that are kept for others at some time of its run */
};

/* How long it would stay where it starts now. */
struct stay step_stay(const struct entry *e, int64_t now_ms);
/* `picks` are those with which it fits into all that is open; they may become others.
 * stopper: the head for whose sake not all that is free is its; NULL: none. */
enum hold step_hold(struct plan *p, const struct entry *e, int64_t now_ms,
		    struct picks *picks, const struct reservation **stopper);
