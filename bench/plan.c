// SPDX-License-Identifier: Apache-2.0
/* bench-plan - what decisions cost, on one core: key<TAB>value lines.
 *
 *   bench-plan fleet     places found, given and given back, by the number of nodes
 *   bench-plan step      steps of the whole plan beside 100,000 that wait
 *
 * Times are of this thread's processor, so that other work on the machine counts little.
 * Placing and giving back one task (or one gang) is one decision; who finds no place is
 * tried too, and its time counts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "fleet/fleet.h"
#include "fleet/score.h"
#include "plan/plan.h"

#define NODES_MOST 10000
#define GANG_NODES 64
#define WAITING    100000
#define ROUNDS     3
#define STEPS_MOST 20000
#define STEPS_NS   (10 * (int64_t)1000000000) /* no longer than that in all */

static uint64_t seed = 1;

static unsigned roll(unsigned below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (unsigned)(seed >> 33) % below;
}

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct node node_at(int i)
{
	struct node n = { .up = true,
			  .capacity = { .cpu_milli = 96000,
					.memory_bytes = (int64_t)768 << 30 } };

	snprintf(n.name, sizeof n.name, "node%05d", i);
	snprintf(n.rack, sizeof n.rack, "rack%03d", i / 40);
	snprintf(n.net, sizeof n.net, "net%04d", i / 20);
	resources_set_device(&n.capacity, "gpu", 8);
	return n;
}

static struct fleet *fleet_of(int nodes)
{
	struct fleet *f = fleet_create();

	fleet_reserve(f, (size_t)nodes, (size_t)nodes * 8);
	for (int i = 0; i < nodes; i++) {
		struct node n = node_at(i);
		fleet_set_node(f, &n);
	}
	return f;
}

static struct gang_role role_of(int tasks, int gpus, int share)
{
	struct gang_role r = { .count = tasks,
			       .each = { .cpu_milli = share ? 8 * share : 8000 * gpus,
					 .memory_bytes = (int64_t)gpus << 33 } };

	resources_set_device(&r.each, "gpu", gpus);
	r.each.devices[0].share_milli = share;
	return r;
}

static struct ask *ask_of(const struct fleet *f, int tasks, int gpus, int share)
{
	struct gang_role r = role_of(tasks, gpus, share);

	return ask_create(f, &(struct gang){ .roles = &r, .role_count = 1 });
}

struct held {
	const struct ask *ask;
	struct grants grants;
};

/* In a ring of jobs one after another leaves, and another comes in its place. */
static double churn(struct fleet *f, struct ask *const *asks, unsigned ask_count,
		    unsigned jobs, int turns)
{
	struct held *held = mem_alloc(jobs, sizeof *held);
	struct picks picks = { 0 };
	int64_t start = 0, placed = 0;
	unsigned at = 0;

	for (int i = -(int)jobs * 2; i < turns; i++) {
		struct held *h = &held[at++];
		const struct ask *a = asks[roll(ask_count)];
		at = at == jobs ? 0 : at;
		if (i == 0) {
			start = now_ns();
			placed = 0;
		}
		if (h->ask)
			fleet_give_back(f, h->ask, &h->grants);
		h->ask = view_fit(fleet_now(f), a, NULL, &picks) ? a : NULL;
		if (!h->ask)
			continue;
		fleet_grant(f, a, &picks, &h->grants);
		placed++;
	}
	start = now_ns() - start;
	for (unsigned i = 0; i < jobs; i++) {
		if (held[i].ask)
			fleet_give_back(f, held[i].ask, &held[i].grants);
	}
	free(held);
	free(picks.items);
	return (double)placed * 1e9 / (double)start;
}

