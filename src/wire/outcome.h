// SPDX-License-Identifier: Apache-2.0
/* outcome.h - one table: error class -> HTTP status and exit code of `yard`.
 * (What `yard run` and `yard wait` return for a job is job_exit_code's.)
 */
#pragma once

#include "base/err.h"

/* Exit codes of `yard` that are no error class's. */
#define EXIT_INTERRUPTED 130 /* left: the job goes on */
#define EXIT_UNREACHABLE 6   /* no daemon answers */

int wire_http_status(enum err_code code);
int wire_exit_code(enum err_code code);
#define EXIT_CODE_END 11
const char *wire_exit_words(int exit); /* below EXIT_CODE_END: what it means */
/* From an answer: by the word of the body, else by the status alone. */
enum err_code wire_code_from_word(const char *word); /* ERR_INTERNAL: not one of ours */
enum err_code wire_code_from_status(int status);
