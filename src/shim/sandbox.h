// SPDX-License-Identifier: Apache-2.0
/* sandbox.h - what a task sees of the machine: an allow list, never the host's root.
 *
 * Built by the task's first process in its own mount namespace, before any of the
 * task's code runs.  In root mode it is built by the real root and then handed over by
 * entering the user namespace; in private mode the process is root of its own user
 * namespace from birth.
 */
#pragma once

#include "base/err.h"
#include "shim/message.h"

/* userns: the owner's range (root mode), or -1.  On success this process's root and
 * working directory are the sandbox, and nothing of the host's tree can be reached. */
int sandbox_build(const struct shim_task *t, int userns, struct err *err);
/* Gives up the host: user namespace, uids, groups, rlimits, system call filter.  proc: a
 * descriptor of /proc inside. */
int sandbox_enter(const struct shim_task *t, int userns, struct err *err);
/* Limits of one process that is about to exec; survives a machine that forbids them. */
void sandbox_rlimits(const struct shim_task *t, bool pids_by_cgroup);
