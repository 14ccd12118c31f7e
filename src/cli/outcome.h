// SPDX-License-Identifier: Apache-2.0
/* outcome.h - waits for a job's end, and says what became of it and what to try. */
#pragma once

#include "cli/blame.h"
#include "cli/cli.h"

/* timeout_ms -1: as long as it takes.  1: ended, out is filled; 0: not yet; -1. */
int outcome_wait(struct cli *c, const char *job, int64_t timeout_ms, struct wire_job *out,
		 struct err *err);
/* Looks for the first error in the log of the first task that failed (cli/verdict.h): in the
 * last lines of its last attempt, OUTCOME_LOOK_LINES at most. */
#define OUTCOME_LOOK_LINES 5000
void outcome_blame(struct cli *c, const struct wire_job *w, struct blame *out);
/* On stderr: where the outputs are, or why it failed.  Gives the job's exit code. */
int outcome_tell(struct cli *c, const struct wire_job *w);
