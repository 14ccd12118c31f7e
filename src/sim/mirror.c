// SPDX-License-Identifier: Apache-2.0
#include "sim/mirror.h"

#include "base/map.h"
#include "base/mem.h"
#include "fleet/fleet.h"
#include "fleet/score.h"
#include "sim/heap.h"

/* An ask a gang: gangs live as long as the mirror and are equal when their addresses are. */
struct known {
	const struct gang *gang;
	struct ask *ask;
	struct known *next;
};

struct holder {
	int64_t id;
	struct ask *ask;
	struct grants grants;
	int64_t milli;
};

struct mirror {
	struct fleet *fleet;
	struct map *known, *holders;
	struct view *future;
	struct picks picks;
	int64_t total_milli, used_milli;
};

static int64_t milli_of(const struct ask *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < a->total.device_count; i++)
		sum += a->total.devices[i].count;
	return sum;
}

struct mirror *mirror_create(const struct sim_cluster *c)
{
	struct mirror *m = mem_alloc(1, sizeof *m);

	m->fleet = fleet_create();
	m->known = map_create();
	m->holders = map_create();
	for (size_t i = 0; i < c->count; i++) {
		fleet_set_node(m->fleet, &c->nodes[i]);
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++)
			m->total_milli += (int64_t)c->nodes[i].capacity.devices[k].count *
					  DEVICE_SHARE;
	}
	return m;
}

static struct ask *ask_of(struct mirror *m, const struct gang *g)
{
	struct known *k = map_get(m->known, (int64_t)(intptr_t)g);

	if (!k) {
		k = mem_alloc(1, sizeof *k);
		k->gang = g;
		k->ask = ask_create(m->fleet, g);
		map_put(m->known, (int64_t)(intptr_t)g, k);
	}
	return k->ask;
}

void mirror_wait(struct mirror *m, const struct gang *g)
{
	fleet_note_ask(m->fleet, ask_of(m, g));
}

void mirror_start(struct mirror *m, int64_t id, const struct gang *g,
		  const struct placement *places, size_t count)
{
	struct holder *h = mem_alloc(1, sizeof *h);

	h->id = id;
	h->ask = ask_of(m, g);
	h->milli = milli_of(h->ask);
	fleet_adopt(m->fleet, h->ask, places, count, &h->grants);
	m->used_milli += h->milli;
	map_put(m->holders, id, h);
}

void mirror_end(struct mirror *m, int64_t id)
{
	struct holder *h = map_del(m->holders, id);

	if (!h)
		return;
	fleet_give_back(m->fleet, h->ask, &h->grants);
	m->used_milli -= h->milli;
	free(h);
}

void mirror_destroy(struct mirror *m)
{
	struct holder *h;
	struct known *k;

	if (!m)
		return;
	for (size_t it = 0; (h = map_next(m->holders, &it));)
		mirror_end(m, h->id);
	for (size_t it = 0; (k = map_next(m->known, &it));) {
		ask_destroy(k->ask);
		free(k);
	}
	map_destroy(m->known);
	map_destroy(m->holders);
	view_destroy(m->future);
	free(m->picks.items);
	fleet_destroy(m->fleet);
	free(m);
}

int64_t mirror_total_milli(const struct mirror *m)
{
	return m->total_milli;
}

int64_t mirror_used_milli(const struct mirror *m)
{
	return m->used_milli;
}

int64_t mirror_gang(const struct mirror *m)
{
	int64_t best = 0;

	for (int kind = 0; kind < (int)fleet_kinds(m->fleet); kind++) {
		struct ask_role one = { .count = 1, .least = 1, .device_count = 1 };
		int64_t room;
		one.devices[0] =
			(struct need){ .kinds = UINT64_C(1) << kind, .count = 1 };
		room = view_room(fleet_now(m->fleet), &one, -1, INT64_MAX);
		best = room > best ? room : best;
	}
	return best;
}

int64_t mirror_earliest(struct mirror *m, const struct gang *g, int64_t now_ms,
			int64_t (*end_ms)(void *arg, int64_t id), void *arg)
{
	struct ask *a = ask_of(m, g);
	struct heap ends = { 0 };
	struct holder *h;
	int64_t at = now_ms;
	bool fits;

	view_copy(m->fleet, fleet_now(m->fleet), &m->future);
	for (size_t it = 0; (h = map_next(m->holders, &it));)
		heap_add(&ends, end_ms(arg, h->id), h->id);
	while (!(fits = view_fit(m->future, a, NULL, &m->picks)) && heap_first(&ends)) {
		at = heap_first(&ends)->at_ms;
		for (const struct moment *e; (e = heap_first(&ends)) && e->at_ms == at;) {
			h = map_get(m->holders, e->id);
			view_return(m->future, h->ask, &h->grants, -1);
			heap_drop_first(&ends);
		}
	}
	heap_fini(&ends);
	return fits ? at : INT64_MAX;
}

double mirror_fragment(const struct mirror *m)
{
	return (double)fleet_fragmentation(m->fleet) / 10000;
}