static void whole_devices(int nodes)
{
	struct fleet *f = fleet_of(nodes);
	struct ask *asks[4];
	double best = 0;

	for (int i = 0; i < 4; i++)
		asks[i] = ask_of(f, 1, 1 << i, 0);
	for (int k = 0; k < ROUNDS; k++) {
		double rate = churn(f, asks, 4, (unsigned)nodes * 22 / 10, 2000000);
		best = rate > best ? rate : best;
	}
	printf("whole_%d_per_s\t%.0f\n", nodes, best);
	for (int i = 0; i < 4; i++)
		ask_destroy(asks[i]);
	fleet_destroy(f);
}

/* Shares as they are asked for in public traces: mostly of a few sizes. */
static void shared_devices(int nodes)
{
	static const int milli[] = { 50,  100, 130, 190, 250, 280, 330, 410,
				     460, 500, 550, 600, 670, 720, 810, 900 };
	struct fleet *f = fleet_of(nodes);
	struct ask *asks[64];
	unsigned count = 0;
	double best = 0;

	for (int i = 0; i < 48; i++)
		asks[count++] = ask_of(f, 1, 1, milli[i % 16]);
	for (int i = 0; i < 16; i++)
		asks[count++] = ask_of(f, 1, i < 10 ? 1 : i < 13 ? 2 : i < 15 ? 4 : 8, 0);
	for (unsigned i = 0; i < 1024; i++)
		fleet_note_ask(f, asks[i % count]);
	for (int k = 0; k < ROUNDS; k++) {
		double rate = churn(f, asks, count, (unsigned)nodes * 10, 200000);
		best = rate > best ? rate : best;
	}
	printf("shared_%d_per_s\t%.0f\n", nodes, best);
	for (unsigned i = 0; i < count; i++)
		ask_destroy(asks[i]);
	fleet_destroy(f);
}

/* Gangs of whole nodes, found and given; beside others that hold half of all. */
static void gangs(int nodes)
{
	struct fleet *f = fleet_of(nodes);
	struct ask *gang = ask_of(f, GANG_NODES, 8, 0), *one = ask_of(f, 1, 8, 0);
	struct held *held = mem_alloc((size_t)nodes, sizeof *held);
	struct picks picks = { 0 };
	int64_t best = INT64_MAX;
	int rounds = nodes / 2 / GANG_NODES;

	for (int i = 0; i < nodes; i++) {
		view_fit(fleet_now(f), one, NULL, &picks);
		fleet_grant(f, one, &picks, &held[i].grants);
	}
	for (int i = 0; i < nodes / 2 + GANG_NODES; i++) {
		unsigned at = roll((unsigned)nodes);
		while (!held[at].grants.count)
			at = (at + 1) % (unsigned)nodes;
		fleet_give_back(f, one, &held[at].grants);
	}
	for (int k = 0; k < 20; k++) {
		struct grants *given = mem_alloc((size_t)rounds, sizeof *given);
		int64_t start = now_ns();
		for (int i = 0; i < rounds; i++) {
			view_fit(fleet_now(f), gang, NULL, &picks);
			fleet_grant(f, gang, &picks, &given[i]);
		}
		start = (now_ns() - start) / rounds;
		best = start < best ? start : best;
		for (int i = 0; i < rounds; i++)
			fleet_give_back(f, gang, &given[i]);
		free(given);
	}
	printf("gang_ns\t%" PRId64 "\n", best);
	for (int i = 0; i < nodes; i++)
		fleet_give_back(f, one, &held[i].grants);
	free(held);
	free(picks.items);
	ask_destroy(gang);
	ask_destroy(one);
	fleet_destroy(f);
}

struct steps {
	struct plan *p;
	int64_t *running;
	size_t running_count, started;
	int64_t id;
};

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct steps *s = arg;

	s->started++;
	if (s->running_count < (size_t)NODES_MOST * 8)
		s->running[s->running_count++] = d->job;
}

