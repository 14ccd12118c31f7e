// SPDX-License-Identifier: Apache-2.0
/* scores.h - scores as they are kept, inside this room.
 *
 * For every ask that scores decide about there is a table with the score of each node.
 * A node that changes is only written down; when a table is next used, the nodes that
 * changed since are rated again, for this ask.  So a decision costs by how much changed
 * and hardly by the number of nodes.
 */
#pragma once

#include "fleet/inside.h"
#include "fleet/rate.h"
#include "fleet/space.h"

#define BLOCK_NODES   64   /* the best of so many is known */
#define LOG_NODES     4096 /* changes that are remembered; who missed more starts over */
#define CLASSES_KNOWN 64   /* of nodes */
#define SCARCE_LEVELS 64   /* of what is free in a class */

struct table {
	const struct ask
		*owner; /* and its score_at is this table, else it is forgotten */
	uint64_t epoch, seen, used;
	int32_t *scores; /* by slot */
	int32_t *best;   /* by block */
};

struct node_class {
	int64_t most, free,
		level;    /* milli of devices; free in steps of 1/SCARCE_LEVELS */
	int64_t scarcity; /* its square, in 1/1000 */
};

struct demand {
	uint64_t classes; /* that could hold it */
	int64_t part;     /* of all that is asked for, in 1/1,000,000 */
};

struct scores {
	struct rater rater;
	struct typical typical;
	uint64_t seed, draws;
	uint64_t epoch; /* tables of an older one are worthless */
	size_t kinds;   /* that the fleet had when it was learned what is typical */
	bool matters;   /* the yard's rule differs from taking the tightest */
	/* Nodes that are alike stand together, by rank, from the start of a block on. */
	uint64_t version; /* of the fleet, for which this is so */
	int *slots;       /* the node there; -1: none */
	int *slot_of;     /* by node */
	int slot_count, slot_cap, node_cap;
	uint8_t *class_of;          /* by block */
	int classes[CLASSES_KNOWN]; /* a node of each */
	int class_count;
	struct node_class of[CLASSES_KNOWN];
	struct known { /* by node: what is left in fragments, and for which state */
		uint64_t epoch, last;
		int64_t fragment;
	} * known;
	int *free; /* by node: milli of devices, as it was counted */
	struct demand demands[TYPICAL_MAX];
	size_t demand_count;
	bool scarce_stale;
	struct table *tables;
	size_t table_count, table_cap;
	uint64_t uses;
	uint32_t log[LOG_NODES];
	uint64_t log_end;
	uint64_t *last;               /* by node: where in the log it stands last, +1 */
	uint16_t (*held)[TASK_SIZES]; /* by node: tasks there, for clustering */
	size_t held_cap;
	int *hidden; /* no meaning between calls */
	size_t hidden_cap;
};

void scores_destroy(struct scores *s); /* NULL is fine */
/* Do scores choose the place of that ask?  Else the tightest node is taken. */
bool scores_decide(const struct fleet *f, const struct ask *a);
/* The best place for it now.  False: there is none. */
bool scores_fit(struct fleet *f, const struct ask *a, const struct stay *stay,
		struct pick *out);
/* A task came to a node (by 1) or left it (by -1): what is free there changed. */
void scores_moved(struct fleet *f, int node, const struct ask_role *r, int by);

/* Puts nodes in order after some were set, or after it was learned what is typical. */
void scores_order(struct fleet *f);
/* What a node has free now, as the rules see it; `n`: what the task wants, or NULL. */
void stand_read(const struct fleet *f, int node, const struct need *n, struct stand *out);
/* The term of that name for a task on a node of a class. */
int64_t scarcity_of(struct scores *s, int class, const struct ask_role *r);
void scarcity_moved(struct fleet *f, int node); /* what is free there changed */
