// SPDX-License-Identifier: Apache-2.0
/* node.h - what this machine has to give, and which device node is which device. */
#pragma once

#include "engine/engine.h"
#include "job/node.h"
#include "shim/message.h"

struct machine {
	struct node node;
	struct machine_kind {
		char type[DEVICE_TYPE_MAX];
		bool simulated; /* counted and assigned, but there is nothing to show */
		int count;
		int numbers[DEVICES_MAX]; /* device i is "<prefix><numbers[i]>" */
		const char *prefix;
	} kinds[DEVICE_KINDS_MAX];
};

/* dev: "/dev", but for tests. */
void machine_discover(const struct engine_process_config *c, const char *dev,
		      struct machine *out);
int machine_cores(void); /* that this process may run on */
/* The device nodes of a placement, and those its driver needs beside them. */
void machine_devices(const struct machine *m, const struct placement *p,
		     struct shim_list *out);
