// SPDX-License-Identifier: Apache-2.0
/* fleet.h - the nodes: what is free there, where a gang fits, giving and taking.
 *
 * Pure: no clock, no floats; what is given depends on what is held now and on nothing
 * before: devices, slots and ports lowest number first, ties between nodes by rank.  A
 * node's rank is its place in the order of (rack, switch, name) and not of arrival.
 * Knows no queue and no people: `plan` does.
 */
#pragma once

#include "base/err.h"
#include "fleet/ask.h"
#include "fleet/view.h"

#define FLEET_POOLS                                                                      \
	8 /* device kinds on a node, with those that only leftover tasks hold */

/* Devices of one kind on a node. */
struct portion {
	int pool;
	int share_milli; /* of the one device in the mask; 0: whole devices */
	uint64_t mask;
};

#define GRANT_PORTS 8

/* What one task was given. */
struct grant {
	int node, role;
	int slot;       /* -1: somebody had it already */
	int port_count; /* those out of the node's range: */
	uint16_t few_ports[GRANT_PORTS];
	uint16_t *many_ports; /* NULL: they are the few */
	struct portion devices[DEVICE_KINDS_MAX];
};

struct grants { /* by rank: all of the first role, then of the second, … */
	struct grant *items;
	size_t count;
};

struct fleet *fleet_create(void);
void fleet_destroy(struct fleet *f);
/* Up to so many nodes and tasks placed at a time, placing and giving back takes nothing
 * more from the heap.  (But for: nodes that are set, views that are first made, asks that
 * are first scored, more than GRANT_PORTS ports of one task, gangs of several roles on
 * more than 256 nodes.) */
void fleet_reserve(struct fleet *f, size_t nodes, size_t tasks);
void fleet_set_node(struct fleet *f, const struct node *n);
size_t fleet_count(const struct fleet *f);
const struct node *fleet_node(const struct fleet *f, int node);
int fleet_find(const struct fleet *f, const char *name); /* -1: none of that name */
uint64_t fleet_version(const struct fleet *f);           /* moves when a node is set */

size_t fleet_kinds(const struct fleet *f);
const char *fleet_kind_name(const struct fleet *f, int kind);
int fleet_kind(struct fleet *f, const char *type); /* made when not known; -1: too many */
uint64_t fleet_kinds_of(const struct fleet *f, const char *asked); /* that match */
int fleet_pool_kind(const struct fleet *f, int node, int pool);
int64_t fleet_devices(const struct fleet *f, uint64_t kinds); /* on nodes that are up */

/* Giving and taking, on the fleet itself.  A grant is the caller's to keep and to give
 * back.  A role with a `least` may get fewer grants than its count.  fleet_adopt() takes
 * what a record says; what somebody else has already is not taken again; with fewer
 * places than tasks each place says whose it is (placement.role). */
void fleet_grant(struct fleet *f, const struct ask *a, const struct picks *picks,
		 struct grants *out);
void fleet_adopt(struct fleet *f, const struct ask *a, const struct placement *places,
		 size_t count, struct grants *out);
void fleet_give_back(struct fleet *f, const struct ask *a, struct grants *g);
void fleet_describe(const struct fleet *f, const struct ask *a, const struct grants *g,
		    struct placement *out);
void fleet_used(const struct fleet *f, int node, struct resources *used, int *tasks);

/* All that decides, and the indexes that were kept over it, as text: a fleet made by any
 * history gives the same as one that is told the nodes and who holds what. */
void fleet_digest(const struct fleet *f, struct buf *out);
