// SPDX-License-Identifier: Apache-2.0
/* sandbox.h - what a task sees of the machine: an allow list, never the host's root.
 *
 * Built by the task's first process in its own mount namespace, before any of the
 * task's code runs.  In root mode it is built by the real root and then handed over by
 * entering the user namespace; in private mode the process is root of its own user
 * namespace from birth.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "shim/message.h"

/* User namespaces that exist only as descriptors: the owner's range, and for each group of
 * a folder of the owner's one in which owner and group are root.  Made by the shim, because
 * maps are written by process id, which means another process inside. */
#define SANDBOX_MAPS_MAX 16

struct sandbox_maps {
	int range; /* -1: private mode, no maps */
	struct {
		gid_t gid;
		int fd;
	} owner[SANDBOX_MAPS_MAX];
	int count;
	int *sources; /* by mount: its source as a detached mount, -1: has none */
	int *ranges;  /* by mount: from the range of its files to the task's; -1: none */
	size_t source_count;
};

int sandbox_maps_init(struct sandbox_maps *m, const struct shim_task *t, struct err *err);
void sandbox_maps_fini(struct sandbox_maps *m);
/* Init has its own of them: here they would only keep what is mounted busy. */
void sandbox_maps_drop_sources(struct sandbox_maps *m);

/* On success this process's root and working directory are the sandbox, and nothing of the
 * host's tree can be reached. */
int sandbox_build(const struct shim_task *t, const struct sandbox_maps *m,
		  struct err *err);
/* Gives up the host: keys, user namespace, groups, uids; loads the system call filter.
 * userns: to enter; -1: is in it already.  may_mount: new file systems, where the mounts are
 * the task's own. */
int sandbox_become(int userns, bool may_mount, struct err *err);
/* The same for the first process, which sets the host name and locks the mounts first. */
int sandbox_enter(const struct shim_task *t, int userns, bool may_mount, struct err *err);
/* Limits of one process that is about to exec; survives a machine that forbids them. */
void sandbox_rlimits(const struct shim_task *t, bool pids_by_cgroup);
