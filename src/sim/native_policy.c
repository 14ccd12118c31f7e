// SPDX-License-Identifier: Apache-2.0
/* The policies that the native rules know by name; others come from files. */
#include "base/str.h"
#include "sim/native.h"

#define HOUR_MS INT64_C(3600000)

/* clang-format off */
enum policy { YARD, YARD_PREEMPT, FIFO, EASY, SJF, SRSF, LAS, FAIR, POLICY_COUNT };

const struct sim_choice native_choices[POLICY_COUNT + 1] = {
	[YARD]         = { "yard", "ours: the least work by guess first, nobody past a day" },
	[YARD_PREEMPT] = { "yard-preempt", "ours, and who ran long gives way to short ones" },
	[FIFO]         = { "fifo", "in order, nobody passes the first" },
	[EASY]         = { "easy", "in order, who does not delay the first may pass" },
	[SJF]          = { "sjf", "the shortest first (knows durations), nobody passes" },
	[SRSF]         = { "srsf", "the least work left first, longer ones give way" },
	[LAS]          = { "las", "the least served first, those served most give way" },
	[FAIR]         = { "fair", "the group with the smallest share first" },
};

#define FAIR_SHORT .fair = true, .backfill = true, .believe_guesses = true
#define PLACED(r)  .rule = (r), .weights = PLACEMENT_WEIGHTS

static const struct native_policy policies[POLICY_COUNT] = {
	[YARD] = {
		.order = TENANT_SHORT, .one_queue = true,
		.plan = { FAIR_SHORT, .age_bound_ms = 24 * HOUR_MS, PLACED(PLACE_YARD) },
	},
	[YARD_PREEMPT] = {
		.order = TENANT_SHORT, .one_queue = true, .all_preemptible = true,
		.plan = { FAIR_SHORT, .age_bound_ms = 7 * 24 * HOUR_MS, .preempt = true,
			  .min_run_ms = 300000, PLACED(PLACE_YARD) },
	},
	[FIFO] = { .plan = { PLACED(PLACE_BEST_FIT) } },
	[EASY] = { .plan = { .backfill = true, PLACED(PLACE_BEST_FIT) } },
	[SJF] = { .by_duration = true, .plan = { PLACED(PLACE_BEST_FIT) } },
	[SRSF] = {
		.order = TENANT_SHORT, .one_queue = true, .all_preemptible = true,
		.plan = { FAIR_SHORT, .preempt = true, PLACED(PLACE_BEST_FIT) },
	},
	[LAS] = {
		.order = TENANT_SERVED, .one_queue = true, .all_preemptible = true,
		.plan = { .fair = true, .backfill = true, .preempt = true, .min_run_ms = 60000,
			  PLACED(PLACE_BEST_FIT) },
	},
	[FAIR] = {
		.plan = { .fair = true, .backfill = true, .age_bound_ms = 24 * HOUR_MS,
			  .half_life_ms = 24 * HOUR_MS, PLACED(PLACE_YARD) },
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
