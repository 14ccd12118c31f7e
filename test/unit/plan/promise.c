// SPDX-License-Identifier: Apache-2.0
/* Guarantees as shapes: whatever others were given, and in whatever order, a group that asks
 * for the places it was promised gets them: at once, or as soon as those are gone who were
 * told to give way.  YARD_TEST_SEED=n replays one history. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "plan/plan.h"
#include "plan/rules.h"
#include "tap.h"

#define NODES   6
#define DEVICES 8
#define CPU     64000
#define JOBS    64
#define STEPS   400
#define SEEDS   60

enum state { GONE, WAITS, RUNS };

struct job {
	enum state state;
	int group, devices, tasks;
	bool preemptible, told;
	struct placement places[4];
};

struct world {
	struct plan *p;
	struct node nodes[NODES];
	struct job jobs[JOBS * STEPS];
	int64_t next_id, now_ms;
	uint64_t seed;
	bool preempts;
	const char *broken;
	int asked, touched, told, denied;
};

static const char *const groups[] = { "red", "green", "gold", "blue", "east" };
static const struct {
	int count, size;
} promised[] = { { 2, 8 }, { 3, 4 }, { 1, 8 } };

#define PROMISED COUNT_OF(promised)
#define GROUPS   ((int)COUNT_OF(groups))

static int roll(struct world *w, int below)
{
	uint64_t x = w->seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (int)((x ^ (x >> 31)) % (uint64_t)below);
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct world *w = arg;
	struct job *j = &w->jobs[d->job];

	if (d->verb == PLAN_PREEMPT) {
		if (!w->preempts)
			w->broken = "somebody was told to go against the policy";
		j->told = true;
		w->told++;
		return;
	}
	j->state = RUNS;
	memcpy(j->places, d->places, d->place_count * sizeof *d->places);
}

static void step(struct world *w)
{
	w->now_ms += 1 + roll(w, 5);
	plan_step(w->p, w->now_ms, 0, on_decision, w);
}

static int64_t submit(struct world *w, int group, int devices, int tasks, bool whole)
{
	int64_t id = w->next_id++;
	struct job *j = &w->jobs[id];
	struct gang_role r = { .count = tasks };
	struct plan_job job = { .id = id,
				.user = "ada",
				.group = groups[group],
				.submit_ms = w->now_ms,
				.gang = { .roles = &r, .role_count = 1 } };
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &job };

	*j = (struct job){ .state = WAITS, .group = group, .devices = devices };
	j->tasks = tasks;
	j->preemptible = w->preempts && group >= (int)PROMISED && roll(w, 3) > 0;
	job.preemptible = j->preemptible;
	job.limit_ms = whole || roll(w, 2) ? 0 : 1 + roll(w, 50);
	resources_set_device(&r.each, "gpu", devices);
	r.each.cpu_milli = whole ? devices * (CPU / DEVICES)
				 : 500 * roll(w, devices ? 16 * devices + 1 : 64);
	plan_apply(w->p, &d);
	return id;
}

static void end(struct world *w, int64_t id)
{
	struct job *j = &w->jobs[id];
	struct plan_delta d = { .kind = j->state == RUNS ? PLAN_RELEASE : PLAN_LEAVE,
				.id = id,
				.since_ms = w->now_ms };

	j->state = GONE;
	j->told = false;
	plan_apply(w->p, &d);
}

/* Places of the size on nodes where the group runs: what it touches is in use. */
static int in_use(const struct world *w, int group, int size)
{
	int sum = 0;

	for (int n = 0; n < NODES; n++) {
		int used = 0;
		for (int64_t i = 1; i < w->next_id; i++) {
			const struct job *j = &w->jobs[i];
			for (int k = 0; j->state == RUNS && j->group == group &&
					!(j->preemptible && w->preempts) && k < j->tasks;
			     k++)
				used += strcmp(j->places[k].node, w->nodes[n].name) == 0
						? j->devices
						: 0;
		}
		sum += (used + size - 1) / size;
	}
	return sum;
}

static bool all_run(const struct world *w, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++) {
		if (w->jobs[i].state != RUNS)
			return false;
	}
	return true;
}

/* Everybody else stops asking; the group asks for what it was promised and has not. */
static void claim(struct world *w, int group)
{
	int used = in_use(w, group, promised[group].size);
	int64_t first;

	for (int64_t i = 1; i < w->next_id; i++) {
		if (w->jobs[i].state == WAITS)
			end(w, i);
	}
	first = w->next_id;
	w->touched += used > 0;
	for (int n = used; n < promised[group].count; n++)
		submit(w, group, promised[group].size, 1, true);
	step(w);
	for (int turns = 0; turns < 4 && !all_run(w, first, w->next_id); turns++) {
		for (int64_t i = 1; i < first; i++) {
			if (w->jobs[i].told)
				end(w, i);
		}
		step(w);
	}
	if (!all_run(w, first, w->next_id))
		w->broken = "a place that was promised is not there";
	w->asked += (int)(w->next_id - first);
	for (int64_t i = first; i < w->next_id; i++)
		end(w, i);
}

