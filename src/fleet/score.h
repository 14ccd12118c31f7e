// SPDX-License-Identifier: Apache-2.0
/* score.h - how good a place is: fragmentation, slack, scarcity; and the published rules
 * to compare with.  Whole numbers only. */
#pragma once

#include "fleet/ask.h"
#include "job/policy.h"

struct fleet;
/* The rule for all that is placed from now on. */
void fleet_set_rule(struct fleet *f, enum placement_rule rule,
		    const struct placement_weights *w, uint64_t seed);
/* Typical asks: what is likely to come.  Each submission is noted; or all at once before
 * the first (the published rules know the whole workload). */
void fleet_note_ask(struct fleet *f, const struct ask *a);
void fleet_set_typical(struct fleet *f, const struct ask *const *asks,
		       const int64_t *counts, size_t count);
/* Share of the idle devices that no typical ask can use, in 1/10,000. */
int64_t fleet_fragmentation(const struct fleet *f);
