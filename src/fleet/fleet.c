// SPDX-License-Identifier: Apache-2.0
#include "fleet/fleet.h"

#include <string.h>

#include "base/mem.h"
#include "fleet/inside.h"

struct fleet *fleet_create(void)
{
	struct fleet *f = mem_alloc(1, sizeof *f);

	f->by_name = map_create();
	f->live.fleet = f;
	f->version = 1;
	return f;
}

void fleet_destroy(struct fleet *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->live.count; i++) {
		free(f->machines[i].slots);
		free(f->machines[i].ports);
	}
	for (size_t i = 0; i < f->kind_count; i++)
		free(f->kinds[i]);
	free(f->kinds);
	free(f->machines);
	free(f->live.spaces);
	free(f->live.kept);
	map_destroy(f->by_name);
	free(f);
}

size_t fleet_count(const struct fleet *f)
{
	return f->live.count;
}

const struct node *fleet_node(const struct fleet *f, int node)
{
	return &f->machines[node].node;
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
	return (int)f->kind_count++;
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
		for (int k = 0; k < FLEET_POOLS && m->node.up; k++) {
			if (m->pools[k].kind >= 0 && kinds >> m->pools[k].kind & 1)
				sum += __builtin_popcountll(m->pools[k].total);
		}
	}
	return sum;
}

void fleet_used(const struct fleet *f, int node, struct resources *used, int *tasks)
{
	const struct machine *m = &f->machines[node];

	*used = (struct resources){ .cpu_milli = m->cpu_milli,
				    .memory_bytes = m->memory_bytes };
	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].used)
			resources_set_device(used, f->kinds[m->pools[i].kind],
					     __builtin_popcountll(m->pools[i].used));
	}
	*tasks = m->tasks;
}

int64_t machine_task_limit(const struct node *n)
{
	return n->max_tasks > 0 ? n->max_tasks : INT64_C(1) << 40;
}

void fleet_refresh(struct fleet *f, int node)
{
	const struct machine *m = &f->machines[node];
	struct space *s = &f->live.spaces[node];

	s->open = m->node.up && m->node.state == NODE_OPEN;
	s->cpu_milli = m->node.capacity.cpu_milli - m->cpu_milli;
	s->memory_bytes = m->node.capacity.memory_bytes - m->memory_bytes;
	s->tasks = machine_task_limit(&m->node) - m->tasks;
	for (int i = 0; i < FLEET_POOLS; i++)
		s->devices[i] =
			__builtin_popcountll(m->pools[i].total & ~m->pools[i].used);
}

const struct view *fleet_now(const struct fleet *f)
{
	return &f->live;
}
