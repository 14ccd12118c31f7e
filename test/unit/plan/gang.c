// SPDX-License-Identifier: Apache-2.0
/* Gangs of several roles: whole or not at all, and as the rebuilt twin decides. */
#include <inttypes.h>

#include "base/mem.h"
#include "plan/plan.h"
#include "plan/why.h"
#include "tap.h"

#define NODES 3
#define JOBS  40
#define ROLES 3
#define TASKS 12
#define SEEDS 60

/* Past use is not what this test is about: it is not told to the twin. */
static struct plan *unfair(void)
{
	struct plan *p = plan_create();
	struct plan_policy policy = plan_policy_default;
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = &policy };

	policy.fair = false;
	plan_apply(p, &d);
	return p;
}

struct troop {
	enum { NONE, WAITING, RUNNING } state;
	struct plan_job job;
	struct gang_role roles[ROLES];
	int64_t since_ms;
	struct placement places[TASKS];
	size_t count;
};

struct yard {
	struct node nodes[NODES];
	struct troop gangs[JOBS];
	struct plan *p, *twin;
	uint64_t random;
	int64_t now_ms, next_id;
	uint64_t sum[2]; /* of what each of the two decided */
	int64_t starts;
	const char *broken;
};

static int roll(struct yard *y, int below)
{
	y->random = y->random * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((y->random >> 33) % (uint64_t)below);
}

static void apply(struct yard *y, const struct plan_delta *d)
{
	plan_apply(y->p, d);
	plan_apply(y->twin, d);
}

static const struct gang_role *role_of(const struct troop *g, size_t rank)
{
	size_t k = 0;

	for (; rank >= (size_t)g->roles[k].count; k++)
		rank -= (size_t)g->roles[k].count;
	return &g->roles[k];
}

/* Everything given on a node, added up by hand. */
static const char *check_node(const struct yard *y, const struct node *n)
{
	struct resources sum = { 0 };
	uint64_t gpus = 0;
	bool slots[JOBS * TASKS] = { false };

	for (int i = 0; i < JOBS; i++) {
		const struct troop *g = &y->gangs[i];
		for (size_t k = 0; g->state == RUNNING && k < g->count; k++) {
			const struct placement *p = &g->places[k];
			if (strcmp(p->node, n->name) != 0)
				continue;
			resources_add(&sum, &role_of(g, k)->each);
			if (gpus & p->devices[0].mask || slots[p->slot])
				return "a device or slot given twice";
			if (__builtin_popcountll(p->devices[0].mask) !=
			    resources_device(&role_of(g, k)->each, "gpu"))
				return "a task without its devices";
			gpus |= p->devices[0].mask;
			slots[p->slot] = true;
		}
	}
	return resources_fit(&sum, &n->capacity) ? NULL : "more given than there is";
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct yard *y = arg;

	y->sum[0] =
		y->sum[0] * 31 + (uint64_t)(d->job + d->places[d->place_count - 1].slot);
	y->starts++;
	for (int i = 0; i < JOBS; i++) {
		struct troop *g = &y->gangs[i];
		if (g->state != WAITING || g->job.id != d->job)
			continue;
		if (g->count != d->place_count)
			y->broken = "a gang not whole";
		memcpy(g->places, d->places, d->place_count * sizeof *d->places);
		g->state = RUNNING;
		g->since_ms = y->now_ms;
		for (int n = 0; n < NODES && !y->broken; n++)
			y->broken = check_node(y, &y->nodes[n]);
		return;
	}
	y->broken = "who was placed did not wait";
}

static void on_twin(void *arg, const struct plan_decision *d)
{
	struct yard *y = arg;

	y->sum[1] =
		y->sum[1] * 31 + (uint64_t)(d->job + d->places[d->place_count - 1].slot);
}

static void submit(struct yard *y, struct troop *g)
{
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &g->job };

	*g = (struct troop){ .state = WAITING };
	g->job = (struct plan_job){ .id = y->next_id++,
				    .priority = roll(y, 4) ? 0 : 1,
				    .user = "ada",
				    .group = "red",
				    .limit_ms = roll(y, 2) ? 1 + roll(y, 40) : 0,
				    .gang.roles = g->roles,
				    .gang.role_count = 1 + (size_t)roll(y, ROLES) };
	for (size_t k = 0; k < g->job.gang.role_count; k++) {
		g->roles[k].count = 1 + roll(y, TASKS / ROLES);
		g->roles[k].each.cpu_milli = 500 * roll(y, 5);
		g->roles[k].each.memory_bytes = 10 * roll(y, 4);
		resources_set_device(&g->roles[k].each, "gpu", roll(y, 2) * roll(y, 4));
		g->count += (size_t)g->roles[k].count;
	}
	apply(y, &d);
}

static void rebuild(struct yard *y)
{
	plan_destroy(y->twin);
	y->twin = unfair();
	for (int i = 0; i < NODES; i++)
		plan_apply(y->twin, &(struct plan_delta){ .kind = PLAN_NODE,
							  .node = &y->nodes[i] });
	for (int i = 0; i < JOBS; i++) {
		const struct troop *g = &y->gangs[i];
		struct plan_delta d = { .kind = g->state == RUNNING ? PLAN_HELD
								    : PLAN_WAIT,
					.job = &g->job,
					.places = g->places,
					.place_count = g->count,
					.since_ms = g->since_ms };
		if (g->state != NONE)
			plan_apply(y->twin, &d);
	}
}

static void turn(struct yard *y)
{
	struct troop *g = &y->gangs[roll(y, JOBS)];
	struct plan_delta d = { .kind = PLAN_RELEASE, .id = g->job.id };

	if (roll(y, 10) == 0)
		rebuild(y);
	if (g->state == NONE) {
		submit(y, g);
	} else if (g->state == RUNNING || roll(y, 4) == 0) {
		d.kind = g->state == RUNNING ? PLAN_RELEASE : PLAN_LEAVE;
		g->state = NONE;
		apply(y, &d);
	}
	y->now_ms += roll(y, 3);
	plan_step(y->p, y->now_ms, 0, on_decision, y);
	plan_step(y->twin, y->now_ms, 0, on_twin, y);
	if (y->sum[0] != y->sum[1])
		y->broken = "the rebuilt twin decides otherwise";
}

int main(void)
{
	struct yard *y = mem_alloc(1, sizeof *y);
	int64_t starts = 0;
	uint64_t seed = 0;

	while (seed++ < SEEDS && !y->broken) {
		*y = (struct yard){ .random = seed, .next_id = 1 };
		y->p = unfair();
		y->twin = unfair();
		for (int i = 0; i < NODES; i++) {
			struct node *n = &y->nodes[i];
			*n = (struct node){ .up = true,
					    .name = { 'a', (char)('0' + i) } };
			n->capacity.cpu_milli = 4000 + 1000 * roll(y, 8);
			n->capacity.memory_bytes = 100 + 10 * roll(y, 10);
			resources_set_device(&n->capacity, "gpu", 2 * i);
			apply(y, &(struct plan_delta){ .kind = PLAN_NODE, .node = n });
		}
		for (int i = 0; i < 600 && !y->broken; i++)
			turn(y);
		starts += y->starts;
		plan_destroy(y->p);
		plan_destroy(y->twin);
	}
	OK(!y->broken,
	   "gangs of several roles are placed whole, within capacity, and repeatably");
	if (y->broken)
		printf("# seed %" PRIu64 ": %s\n", seed - 1, y->broken);
	OK(starts > 1000, "%" PRId64 " gangs started", starts);
	free(y);
	return END();
}
