// SPDX-License-Identifier: Apache-2.0
/* probe.h - what became of an attempt, from its folder alone. */
#pragma once

#include "base/err.h"
#include "shim/message.h"

enum shim_state {
	SHIM_NONE, /* nobody began it: it may be started */
	SHIM_BUSY, /* a shim holds the lock but has left no mark yet: ask again in some ms */
	SHIM_ALIVE, /* mark and pidfd are set */
	SHIM_OVER,  /* exit is set */
	SHIM_VANISHED, /* begun, no exit, no shim: machine rebooted or shim killed; lost says which */
};

struct shim_probe {
	enum shim_state state;
	struct shim_mark mark;
	struct shim_exit exit;
	int pidfd; /* ALIVE: readable when the shim has ended; the caller closes */
	char lost[128];
};

/* Never blocks but for disk.  A folder that is not there is SHIM_NONE. */
int shim_probe(const char *folder, struct shim_probe *out, struct err *err);
/* For an attempt that must not be begun any more: leaves an exit file (UNSTARTED, with `why`)
 * under the lock, so that a shim which still has its bundle to read gives up.  1: nobody
 * began it and nobody will; 0: somebody did, or does just now: probe again; -1. */
int shim_fence(const char *folder, const char *why, struct err *err);
/* Kills whoever holds the attempt's lock open: its shim, and what the shim forked to serve
 * others.  What the task runs goes with its shim.  Gives how many there were. */
int shim_kill(const char *folder);
/* A connected, non-blocking, CLOEXEC stream socket to the live shim. */
int shim_connect(const char *folder, int *fd, struct err *err);
/* Once, before the daemon starts any shim: on cgroup v2 moves the daemon aside within a group
 * delegated to it, so that its tasks can have limits of their own. */
void shim_settle(void);
/* After VANISHED: ends what its cgroups still hold and removes them. */
void shim_sweep(const struct shim_mark *mark);
