// SPDX-License-Identifier: Apache-2.0
/* lessen.h - a process gives up rights before it reads what strangers wrote.  Of what is
 * given up nothing comes back. */
#pragma once

#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"

/* Both limits, never raised: a machine may forbid even root that. */
void lessen_limit(int what, rlim_t value);
/* Memory that may be mapped.  Not under sanitizers, which reserve terabytes of addresses. */
void lessen_memory(rlim_t bytes);
/* Becomes that uid and gid, without groups. */
int lessen_to_uid(int64_t uid, struct err *err);
