// SPDX-License-Identifier: Apache-2.0
/* verdict.h - the last lines about a job that did not succeed: what failed, the first error in
 * its log, what its exit means, and one command to try next.
 *
 * Pure: a job and a line of its log in, words out.  The causes are one table.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "job/job.h"

struct verdict {
	char *what;    /* "job 7 (train) failed: worker-1: exit code 3" */
	char *error;   /* "first error of worker-1: ValueError: ...", or NULL */
	char *meaning; /* "it needs more memory than its limit of 64 MiB ...", or NULL */
	char *next;    /* "yard clone 7 --mem 96Mi" */
};

struct verdict_log {
	const char
		*error; /* the first error in the log of verdict_rank()'s task, or NULL */
	const char *last; /* else its last line, or NULL */
};

/* Of a job that ended and did not succeed. */
void verdict_make(const struct job *j, const struct verdict_log *log,
		  struct verdict *out);
void verdict_fini(struct verdict *v);
/* The task whose end is told: the first that failed by itself.  -1: none did. */
int verdict_rank(const struct job *j);
/* Half as much again, rounded up to what people write: 64 MiB gives 96 MiB. */
int64_t verdict_more_memory(int64_t bytes);
