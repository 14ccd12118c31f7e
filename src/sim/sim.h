// SPDX-License-Identifier: Apache-2.0
/* sim.h - the simulator: a trace, a cluster and a policy in; what came of it out.
 *
 * Two tables hold the room together: readers (what a file of jobs looks like) and rule
 * sets (what counts as a run).  A rule set calls nothing outside, knows no clock but its
 * own, and the same setup gives the same result.  Files are read and written by who calls.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/policy.h"
#include "job/tenant.h"
#include "sim/cluster.h"
#include "sim/result.h"
#include "sim/trace.h"

enum sim_durations {
	SIM_LEARNED, /* limits as the trace has them; guesses from jobs that ended before */
	SIM_KNOWN,   /* the limit of every job is exactly how long it runs */
	SIM_UNKNOWN, /* neither limits nor guesses */
	SIM_DURATIONS_COUNT
};

extern const char *const sim_duration_names[SIM_DURATIONS_COUNT];

struct sim_tenant {
	char *name;
	struct tenant_rule rule;
};

struct sim_quota {
	char *name;
	bool group; /* else a user's */
	struct quota quota;
};

/* A policy that is not in a table: from a file, or what a yard is set to. */
struct sim_policy {
	struct plan_policy plan;
	enum tenant_order order; /* of groups that have no rule of their own */
	bool all_preemptible;    /* every job may be told to give way */
	bool one_queue; /* all jobs are of one group, however many the trace has */
	struct sim_tenant *tenants;
	size_t tenant_count;
	struct sim_quota *quotas;
	size_t quota_count;
};

struct sim_setup {
	const struct sim_trace *trace;
	const struct sim_cluster *cluster;
	const char *policy;              /* of the rule set's table */
	const struct sim_policy *custom; /* instead of one; only rule sets that say so */
	uint64_t seed;
	enum sim_durations durations;
	int64_t restart_cost_ms;   /* a preempted job does that much again */
	int64_t (*clock_ns)(void); /* to time decisions with; NULL: they are not timed */
};

struct sim_choice {
	const char *name, *about;
};

struct sim_rules {
	const char *name, *about;
	const struct sim_choice *policies; /* ends with a NULL name; the first is ours */
	const char *cluster;               /* "8x8": when none is given; NULL: must be */
	const char *reader;         /* takes only that reader's traces; NULL: any */
	const char *const *columns; /* figures that a comparison shows; NULL-ended */
	const char *headline; /* the one for several traces; NULL: the first of them */
	bool custom, seeded;  /* takes policy files; runs differ by seed */
	int (*run)(const struct sim_setup *s, struct sim_result *out, struct err *err);
};

extern const struct sim_rules *const sim_rule_sets[]; /* end with NULL */

const struct sim_rules *sim_rules_find(const char *name, struct err *err);
