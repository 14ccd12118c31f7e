// SPDX-License-Identifier: Apache-2.0
/* reason.h - why a job waits, found out anew each time and leaving no trace. */
#pragma once

#include "plan/model.h"
#include "plan/why.h"

/* PLAN_REASON_NEW: nothing is in its way, the next step starts it. */
enum plan_reason_kind reason_kind(const struct plan *p, const struct entry *e,
				  int64_t now_ms);
/* It waits and takes room before others: no quota stops it, and it can start some day. */
bool reason_in_way(const struct plan *p, const struct entry *e);
