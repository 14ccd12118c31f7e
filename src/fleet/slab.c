// SPDX-License-Identifier: Apache-2.0
#include "fleet/slab.h"

#include <string.h>

#include "base/mem.h"

#define BLOCK_GRANTS 256

void slab_fini(struct slab *s)
{
	for (size_t i = 0; i < s->block_count; i++)
		free(s->blocks[i]);
	free(s->blocks);
	*s = (struct slab){ 0 };
}

static int size_of(size_t count)
{
	return count <= 1 ? 0 : 64 - __builtin_clzll(count - 1);
}

/* The link of a free run lies in its first grant. */
static void push(struct slab *s, int size, struct grant *run)
{
	void *next = s->free[size];

	memcpy(run, &next, sizeof next);
	s->free[size] = run;
}

static struct grant *pop(struct slab *s, int size)
{
	struct grant *run = s->free[size];
	void *next;

	memcpy(&next, run, sizeof next);
	s->free[size] = next;
	return run;
}

/* What is left of the last block is cut into runs, so that nothing is lost. */
static void block_add(struct slab *s, size_t grants)
{
	for (int size = SLAB_SIZES - 1; size >= 0; size--) {
		while (s->rest_count >> size) {
			push(s, size, s->rest);
			s->rest += (size_t)1 << size;
			s->rest_count -= (size_t)1 << size;
		}
	}
	mem_grow(&s->blocks, &s->block_cap, s->block_count, sizeof *s->blocks);
	s->rest = mem_alloc(grants, sizeof *s->rest);
	s->rest_count = grants;
	s->blocks[s->block_count++] = s->rest;
}

void slab_reserve(struct slab *s, size_t grants)
{
	if (s->rest_count < grants)
		block_add(s, grants);
}

/* Half of a larger run, when there is one. */
static struct grant *split(struct slab *s, int size)
{
	int from = size + 1;
	struct grant *run;

	while (from < SLAB_SIZES && !s->free[from])
		from++;
	if (from == SLAB_SIZES)
		return NULL;
	run = pop(s, from);
	while (from-- > size)
		push(s, from, run + ((size_t)1 << from));
	return run;
}

struct grant *slab_get(struct slab *s, size_t count)
{
	int size = size_of(count);
	size_t room = (size_t)1 << size;
	struct grant *run;

	if (s->free[size]) {
		run = pop(s, size);
	} else if (s->rest_count >= room) {
		run = s->rest;
		s->rest += room;
		s->rest_count -= room;
	} else if (!(run = split(s, size))) {
		block_add(s, room > BLOCK_GRANTS ? room : BLOCK_GRANTS);
		return slab_get(s, count);
	}
	for (size_t i = 0; i < count; i++)
		run[i] = (struct grant){ 0 };
	return run;
}

void slab_put(struct slab *s, struct grant *items, size_t count)
{
	push(s, size_of(count), items);
}