/* A few hundred different requests: sizes × time limits × users. */
static void submit(struct steps *s)
{
	static const char *const groups[] = { "red", "green", "blue" };
	static const char *const users[] = { "ada", "bo", "cy", "di", "eve", "fay" };
	static const struct {
		int part, tasks, gpus;
	} mix[] = { { 60, 1, 1 }, { 80, 1, 2 }, { 90, 1, 4 }, { 96, 1, 8 },
		    { 98, 2, 8 }, { 99, 4, 8 }, { 100, 8, 8 } };
	unsigned kind = roll(100), who = roll(6), at = 0;
	struct gang_role r;
	struct plan_job j = { .id = ++s->id,
			      .user = users[who],
			      .group = groups[who % 3],
			      .limit_ms = (int64_t)roll(6) * 3600000,
			      .submit_ms = s->id };

	while ((int)kind >= mix[at].part)
		at++;
	r = role_of(mix[at].tasks, mix[at].gpus, 0);
	j.gang = (struct gang){ .roles = &r, .role_count = 1 };
	plan_apply(s->p, &(struct plan_delta){ .kind = PLAN_WAIT, .job = &j });
}

static void release(struct steps *s)
{
	size_t at = roll((unsigned)s->running_count);

	plan_apply(s->p,
		   &(struct plan_delta){ .kind = PLAN_RELEASE, .id = s->running[at] });
	s->running[at] = s->running[--s->running_count];
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static void fill(struct steps *s)
{
	for (int i = 0; i < NODES_MOST; i++) {
		struct node n = node_at(i);
		plan_apply(s->p, &(struct plan_delta){ .kind = PLAN_NODE, .node = &n });
	}
	do {
		for (int i = 0; i < 1000; i++)
			submit(s);
		plan_step(s->p, s->id, 0, on_decision, s);
	} while (plan_waiting(s->p) < 1000);
	while (plan_waiting(s->p) < WAITING)
		submit(s);
	plan_step(s->p, s->id, 0, on_decision, s);
}

/* Everybody who waits is looked at again: a node came back. */
static void passes(struct steps *s)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < 20; i++) {
		struct node n = node_at(i);
		int64_t start;
		plan_apply(s->p, &(struct plan_delta){ .kind = PLAN_NODE, .node = &n });
		start = now_ns();
		plan_step(s->p, s->id, 0, on_decision, s);
		start = now_ns() - start;
		best = start < best ? start : best;
	}
	printf("pass_ns\t%" PRId64 "\n", best);
}

static void steps(void)
{
	struct steps s = { .p = plan_create() };
	size_t count = 0;
	int64_t *took = mem_alloc(STEPS_MOST, sizeof *took), sum = 0;

	s.running = mem_alloc((size_t)NODES_MOST * 8, sizeof *s.running);
	fill(&s);
	passes(&s);
	s.started = 0;
	for (; count < STEPS_MOST && sum < STEPS_NS; count++) {
		int64_t start;
		release(&s);
		submit(&s);
		start = now_ns();
		plan_step(s.p, s.id, 0, on_decision, &s);
		took[count] = now_ns() - start;
		sum += took[count];
	}
	qsort(took, count, sizeof *took, by_size);
	printf("step_p50_ns\t%" PRId64 "\nstep_p99_ns\t%" PRId64 "\n", took[count / 2],
	       took[count * 99 / 100]);
	printf("step_decisions_per_s\t%.0f\n", (double)s.started * 1e9 / (double)sum);
	plan_destroy(s.p);
	free(s.running);
	free(took);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "fleet") == 0) {
		for (int nodes = 100; nodes <= NODES_MOST; nodes *= 10)
			whole_devices(nodes);
		gangs(NODES_MOST);
		for (int nodes = 100; nodes <= NODES_MOST; nodes *= 10)
			shared_devices(nodes);
		return 0;
	}
	if (argc == 2 && strcmp(argv[1], "step") == 0) {
		steps();
		return 0;
	}
	fprintf(stderr, "usage: bench-plan fleet|step\n");
	return 2;
}
