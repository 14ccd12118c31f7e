// SPDX-License-Identifier: Apache-2.0
/* why.h - why a job waits, behind whom, until when, and what would start now instead. */
#pragma once

#include "job/principal.h"
#include "plan/learn.h"
#include "plan/why.h"
#include "yard/yard.h"

#define YARD_AHEAD_MAX 5

/* Of jobs that one may not see there is no number in it. */
struct yard_reason {
	enum plan_reason_kind kind; /* PLAN_REASON_NONE: it does not wait in the queue */
	struct buf cause;           /* a sentence without its stop */
	int position;
	size_t waiting;               /* all in the queue */
	size_t ahead;                 /* that take room before it, */
	int64_t jobs[YARD_AHEAD_MAX]; /* the first of them that may be seen */
	size_t job_count;
	struct plan_when when;
	int64_t freed; /* whose end alone would make room; 0: nobody's */
	struct plan_offer offers[PLAN_OFFERS_MAX];
	size_t offer_count;
};

/* who NULL: one who sees all. */
void yard_reason(struct yard *y, const struct job *j, const struct principal *who,
		 struct yard_reason *out);
/* Of one in the queue: its cause alone, which costs a small part of all the rest.  Of
 * others what yard_why says. */
void yard_cause(struct yard *y, const struct job *j, const struct principal *who,
		struct buf *words);
/* As yard_reason, of what was not submitted, as if it joined the queue now; -1: it would
 * be refused, and why. */
int yard_try(struct yard *y, const struct principal *who, const struct spec *spec,
	     struct yard_reason *out, struct err *err);
void yard_reason_fini(struct yard_reason *r);

/* How good the estimates were, since this daemon began. */
void yard_score(const struct yard *y, struct learn_score *out);
