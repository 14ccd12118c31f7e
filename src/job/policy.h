// SPDX-License-Identifier: Apache-2.0
/* policy.h - what an administrator decides: the order of the queue, the tree of tenants.
 *
 * Order: who has waited past the age bound; then who is within a guarantee; then
 * priority; then, among the groups at each level of the tree, the smallest share (of the
 * resource of which it holds most, with past use that fades, by weight) when `fair`; then
 * inside a group: submit order, or the shortest first where the group asks for that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum placement_rule {
	PLACE_YARD, /* ours: see docs/scheduler.md */
	PLACE_FGD,
	PLACE_BEST_FIT,
	PLACE_DOT_PRODUCT,
	PLACE_CLUSTERING,
	PLACE_PACKING,
	PLACE_RANDOM, /* by a seed */
	PLACE_RULE_COUNT
};

extern const char *const placement_rule_names[PLACE_RULE_COUNT];

/* Of PLACE_YARD, in 1/1000: what each term counts, see fleet/rate.h. */
struct placement_weights {
	int64_t fragment, balance, gap, scarcity, slack;
};

/* Found on the openb traces, one set for all workloads: docs/scheduler.md. */
#define PLACEMENT_WEIGHTS                                                                \
	{                                                                                \
		.fragment = 1000, .balance = 4000, .gap = 10000, .scarcity = 4000,       \
		.slack = 6                                                               \
	}

struct plan_policy {
	bool fair; /* shares of groups count; else priority and submit order only */
	int64_t age_bound_ms; /* after so long one goes before everybody; 0: never */
	int64_t half_life_ms; /* of past use, whole hours; 0: only what is held now counts */
	bool backfill;        /* false: nobody passes the head */
	bool believe_guesses; /* learned run times end jobs that have no limit */
	bool preempt;         /* preemptible jobs give way; reclaiming guarantees too */
	int64_t min_run_ms;   /* nobody is preempted before it ran so long */
	enum placement_rule rule;
	struct placement_weights weights;
	uint64_t seed; /* of PLACE_RANDOM */
};

extern const struct plan_policy plan_policy_default;
