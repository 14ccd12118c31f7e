// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet.h"

#include <string.h>

#include "base/mem.h"
#include "fleet/scores.h"
#include "fleet/space.h"

struct fleet *fleet_create(void)
{
	struct fleet *f = mem_alloc(1, sizeof *f);

	f->by_name = map_create();
	f->live.fleet = f;
	f->version = 1;
	f->layout.stale = true;
	chunks_reset(&f->chunks, CACHE_LINE);
	fleet_reserve_roles(f, 8);
	return f;
}

static void machine_fini(struct machine *m)
{
	for (int i = 0; i < FLEET_POOLS; i++)
		free(m->pools[i].taken);
	free(m->more_slots);
	free(m->node);
	free(m->ports);
	free(m->likeness);
}

void fleet_destroy(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->live.count; i++)
		machine_fini(&f->machines[i]);
	for (size_t i = 0; i < f->kind_count; i++)
		free(f->kinds[i]);
	free(f->kinds);
	free(f->machine_block);
	view_fini(&f->live);
	view_fini(&f->empty);
	layout_fini(&f->layout);
	chunks_fini(&f->chunks);
	slab_fini(&f->grants);
	scores_destroy(f->scores);
	free(f->trial);
	free(f->attempt);
	free(f->choice);
	free(f->bounds);
	free(f->marks);
	free(f->kept);
	free(f->cursors);
	free(f->role_at);
	map_destroy(f->by_name);
	free(f);
}

void fleet_reserve(struct fleet *f, size_t nodes, size_t tasks)
{
	machines_reserve(f, nodes);
	/* Three views beside the live one may differ from it everywhere. */
	f->chunks_wanted = 4 * (nodes / CHUNK_NODES + 1);
	if (f->row_bytes)
		chunks_reserve(&f->chunks, f->chunks_wanted);
	slab_reserve(&f->grants, 2 * tasks); /* runs are powers of two */
}

size_t fleet_count(const struct fleet *f)
{
	return f->live.count;
}

const struct node *fleet_node(const struct fleet *f, int node)
{
	return f->machines[node].node;
}

int fleet_find(const struct fleet *f, const char *name)
{
	return (int)(uintptr_t)map_gets(f->by_name, name) - 1;
}

uint64_t fleet_version(const struct fleet *f)
{
	return f->version;
}

size_t fleet_kinds(const struct fleet *f)
{
	return f->kind_count;
}

const char *fleet_kind_name(const struct fleet *f, int kind)
{
	return f->kinds[kind];
}

/* Where ties are broken by kind, names decide and not who came first. */
static void kinds_rank(struct fleet *f)
{
	for (size_t i = 0; i < f->kind_count; i++) {
		f->kind_rank[i] = 0;
		for (size_t k = 0; k < f->kind_count; k++)
			f->kind_rank[i] += strcmp(f->kinds[k], f->kinds[i]) < 0;
	}
}

int fleet_kind(struct fleet *f, const char *type)
{
	for (size_t i = 0; i < f->kind_count; i++) {
		if (strcmp(f->kinds[i], type) == 0)
			return (int)i;
	}
	if (f->kind_count == KINDS_MAX)
		return KIND_NONE;
	mem_grow(&f->kinds, &f->kind_cap, f->kind_count, sizeof *f->kinds);
	f->kinds[f->kind_count] = mem_strdup(type);
	f->kind_count++;
	kinds_rank(f);
	return (int)f->kind_count - 1;
}

uint64_t fleet_kinds_of(const struct fleet *f, const char *asked)
{
	uint64_t out = 0;

	for (size_t i = 0; i < f->kind_count; i++) {
		if (device_matches(asked, f->kinds[i]))
			out |= (uint64_t)1 << i;
	}
	return out;
}

int fleet_pool_kind(const struct fleet *f, int node, int pool)
{
	return f->machines[node].pools[pool].kind;
}

int64_t fleet_devices(const struct fleet *f, uint64_t kinds)
{
	int64_t sum = 0;

	for (size_t i = 0; i < f->live.count; i++) {
		const struct machine *m = &f->machines[i];
		for (int k = 0; k < FLEET_POOLS && m->node->up; k++) {
			if (m->pools[k].kind >= 0 && kinds >> m->pools[k].kind & 1)
				sum += bits_count(m->pools[k].total);
		}
	}
	return sum;
}

void fleet_used(const struct fleet *f, int node, struct resources *used, int *tasks)
{
	const struct machine *m = &f->machines[node];
	struct taken t = machine_taken(f, node);

	*used = (struct resources){ .cpu_milli = t.cpu_milli,
				    .memory_bytes = t.memory_bytes };
	for (int i = 0; i < FLEET_POOLS; i++) {
		const struct pool *p = &m->pools[i];
		uint64_t touched = p->used;
		for (int d = 0; d < DEVICES_MAX && p->taken; d++)
			touched |= p->taken[d] ? (uint64_t)1 << d : 0;
		if (touched)
			resources_set_device(used, f->kinds[p->kind],
					     bits_count(touched));
	}
	*tasks = t.tasks;
}
