// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/mem.h"
#include "fleet/inside.h"

void chunks_fini(struct chunks *c)
{
	for (size_t i = 0; i < c->slab_count; i++)
		free(c->slabs[i]);
	free(c->slabs);
	free(c->at);
	free(c->refs);
	free(c->free);
	*c = (struct chunks){ 0 };
}

void chunks_reset(struct chunks *c, size_t bytes)
{
	uint64_t generation = c->generation + 1;

	chunks_fini(c);
	c->bytes = bytes;
	c->generation = generation;
}

void chunks_reserve(struct chunks *c, size_t count)
{
	size_t more = count > c->count ? count - c->count : 0;
	char *slab;

	if (!more)
		return;
	slab = mem_alloc(1, more * c->bytes + CACHE_LINE);
	mem_grow(&c->slabs, &c->slab_cap, c->slab_count, sizeof *c->slabs);
	c->slabs[c->slab_count++] = slab;
	slab += -(uintptr_t)slab % CACHE_LINE; /* a small row lies in one line */
	c->cap = count;
	c->at = mem_realloc(c->at, count, sizeof *c->at);
	c->refs = mem_realloc(c->refs, count, sizeof *c->refs);
	c->free = mem_realloc(c->free, count, sizeof *c->free);
	for (size_t i = more; i > 0; i--)
		c->free[c->free_count++] = (uint32_t)(c->count + i - 1);
	for (size_t i = 0; i < more; i++, c->count++) {
		c->at[c->count] = slab + i * c->bytes;
		c->refs[c->count] = 0;
	}
}

uint32_t chunks_get(struct chunks *c)
{
	uint32_t id;

	if (!c->free_count)
		chunks_reserve(c, c->count ? 2 * c->count : 4);
	id = c->free[--c->free_count];
	c->refs[id] = 1;
	return id;
}

void chunks_unref(struct chunks *c, uint32_t id)
{
	if (--c->refs[id] == 0)
		c->free[c->free_count++] = id;
}

/* Views are of a fleet that they may not change, but for the chunks they share. */
static struct chunks *chunks_of(const struct view *v)
{
	return (struct chunks *)(uintptr_t)&v->fleet->chunks;
}

void view_drop(struct view *v)
{
	struct chunks *c = v->fleet ? chunks_of(v) : NULL;

	for (size_t i = 0; c && v->generation == c->generation && i < v->chunk_count; i++)
		chunks_unref(c, v->ids[i]);
	v->chunk_count = v->count = 0;
}

void view_fini(struct view *v)
{
	view_drop(v);
	free(v->chunks);
	free(v->ids);
	free(v->bits);
	free(v->counts);
	*v = (struct view){ 0 };
}

static void table_reserve(struct view *v, size_t chunks)
{
	if (chunks <= v->chunk_cap)
		return;
	v->chunk_cap = chunks < 2 * v->chunk_cap ? 2 * v->chunk_cap : chunks;
	v->chunks = mem_realloc(v->chunks, v->chunk_cap, sizeof *v->chunks);
	v->ids = mem_realloc(v->ids, v->chunk_cap, sizeof *v->ids);
}

void view_grow(struct view *v, size_t nodes)
{
	struct chunks *c = chunks_of(v);
	size_t need = (nodes + CHUNK_NODES - 1) / CHUNK_NODES;

	v->generation = c->generation;
	v->count = nodes;
	table_reserve(v, need);
	for (; v->chunk_count < need; v->chunk_count++) {
		uint32_t id = chunks_get(c);
		v->ids[v->chunk_count] = id;
		v->chunks[v->chunk_count] = c->at[id];
		memset(c->at[id], 0, c->bytes);
	}
}

void view_unshare(struct view *v, size_t chunk)
{
	struct chunks *c = chunks_of(v);
	uint32_t old = v->ids[chunk], id = chunks_get(c);

	memcpy(c->at[id], c->at[old], c->bytes);
	chunks_unref(c, old);
	v->ids[chunk] = id;
	v->chunks[chunk] = c->at[id];
}

void view_share(struct view *to, const struct view *from)
{
	struct chunks *c = chunks_of(from);

	table_reserve(to, from->chunk_count);
	to->generation = c->generation;
	to->count = from->count;
	to->chunk_count = from->chunk_count;
	if (!to->chunk_count)
		return; /* no nodes yet */
	memcpy(to->ids, from->ids, from->chunk_count * sizeof *to->ids);
	memcpy(to->chunks, from->chunks, from->chunk_count * sizeof *to->chunks);
	for (size_t i = 0; i < to->chunk_count; i++)
		c->refs[to->ids[i]]++;
}

void view_index_reserve(struct view *v)
{
	const struct layout *l = &v->fleet->layout;

	if (l->bits > v->bits_cap) {
		v->bits_cap = l->bits;
		v->bits = mem_realloc(v->bits, l->bits, sizeof *v->bits);
	}
	if (l->counts > v->counts_cap) {
		v->counts_cap = l->counts;
		v->counts = mem_realloc(v->counts, l->counts, sizeof *v->counts);
	}
}
