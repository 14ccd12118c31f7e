// SPDX-License-Identifier: Apache-2.0
#include "plan/tree.h"

#include "tap.h"

#define N 300

static bool sound(const struct tree *t, const struct tree_node *nodes, size_t *count)
{
	size_t rank = 0;
	const struct tree_node *last = NULL;

	for (const struct tree_node *n = tree_first(t); n; n = tree_next(n), rank++) {
		if (tree_rank(n) != rank || tree_nth(t, rank) != n ||
		    (last && tree_cmp(last, n->first, n->second) >= 0))
			return false;
		if (tree_after(t, n->first, n->second) != tree_next(n))
			return false;
		last = n;
	}
	*count = 0;
	for (int i = 0; i < N; i++)
		*count += nodes[i].size > 0;
	return rank == *count && tree_count(t) == rank && !tree_nth(t, rank);
}

int main(void)
{
	static struct tree_node nodes[N];
	struct tree t = { 0 };
	uint64_t x = 7;
	size_t count = 0, steps = 0;
	bool ok = true;

	for (; steps < 20000 && ok; steps++) {
		struct tree_node *n;
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		n = &nodes[(x >> 33) % N];
		if (n->size)
			tree_remove(&t, n);
		else
			tree_add(&t, n, (int64_t)((x >> 40) % 5) - 2, n - nodes);
		if (steps % 16 == 0)
			ok = sound(&t, nodes, &count);
	}
	OK(ok,
	   "after any additions and removals the order, ranks and successors are right");
	while (tree_first(&t))
		tree_remove(&t, tree_first(&t));
	OK(tree_count(&t) == 0 && !tree_after(&t, INT64_MIN, 0),
	   "an emptied tree is empty");
	return END();
}
