// SPDX-License-Identifier: Apache-2.0
/* steps.h - what init runs once the sandbox stands: the stages, one after the other, then
 * the command, as one process or as several at once.
 *
 *   stage 0 ─ 0 ─> stage 1 ─ 0 ─> ... ─> command ─ all ended ─> the task's end
 *      └── not 0, or a stop was asked ─────────────────────────────^
 *
 * Of several processes the first that fails ends the others: SIGTERM, then after
 * STEPS_GRACE_MS the kill; its status is the task's.  Not once a stop was asked: then
 * each goes when it goes, until the yard kills the task.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "shim/init.h"

#define STEPS_GRACE_MS 10000

struct steps {
	const struct init_config *c;
	size_t stage; /* that runs; as many as there are stages: it is the command */
	pid_t pids[SHIM_PROCESSES_MAX]; /* 0: has ended */
	size_t count, left;
	size_t failed; /* which process did first */
	int status;    /* its wait status; 0: none */
	bool stop;     /* was asked: no further step begins */
	int64_t kill_ms; /* when what goes on beside a failed one is killed; 0: nothing is */
};

/* Begins the first step.  children: a signalfd of SIGCHLD, for steps_serve(). */
int steps_begin(struct steps *s, const struct init_config *c, struct err *err);
/* Until all is over; tells the shim how. */
void steps_serve(struct steps *s, int children);
