// SPDX-License-Identifier: Apache-2.0
/* preempt.h - who gives way to whom.
 *
 * yield.h says who may be asked by whom: only running jobs, and only when they ran for the
 * policy's least time.
 *
 * A claim is what a preemptor has from the moment others are told to give way until it
 * starts: a place (picks) that nobody else may take, and the victims that are not gone yet.
 * A claimant stands in no bucket, is charged to its owners and comes before everybody.
 * Law: on every node and of everything, what is free now less what each claim needs there
 * beyond its own victims is not below zero; others take from that only.  So a claimant can
 * start as soon as its own victims are gone, whatever others do.
 */
#pragma once

#include "plan/queue.h"

struct claim {
	int64_t by;
	struct entry *entry; /* the claimant; NULL: it does not wait here (yet) */
	bool rebuilt; /* it looks for its claimant in the next step, and never after */
	struct tree victims; /* told and not gone */
	struct picks picks;
	struct tree_node at; /* in preemption.claims, by its number */
};

struct preemption {
	struct tree claims;
	size_t claimants;      /* claims with an entry */
	struct tree may_yield; /* runs, preemptible, not told: by (priority, -id) */
	struct view *open, *tried, *spare; /* what claims leave to others; memory */
	uint64_t open_version; /* of the plan, for which `open` was worked out */
	uint64_t seen_version; /* at which a search found nobody, */
	int64_t seen_until_ms; /* and would not before then */
	bool fresh;            /* somebody new did not fit since */
};

/* claim.c: what happened to e, or to one of that number. */
void preempt_runs(struct plan *p, struct entry *e);
void preempt_priority(struct plan *p, struct entry *e, int priority); /* runs or claims */
void preempt_told(struct plan *p, struct entry *e, int64_t by);       /* runs, was told */
void preempt_stops(struct plan *p, struct entry *e); /* it runs no more */
void preempt_drop(struct plan *p, int64_t by);       /* it wants nothing any more */
/* It was to run there once others gave way: a PLAN_PREEMPT's places. */
void preempt_pin(struct plan *p, const struct entry *e, const struct placement *places,
		 size_t count);
void preempt_create(struct plan *p);
void preempt_destroy(struct plan *p);

struct claim *claim_get(struct plan *p, int64_t by);
void claim_tell(struct claim *c, struct entry *victim);
void claim_take(struct plan *p, struct claim *c, struct entry *e); /* it claims now */
size_t preempt_count(const struct plan *p); /* claimants; their order is by number */
size_t preempt_rank(const struct plan *p, const struct claim *c);
/* Into v, as far as windows and promises to others let it. */
bool claim_fits(struct plan *p, const struct entry *e, const struct view *v,
		struct picks *picks);
/* To ask what the pools of groups have when those told are gone: -1, and 1 after it. */
void claims_discharge(struct plan *p, int sign);
const struct claim *preempt_nth(const struct plan *p, size_t rank);
/* What anybody but claimants may take now. */
const struct view *preempt_open(const struct plan *p);
/* As it is once all who were told are gone and the claimants have begun. */
void preempt_after(const struct plan *p, struct view **v);
/* At the beginning of a step: claims that were rebuilt find their jobs. */
void preempt_attach(struct plan *p);
/* A claimant whose victims are all gone: out of its claim and in the queue again, its place
 * in scratch->picks.  NULL: nobody is to be started so. */
struct entry *preempt_due(struct plan *p);

/* preempt.c: at the end of a step.  Those who do not fit, in order, claim what they may.
 * Gives how many were told: at most `most` (0: any number), and never a part of those who
 * have to go for one job. */
size_t preempt_step(struct plan *p, int64_t now_ms, size_t most,
		    void (*decide)(void *arg, const struct plan_decision *d), void *arg);
int64_t preempt_next_ms(const struct plan *p); /* somebody may be told then */
