// SPDX-License-Identifier: Apache-2.0
/* depot_sim.h - a depot without disks, for simulations. */
#pragma once

#include "depot/depot.h"

struct depot *depot_sim_create(struct world *w, int fail_percent);
/* Its story of checkpoints, for the checks: whether a job's grow for ever, and which one an
 * attempt goes on from ("": none). */
bool depot_sim_grows(int64_t job);
void depot_sim_resume(int64_t job, int attempt, char out[32]);
