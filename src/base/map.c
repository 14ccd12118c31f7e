// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

/* Entries stand in insertion order in one array; a table of indexes finds them.
 * A removed entry leaves a hole (value NULL) until the next growth packs them. */
struct entry {
	int64_t key;
	char *name;
	uint64_t hash;
	void *value;
};

struct map {
	struct entry *entries;
	size_t used, cap, count;
	uint32_t *slots; /* index + 1, 0 is empty */
	size_t slot_count;
};

static uint64_t mix(uint64_t x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdULL;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ULL;
	return x ^ (x >> 33);
}

static uint64_t hash_of(int64_t key, const char *name)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	if (!name)
		return mix((uint64_t)key);
	for (; *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001b3ULL;
	return mix(h);
}

struct map *map_create(void)
{
	return mem_alloc(1, sizeof(struct map));
}

void map_destroy(struct map *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->used; i++)
		free(m->entries[i].name);
	free(m->entries);
	free(m->slots);
	free(m);
}

size_t map_count(const struct map *m)
{
	return m->count;
}

static bool same(const struct entry *e, uint64_t hash, int64_t key, const char *name)
{
	if (e->hash != hash || !e->value)
		return false;
	return name ? e->name && strcmp(e->name, name) == 0 : !e->name && e->key == key;
}

static struct entry *find(const struct map *m, int64_t key, const char *name)
{
	uint64_t hash = hash_of(key, name);

	if (!m->slot_count)
		return NULL;
	for (size_t i = hash & (m->slot_count - 1); m->slots[i];
	     i = (i + 1) & (m->slot_count - 1)) {
		struct entry *e = &m->entries[m->slots[i] - 1];
		if (same(e, hash, key, name))
			return e;
	}
	return NULL;
}

static void index_entry(struct map *m, size_t at)
{
	size_t i = m->entries[at].hash & (m->slot_count - 1);

	while (m->slots[i])
		i = (i + 1) & (m->slot_count - 1);
	m->slots[i] = (uint32_t)(at + 1);
}

static void rebuild(struct map *m)
{
	size_t kept = 0;

	for (size_t i = 0; i < m->used; i++) {
		if (m->entries[i].value)
			m->entries[kept++] = m->entries[i];
		else
			free(m->entries[i].name);
	}
	m->used = kept;
	m->cap = kept < 8 ? 16 : kept * 2;
	m->entries = mem_realloc(m->entries, m->cap, sizeof *m->entries);
	m->slot_count = 32;
	while (m->slot_count < m->cap * 2)
		m->slot_count *= 2;
	free(m->slots);
	m->slots = mem_alloc(m->slot_count, sizeof *m->slots);
	for (size_t i = 0; i < m->used; i++)
		index_entry(m, i);
}

static void *put(struct map *m, int64_t key, const char *name, void *value)
{
	struct entry *e = find(m, key, name);
	void *old = NULL;

	if (e) {
		old = e->value;
		e->value = value;
		return old;
	}
	if (m->used == m->cap)
		rebuild(m);
	m->entries[m->used] = (struct entry){ .key = key,
					      .name = mem_strdup(name),
					      .hash = hash_of(key, name),
					      .value = value };
	index_entry(m, m->used++);
	m->count++;
	return NULL;
}

static void *del(struct map *m, int64_t key, const char *name)
{
	struct entry *e = find(m, key, name);
	void *old;

	if (!e)
		return NULL;
	old = e->value;
	e->value = NULL;
	m->count--;
	return old;
}

void *map_get(const struct map *m, int64_t key)
{
	struct entry *e = find(m, key, NULL);

	return e ? e->value : NULL;
}

void *map_put(struct map *m, int64_t key, void *value)
{
	return put(m, key, NULL, value);
}

void *map_del(struct map *m, int64_t key)
{
	return del(m, key, NULL);
}

void *map_gets(const struct map *m, const char *key)
{
	struct entry *e = find(m, 0, key);

	return e ? e->value : NULL;
}

void *map_puts(struct map *m, const char *key, void *value)
{
	return put(m, 0, key, value);
}

void *map_dels(struct map *m, const char *key)
{
	return del(m, 0, key);
}

void *map_next(const struct map *m, size_t *it)
{
	while (*it < m->used) {
		void *v = m->entries[(*it)++].value;
		if (v)
			return v;
	}
	return NULL;
}
