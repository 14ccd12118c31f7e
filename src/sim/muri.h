// SPDX-License-Identifier: Apache-2.0
/* muri.h - the rule set "muri": 64 GPUs, job completion time, as a published simulator
 * counted it.
 *
 * The cluster is 8 nodes of 8 GPUs.  An event is an arrival or an end; equal times are
 * one event.  At an event the jobs that are due end, arrivals join, and every job that
 * runs on loses its model's start overhead from the time since the last event, whether
 * it is preempted or not (a quirk of that simulator, kept so that figures compare).  Then
 * the cluster is emptied and filled again in the order that the policy gives; what does
 * not fit is passed over.  Up to 8 GPUs stand in one node, more take whole idle nodes.
 *
 * Doubles, because the published figures were counted with them: equal to seven digits.
 */
#pragma once

#include <stddef.h>

#include "sim/sim.h"

#define MURI_NODES      8
#define MURI_NODE_GPUS  8
#define MURI_GPUS       (MURI_NODES * MURI_NODE_GPUS)
#define MURI_PHASES     3
#define MURI_MODELS_MAX 1000

struct muri_job {
	int64_t row; /* place in the file */
	int gpus;    /* 1, 2, 4, 8, 16 or 32 */
	int model;   /* place in the trace's models */
	double submit_s;
	double iterations;
	double iteration_s;          /* with the simulator's own 1.5 % of slowdown */
	double overhead_s;           /* lost at each event while it runs */
	double phase_s[MURI_PHASES]; /* of an iteration: on each kind of resource */
};

/* The reader's extra: jobs in the order of the trace's. */
struct muri_trace {
	struct muri_job *jobs;
	size_t count;
	const char *models[MURI_MODELS_MAX];
	int model_count;
};

double muri_length(const struct muri_job *j); /* seconds, running alone, no overhead */

/* Less than this no policy can have that does not share GPUs.  The average: the greatest
 * of three bounds, see muri_bound.c; makespan: all work on all GPUs, or the last length. */
void muri_bound(const struct muri_trace *t, double *avg_jct_s, double *makespan_s);

/* A schedule that is known to be possible; the nearer to the best the better. */
struct muri_known {
	double avg_jct_s, makespan_s;
};

/* A much better bound of the average that takes seconds: see muri_price.c.  More slots
 * and rounds make it greater, never wrong. */
double muri_bound_priced(const struct muri_trace *t, const struct muri_known *known,
			 int slots, int rounds);
