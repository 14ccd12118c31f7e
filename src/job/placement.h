// SPDX-License-Identifier: Apache-2.0
/* placement.h - where a task runs and what it was given there: recorded in PLACED. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "job/resources.h"

#define NODE_NAME_MAX 64
#define PORTS_MAX     32 /* of one task */

struct placement {
	char node[NODE_NAME_MAX];
	int role; /* whose task it is, from 0; looked at only when there are fewer places
		   * than tasks were asked for (a role with a `least`) */
	int slot; /* unique among the node's present tasks: makes the loopback address */
	struct {
		char type[DEVICE_TYPE_MAX];
		uint64_t mask;   /* bit i: device i of that type on the node */
		int share_milli; /* of that one device; 0: whole ones */
	} devices[DEVICE_KINDS_MAX];
	int ports[PORTS_MAX]; /* in the order the role asks for them, counts unrolled */
	int port_count;
};

/* 127.x.y.z of a slot, never 127.0.x.x; out has room for 16 bytes. */
void placement_address(int slot, char out[16]);
/* The first slot of a yard's own block of addresses, by what tells it from others (NULL: the
 * first block).  Two yards of one machine are as good as never given the same. */
int placement_block(const char *identity);
