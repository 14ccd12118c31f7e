// SPDX-License-Identifier: Apache-2.0
/* score.h - how good a place is: fragments, balance, gaps, scarcity, slack (what these
 * are: rate.h); and the published rules to compare with.  Whole numbers only.
 *
 * Scores choose the node and the device of a single task that asks for at most one kind
 * of device; gangs go where they cross least (fit.c).  The rule of the yard needs to know
 * what is typical: before it does, or when nothing it knows makes a difference, the
 * tightest node is taken.
 */
#pragma once

#include "fleet/ask.h"
#include "job/policy.h"

struct fleet;
/* The rule for all that is placed from now on. */
void fleet_set_rule(struct fleet *f, enum placement_rule rule,
		    const struct placement_weights *w, uint64_t seed);
/* Typical asks: what is likely to come.  Each submission is noted; or all at once before
 * the first (the published rules know the whole workload): then nothing more is noted. */
void fleet_note_ask(struct fleet *f, const struct ask *a);
void fleet_set_typical(struct fleet *f, const struct ask *const *asks,
		       const int64_t *counts, size_t count);
/* Share of the idle devices that no typical ask can use, in 1/10,000. */
int64_t fleet_fragmentation(const struct fleet *f);

enum score_term {
	SCORE_FRAGMENT,
	SCORE_BALANCE,
	SCORE_GAP,
	SCORE_SCARCITY,
	SCORE_SLACK,
	SCORE_TERMS
};

extern const char *const score_term_names[SCORE_TERMS];

struct score {
	int64_t total;
	int64_t terms[SCORE_TERMS]; /* before weights, in 1/1,000,000 of a device; only of
				     * the rule of the yard (FGD: the fragments) */
	int device; /* for a share: pool × DEVICES_MAX + number; else -1 */
};

/* What the one task of an ask would score on a node now.  False: it has no room there, or
 * scores do not decide where it goes. */
bool fleet_score(struct fleet *f, const struct ask *a, int node, struct score *out);
