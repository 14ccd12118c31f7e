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

#define FLEET_POOLS                                                                      \
	8 /* device kinds on a node, with those that only leftover tasks hold */

struct fleet;
struct view;

/* What one task was given. */
struct grant {
	int node, role;
	int slot; /* -1: somebody had it already */
	struct {
		int pool;
		int share_milli; /* 0: whole devices */
		uint64_t mask;
	} devices[DEVICE_KINDS_MAX];
	int *ports; /* those out of the node's range */
	int port_count;
};

struct grants { /* by rank */
	struct grant *items;
	size_t count;
};

/* A way to place an ask: `count` tasks of a role on a node. */
struct pick {
	size_t role;
	int node, count;
};

struct picks {
	struct pick *items;
	size_t count, cap;
	int level; /* the highest that the gang crosses: enum level */
};

struct fleet *fleet_create(void);
void fleet_destroy(struct fleet *f);
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
 * back.  fleet_adopt() takes what a record says; what somebody else has already is not
 * taken again. */
void fleet_grant(struct fleet *f, const struct ask *a, const struct picks *picks,
		 struct grants *out);
void fleet_adopt(struct fleet *f, const struct ask *a, const struct placement *places,
		 size_t count, struct grants *out);
void fleet_give_back(struct fleet *f, const struct ask *a, struct grants *g);
void fleet_describe(const struct fleet *f, const struct ask *a, const struct grants *g,
		    struct placement *out);
void fleet_used(const struct fleet *f, int node, struct resources *used, int *tasks);

/* What is free on every node, now or as it would be. */
const struct view *fleet_now(const struct fleet *f);
/* Imagined ones are reused: *v may be NULL at first; view_destroy() at last. */
void view_copy(const struct fleet *f, const struct view *from, struct view **v);
void view_empty(const struct fleet *f, struct view **v); /* as if nothing ran */
void view_least(const struct view *a, const struct view *b,
		struct view **v); /* of both */
void view_destroy(struct view *v);
void view_take(struct view *v, const struct ask *a, const struct picks *picks);
/* What tasks hold, as if they had ended: all of them, or those on one node (-1: all). */
void view_return(struct view *v, const struct ask *a, const struct grants *g, int node);

/* For whom and how long: nodes that are kept for others then are not for it. */
struct stay {
	int64_t from_ms, to_ms; /* INT64_MAX: no end is known */
	const char *group;
};

/* A place for every task (or, for a role with `least`, as many as there is room for), or
 * false.  `stay` NULL: windows do not matter. */
bool view_fit(const struct view *v, const struct ask *a, const struct stay *stay,
	      struct picks *out);
/* How many tasks of a role alone fit on a node, or on all (-1); at most `most`. */
int64_t view_room(const struct view *v, const struct ask_role *r, int node, int64_t most);
/* What is free of one thing on a node, and what there is of it when nothing runs. */
struct amount {
	int64_t free, total;
};
struct amount view_cpu(const struct view *v, int node);
struct amount view_memory(const struct view *v, int node);
struct amount view_ports(const struct view *v, int node);
struct amount view_tasks(const struct view *v, int node);
struct amount view_devices(const struct view *v, int node, const struct need *n);
bool view_open(const struct view *v, int node); /* up, and takes new tasks */
