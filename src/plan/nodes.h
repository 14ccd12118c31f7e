// SPDX-License-Identifier: Apache-2.0
/* nodes.h - the table of nodes: what is free there, giving and taking; where a gang fits. */
#pragma once

#include "plan/shape.h"

#define NODE_POOLS                                                                       \
	8 /* device kinds on a node, with those that only leftover tasks hold */
#define NODE_PORTS 65536

struct entry;

/* What one task was given. */
struct grant {
	int node, role;
	int slot; /* -1: somebody had it already */
	struct {
		int pool;
		uint64_t mask;
	} devices[DEVICE_KINDS_MAX];
	int *ports; /* those out of the node's range */
	int port_count;
};

/* What is free on a node. Below zero when the node shrank under its tasks. */
struct space {
	int64_t cpu_milli, memory_bytes;
	int64_t tasks; /* how many more */
	int ports;
	int devices[NODE_POOLS];
	bool up;
};

struct node_state {
	struct node node;
	struct {
		int kind; /* KIND_NONE: unused */
		uint64_t total, used;
	} pools[NODE_POOLS];
	int64_t cpu_milli, memory_bytes; /* taken */
	int tasks;
	uint64_t *slots; /* bitmap of those in use */
	size_t slot_words;
	uint64_t *ports; /* bitmap, NULL while none was ever given */
};

/* A way to place a shape: `count` tasks of a role on a node. */
struct pick {
	size_t role;
	int node, count;
};

struct picks {
	struct pick *items;
	size_t count, cap;
};

int64_t nodes_task_limit(const struct node *n);
int nodes_find(struct plan *p, const char *name); /* made, as gone, when not known */
void nodes_set(struct plan *p, const struct node *n);
void nodes_refresh(struct plan *p, int node); /* live space, after a change */
void nodes_free(struct plan *p);
int nodes_pool(const struct plan *p, int node, int kind); /* -1: none of that kind */
void nodes_grant(struct plan *p, struct entry *e, const struct picks *picks);
void nodes_adopt(struct plan *p, struct entry *e, const struct placement *places,
		 size_t count);
void nodes_give_back(struct plan *p, struct entry *e);
void nodes_describe(const struct plan *p, const struct entry *e, struct placement *out);

/* fit.c: how many, and where. */
int fit_count(const struct plan *p, const struct space *s, int node,
	      const struct shape_role *r, int most);
/* Picks a place for every task, or says false; spaces are as before at the end. */
bool fit_shape(const struct plan *p, struct space *spaces, const struct shape *s,
	       struct picks *out);
void fit_take(const struct plan *p, struct space *s, int node, const struct shape_role *r,
	      int times);
/* What would be free if nothing ran; whether that is enough for a shape. */
void fit_empty(const struct plan *p, struct space **spaces, size_t *cap);
bool fit_ever(const struct plan *p, struct shape *s);
/* What one task holds, back into its node's space: as if it had ended. */
void fit_return(const struct plan *p, struct space *s, const struct entry *e,
		const struct grant *g);
