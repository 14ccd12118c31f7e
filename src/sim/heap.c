// SPDX-License-Identifier: Apache-2.0
#include "sim/heap.h"

#include "base/mem.h"

static bool before(const struct moment *a, const struct moment *b)
{
	return a->at_ms != b->at_ms ? a->at_ms < b->at_ms : a->id < b->id;
}

void heap_add(struct heap *h, int64_t at_ms, int64_t id)
{
	struct moment m = { at_ms, id };
	size_t i = h->count;

	mem_grow(&h->items, &h->cap, h->count, sizeof *h->items);
	h->count++;
	for (; i && before(&m, &h->items[(i - 1) / 2]); i = (i - 1) / 2)
		h->items[i] = h->items[(i - 1) / 2];
	h->items[i] = m;
}

const struct moment *heap_first(const struct heap *h)
{
	return h->count ? &h->items[0] : NULL;
}

void heap_drop_first(struct heap *h)
{
	struct moment last = h->items[--h->count];
	size_t i = 0;

	for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
		if (child + 1 < h->count &&
		    before(&h->items[child + 1], &h->items[child]))
			child++;
		if (!before(&h->items[child], &last))
			break;
		h->items[i] = h->items[child];
	}
	if (h->count)
		h->items[i] = last;
}

void heap_fini(struct heap *h)
{
	free(h->items);
	*h = (struct heap){ 0 };
}
