// SPDX-License-Identifier: Apache-2.0
/* view.h - a job for an answer: the live one borrowed, an ended one loaded. */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "http/internal.h"
#include "job/job.h"

/* The job ex->job; *owned is set when it was loaded and must be destroyed. */
const struct job *view_find(struct exchange *ex, struct job **owned, struct err *err);
/* Whether the caller may know of this job. */
bool view_may_see(struct exchange *ex, int64_t job);
void view_job(struct exchange *ex, const struct job *j, struct buf *out);
void answer_job(struct exchange *ex, int status, const struct job *j);
/* A yard_done of a held exchange: the job as it is now, or why it was not changed. */
void answer_changed(void *arg, int64_t job, bool again, const struct err *e);

void view_cleanup(struct job **owned);
#define AUTO_JOB __attribute__((cleanup(view_cleanup)))
