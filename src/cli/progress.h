// SPDX-License-Identifier: Apache-2.0
/* progress.h - one line at the foot of a terminal that says how a job stands.
 *
 * It is on stderr, and there only when that is a terminal.  Whoever writes something else to
 * the terminal hides it before and shows it after, so that what a job writes stays whole.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "job/life.h"

struct progress_view {
	int64_t job;
	enum job_state state;
	int attempt;          /* told when it is not the first */
	const char *why;      /* while it waits */
	const char *brings;   /* what is being brought for it, or from it; or NULL */
	int position;         /* in the queue; 0: not known */
	int64_t elapsed_ms;   /* in this state's part of its life: waiting, or running */
	int64_t cpu_milli;    /* cores in use; -1: not known */
	int64_t memory_bytes; /* 0: not known */
	int64_t memory_limit_bytes;
	const char *last; /* line of its log, or NULL */
};

/* The line in at most so many cells, without colours. */
void progress_words(const struct progress_view *v, size_t cells, struct buf *out);

struct progress;
struct progress *progress_create(bool colours); /* NULL: stderr is no terminal */
void progress_destroy(struct progress *p); /* hides it; NULL is fine, here and below */
void progress_set(struct progress *p, const struct progress_view *v);
bool progress_hide(struct progress *p); /* whether it was there */
/* Something was written to the terminal, and whether it ended with a whole line. */
void progress_wrote(struct progress *p, bool line_over);
