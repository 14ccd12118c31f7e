// SPDX-License-Identifier: Apache-2.0
/* simulate_history.h - a yard's own past as a trace, with the nodes and the policy it has. */
#pragma once

#include "cli/simulate.h"

struct past {
	struct sim_trace trace;
	double *waited_s; /* by the jobs' rows: what they really waited */
	struct past_gang **gangs;
	size_t gang_count, gang_cap, waited_cap;
	struct sim_cluster nodes;
	struct sim_policy *policy;
	bool policy_known; /* false: who asks may not see the settings */
};

/* Jobs that were submitted since then and began: those that never did took nothing. */
int past_read(struct cli *c, int64_t since_ms, struct past *out, struct err *err);
void past_fini(struct past *p);
