// SPDX-License-Identifier: Apache-2.0
#include "engine/agenda.h"

#include "base/mem.h"

static bool sooner(const struct happening *a, const struct happening *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->seq < b->seq;
}

void agenda_fini(struct agenda *a)
{
	free(a->heap);
	*a = (struct agenda){ 0 };
}

uint64_t agenda_add(struct agenda *a, struct happening h)
{
	size_t i = a->count;

	h.seq = ++a->seq;
	mem_grow(&a->heap, &a->cap, a->count, sizeof *a->heap);
	a->count++;
	for (; i > 0 && sooner(&h, &a->heap[(i - 1) / 2]); i = (i - 1) / 2)
		a->heap[i] = a->heap[(i - 1) / 2];
	a->heap[i] = h;
	return h.seq;
}

const struct happening *agenda_first(const struct agenda *a)
{
	return a->count ? &a->heap[0] : NULL;
}

struct happening agenda_take(struct agenda *a)
{
	struct happening first = a->heap[0];
	struct happening last = a->heap[--a->count];
	size_t i = 0, child;

	while ((child = 2 * i + 1) < a->count) {
		if (child + 1 < a->count && sooner(&a->heap[child + 1], &a->heap[child]))
			child++;
		if (!sooner(&a->heap[child], &last))
			break;
		a->heap[i] = a->heap[child];
		i = child;
	}
	if (a->count)
		a->heap[i] = last;
	return first;
}
