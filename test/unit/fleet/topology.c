// SPDX-License-Identifier: Apache-2.0
/* Where gangs lie: in the smallest place that holds them, there on as few nodes as can
 * be; one task on the tightest node.  Worked out by hand for small yards. */
#include <inttypes.h>

#include "base/mem.h"
#include "herd.h"
#include "tap.h"

#define SEEDS 100
#define STEPS 250

/* The most tasks that one area of a level holds. */
static int best_room(const struct herd *h, enum level level, const struct h_job *j)
{
	int best = 0;

	for (int i = 0; i < h->node_count; i++) {
		int room = h_area_room(h, i, level, j);
		best = room > best ? room : best;
	}
	return best;
}

static const struct node *node_of(const struct herd *h, const char *name)
{
	for (int i = 0; i < h->node_count; i++) {
		if (strcmp(h->nodes[i].name, name) == 0)
			return &h->nodes[i];
	}
	return NULL;
}

/* Before it is granted: how many nodes of the area it must at least use. */
static int fewest_nodes(const struct herd *h, const struct h_job *j, int tasks)
{
	const struct node *first = fleet_node(h->f, h->picks.items[0].node);
	enum level level = h->picks.level < LEVEL_NODE ? h->picks.level : LEVEL_NODE;
	bool used[H_NODES] = { false };
	int nodes = 0;

	while (tasks > 0 && nodes < H_NODES) {
		int best = -1, most = 0;
		for (int i = 0; i < h->node_count; i++) {
			int room = h_room(h, i, j);
			if (!used[i] && room > most &&
			    h_same_area(node_of(h, first->name), &h->nodes[i], level)) {
				best = i;
				most = room;
			}
		}
		if (best < 0)
			return -1;
		used[best] = true;
		tasks -= most;
		nodes++;
	}
	return nodes;
}

static const char *check_level(const struct herd *h, const struct h_job *j)
{
	enum level must = j->gang.within_must ? j->gang.within : LEVEL_ANY;
	enum level level = h->picks.level < LEVEL_NODE ? h->picks.level : LEVEL_NODE;
	const struct node *first = fleet_node(h->f, h->picks.items[0].node);
	int placed = 0, holds;

	for (size_t i = 0; i < h->picks.count; i++) {
		placed += h->picks.items[i].count;
		if (!h_same_area(first, fleet_node(h->f, h->picks.items[i].node), level))
			return "the gang crosses more than it says";
	}
	if (level < must)
		return "the gang leaves the place that it demands";
	for (enum level l = LEVEL_NODE; l >= must && l <= LEVEL_NODE; l--) {
		if (best_room(h, l, j) >= j->role.count && level < l)
			return "the gang crosses more than it must";
		if (l == LEVEL_ANY)
			break;
	}
	holds = best_room(h, must, j);
	if (placed != (holds < j->role.count ? holds : j->role.count))
		return "not as many tasks as there is room for";
	if ((int)h->picks.count != fewest_nodes(h, j, placed))
		return "the gang uses more nodes than it must";
	return NULL;
}

static int idle_on(const struct herd *h, int node, bool *any)
{
	struct h_free left;
	int idle = 0;

	h_free_on(h, node, &left);
	*any = left.pool_count > 0;
	for (size_t k = 0; k < left.pool_count; k++) {
		for (int d = 0; d < left.pools[k].count; d++)
			idle += left.pools[k].left[d] == DEVICE_SHARE;
	}
	return idle;
}

static int by_place(const struct node *a, const struct node *b)
{
	int d = strcmp(a->rack, b->rack);

	d = d ? d : strcmp(a->net, b->net);
	return d ? d : strcmp(a->name, b->name);
}

static int bits(int64_t v)
{
	return v > 0 ? 64 - __builtin_clzll((uint64_t)v) : 0;
}

/* Nodes without devices first, there by idle cpu; then by idle devices; then by rank. */
static bool before(const struct herd *h, int a, int b)
{
	bool has_a, has_b;
	int idle_a = idle_on(h, a, &has_a), idle_b = idle_on(h, b, &has_b);
	struct h_free x, y;

	if (has_a != has_b)
		return !has_a;
	h_free_on(h, a, &x);
	h_free_on(h, b, &y);
	if (!has_a && bits(x.cpu_milli) != bits(y.cpu_milli))
		return bits(x.cpu_milli) < bits(y.cpu_milli);
	if (idle_a != idle_b)
		return idle_a < idle_b;
	return by_place(&h->nodes[a], &h->nodes[b]) < 0;
}

static const char *check_single(const struct herd *h, const struct h_job *j)
{
	int best = -1;

	for (int i = 0; i < h->node_count; i++) {
		if (h_room(h, i, j) && (best < 0 || before(h, i, best)))
			best = i;
	}
	return strcmp(h->nodes[best].name,
		      fleet_node(h->f, h->picks.items[0].node)->name) == 0
		       ? NULL
		       : "a task is not on the tightest node";
}

