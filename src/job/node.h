// SPDX-License-Identifier: Apache-2.0
/* node.h - a machine tasks run on, as an engine reports it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "job/placement.h"
#include "job/resources.h"

struct node {
	char name[NODE_NAME_MAX];
	struct resources capacity;
	bool simulated_devices; /* declared for tests and demos, not found in hardware */
	bool up;
	int port_first, port_last; /* given out to tasks that ask for any port */
	int max_tasks; /* at a time, however little each asks for; 0: no limit */
};

struct quota {
	struct resources
		limit; /* cpu_milli or memory_bytes -1: no limit; device kinds not named: none set */
	int max_running_jobs; /* -1: no limit */
};
