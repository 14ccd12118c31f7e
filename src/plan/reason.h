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
/* "job 7", or "somebody's job" to one who may not know of it. */
void reason_say_job(const struct plan *p, int64_t job, struct buf *out);
/* cause.c: what is short for one that does not fit. */
void cause_capacity(const struct plan *p, const struct view *v, const struct entry *e,
		    struct buf *out);
/* "node-a is kept for maintenance for another 9m": a window in its way on a node that has
 * room for a task of a role; false: there is none. */
bool cause_window(const struct plan *p, const struct view *v, const struct entry *e,
		  size_t role, struct buf *out);
/* It would fit if its tasks might be farther from each other. */
bool cause_near(const struct plan *p, const struct view *v, const struct ask *a);
