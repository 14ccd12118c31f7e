// SPDX-License-Identifier: Apache-2.0
/* layout.h - the order of the nodes, and the index over what is free on them.
 *
 * A node's rank is its place in the order of (rack, switch, name), so racks and switches
 * are runs of ranks.  Nodes that are alike (devices, islands, labels) form a class; in
 * its class a node has a position, in the order of ranks.  For every class a view keeps
 * buckets of nodes that have equally much free, each a bitmap over positions with a
 * summary above it, and how many nodes of a bucket each rack and switch has: so the
 * first node that will do is found without looking at the others.
 */
#pragma once

#include "fleet/rows.h"

#define BUCKET_WORDS 2  /* for DEVICES_MAX + 1 buckets */
#define CLASSES_MAX  64 /* more kinds of nodes than that: the rarest share the last one */

enum class_order {
	CLASS_IDLE,  /* bucket: how many devices are idle, of all kinds */
	CLASS_CPU,   /* nodes without devices; bucket: the binary logarithm of idle cpu */
	CLASS_RINGS, /* bucket: the state of the two rings, see rings.h */
};

struct span {
	int from, to; /* positions; `to` is the first that is not in it */
};

struct class
{
	enum class_order order;
	int count, buckets;
	int *nodes;       /* by position */
	int words, sums;  /* of a bucket's bitmap and its summary */
	size_t some_at;   /* in view.bits: which buckets have nodes at all, */
	size_t bits_at;   /* then for each bucket words, then sums */
	size_t counts_at; /* in view.counts: a number for each bucket, */
	size_t racks_at;  /* then for each rack and bucket, */
	size_t nets_at;   /* then for each switch and bucket */
	struct span *racks, *nets;
	const char *likeness; /* of its nodes; NULL: they are of many kinds */
};

struct layout {
	struct class classes[CLASSES_MAX];
	size_t class_count;
	int rack_count, net_count;
	int rack_most, net_most; /* nodes in the largest */
	int *by_rank;            /* nodes */
	size_t bits, counts;
	uint64_t version;
	bool stale; /* a node came or changed what is fixed; nothing may be asked of it */
};

void layout_fini(struct layout *l);
/* Puts in order after nodes were set; all that asks calls it first. */
void layout_make(struct fleet *f);
static inline void layout_need(const struct fleet *f, const struct layout *l)
{
	if (l->stale)
		layout_make((struct fleet *)(uintptr_t)f);
}

int index_buckets(enum class_order order, int devices);
int index_cpu_bucket(int64_t cpu_milli);
void view_index_reserve(struct view *v);
void index_clear(struct view *v); /* no node is in it yet */
/* Puts a node where what is free on it belongs. */
void index_move(struct view *v, int node, struct space *s);
/* The first bucket from `from` on that has nodes; -1: none. */
int index_bucket(const struct view *v, const struct class *c, int from);
/* The first position of a bucket from `from` on, before `to`; -1: none. */
int index_next(const struct view *v, const struct class *c, int bucket, int from, int to);
