// SPDX-License-Identifier: Apache-2.0
/* change.h - how callers are answered, and changes that are no job's. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/principal.h"

struct yard;

/* job: the id, 0 on failure.  again: the key was known, nothing new was made. */
typedef void (*yard_done)(void *arg, int64_t job, bool again, const struct err *err);

/* Changes that are no job's: documents, and a line of the audit log that tells of them
 * (EV_AUDIT: who, what was done, to what).  All of it is copied, and durable together; the
 * sinks have it when this returns, unless it is refused (the store is in trouble). */
struct yard_doc {
	const char *kind, *name, *body; /* body NULL: remove it */
};
struct yard_change {
	const struct yard_doc *docs;
	size_t count;
	const char *action, *object; /* "user.add", "alice" */
};
void yard_change(struct yard *y, const struct principal *who, const struct yard_change *c,
		 yard_done done, void *arg);
