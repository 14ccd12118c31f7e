// SPDX-License-Identifier: Apache-2.0
/* gang.h - what a job asks of the nodes: tasks that start together or not at all. */
#pragma once

#include <stdbool.h>

#include "job/node.h"
#include "job/placement.h"
#include "job/resources.h"

struct gang_role {
	int count;
	int least; /* it starts with so many too, when there is no room for more; 0: count */
	struct resources each;
	/* A placement's ports are those of any number, out of the node's range and used by no
	 * other task there, then the fixed ones (on the task's own address, so never in the
	 * way of another's).  A record takes them in any order. */
	int any_ports; /* counts unrolled; with fixed_count at most PORTS_MAX */
	int fixed_ports[PORTS_MAX];
	int fixed_count;
	const char
		*labels; /* "zone=a,disk=nvme": a node must have all of them; NULL: any */
};

struct gang {
	const struct gang_role *roles; /* ranks run through the roles in order */
	size_t role_count;
	enum level within; /* all tasks in one of these, */
	bool within_must;  /* or it waits; else: as near to each other as may be */
};
