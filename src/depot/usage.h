// SPDX-License-Identifier: Apache-2.0
/* usage.h - how much each home holds, so that uploads beyond a quota are refused.
 *
 * Counted once, then kept up to date by what goes through the storage's own interface;
 * tasks write too, so it is counted again in the background now and then.  From any
 * thread; usage_take() and usage_count() may walk the home: off the loop.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "depot/tree.h"
#include "depot/volume.h"

struct usage;

struct usage *
usage_create(int64_t quota_bytes);   /* of one home; 0: none, counts nothing */
void usage_destroy(struct usage *u); /* NULL is fine */
/* Of this place's area; 0: none. */
int64_t usage_quota(const struct usage *u, const struct volume_place *p);
/* So many bytes more are about to come: ERR_QUOTA when they would be too many. */
int usage_take(struct usage *u, const struct volume_place *p, int64_t bytes,
	       struct err *err);
/* What was taken is over; so much more (or less) is there now. */
void usage_settle(struct usage *u, const struct volume_place *p, int64_t taken,
		  int64_t more);
/* Whether it was counted longer ago than it should be; then once true, until counted. */
bool usage_stale(struct usage *u, const struct volume_place *p, int64_t now_ms);
int usage_count(struct usage *u, const struct volume_place *p, int64_t now_ms,
		struct err *err);
