// SPDX-License-Identifier: Apache-2.0
/* typical.h - what is usually asked for, told at once; for simulations of rules that know
 * the whole workload.  A yard learns it from PLAN_ASKED. */
#pragma once

#include "plan/plan.h"

/* How often each gang will be asked for.  PLAN_ASKED says nothing new from then on. */
void plan_set_typical(struct plan *p, const struct plan_job *jobs, const int64_t *counts,
		      size_t count);
/* Of the devices that are idle, the part that no typical request could use: 1/10,000. */
int64_t plan_fragmentation(const struct plan *p);