static const char *step(struct herd *h, int *gangs)
{
	struct h_job *j = &h->jobs[h_roll(h, H_JOBS)];
	enum level must;
	const char *law;
	bool fits;

	if (!h_roll(h, 60))
		h_make_node(h, h_roll(h, h->node_count));
	if (j->ask) {
		h_drop_job(h, j);
		return NULL;
	}
	h_make_job(h, j);
	must = j->gang.within_must ? j->gang.within : LEVEL_ANY;
	fits = view_fit(fleet_now(h->f), j->ask, NULL, &h->picks);
	if (fits != (best_room(h, must, j) >= j->ask->roles[0].least))
		return "what fits and what is said to fit differ";
	if (!fits) {
		h_drop_job(h, j);
		return NULL;
	}
	law = check_level(h, j);
	if (!law && j->role.count == 1 && !h->rings)
		law = check_single(h, j);
	*gangs += h->picks.count > 1;
	return law ? law : h_start(h, j);
}

/* A node's devices, two islands of four: 0-3 and 4-7. */
static void islands(void)
{
	struct herd h = { .f = fleet_create(), .node_count = 1 };
	struct node n = { .name = "one", .up = true, .island = 4 };
	static const struct {
		int count, drop;
		uint64_t mask;
		enum level level;
	} steps[] = {
		{ 3, -1, 0x07, LEVEL_ISLAND }, { 2, -1, 0x30, LEVEL_ISLAND },
		{ 1, -1, 0x08, LEVEL_ISLAND }, { 2, -1, 0xc0, LEVEL_ISLAND },
		{ 4, 0, 0, LEVEL_ANY },        { 2, 3, 0xc0, LEVEL_ISLAND },
	};
	bool right = true;

	resources_set_device(&n.capacity, "gpu", 8);
	h.nodes[0] = n;
	fleet_set_node(h.f, &n);
	for (int i = 0; i < (int)COUNT_OF(steps); i++) {
		struct h_job *j = &h.jobs[i];
		if (steps[i].drop >= 0)
			h_drop_job(&h, &h.jobs[steps[i].drop]);
		j->role = (struct gang_role){ .count = 1 };
		resources_set_device(&j->role.each, "gpu", steps[i].count);
		j->gang = (struct gang){ .roles = &j->role, .role_count = 1 };
		j->ask = ask_create(h.f, &j->gang);
		if (!view_fit(fleet_now(h.f), j->ask, NULL, &h.picks)) {
			right &= steps[i].mask == 0;
			continue;
		}
		right &= h.picks.level == steps[i].level && !h_start(&h, j) &&
			 j->places[0].devices[0].mask == steps[i].mask;
	}
	OK(right,
	   "devices lie in as few islands as can be, in the tightest that will do");
	h_fini(&h);
}

static void demand_island(void)
{
	struct herd h = { .f = fleet_create(), .node_count = 1 };
	struct node n = { .name = "one", .up = true, .island = 4 };
	struct h_job *j = &h.jobs[0], *k = &h.jobs[1];

	resources_set_device(&n.capacity, "gpu", 8);
	h.nodes[0] = n;
	fleet_set_node(h.f, &n);
	for (int i = 0; i < 2; i++) {
		h.jobs[i].role = (struct gang_role){ .count = i ? 3 : 1 };
		resources_set_device(&h.jobs[i].role.each, "gpu", 1);
		h.jobs[i].gang = (struct gang){ .roles = &h.jobs[i].role,
						.role_count = 1,
						.within = LEVEL_ISLAND,
						.within_must = true };
	}
	j->role.count = 2;
	j->ask = ask_create(h.f, &j->gang);
	k->ask = ask_create(h.f, &k->gang);
	OK(view_fit(fleet_now(h.f), j->ask, NULL, &h.picks) && !h_start(&h, j) &&
		   (j->places[0].devices[0].mask | j->places[1].devices[0].mask) == 3,
	   "two tasks share an island");
	OK(view_fit(fleet_now(h.f), k->ask, NULL, &h.picks) && !h_start(&h, k) &&
		   (k->places[0].devices[0].mask | k->places[1].devices[0].mask |
		    k->places[2].devices[0].mask) == 0x70,
	   "three that must lie in one leave the half full one alone");
	h_drop_job(&h, k);
	k->role = (struct gang_role){ .count = 5 };
	resources_set_device(&k->role.each, "gpu", 1);
	k->gang = (struct gang){ .roles = &k->role,
				 .role_count = 1,
				 .within = LEVEL_ISLAND,
				 .within_must = true };
	k->ask = ask_create(h.f, &k->gang);
	OK(!view_fit(fleet_now(h.f), k->ask, NULL, &h.picks),
	   "five do not fit into an island of four");
	h_fini(&h);
}

int main(void)
{
	const char *law = NULL;
	uint64_t seed = 1;
	int gangs = 0;

	for (; seed < SEEDS && !law; seed++) {
		struct herd h = { .racks = true,
				  .shares = seed & 1,
				  .rings = seed & 2,
				  .labels = seed & 4 };
		h_init(&h, seed);
		for (int i = 0; i < STEPS && !law; i++)
			law = step(&h, &gangs);
		h_fini(&h);
	}
	OK(!law, "%d gangs lie as near as can be%s%s", gangs, law ? ", but: " : "",
	   law ? law : "");
	if (law)
		printf("# seed %" PRIu64 "\n", seed - 1);
	OK(gangs > 500, "there were enough of them to tell");
	islands();
	demand_island();
	return END();
}
