// SPDX-License-Identifier: Apache-2.0
#include "plan/tree.h"

#include <assert.h>
#include <stdbool.h>

static uint64_t weight(const struct tree_node *n)
{
	uint64_t x = (uint64_t)n->second * 0x9e3779b97f4a7c15ULL ^ (uint64_t)n->first;

	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	x ^= x >> 32;
	x *= 0xd6e8feb86659fd93ULL;
	return x ^ (x >> 32);
}

int tree_cmp(const struct tree_node *a, int64_t first, int64_t second)
{
	if (a->first != first)
		return a->first < first ? -1 : 1;
	if (a->second != second)
		return a->second < second ? -1 : 1;
	return 0;
}

static size_t size_of(const struct tree_node *n)
{
	return n ? n->size : 0;
}

static void measure(struct tree_node *n)
{
	n->size = 1 + size_of(n->left) + size_of(n->right);
}

static void replace_child(struct tree *t, struct tree_node *old, struct tree_node *new)
{
	struct tree_node *up = old->parent;

	if (!up)
		t->root = new;
	else if (up->left == old)
		up->left = new;
	else
		up->right = new;
	if (new)
		new->parent = up;
}

/* Lifts n above its parent. */
static void rotate(struct tree *t, struct tree_node *n)
{
	struct tree_node *up = n->parent;
	bool was_left = up->left == n;
	struct tree_node *middle = was_left ? n->right : n->left;

	replace_child(t, up, n);
	if (was_left) {
		up->left = middle;
		n->right = up;
	} else {
		up->right = middle;
		n->left = up;
	}
	if (middle)
		middle->parent = up;
	up->parent = n;
	measure(up);
	measure(n);
}

void tree_add(struct tree *t, struct tree_node *n, int64_t first, int64_t second)
{
	struct tree_node **at = &t->root, *up = NULL;

	assert(n->size == 0);
	*n = (struct tree_node){ .first = first, .second = second, .size = 1 };
	if (!t->head || tree_cmp(t->head, first, second) > 0)
		t->head = n;
	while (*at) {
		up = *at;
		up->size++;
		at = tree_cmp(up, first, second) > 0 ? &up->left : &up->right;
	}
	*at = n;
	n->parent = up;
	for (uint64_t mine = weight(n); n->parent && weight(n->parent) > mine;)
		rotate(t, n);
}

void tree_remove(struct tree *t, struct tree_node *n)
{
	assert(n->size > 0);
	if (t->head == n)
		t->head = tree_next(n);
	while (n->left && n->right)
		rotate(t, weight(n->left) < weight(n->right) ? n->left : n->right);
	replace_child(t, n, n->left ? n->left : n->right);
	for (struct tree_node *up = n->parent; up; up = up->parent)
		up->size--;
	n->size = 0;
}

size_t tree_count(const struct tree *t)
{
	return size_of(t->root);
}

size_t tree_rank(const struct tree_node *n)
{
	size_t before = size_of(n->left);

	for (; n->parent; n = n->parent) {
		if (n->parent->right == n)
			before += 1 + size_of(n->parent->left);
	}
	return before;
}

struct tree_node *tree_nth(const struct tree *t, size_t rank)
{
	struct tree_node *n = t->root;

	while (n) {
		size_t before = n->left ? n->left->size : 0;

		if (rank == before)
			return n;
		if (rank < before) {
			n = n->left;
			continue;
		}
		rank -= before + 1;
		n = n->right;
	}
	return NULL;
}

struct tree_node *tree_first(const struct tree *t)
{
	return t->head;
}

struct tree_node *tree_next(const struct tree_node *n)
{
	struct tree_node *at = n->right;

	if (at) {
		while (at->left)
			at = at->left;
		return at;
	}
	for (at = n->parent; at && at->right == n; at = at->parent)
		n = at;
	return at;
}

struct tree_node *tree_after(const struct tree *t, int64_t first, int64_t second)
{
	struct tree_node *best = NULL;

	for (struct tree_node *n = t->root; n;) {
		if (tree_cmp(n, first, second) > 0) {
			best = n;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return best;
}

size_t tree_before(const struct tree *t, int64_t first, int64_t second)
{
	size_t before = 0;

	for (const struct tree_node *n = t->root; n;) {
		if (tree_cmp(n, first, second) < 0) {
			before += 1 + size_of(n->left);
			n = n->right;
		} else {
			n = n->left;
		}
	}
	return before;
}
