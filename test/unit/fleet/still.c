// SPDX-License-Identifier: Apache-2.0
/* Once room was reserved, placing and giving back takes nothing from the heap.  The room
 * takes memory by mem.h only, and all of that is here, with a count. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "fleet/fleet.h"
#include "fleet/score.h"
#include "tap.h"

#define NODES 40
#define HELD  120
#define ASKS  12
#define TURNS 20000

static size_t taken;

static void *counted(void *p)
{
	taken++;
	if (!p)
		abort();
	return p;
}

void *mem_alloc(size_t count, size_t size)
{
	return counted(calloc(count ? count : 1, size ? size : 1));
}

void *mem_realloc(void *p, size_t count, size_t size)
{
	return counted(reallocarray(p, count ? count : 1, size ? size : 1));
}

void *mem_dup(const void *p, size_t len)
{
	void *copy = counted(malloc(len ? len : 1));

	if (len)
		memcpy(copy, p, len);
	return copy;
}

char *mem_strndup(const char *s, size_t len)
{
	return counted(strndup(s, len));
}

char *mem_strdup(const char *s)
{
	return s ? counted(strdup(s)) : NULL;
}

void mem_grow(void *items, size_t *cap, size_t count, size_t size)
{
	void *p;

	if (count < *cap)
		return;
	memcpy(&p, items, sizeof p);
	*cap = *cap ? *cap * 2 : 8;
	p = mem_realloc(p, *cap, size);
	memcpy(items, &p, sizeof p);
}

void mem_cleanup_free(void *pp)
{
	void *p;

	memcpy(&p, pp, sizeof p);
	free(p);
}

void mem_cleanup_fd(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static uint64_t seed = 1;

static unsigned roll(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

static struct fleet *nodes_make(void)
{
	struct fleet *f = fleet_create();

	fleet_reserve(f, NODES, HELD * 20);
	for (int i = 0; i < NODES; i++) {
		struct node n = { .up = true,
				  .capacity = { .cpu_milli = 64000 },
				  .island = i % 2 ? 4 : 0,
				  .port_first = 100,
				  .port_last = 400 };
		snprintf(n.name, sizeof n.name, "n%02d", i);
		snprintf(n.rack, sizeof n.rack, "r%d", i / 8);
		snprintf(n.net, sizeof n.net, "s%d", i / 4);
		resources_set_device(&n.capacity, i % 3 ? "gpu:a" : "gpu:b", 8);
		fleet_set_node(f, &n);
	}
	return f;
}

/* Single tasks, gangs, gangs of two roles; shares, ports. */
static struct ask *ask_make(const struct fleet *f, int at)
{
	struct gang_role r[2] = { { .count = at % 3 ? 1 : 1 + at,
				    .each.cpu_milli = 500,
				    .any_ports = at % 4 },
				  { .count = 2, .each.cpu_milli = 100 } };

	resources_set_device(&r[0].each, at % 5 ? "gpu" : "gpu:a", 1 + at % 4);
	if (at % 2) {
		r[0].each.devices[0].count = 1;
		r[0].each.devices[0].share_milli = 100 + 70 * at;
	}
	return ask_create(f, &(struct gang){ .roles = r, .role_count = at % 6 ? 1 : 2 });
}

struct held {
	const struct ask *ask;
	struct grants grants;
};

static void turn(struct fleet *f, struct ask *const *asks, struct held *h,
		 struct picks *picks, struct view **views)
{
	const struct ask *a = asks[roll(ASKS)];

	if (h->ask)
		fleet_give_back(f, h->ask, &h->grants);
	h->ask = view_fit(fleet_now(f), a, NULL, picks) ? a : NULL;
	if (!h->ask)
		return;
	fleet_grant(f, a, picks, &h->grants);
	view_copy(f, fleet_now(f), &views[0]);
	view_return(views[0], a, &h->grants, -1);
	if (view_fit(views[0], a, NULL, picks))
		view_take(views[0], a, picks);
	view_least(fleet_now(f), views[0], &views[1]);
}

int main(void)
{
	struct fleet *f = nodes_make();
	struct ask *asks[ASKS];
	struct held held[HELD] = { { 0 } };
	struct picks picks = { 0 };
	struct view *views[2] = { NULL, NULL };
	int placed = 0;

	for (int i = 0; i < ASKS; i++)
		asks[i] = ask_make(f, i);
	picks.items = mem_alloc(64, sizeof *picks.items);
	picks.cap = 64;
	view_copy(f, fleet_now(f), &views[0]);
	view_copy(f, fleet_now(f), &views[1]);
	taken = 0;
	for (int i = 0; i < TURNS; i++) {
		struct held *h = &held[roll(HELD)];
		turn(f, asks, h, &picks, views);
		placed += h->ask != NULL;
	}
	OK(placed > TURNS / 4, "%d gangs and tasks were placed", placed);
	OK(taken == 0, "and nothing was taken from the heap: %zu times", taken);
	for (int i = 0; i < HELD; i++) {
		if (held[i].ask)
			fleet_give_back(f, held[i].ask, &held[i].grants);
	}
	for (int i = 0; i < ASKS; i++)
		ask_destroy(asks[i]);
	view_destroy(views[0]);
	view_destroy(views[1]);
	free(picks.items);
	fleet_destroy(f);
	return END();
}
