// SPDX-License-Identifier: Apache-2.0
/* shown.h - answers that are kept, because nothing can have changed since.
 *
 * Jobs: what has ended never changes and looks the same to whoever may see it; so it need not be
 * folded from its events each time.  The only thing that can still happen to it is to be
 * deleted: `epoch` is yard_deletions(), and when that moves on everything is forgotten.
 * Bounded by bytes: what was not asked for the longest time goes first.
 *
 * Lists: the same question of one who sees the same has the same answer until the store is
 * written to: there `epoch` is yard_commits().  Many who look at a quiet yard, again and
 * again, cost little.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "job/job.h"

struct shown;

struct shown_job {
	int64_t id;
	char *owner, *group;
	struct buf json;
	struct shown_job *newer, *older;
};

struct shown *shown_create(size_t bytes_max); /* of jobs; and as many of lists */
void shown_destroy(struct shown *s);          /* NULL is fine */
/* Borrowed until the next call; NULL: not here. */
const struct shown_job *shown_get(struct shown *s, uint64_t epoch, int64_t id);
/* An ended job that is no longer live.  One that is too large by itself is not kept. */
void shown_put(struct shown *s, uint64_t epoch, const struct job *j,
	       const struct buf *json);
size_t shown_count(const struct shown *s);

/* key: everything the answer depends on, beside what is stored. */
const struct buf *shown_list(struct shown *s, uint64_t epoch, const char *key);
void shown_put_list(struct shown *s, uint64_t epoch, const char *key,
		    const struct buf *json);
