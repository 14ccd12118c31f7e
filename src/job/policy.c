// SPDX-License-Identifier: Apache-2.0
#include "job/policy.h"

#define HOUR_MS INT64_C(3600000)

const char *const placement_rule_names[PLACE_RULE_COUNT] = {
	[PLACE_YARD] = "yard",
	[PLACE_FGD] = "fgd",
	[PLACE_BEST_FIT] = "bestfit",
	[PLACE_DOT_PRODUCT] = "dotprod",
	[PLACE_CLUSTERING] = "clustering",
	[PLACE_PACKING] = "packing",
	[PLACE_RANDOM] = "random",
};

const struct plan_policy plan_policy_default = {
	.fair = true,
	.age_bound_ms = 24 * HOUR_MS,
	.half_life_ms = 24 * HOUR_MS,
	.backfill = true,
	.preempt = true,
	.min_run_ms = 60000,
	.rule = PLACE_YARD,
	.weights = PLACEMENT_WEIGHTS,
};
