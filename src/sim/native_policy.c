// SPDX-License-Identifier: Apache-2.0
/* The policies that the native rules know by name; others come from files. */
#include "base/str.h"
#include "sim/native.h"

#define HOUR_MS INT64_C(3600000)

/* clang-format off */
enum policy { YARD, YARD_PREEMPT, FIFO, EASY, SJF, SRSF, LAS, FAIR, POLICY_COUNT };

const struct sim_choice native_choices[POLICY_COUNT + 1] = {
	[YARD]         = { "yard", "ours: the shortest by guess first, with an age bound" },
	[YARD_PREEMPT] = { "yard-preempt", "ours, and long ones give way to short ones" },
	[FIFO]         = { "fifo", "in order, nobody passes the first" },
	[EASY]         = { "easy", "in order, who does not delay the first may pass" },
	[SJF]          = { "sjf", "the shortest first (knows durations), nobody passes" },
	[SRSF]         = { "srsf", "the least work left first, longer ones give way" },
	[LAS]          = { "las", "the least served first, those served most give way" },
	[FAIR]         = { "fair", "the group with the smallest share first" },
};

static const struct native_policy policies[POLICY_COUNT] = {
	[YARD] = {
		.order = TENANT_SHORT,
		.plan = { .age_bound_ms = 24 * HOUR_MS, .backfill = true,
			  .believe_guesses = true, .rule = PLACE_YARD, .weights = PLACEMENT_WEIGHTS },
	},
	[YARD_PREEMPT] = {
		.order = TENANT_SERVED, .all_preemptible = true,
		.plan = { .age_bound_ms = 24 * HOUR_MS, .backfill = true,
			  .believe_guesses = true, .preempt = true, .min_run_ms = 60000,
			  .rule = PLACE_YARD, .weights = PLACEMENT_WEIGHTS },
	},
	[FIFO] = { .plan = { .rule = PLACE_BEST_FIT, .weights = PLACEMENT_WEIGHTS } },
	[EASY] = {
		.plan = { .backfill = true, .rule = PLACE_BEST_FIT, .weights = PLACEMENT_WEIGHTS },
	},
	[SJF] = {
		.by_duration = true,
		.plan = { .rule = PLACE_BEST_FIT, .weights = PLACEMENT_WEIGHTS },
	},
	[SRSF] = {
		.order = TENANT_SHORT, .all_preemptible = true,
		.plan = { .backfill = true, .preempt = true, .rule = PLACE_BEST_FIT,
			  .weights = PLACEMENT_WEIGHTS },
	},
	[LAS] = {
		.order = TENANT_SERVED, .all_preemptible = true,
		.plan = { .backfill = true, .preempt = true, .rule = PLACE_BEST_FIT,
			  .weights = PLACEMENT_WEIGHTS },
	},
	[FAIR] = {
		.plan = { .fair = true, .age_bound_ms = 24 * HOUR_MS,
			  .half_life_ms = 24 * HOUR_MS, .backfill = true,
			  .rule = PLACE_YARD, .weights = PLACEMENT_WEIGHTS },
	},
};
/* clang-format on */

const struct native_policy *native_policy_find(const char *name)
{
	for (size_t i = 0; i < POLICY_COUNT; i++)
		if (str_eq(native_choices[i].name, name))
			return &policies[i];
	return NULL;
}