static void set_rules(struct world *w)
{
	struct tenant_rule rule = { .shape_count = 1 };
	struct plan_policy policy = plan_policy_default;
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = &policy };

	rule.guarantee.cpu_milli = rule.guarantee.memory_bytes = -1;
	rule.borrow = rule.lend = rule.guarantee;
	policy.preempt = w->preempts;
	policy.min_run_ms = 0;
	plan_apply(w->p, &d);
	for (size_t g = 0; g < PROMISED; g++) {
		rule.shapes[0] =
			(struct tenant_shape){ promised[g].count, { .type = "gpu" } };
		rule.shapes[0].devices.count = promised[g].size;
		d = (struct plan_delta){ .kind = PLAN_TENANT,
					 .name = groups[g],
					 .tenant = &rule };
		plan_apply(w->p, &d);
	}
}

static void move(struct world *w)
{
	int what = roll(w, 100), waiting = 0;

	for (int64_t i = 1; i < w->next_id; i++)
		waiting += w->jobs[i].state == WAITS;
	if (what < 50 && waiting < 20) {
		submit(w, roll(w, GROUPS), roll(w, 4) ? 1 + roll(w, 8) : 0,
		       1 + roll(w, 2), false);
	} else if (what < 90) {
		for (int64_t i = 1; i < w->next_id; i++) {
			if (w->jobs[i].state == RUNS &&
			    (w->jobs[i].told || roll(w, 8) == 0))
				end(w, i);
		}
	} else {
		claim(w, roll(w, PROMISED));
	}
}

static const char *history(struct world *w, uint64_t seed)
{
	memset(w, 0, sizeof *w);
	w->p = plan_create();
	w->seed = seed;
	w->next_id = w->now_ms = 1;
	w->preempts = seed % 2;
	for (int n = 0; n < NODES; n++) {
		struct node *node = &w->nodes[n];
		struct plan_delta d = { .kind = PLAN_NODE, .node = node };
		*node = (struct node){ .up = true, .capacity.cpu_milli = CPU };
		snprintf(node->name, sizeof node->name, "node-%c", 'a' + n);
		resources_set_device(&node->capacity, "gpu", DEVICES);
		plan_apply(w->p, &d);
	}
	set_rules(w);
	for (int i = 0; i < STEPS && !w->broken; i++) {
		move(w);
		step(w);
	}
	plan_destroy(w->p);
	return w->broken;
}

static void checks(void)
{
	struct resources none = { .cpu_milli = -1, .memory_bytes = -1 };
	struct tenant_rule a = { .parent = "b", .guarantee = none, .borrow = none },
			   b = { .guarantee = none, .borrow = none, .lend = none };
	struct tenant_named both[] = { { "a", &a }, { "b", &b } };
	struct node n[2] = { { .name = "n", .up = true }, { .name = "m", .up = true } };
	struct err err = { 0 };

	a.lend = none;
	resources_set_device(&n[0].capacity, "gpu", 8);
	resources_set_device(&n[1].capacity, "gpu", 8);
	OK(tenant_check(both, 2, n, 2, &err) == 0,
	   "rules that ask for nothing can be kept");
	snprintf(b.parent, sizeof b.parent, "a");
	OK(tenant_check(both, 2, n, 2, &err) < 0, "a circle of parents is told: %s",
	   err.text);
	b.parent[0] = 0;
	resources_set_device(&a.guarantee, "gpu", 9);
	resources_set_device(&b.guarantee, "gpu", 8);
	OK(tenant_check(both, 2, n, 2, &err) < 0, "more than the parent has: %s",
	   err.text);
	resources_set_device(&b.guarantee, "gpu", 17);
	OK(tenant_check(both, 2, n, 2, &err) < 0, "more than there is: %s", err.text);
	OK(tenant_check(both, 2, NULL, 0, &err) == 0, "which is not known without nodes");
	a.guarantee = b.guarantee = none;
	a.shapes[0] = (struct tenant_shape){ 3, { .type = "gpu", .count = 5 } };
	a.shape_count = 1;
	OK(tenant_check(both, 2, n, 2, &err) < 0, "no place for a shape: %s", err.text);
	a.shapes[0].count = 2;
	OK(tenant_check(both, 2, n, 2, &err) == 0, "two of them have one each");
	resources_set_device(&a.lend, "gpu", 11);
	OK(tenant_check(both, 2, n, 2, &err) < 0, "more lent than promised: %s",
	   err.text);
}

int main(void)
{
	const char *text = getenv("YARD_TEST_SEED"), *broken = NULL;
	uint64_t one = text ? strtoull(text, NULL, 10) : 0, seed = one ? one : 1;
	struct world *w = mem_alloc(1, sizeof *w);
	int asked = 0, touched = 0, told = 0;

	for (; !broken && seed <= (one ? one : SEEDS); seed++) {
		broken = history(w, seed);
		asked += w->asked;
		touched += w->touched;
		told += w->told;
	}
	OK(!broken, "who asks for what it was promised gets it");
	if (broken)
		printf("# seed %" PRIu64 ": %s\n", seed - 1, broken);
	OK(one || (asked > 500 && touched > 50 && told > 50),
	   "and that was tried (%d places, %d times with some in use, %d gave way)",
	   asked, touched, told);
	checks();
	free(w);
	return END();
}
