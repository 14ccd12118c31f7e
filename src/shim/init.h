// SPDX-License-Identifier: Apache-2.0
/* init.h - the task's first process, pid 1 of its namespace.
 *
 * It builds the sandbox it stands in, starts the command (steps.h), reaps whatever the command
 * leaves behind, and ends when the command does: the kernel then ends every process of
 * the namespace, so nothing survives.  It dies with the shim.
 */
#pragma once

#include "shim/cgroup.h"
#include "shim/message.h"
#include "shim/sandbox.h"

struct init_config {
	const struct shim_task *task;
	const struct sandbox_maps *maps;
	const struct cgroup *cgroup; /* v2: born in it */
	int wire;                    /* notes */
	int out, err;                /* the command's stdout and stderr */
};

_Noreturn void init_run(const struct init_config *c);
