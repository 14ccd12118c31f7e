// SPDX-License-Identifier: Apache-2.0
/* Shares of devices: never over the whole, never beside somebody who has it whole, as
 * many as fit, and given back as they were. */
#include <inttypes.h>

#include "base/mem.h"
#include "herd.h"
#include "tap.h"

#define SEEDS 60
#define STEPS 300

static int device_rest(const struct herd *h, const struct h_job *j, int *at)
{
	struct h_free left;

	for (*at = 0; strcmp(h->nodes[*at].name, j->places[0].node) != 0;)
		++*at;
	h_free_on(h, *at, &left);
	for (size_t k = 0; k < left.pool_count; k++) {
		if (strcmp(left.pools[k].type, j->places[0].devices[0].type) == 0)
			return left.pools[k]
				.left[__builtin_ctzll(j->places[0].devices[0].mask)];
	}
	return -1;
}

/* A share goes where least is left beside it: no device of the node was a tighter fit. */
static bool tightest(struct herd *h, struct h_job *j)
{
	const struct device_count *want = &j->role.each.devices[0];
	int at, rest = device_rest(h, j, &at);
	struct h_free left;

	h_free_on(h, at, &left);
	for (size_t k = 0; k < left.pool_count; k++) {
		for (int d = 0; d < left.pools[k].count; d++) {
			bool own = strcmp(left.pools[k].type,
					  j->places[0].devices[0].type) == 0 &&
				   j->places[0].devices[0].mask >> d & 1;
			if (!own && device_matches(want->type, left.pools[k].type) &&
			    left.pools[k].left[d] >= want->share_milli &&
			    left.pools[k].left[d] - want->share_milli < rest)
				return false;
		}
	}
	return true;
}

static bool amounts_right(const struct herd *h, const struct h_job *j)
{
	const struct ask_role *r = &j->ask->roles[0];
	int64_t sum = 0;

	for (int i = 0; i < h->node_count; i++) {
		int node = fleet_find(h->f, h->nodes[i].name), room = h_room(h, i, j);
		if (view_room(fleet_now(h->f), r, node, H_TASKS) != room)
			return false;
		sum += room;
	}
	return view_room(fleet_now(h->f), r, -1, INT64_MAX / 4) >= sum &&
	       view_room(fleet_now(h->f), r, -1, H_TASKS) ==
		       (sum < H_TASKS ? sum : H_TASKS);
}

static const char *step(struct herd *h, int *shared)
{
	struct h_job *j = &h->jobs[h_roll(h, H_JOBS)];
	const char *law = NULL;
	bool fits;

	if (j->ask) {
		h_drop_job(h, j);
		return NULL;
	}
	h_make_job(h, j);
	if (!amounts_right(h, j))
		return "the room for tasks is told wrongly";
	fits = view_fit(fleet_now(h->f), j->ask, NULL, &h->picks);
	if (fits != (h_area_room(h, 0, LEVEL_ANY, j) >= j->ask->roles[0].least))
		return "what fits and what is said to fit differ";
	if (fits)
		law = h_start(h, j);
	if (fits && !law && j->role.each.devices[0].share_milli) {
		++*shared;
		if (j->count == 1 && !tightest(h, j))
			law = "a share not on the fullest device";
	}
	if (!fits)
		h_drop_job(h, j);
	return law;
}

/* The examples one would try first. */
static void by_hand(void)
{
	struct herd h = { .f = fleet_create(), .node_count = 1 };
	struct node n = { .name = "one", .up = true, .capacity.cpu_milli = 64000 };
	struct h_job *j = h.jobs;

	resources_set_device(&n.capacity, "gpu", 2);
	h.nodes[0] = n;
	fleet_set_node(h.f, &n);
	for (int i = 0; i < 4; i++) {
		j[i].role = (struct gang_role){ .count = 1 };
		resources_set_device(&j[i].role.each, "gpu", 1);
		j[i].role.each.devices[0].share_milli = i == 3 ? 0 : 400;
		j[i].gang = (struct gang){ .roles = &j[i].role, .role_count = 1 };
		j[i].ask = ask_create(h.f, &j[i].gang);
	}
	for (int i = 0; i < 2; i++)
		OK(view_fit(fleet_now(h.f), j[i].ask, NULL, &h.picks) &&
			   !h_start(&h, &j[i]),
		   "two fifths fit");
	OK(j[0].places[0].devices[0].mask == 1 && j[1].places[0].devices[0].mask == 1,
	   "on the same device");
	OK(view_devices(fleet_now(h.f), 0, &j[2].ask->roles[0].devices[0]).free == 2,
	   "two more of them would fit, on the other device");
	OK(view_devices(fleet_now(h.f), 0, &j[3].ask->roles[0].devices[0]).free == 1,
	   "and one device is idle");
	OK(view_fit(fleet_now(h.f), j[3].ask, NULL, &h.picks) && !h_start(&h, &j[3]) &&
		   j[3].places[0].devices[0].mask == 2,
	   "which is given whole");
	OK(!view_fit(fleet_now(h.f), j[2].ask, NULL, &h.picks),
	   "the fifth that is left is too little for two");
	h_fini(&h);
}

int main(void)
{
	const char *law = NULL;
	uint64_t seed = 1;
	int shared = 0;

	by_hand();
	for (; seed < SEEDS && !law; seed++) {
		struct herd h = { .shares = true,
				  .rings = seed & 1,
				  .islands = seed & 2,
				  .labels = seed & 4 };
		h_init(&h, seed);
		for (int i = 0; i < STEPS && !law; i++)
			law = step(&h, &shared);
		h_fini(&h);
	}
	OK(!law, "%d shares were given by the laws%s%s", shared, law ? ", but: " : "",
	   law ? law : "");
	if (law)
		printf("# seed %" PRIu64 "\n", seed - 1);
	OK(shared > 1000, "there were enough of them to tell");
	return END();
}
