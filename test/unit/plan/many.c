// SPDX-License-Identifier: Apache-2.0
/* A hundred thousand wait: what a step costs then.  Bounds are generous (a sanitized
 * build on a busy machine) and still far below what looking at everybody would take. */
#include <inttypes.h>
#include <time.h>

#include "base/mem.h"
#include "plan/plan.h"
#include "plan/why.h"
#include "tap.h"

#define WAITING 100000
#define STEPS   2000

static int64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static int64_t last_started;

static void on_decision(void *arg, const struct plan_decision *d)
{
	last_started = d->job;
	++*(size_t *)arg;
}

static void submit(struct plan *p, int64_t id, int64_t cpu_milli, int64_t limit_ms)
{
	static const char *const users[] = { "ada", "bo", "cy", "di" };
	struct gang_role r = { .count = 1, .each = { .cpu_milli = cpu_milli } };
	struct plan_job j = { id,    0,        users[id % 4],
			      "red", limit_ms, { .roles = &r, .role_count = 1 } };
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &j };

	plan_apply(p, &d);
}

/* `shapes` different requests, 16 slots for the smallest. */
static void crowd(int64_t shapes, const char *name, int64_t bound_us)
{
	struct plan *p = plan_create();
	struct node n = { .name = "node-a",
			  .up = true,
			  .capacity = { .cpu_milli = 16000 } };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };
	size_t started = 0;
	int64_t at, submit_us, release_us, id = 1;

	plan_apply(p, &d);
	at = now_us();
	for (; id <= WAITING; id++) {
		submit(p, id, 1000 + id % shapes, id % 3 ? 1000 * (id % 3) : 0);
		plan_step(p, id, 0, on_decision, &started);
	}
	submit_us = now_us() - at;
	at = now_us();
	for (int i = 0; i < STEPS && last_started; i++) {
		d = (struct plan_delta){ .kind = PLAN_RELEASE, .id = last_started };
		plan_apply(p, &d);
		plan_step(p, WAITING + i, 0, on_decision, &started);
	}
	release_us = now_us() - at;
	OK(started >= STEPS, "%s: the queue moves", name);
	OK(plan_waiting(p) + started == WAITING, "%s: nobody is lost", name);
	OK(submit_us / WAITING < bound_us, "%s: submit and step %" PRId64 " ns each",
	   name, submit_us * 1000 / WAITING);
	OK(release_us / STEPS < bound_us, "%s: release and step %" PRId64 " us each",
	   name, release_us / STEPS);
	plan_destroy(p);
}

int main(void)
{
	crowd(1, "all alike", 100);
	crowd(50, "fifty kinds", 1000);
	return END();
}
