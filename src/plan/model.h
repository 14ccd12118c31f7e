// SPDX-License-Identifier: Apache-2.0
/* model.h - what the files of this room share; nobody outside includes it.
 *
 * Waiting jobs are kept by likeness, so that a step looks at one of a kind:
 *   shape   what is asked of the nodes; if one job of a shape does not fit, none does
 *   bucket  jobs of one shape, owner and time limit: they differ only in order, so
 *           only the first of a bucket is ever a candidate
 * A shape is in one of the plan's trees by its first candidate:
 *   OPEN     something changed: to be tried by the next step
 *   BLOCKED  did not fit; opened again when something is given back
 *   BACK     fits, but would delay the head; opened again when anything changed
 *   NEVER    does not fit on empty nodes; opened again when a node changes
 *   IDLE     (no tree) all its buckets are parked at an owner's quota, or none waits
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "plan/plan.h"
#include "plan/tree.h"

#define NODE_POOLS                                                                       \
	8 /* device kinds on a node, those that only leftover tasks hold included */
#define FOREVER      INT64_MAX
#define KIND_NONE    (-1)
#define KIND_UNKNOWN (-2) /* asked for, and nobody has it */
#define NODE_PORTS   65536

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

/* A user or a group: what they hold, what they may hold, who waits for that. */
struct owner {
	char *name;
	bool is_group, has_quota;
	size_t refs;
	struct quota quota;
	struct need limits[DEVICE_KINDS_MAX];
	size_t limit_count;
	int64_t cpu_milli, memory_bytes, jobs;
	int64_t *devices; /* held, by kind */
	size_t device_cap;
	struct tree parked; /* buckets */
};

struct bucket {
	char *key;
	struct shape *shape;
	struct owner *user, *group;
	int64_t limit_ms;
	struct tree jobs;
	struct owner *parked; /* NULL: it stands in shape->ready */
	struct tree_node at;
};

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

struct entry { /* a job, waiting or running */
	int64_t id, limit_ms, end_ms;
	int priority;
	struct shape *shape;
	struct owner *user, *group;
	struct bucket *bucket; /* NULL: runs */
	struct tree_node at;   /* in plan.queue or plan.running */
	struct tree_node in_bucket;
	struct grant *grants; /* one a task, by rank */
	size_t grant_count;
};

/* What is free on a node. Below zero when the node shrank under its tasks. */
struct space {
	int64_t cpu_milli, memory_bytes;
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

/* When the head can start at the latest, and what is free beside it. */
struct reservation {
	const struct entry *head; /* NULL: not worked out yet */
	int64_t at_ms;            /* FOREVER: hangs on jobs without a limit */
	int64_t last;             /* the job whose end makes room, 0: none known */
	struct space *after;      /* free then, the head in its place */
	struct space *spare;      /* free now and then */
};

struct scratch { /* memory that is reused; no meaning between calls */
	struct picks picks, head_picks;
	struct space *future;
	size_t future_cap;
	struct placement *places;
	size_t place_cap;
};

struct plan {
	char **kinds;
	size_t kind_count, kind_cap;
	struct node_state *nodes;
	struct space *live; /* by node */
	size_t node_count, node_cap, live_cap;
	struct map *node_by_name; /* index + 1 */
	struct map *shape_by_key, *bucket_by_key, *users, *groups;
	struct map *jobs;
	size_t fickle_shapes; /* of several roles: packing them is not monotone, see step.c */
	uint64_t node_version;
	struct tree queue;   /* everyone who waits, by (-priority, id) */
	struct tree running; /* by (end, id) */
	struct tree shapes[SHAPE_STATE_COUNT];
	bool grown;         /* something was given back: BLOCKED may fit now */
	bool nodes_changed; /* NEVER may fit now */
	uint64_t
		version; /* of what is held; BACK and fickle shapes are tried again when it moved */
	uint64_t back_version;
	int64_t back_head; /* whom BACK shapes would have delayed */
	int64_t now_ms;    /* of the last step */
	struct scratch *scratch;
};

/* shape.c: names become numbers, equal requests become one shape. */
int plan_kind(struct plan *p, const char *type);
int plan_kind_find(const struct plan *p, const char *type); /* -1: nobody ever named it */
struct shape *shape_get(struct plan *p,
			const struct plan_job *job); /* one ref for the caller */
/* Not shared and not remembered: to see what a request would meet.  Borrows the job's strings. */
struct shape *shape_make(const struct plan *p, const struct plan_job *job);
void shape_free(struct shape *s);
void shape_put(struct plan *p, struct shape *s);

/* owner.c */
struct owner *owner_get(struct plan *p, bool group, const char *name); /* one ref */
void owner_put(struct plan *p, struct owner *o);
void owner_free(struct owner *o);
void owner_set_quota(struct plan *p, struct owner *o, const struct quota *q);
void owner_charge(struct owner *o, const struct shape *s, int sign);
/* What of the quota is too little for a shape, beside what is held and (if not NULL) `beside`. */
enum quota_short { QUOTA_OK, QUOTA_CPU, QUOTA_MEMORY, QUOTA_DEVICES, QUOTA_JOBS };
enum quota_short owner_short(const struct owner *o, const struct shape *s,
			     const struct shape *beside, int *kind);
enum quota_short owner_never(const struct owner *o, const struct shape *s, int *kind);
int64_t owner_limit(const struct owner *o, int kind); /* -1: none */

/* nodes.c: the table of nodes, and giving and taking. */
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
void fit_empty(const struct plan *p, struct space **spaces,
	       size_t *cap); /* as if nothing ran */
bool fit_ever(const struct plan *p,
	      struct shape *s); /* on nodes where nothing else runs */
/* What one task holds, back into its node's space: as if it had ended. */
void fit_return(const struct plan *p, struct space *s, const struct entry *e,
		const struct grant *g);

/* queue.c: who waits, and in which tree. */
void queue_join(struct plan *p, struct entry *e);
void queue_leave(struct plan *p, struct entry *e);
void queue_move(struct plan *p, struct shape *s, enum shape_state state);
void queue_move_all(struct plan *p, enum shape_state from, enum shape_state to);
void queue_unpark(struct plan *p, struct owner *o);
bool queue_quota_ok(struct plan *p, struct bucket *b); /* else parks it */
struct owner *queue_quota_owner(const struct bucket *b, enum quota_short *what,
				int *kind);
struct entry *bucket_first(const struct bucket *b);
struct bucket *shape_first(const struct shape *s);
const struct entry *queue_peek_head(const struct plan *p); /* the same, without parking */
struct entry *queue_head(
	struct plan *p); /* the first that waits for room, parking whom a quota stops */

/* backfill.c: when can the head start, and who does not make that later. */
void backfill_reserve(const struct plan *p, const struct entry *head,
		      struct reservation *r);
/* May e, which fits now by `picks`, start beside the head?  May find other picks. */
bool backfill_ok(const struct plan *p, const struct entry *e, int64_t now_ms,
		 struct reservation *r, struct picks *picks);
bool backfill_in_time(const struct entry *e, int64_t now_ms, const struct reservation *r);
bool backfill_quota_ok(const struct entry *e, const struct entry *head);
void backfill_fini(struct reservation *r);
