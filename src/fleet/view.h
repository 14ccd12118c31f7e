// SPDX-License-Identifier: Apache-2.0
/* view.h - what is free on every node, now or as it would be, and where a gang fits.
 *
 * A copy costs little: it shares what is not changed.  Setting a node ends all imagined
 * views but for view_destroy() and making them anew.
 */
#pragma once

#include "fleet/ask.h"

struct fleet;
struct view;
struct grants;

/* A way to place an ask: `count` tasks of a role on a node. */
struct pick {
	size_t role;
	int node, count;
	int device; /* for its share: pool × DEVICES_MAX + number; -1: the fleet chooses */
};

struct picks {
	struct pick *items;
	size_t count, cap;
	enum level
		level; /* the smallest that holds the whole gang; ANY: it crosses racks */
	/* In which they were found.  If that is imagined, fleet_grant() gives only what is
	 * free there too: it must still be as it was. */
	const struct view *view;
};

const struct view *fleet_now(const struct fleet *f);
/* Imagined ones are reused: *v may be NULL at first; view_destroy() at last. */
void view_copy(const struct fleet *f, const struct view *from, struct view **v);
void view_empty(const struct fleet *f, struct view **v); /* as if nothing ran */
void view_reopen(struct view *v); /* as if no node that is up were drained */
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
bool node_stays_open(const struct node *n, const struct stay *stay);

/* A place for every task (or, for a role with `least`, as many as there is room for), or
 * false.  `stay` NULL: windows do not matter. */
bool view_fit(const struct view *v, const struct ask *a, const struct stay *stay,
	      struct picks *out);
/* How many tasks of a role alone fit on a node, or on all (-1); at most `most`. */
int64_t view_room(const struct view *v, const struct ask_role *r, int node, int64_t most);
/* The sum over all nodes of what view_room() says of each; costs by how many have room. */
int64_t view_rooms(const struct view *v, const struct ask_role *r, int64_t each);
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
