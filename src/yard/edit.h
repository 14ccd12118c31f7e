// SPDX-License-Identifier: Apache-2.0
/* edit.h - what may be changed of a job that is there.  Answers come as yard.h says. */
#pragma once

#include "yard/yard.h"

/* From now on; what runs keeps it for a later attempt. */
void yard_set_priority(struct yard *y, const struct principal *who, int64_t job,
		       int priority, yard_done done, void *arg);
/* As yard_stop(), but without grace: what runs, and an array's members, is killed now; also
 * of what is being stopped already. */
void yard_kill(struct yard *y, const struct principal *who, int64_t job, const char *text,
	       yard_done done, void *arg);
/* An ended job (an array with its members) goes for ever: history, output, logs. */
void yard_delete(struct yard *y, const struct principal *who, int64_t job, yard_done done,
		 void *arg);
/* Goes up, before any answer, when jobs are gone: what is known of ended ones may be old. */
uint64_t yard_deletions(const struct yard *y);
