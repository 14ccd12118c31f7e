// SPDX-License-Identifier: Apache-2.0
/* measure.h - what a running job uses now, asked of the server task by task. */
#pragma once

#include "cli/cli.h"

struct measure {
	int64_t time_ms;      /* of the last task asked; 0: nothing is known */
	int64_t cpu_ms;       /* used so far, of all tasks that were asked */
	int64_t memory_bytes; /* now */
	int tasks;            /* that answered */
};

/* Asks for at most MEASURE_TASKS_MAX of the job's tasks, each once; what cannot be known is
 * left out.  The connection is c's. */
#define MEASURE_TASKS_MAX 8
void measure_job(struct cli *c, int64_t job, int tasks, struct measure *out);

/* Remembers the measure before.  Servers measure every few seconds: until there is a newer
 * one, and at first, it tells what it knew, or the mean since the job started. */
struct meter { /* zero-initialised is ready */
	struct measure at;
	int64_t cpu_milli;
};

/* Cores in use; -1: cannot be told. */
int64_t meter_cpu_milli(struct meter *m, const struct measure *now, int64_t started_ms);
