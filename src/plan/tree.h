// SPDX-License-Identifier: Apache-2.0
/* tree.h - an ordered set of things that carry their own links; knows ranks.
 *
 * Ordered by (first, second).  A treap whose priorities are a hash of the key: the
 * shape depends on what is in it and never on the order in which it came, so a plan
 * rebuilt after a crash walks the same way.  All operations are O(log n); the first is
 * at hand.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct tree_node {
	struct tree_node *parent, *left, *right;
	int64_t first, second;
	size_t size; /* of the subtree; 0: in no tree */
};

struct tree {
	struct tree_node *root, *head;
};

/* No two nodes of a tree have the same key. */
void tree_add(struct tree *t, struct tree_node *n, int64_t first, int64_t second);
void tree_remove(struct tree *t, struct tree_node *n);
size_t tree_count(const struct tree *t);
size_t tree_rank(const struct tree_node *n); /* how many of its tree are before it */
struct tree_node *tree_nth(const struct tree *t, size_t rank); /* NULL: so few */
struct tree_node *tree_first(const struct tree *t);
struct tree_node *tree_next(const struct tree_node *n);
/* The first behind the key, which need not be in the tree. */
struct tree_node *tree_after(const struct tree *t, int64_t first, int64_t second);
/* How many of the tree are before the key. */
size_t tree_before(const struct tree *t, int64_t first, int64_t second);
int tree_cmp(const struct tree_node *a, int64_t first, int64_t second);

#define TREE_OF(node, type, member)                                                      \
	((type *)(void *)((node) ? (char *)(node)-offsetof(type, member) : NULL))
