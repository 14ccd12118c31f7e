// SPDX-License-Identifier: Apache-2.0
/* All tasks of a gang inside one island of one node. */
#include <string.h>

#include "fleet/island.h"

/* Leaves on a copy of what is free only the devices of one island. */
static void narrow(const struct fleet *f, int node, struct space *s, int island)
{
	const struct machine *m = &f->machines[node];
	int size = m->island;
	uint64_t mask = (size >= DEVICES_MAX ? UINT64_MAX : ((uint64_t)1 << size) - 1)
			<< island * size;

	for (size_t i = 0; i < f->row_pools; i++) {
		uint16_t *left = space_left(f, s) + m->pools[i].first;
		int count = bits_count(m->pools[i].total);
		s->idle[i] &= mask;
		for (int d = 0; d < count && s->shared; d++) {
			if (!(mask >> d & 1) && left[d]) {
				left[d] = 0;
				s->shared--;
			}
		}
	}
}

static int island_count(const struct machine *m)
{
	uint64_t all = 0;

	for (int i = 0; i < FLEET_POOLS; i++)
		all |= m->pools[i].total;
	if (!m->island || !all)
		return 1;
	return (DEVICES_MAX - __builtin_clzll(all) + m->island - 1) / m->island;
}

static bool all_fit(const struct fleet *f, int node, struct space *s, const struct ask *a,
		    const int *counts)
{
	for (size_t k = 0; k < a->role_count; k++) {
		const struct ask_role *r = &a->roles[a->order[k]];
		int count = counts[a->order[k]];
		if (space_room(f, node, s, r, count) < count)
			return false;
		space_take(f, node, s, r, count);
	}
	return true;
}

bool node_holds(const struct fleet *f, int node, const struct space *s,
		const struct ask *a, const int *counts)
{
	memcpy(f->attempt, s, f->row_bytes);
	return all_fit(f, node, f->attempt, a, counts);
}

static int idle_in(const struct fleet *f, const struct space *s)
{
	int sum = 0;

	for (size_t i = 0; i < f->row_pools; i++)
		sum += bits_count(s->idle[i]);
	return sum;
}

int island_find(const struct fleet *f, int node, const struct space *s,
		const struct ask *a, const int *counts)
{
	const struct machine *m = &f->machines[node];
	int best = -1, least = 0;

	if (!m->island)
		return node_holds(f, node, s, a, counts) ? 0 : -1;
	for (int i = 0; i < island_count(m); i++) {
		int idle;
		memcpy(f->attempt, s, f->row_bytes);
		narrow(f, node, f->attempt, i);
		idle = idle_in(f, f->attempt);
		if ((best < 0 || idle < least) &&
		    all_fit(f, node, f->attempt, a, counts)) {
			best = i;
			least = idle;
		}
	}
	return best;
}

void island_narrow(const struct fleet *f, int node, struct space *s, int island)
{
	if (f->machines[node].island)
		narrow(f, node, s, island);
}
