// SPDX-License-Identifier: Apache-2.0
/* watch.h - what a task uses, from its own /proc; and a memory limit where no cgroup keeps one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "shim/cgroup.h"
#include "shim/message.h"

struct watch_sum {
	int64_t memory_bytes; /* resident; shared pages counted once a process */
	int64_t cpu_ms;
	int64_t pids;
};

/* proc: descriptor of the task's /proc. */
void watch_sum(int proc, struct watch_sum *out);

/* Samples as seldom as the room left allows: memory that grows by 2 GiB a second is still
 * caught within a tenth of the limit; a task far below its limit costs one look every 2 s. */
#define WATCH_TMPFS 2

struct watch {
	int proc;
	int tmpfs[WATCH_TMPFS];          /* folders of those the task writes to */
	int64_t limit_bytes, peak_bytes; /* limit 0: nothing to do */
	int64_t next_ms;                 /* on the monotonic clock */
	int64_t files_bytes, files_ms;   /* of memory files, and when that was asked */
};

/* There is a limit and no control group keeps it. */
bool watch_needed(const struct shim_task *t, const struct cgroup *g);
int watch_timeout(const struct watch *w, int64_t now_ms); /* for poll(); -1: none */
/* True: it is over its limit (by its proportional share, not only by counting shared pages). */
bool watch_over(struct watch *w, int64_t now_ms);
