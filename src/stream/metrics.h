// SPDX-License-Identifier: Apache-2.0
/* metrics.h - what a job measures of itself: series of numbers over steps.
 *
 * They come from TensorBoard's event files in folders that tasks write, and from lines of
 * the tasks' output by patterns that the job gives.  Both are read on from where reading
 * ended before; memory is bounded whatever is read (metrics_bytes() tells it).
 *
 * Everything here blocks on disks: a struct metrics is used by one thread at a time, off
 * the loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "stream/series.h"

#define METRICS_POINTS_ALL 30000 /* of all series in one answer */

struct metrics;

struct metrics *metrics_create(void);
void metrics_destroy(struct metrics *m); /* NULL is fine */
/* A folder of event files, which may be missing. */
struct metrics_folder {
	const char *base;   /* a folder that the yard made */
	const char *path;   /* below it, through no link; NULL or "": itself */
	const char *prefix; /* before the names of its runs, or NULL */
	/* So many uids from the first on; what belongs to others is not read.  0: any. */
	int64_t uid, uid_count;
};
void metrics_add_folder(struct metrics *m, const struct metrics_folder *f);
int metrics_add_pattern(struct metrics *m, const char *name, const char *pattern,
			struct err *err);

struct metrics_log {
	int rank, attempt;
	const char *run;    /* name of the series' run: the task's */
	const char *folder; /* of the attempt */
	bool over;          /* nothing more will come */
};
bool metrics_wants_logs(const struct metrics *m); /* there are patterns */
/* The attempt of that task whose log is to be read next; logs before it are not wanted. */
int metrics_attempt(const struct metrics *m, int rank);

/* Begins a pass: what is new in the folders is seen. */
void metrics_look(struct metrics *m);
/* Reads on for a while.  True: call again, there is more. */
bool metrics_read(struct metrics *m, const struct metrics_log *logs, size_t count);

size_t metrics_bytes(const struct metrics *m);

struct metrics_want {
	const char *const *names; /* with * for any run of characters; none: all */
	size_t name_count;
	size_t points;    /* of each series at most; 0: none, just the sums */
	const char *note; /* a problem beside the others, or NULL */
	bool unfinished;  /* reading is not over, which is told */
};
/* The object of the answer: series, other, problems. */
void metrics_write(const struct metrics *m, const struct metrics_want *w, struct json *j);

/* Whether a name is like a pattern with * in it; takes at most the product of their lengths. */
bool metrics_is_like(const char *name, const char *pattern);
