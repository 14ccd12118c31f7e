// SPDX-License-Identifier: Apache-2.0
/* why.h - why a job waits, when it will probably start, and what would start now. */
#pragma once

#include "plan/learn.h"
#include "plan/plan.h"

enum plan_reason_kind {
	PLAN_REASON_NONE,     /* not waiting */
	PLAN_REASON_NEW,      /* no pass has looked at it yet */
	PLAN_REASON_CAPACITY, /* not enough free of something */
	PLAN_REASON_ORDER,    /* would fit, but would delay the head of a queue */
	PLAN_REASON_USER_QUOTA,
	PLAN_REASON_GROUP_QUOTA, /* or a borrowing limit, or what others are guaranteed */
	PLAN_REASON_NEVER,       /* no node could ever hold it (a node left) */
	PLAN_REASON_PREEMPTING,  /* others give way to it and are not gone yet */
};

struct plan_eyes { /* of which jobs one may know; NULL: of all.  Of others no number is told */
	bool (*see)(void *arg, int64_t job);
	void *arg;
};

/* Why a job waits, in plain words without a final stop, and where it is in the queue:
 * "waits for 2 gpu on one node; the largest free block is 1 of 4, on node-a; job 12
 * is ahead; number 3 of 9 in the queue".  True at the moment of asking. */
enum plan_reason_kind plan_why(const struct plan *p, int64_t job,
			       const struct plan_eyes *eyes, struct buf *words);

const char *plan_reason_word(enum plan_reason_kind kind); /* "capacity" */
/* The same without where it is in the queue and who is ahead. */
enum plan_reason_kind plan_cause(const struct plan *p, int64_t job,
				 const struct plan_eyes *eyes, struct buf *words);

/* When it will probably start, from limits and learned run times of those who run and
 * are ahead.  `sure` is in percent: how often that should hold (see learn_sure). */
#define PLAN_AFTER_MAX 2
struct plan_when {
	int64_t soonest_ms, likely_ms, latest_ms; /* INT64_MAX: no telling */
	int sure;
	bool guessed;       /* hangs on learned run times, not on limits alone */
	struct plan_after { /* who runs now and probably makes the room, the last first */
		int64_t job, end_ms;
	} after[PLAN_AFTER_MAX];
	size_t after_count;
};
/* Of jobs that had no guess when they were told of, one may be known by now. */
struct plan_hints {
	void (*guess)(void *arg, int64_t job, struct guess *out);
	void *arg;
};
void plan_estimate(const struct plan *p, int64_t job, int64_t now_ms,
		   const struct plan_hints *hints, struct plan_when *out); /* or NULL */

/* Who is ahead of it and takes room before it: gives how many (they are counted up to a
 * few thousand), and the first `max` of them. */
size_t plan_ahead(const struct plan *p, int64_t job, int64_t *out, size_t max);
/* One that runs, and whose end alone would make room for it; 0: nobody's, or of many. */
int64_t plan_freed(const struct plan *p, int64_t job);

/* Smaller requests that would start at once in place of this one, the one that gives up
 * least first: each was tried on the plan as it is, without the job itself if it waits.
 * Leaves the plan as it was.  Gives how many, at most `max`. */
struct plan_offer {
	struct plan_job job;     /* its texts are those of the job that was asked for */
	struct gang_role *roles; /* job's */
	char *text;              /* "with 4 gpu instead of 8" */
	char *flags;             /* for `yard run`: "--gpu 4"; "": it has none for that */
};
#define PLAN_OFFERS_MAX 3
size_t plan_offers(struct plan *p, const struct plan_job *job, int64_t now_ms,
		   struct plan_offer out[PLAN_OFFERS_MAX]);
void plan_offers_free(struct plan_offer *offers, size_t count);

/* A job that was not submitted joins the queue, is looked at, and is gone again: nothing
 * of it is left.  look() may ask anything about that number, and change nothing. */
void plan_try(struct plan *p, const struct plan_job *job,
	      void (*look)(void *arg, struct plan *p, int64_t id), void *arg);

/* 0, or ERR_QUOTA/ERR_INVALID in words with the nearest that fits: nothing could ever run it. */
int plan_possible(const struct plan *p, const struct plan_job *job, struct err *err);

/* What decides whose turn it is among siblings, the smallest first: a group's share with
 * all below it and with past use, by weight, in thousandths of all there is. */
int64_t plan_turn(const struct plan *p, const char *group); /* 0: not known, or nothing */
