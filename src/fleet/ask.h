// SPDX-License-Identifier: Apache-2.0
/* ask.h - a gang as the fleet reads it: device types, models and labels are numbers. */
#pragma once

#include "base/buf.h"
#include "job/gang.h"

struct fleet;

#define KIND_NONE (-1)
#define KINDS_MAX 64 /* types and models in one fleet */

struct need {
	uint64_t
		kinds; /* bit k: devices of kind k will do; all of one task are of one kind.
			 * 0: nobody has such */
	int64_t count;
	int share_milli;  /* of one device; 0: whole ones */
	const char *type; /* as asked for: "gpu", "gpu:a100|v100" */
};

struct ask_role {
	int count, least; /* 1 <= least <= count, or both 0 */
	int64_t cpu_milli, memory_bytes;
	struct need devices[DEVICE_KINDS_MAX];
	size_t device_count;
	int any_ports, fixed_count;
	int fixed_ports[PORTS_MAX];
	const char *labels; /* NULL: any node */
	int64_t whole;      /* whole devices of all kinds */
	bool overlap;       /* one device could meet two of its needs */
	/* The fleet's own: which classes of nodes could ever do, and when that was found. */
	uint64_t classes, classes_at;
};

struct ask {
	struct ask_role *roles;
	size_t role_count;
	size_t *order; /* of roles, the most demanding first */
	int task_count, least_count;
	enum level within;
	bool within_must;
	struct ask_total { /* of all tasks, `count` of each role */
		int64_t cpu_milli, memory_bytes;
		struct need *devices; /* counts are in 1/1000 of a device */
		size_t device_count;
	} total;
	size_t score_at; /* the fleet's own: where its scores are kept, +1; 0: nowhere */
};

/* Copies what it needs.  The numbers of kinds are right until a new kind comes to the
 * fleet (fleet_kinds() grows): ask_refresh() then. */
struct ask *ask_create(const struct fleet *f, const struct gang *g);
void ask_refresh(const struct fleet *f, struct ask *a);
void ask_destroy(struct ask *a);                     /* NULL is fine */
void ask_key(const struct gang *g, struct buf *out); /* equal keys: equal asks */
