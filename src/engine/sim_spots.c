// SPDX-License-Identifier: Apache-2.0
#include "engine/sim_spots.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

struct spot {
	const struct node *node;
	struct stay_there *first;
};

struct spots {
	struct spot *items;
	struct map *by_name;
};

struct spots *spots_create(const struct node *nodes, size_t count)
{
	struct spots *s = mem_alloc(1, sizeof *s);

	s->items = mem_alloc(count, sizeof *s->items);
	s->by_name = map_create();
	for (size_t i = 0; i < count; i++) {
		s->items[i].node = &nodes[i];
		map_puts(s->by_name, nodes[i].name, &s->items[i]);
	}
	return s;
}

void spots_destroy(struct spots *s)
{
	if (!s)
		return;
	map_destroy(s->by_name);
	free(s->items);
	free(s);
}

static void join(struct spot *spot, struct stay_there *t)
{
	t->spot = spot;
	t->prev = NULL;
	t->next = spot->first;
	if (t->next)
		t->next->prev = t;
	spot->first = t;
}

void spots_leave(struct stay_there *t)
{
	if (!t->spot)
		return;
	if (t->prev)
		t->prev->next = t->next;
	else
		t->spot->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	t->spot = NULL;
}

/* What a task has of a device, in 1/1000. */
static int share_of(const struct placement *p, const char *type, uint64_t device)
{
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++)
		if (p->devices[i].mask & device && str_eq(p->devices[i].type, type))
			return p->devices[i].share_milli ? p->devices[i].share_milli
							 : DEVICE_SHARE;
	return 0;
}

static int share_given(const struct spot *spot, const char *type, uint64_t device)
{
	int sum = 0;

	for (const struct stay_there *o = spot->first; o; o = o->next)
		sum += share_of(o->place, type, device);
	return sum;
}

static const char *check_devices(const struct stay_there *t)
{
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		const char *type = t->place->devices[i].type;
		uint64_t left = t->place->devices[i].mask;
		int count = resources_device(&t->spot->node->capacity, type);

		for (; left; left &= left - 1) {
			uint64_t device = left & -left;
			if (__builtin_ctzll(device) >= count)
				return "was given a device that is not there";
			if (share_given(t->spot, type, device) > DEVICE_SHARE)
				return "was given a device that is in use";
		}
	}
	return NULL;
}

const char *spots_enter(struct spots *s, struct stay_there *t)
{
	struct spot *spot = map_gets(s->by_name, t->place->node);
	struct resources sum = { 0 };
	const char *wrong = NULL;

	if (!spot)
		return "was started on a node that does not exist";
	resources_add(&sum, t->limits);
	for (const struct stay_there *o = spot->first; o; o = o->next) {
		resources_add(&sum, o->limits);
		if (o->place->slot == t->place->slot)
			wrong = "was given a slot that is in use";
	}
	memset(sum.devices, 0, sizeof sum.devices); /* are looked at one by one */
	if (!resources_fit(&sum, &spot->node->capacity))
		wrong = "was started on a node that has no room for it";
	join(spot, t);
	return wrong ? wrong : check_devices(t);
}
