// SPDX-License-Identifier: Apache-2.0
/* shape.h - what is asked of the nodes: equal requests are one shape, device types are numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "plan/plan.h"
#include "plan/tree.h"

#define KIND_NONE    (-1)
#define KIND_UNKNOWN (-2) /* asked for, and nobody has it */

struct need {
	int kind; /* index of an interned device type */
	int64_t count;
};

struct shape_role {
	int count;
	int64_t cpu_milli, memory_bytes;
	struct need devices[DEVICE_KINDS_MAX];
	const char *types[DEVICE_KINDS_MAX]; /* their names, borrowed */
	size_t device_count;
	int any_ports, fixed_count;
	int fixed_ports[PORTS_MAX];
};

enum shape_state {
	SHAPE_IDLE,
	SHAPE_OPEN,
	SHAPE_BLOCKED,
	SHAPE_BACK,
	SHAPE_NEVER,
	SHAPE_STATE_COUNT
};

struct shape {
	char *key;
	size_t refs, role_count;
	struct shape_role *roles;
	size_t *order; /* of roles, the most demanding first */
	int task_count;
	struct {
		int64_t cpu_milli, memory_bytes;
		struct need *devices;
		size_t device_count;
	} total;
	enum shape_state state;
	struct tree ready;        /* buckets that no quota parks */
	struct tree_node at;      /* in plan.shapes[state] */
	uint64_t ever_version;    /* of the nodes for which `ever` was found out */
	bool ever;                /* fits when nothing else runs */
	struct bucket *cursor;    /* during a pass: the next candidate, */
	struct tree_node in_pass; /* and its place among the others */
};

int plan_kind(struct plan *p, const char *type);
int plan_kind_find(const struct plan *p, const char *type); /* -1: nobody ever named it */
/* Shared by all who ask the same; one ref for the caller. */
struct shape *shape_get(struct plan *p, const struct plan_job *job);
/* Not shared and not remembered: to see what a request would meet.  Borrows the job's strings. */
struct shape *shape_make(const struct plan *p, const struct plan_job *job);
void shape_free(struct shape *s);
void shape_put(struct plan *p, struct shape *s);
