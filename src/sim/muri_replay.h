// SPDX-License-Identifier: Apache-2.0
/* muri_replay.h - what a policy of the muri rules sees and says; inside the room only.
 *
 * At each event a policy arranges the queue: jobs are tried for a place in that order.
 * It sees all of the replay's state but must not look at jobs that did not arrive yet;
 * a policy that says it does not know lengths must not look at iterations either.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sim/muri.h"

enum {
	MURI_GROUP_MAX = 4, /* that share the same GPUs */
	MURI_RUNNING_MAX = MURI_GPUS * MURI_GROUP_MAX
};

struct muri_task {
	double left;       /* iterations still to do */
	double attained_s; /* time on GPUs so far, overheads counted in */
	double worked_s;   /* the same, as long as it would have taken alone */
	double due_s;      /* when it ends if no event comes before; only while running */
	double first_s;    /* first start; negative: never ran */
	double end_s;
	int preemptions;
	bool running;
	int level; /* for policies with levels; 0 at arrival */
	/* Set at arrival as for a job alone; a policy that lets jobs share sets all three. */
	int lead;      /* who has the place that it runs in: itself, or one before it */
	double pace_s; /* seconds an iteration */
	double lost_s; /* at the next event */
};

struct muri_replay {
	const struct muri_trace *trace;
	const struct muri_policy *policy;
	void *state; /* the policy's */
	double now_s;
	struct muri_task *tasks; /* as the trace's jobs */
	int *queue;              /* who has arrived and not ended */
	size_t count;
	size_t arrived;
	int running[MURI_RUNNING_MAX],
		ended[MURI_RUNNING_MAX]; /* since the last event; at this */
	size_t running_count, ended_count;
	int64_t events, preemptions;
	double busy_s; /* GPU seconds given */
};

struct muri_policy {
	const char *name;
	void *(*create)(const struct muri_trace *t); /* NULL: no state */
	void (*destroy)(void *state);
	/* Arranges r->queue.  It comes as the last call left it, without those that ended,
	 * and arrivals in order at its end. */
	void (*order)(struct muri_replay *r);
	double (*wake)(const struct muri_replay *r); /* an event of its own; NULL: none */
	bool shares;     /* may put several jobs on the same GPUs */
	bool count_only; /* fits by free GPUs, not by nodes (as published for Tiresias) */
};

extern const struct muri_policy muri_yard, muri_blind, muri_share, muri_share_blind,
	muri_srtf, muri_srsf, muri_tiresias;

double muri_left(const struct muri_replay *r, int job); /* seconds of work still to do */

/* Stable, fast when keys are nearly in order; key[] is by job. */
void muri_sort(int *queue, size_t count, const double *key);

/* The free GPUs of the cluster while it is being filled. */
struct muri_room {
	int free[MURI_NODES];
	int total;
	bool count_only;
};
void muri_room_clear(struct muri_room *m, bool count_only);
bool muri_room_take(struct muri_room *m, int gpus); /* first fit */
