// SPDX-License-Identifier: Apache-2.0
/* keep.h - checkpoints: a stop that waits while they grow (job/grace.h), and a plan that
 * knows until when the work of a preemptible job is kept; for the yard's own files. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/grace.h"
#include "job/job.h"

struct live;
struct yard;
struct world_timer;

/* Of a job: only this process knows it. */
struct keep {
	struct grace
		grace; /* of the attempt that is being stopped; by the clock that never jumps */
	int attempt;  /* whose it is; 0: nobody's */
	bool looking; /* a look is under way */
	bool watched; /* it is in the keeper's list: its checkpoints are told to the plan */
	struct live *prev, *next;
	int64_t looked_ms, kept_ms;
};

/* Of the yard. */
struct keeper {
	struct live *first;
	struct world_timer *timer; /* set while somebody is watched */
};

bool yard_has_checkpoints(const struct job *j);
/* When what still runs is killed, as far as is known now; of a job that is being stopped. */
int64_t yard_grace_end(const struct yard *y, const struct job *j);
/* The grace of this attempt begins, or goes on after a restart; repeating it is harmless. */
void yard_grace_begin(struct yard *y, struct live *l);
void yard_grace_due(struct yard *y, struct live *l); /* its timer */

void yard_keep_watch(struct yard *y, struct live *l); /* it runs */
void yard_keep_forget(struct live *l);                /* before it goes */
void yard_keep_fini(struct yard *y);
