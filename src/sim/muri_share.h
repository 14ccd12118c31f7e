// SPDX-License-Identifier: Apache-2.0
/* muri_share.h - jobs that share their GPUs. */
#pragma once

#include "sim/muri_replay.h"

/* Seconds that each job of the group then takes for an iteration; count 1 to
 * MURI_GROUP_MAX.  Infinite when the trace does not tell the phases. */
double muri_pace(const struct muri_job *const *group, int count);
