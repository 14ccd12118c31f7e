// SPDX-License-Identifier: Apache-2.0
/* cgroup.h - one task's control group: v2, v1, or none.
 *
 * The groups are made below the daemon's own ("<own>/yard/<name>"), so that whatever
 * limits the daemon limits its tasks.  Which of them exist is decided by the machine:
 * a controller that cannot be had is left out, and `has` says so.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

enum cgroup_kind { CGROUP_NONE, CGROUP_V1, CGROUP_V2 };
enum cgroup_ctrl { CGROUP_MEMORY, CGROUP_CPU, CGROUP_PIDS, CGROUP_CTRL_COUNT };

struct cgroup {
	enum cgroup_kind kind;
	char name[96];
	char path[CGROUP_CTRL_COUNT][512]; /* v2: all the same */
	bool has[CGROUP_CTRL_COUNT];
	bool cpuacct; /* the cpu group counts cpu time too */
};

struct cgroup_limits {
	int64_t memory_bytes, cpu_milli, pids; /* 0: none */
};

/* Makes the groups with their limits.  A machine without is not an error. */
int cgroup_create(struct cgroup *g, const char *name, const struct cgroup_limits *l,
		  struct err *err);
/* Puts the calling process, which must have one thread, into the groups. */
int cgroup_join(const struct cgroup *g, struct err *err);
/* v2: a descriptor for CLONE_INTO_CGROUP, which saves joining; -1: none. */
int cgroup_fd(const struct cgroup *g);
/* The groups this process is in are the top to it: where they are on the machine is not the
 * task's to know.  Only a view, so a kernel without it is no failure. */
void cgroup_hide(void);
int64_t cgroup_memory(const struct cgroup *g); /* bytes now; -1: not known */
int64_t cgroup_memory_peak(const struct cgroup *g);
int64_t cgroup_cpu_ms(const struct cgroup *g);
int64_t cgroup_oom_kills(const struct cgroup *g); /* 0 also when not known */
/* Before a kill: who is to die must get the cpu to do it, and not wait for its quota. */
void cgroup_unthrottle(const struct cgroup *g);
/* Nothing in it runs any more: waits a moment for the kernel to notice, then gives up. */
void cgroup_remove(const struct cgroup *g);
/* v2: gives this process, when it is alone in its group, a group of its own below. */
void cgroup_settle(void);
/* For a name left behind by a shim that was killed: ends what is in it, removes it. */
void cgroup_sweep(const char *name);
/* Removes empty groups whose shims are gone: a machine that was too busy when they ended. */
void cgroup_tidy(void);
