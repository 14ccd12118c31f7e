// SPDX-License-Identifier: Apache-2.0
/* inside.h - the fleet itself; nobody outside this room includes it. */
#pragma once

#include "base/map.h"
#include "fleet/fleet.h"

#define NODE_PORTS 65536

/* What is free on a node. Below zero when the node shrank under its tasks. */
struct space {
	int64_t cpu_milli, memory_bytes;
	int64_t tasks; /* how many more */
	int ports;
	int devices[FLEET_POOLS];
	bool open; /* up, and takes new tasks */
};

struct view {
	const struct fleet *fleet;
	struct space *spaces; /* by node */
	size_t count, cap;
	struct space *kept; /* while a fit is tried; no meaning between calls */
	size_t kept_cap;
};

struct machine {
	struct node node;
	struct {
		int kind; /* KIND_NONE: unused */
		uint64_t total, used;
	} pools[FLEET_POOLS];
	int64_t cpu_milli, memory_bytes; /* taken */
	int tasks;
	uint64_t *slots; /* bitmap of those in use */
	size_t slot_words;
	uint64_t *ports; /* bitmap, NULL while none was ever given */
};

struct fleet {
	char **kinds;
	size_t kind_count, kind_cap;
	struct machine *machines;
	size_t machine_cap;
	struct view live;
	struct map *by_name; /* index + 1 */
	uint64_t version;
};

int64_t machine_task_limit(const struct node *n);
int machine_pool(const struct machine *m, int kind); /* -1: none of that kind */
/* The pool a task takes its devices from: that with the fewest free that is enough, else
 * the fullest; -1: none of any kind that will do. */
int space_pool(const struct view *v, int node, const struct need *n);
/* How many tasks of a role fit. */
int64_t space_room(const struct view *v, int node, const struct ask_role *r,
		   int64_t most);
void space_take(struct view *v, int node, const struct ask_role *r, int64_t times);
void fleet_refresh(struct fleet *f, int node); /* live space, after a change */
