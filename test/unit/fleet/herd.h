// SPDX-License-Identifier: Apache-2.0
/* herd.h - random nodes and gangs on them, beside a slow and obvious account of what is
 * free: every device's rest is added up anew from the placements each time. */
#pragma once

#include "fleet/fleet.h"

#define H_NODES 12
#define H_JOBS  40
#define H_TASKS 12

struct h_job {
	bool on;
	struct gang gang;
	struct gang_role role;
	struct ask *ask;
	struct grants grants;
	struct placement places[H_TASKS];
	size_t count;
};

struct herd {
	uint64_t seed;
	int node_count;
	struct node nodes[H_NODES];
	struct h_job jobs[H_JOBS];
	struct fleet *f;
	struct picks picks;
	bool shares, rings, islands, racks, labels; /* what may be random */
};

struct h_free {
	int64_t cpu_milli, memory_bytes, tasks;
	struct {
		const char *type;
		int count;
		int left[DEVICES_MAX]; /* of each device, in 1/1000 */
	} pools[DEVICE_KINDS_MAX];
	size_t pool_count;
};

int h_roll(struct herd *h, int below);
void h_init(struct herd *h, uint64_t seed); /* after the flags were set */
void h_fini(struct herd *h);
void h_make_node(struct herd *h, int at); /* another one of that name; tells the fleet */
void h_make_job(struct herd *h, struct h_job *j);
void h_drop_job(struct herd *h, struct h_job *j); /* gives back what it holds */
/* Grants what the picks say; NULL, or the law that is broken. */
const char *h_start(struct herd *h, struct h_job *j);

void h_free_on(const struct herd *h, int node, struct h_free *out);
bool h_open(const struct node *n);
/* How many tasks of the job fit on a node, alone. */
int h_room(const struct herd *h, int node, const struct h_job *j);
bool h_same_area(const struct node *a, const struct node *b, enum level level);
/* How many tasks fit in the rack or switch of a node (LEVEL_NODE: on it alone). */
int h_area_room(const struct herd *h, int node, enum level level, const struct h_job *j);
/* A fleet told the nodes and who holds what, in an order of its own. */
struct fleet *h_rebuild(struct herd *h, struct h_job **jobs, struct grants *grants);
