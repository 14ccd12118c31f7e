// SPDX-License-Identifier: Apache-2.0
/* why.h - why a job waits, when it will probably start, and what would start now. */
#pragma once

#include "plan/plan.h"

struct plan_eyes { /* of which jobs one may know; NULL: of all.  Of others no number is told */
	bool (*see)(void *arg, int64_t job);
	void *arg;
};

/* Why a job waits, in plain words without a final stop, and where it is in the queue:
 * "waits for 2 gpu on one node; node-a has 1 of 4 gpu free, held by job 7 (3 gpu); job 12
 * is ahead; number 3 of 9 in the queue".  True at the moment of asking. */
enum plan_reason_kind plan_why(const struct plan *p, int64_t job,
			       const struct plan_eyes *eyes, struct buf *words);

/* When it will probably start, from limits and learned run times of those who run and
 * are ahead.  `sure` is in percent: how often such estimates held (see learn.h). */
struct plan_when {
	int64_t soonest_ms, likely_ms, latest_ms; /* INT64_MAX: no telling */
	int sure;
};
void plan_estimate(const struct plan *p, int64_t job, int64_t now_ms,
		   struct plan_when *out);

/* Who is ahead of it and in its way: at most `max` ids. */
size_t plan_ahead(const struct plan *p, int64_t job, int64_t *out, size_t max);

/* A smaller request that would start at once, in words: "with 4 gpu instead of 8".  Each
 * is tried on the plan as it is.  False: nothing smaller would. */
struct plan_offer {
	struct gang_role
		*roles; /* the caller frees; as asked, but for what was changed */
	size_t role_count;
	int64_t limit_ms; /* as asked, unless a shorter one is what lets it start */
	bool preemptible;
};
bool plan_offer(const struct plan *p, const struct plan_job *job, int64_t now_ms,
		struct plan_offer *out, struct buf *words);

/* The same for a job that was not submitted: as if it joined now. */
enum plan_reason_kind plan_try(struct plan *p, const struct plan_job *job, int64_t now_ms,
			       const struct plan_eyes *eyes, struct buf *words,
			       struct plan_when *when);

/* 0, or ERR_QUOTA/ERR_INVALID in words with the nearest that fits: nothing could ever run it. */
int plan_possible(const struct plan *p, const struct plan_job *job, struct err *err);
