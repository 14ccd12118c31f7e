// SPDX-License-Identifier: Apache-2.0
/* outcome.h - one table: error class -> HTTP status, exit code of `yard`; and the exit
 * code of a job.
 */
#pragma once

#include "base/err.h"
#include "job/job.h"

/* Exit codes of `yard` that are no error class's. */
#define EXIT_UNREACHABLE 6 /* no daemon answers */

int wire_http_status(enum err_code code);
int wire_exit_code(enum err_code code);
/* From an answer: by the word of the body, else by the status alone. */
enum err_code wire_code_from_word(const char *word); /* ERR_INTERNAL: not one of ours */
enum err_code wire_code_from_status(int status);

/* What `yard run` and `yard wait` return for an ended job: 0, the first failed task's
 * shell code, 124 for the time limit, 130 when a person stopped it. */
int wire_job_exit_code(const struct job *j);
