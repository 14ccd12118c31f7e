// SPDX-License-Identifier: Apache-2.0
/* layout.h - where things lie below the state folder:
 *   code/<hash>/tree        an unpacked snapshot, read-only, shared by its jobs
 *   code/<hash>/users/<who> who has sent it whole; its folder's time is of its last use
 *   jobs/<id / 1000>/<id>/  output/<name>/, task-<rank>/attempt-<n>/ (log, mark, exit)
 * Every string is the caller's to free.
 */
#pragma once

#include <stdint.h>

char *depot_layout_job(const char *state, int64_t job);
char *depot_layout_attempt(const char *state, int64_t job, int task, int attempt);
char *depot_layout_output(const char *state, int64_t job, const char *output);
char *depot_layout_code(const char *state,
			const char *hash); /* the folder that holds tree/ */
