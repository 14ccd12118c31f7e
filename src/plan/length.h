// SPDX-License-Identifier: Apache-2.0
/* length.h - long ones give way to short ones, inside a group that orders by length.
 *
 * Both must be preemptible, of one group and one priority.  Where the group's order is
 * `short`, one that has run twice as long as another is expected to take gives way to it;
 * where it is `served`, one that has run twice as long as the other has (and has run for
 * the policy's least time at least).  Nothing need be known of how long the one that runs
 * will go on: who has run long will probably run long.  By the factor of two nobody gives
 * way to one that would soon give way to it.
 */
#pragma once

#include "plan/queue.h"

/* Of two that wait their expectations count.  when_ms: if not now, when that would be so if
 * nothing else happened; INT64_MAX: never. */
bool length_outranks(const struct entry *a, const struct entry *b, int64_t now_ms,
		     int64_t *when_ms);
