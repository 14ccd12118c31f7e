// SPDX-License-Identifier: Apache-2.0
/* Many who wait, and many who come and go: neither changes what the others get. */
#include <stdio.h>
#include <string.h>

#include "plan/plan.h"
#include "tap.h"

/* Memory is used again at once, as without a sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}

#define ROUNDS 2000

struct seen {
	int64_t started, told, by; /* the last */
};

static void see(void *arg, const struct plan_decision *d)
{
	struct seen *s = arg;

	if (d->verb == PLAN_START) {
		s->started = d->job;
		return;
	}
	s->told = d->job;
	s->by = d->by;
}

static struct seen at(struct plan *p, int64_t now_ms)
{
	struct seen s = { 0 };

	plan_step(p, now_ms, 0, see, &s);
	return s;
}

/* limit_ms 0: none.  Whose it is: a user of a group. */
static void put(struct plan *p, int64_t id, int gpus, int64_t limit_ms, const char *user,
		const char *group)
{
	struct gang_role r = {
		.count = 1,
		.each = { .cpu_milli = 1, .devices[0] = { .type = "gpu", .count = gpus } }
	};
	struct plan_job j = { .id = id,
			      .user = user,
			      .group = group,
			      .limit_ms = limit_ms,
			      .submit_ms = 1,
			      .gang = { .roles = &r, .role_count = 1 } };

	plan_apply(p, &(struct plan_delta){ .kind = PLAN_WAIT, .job = &j });
}

static void drop(struct plan *p, enum plan_delta_kind kind, int64_t id)
{
	plan_apply(p, &(struct plan_delta){ .kind = kind, .id = id });
}

/* One node of eight devices. */
static struct plan *begin(void)
{
	struct plan *p = plan_create();
	struct node n = { .name = "n",
			  .up = true,
			  .max_tasks = 8,
			  .port_last = -1,
			  .capacity = { .cpu_milli = 8000,
					.devices[0] = { .type = "gpu", .count = 8 } } };

	plan_apply(p, &(struct plan_delta){ .kind = PLAN_NODE, .node = &n });
	return p;
}

static void many_kinds(void)
{
	struct plan *p = begin();
	struct tenant_rule r = { .guarantee = { .cpu_milli = -1,
						.memory_bytes = -1,
						.devices[0] = { "gpu", 8, 0 } },
				 .borrow = { .cpu_milli = -1, .memory_bytes = -1 },
				 .lend = { .cpu_milli = -1, .memory_bytes = -1 } };
	struct plan_policy policy = plan_policy_default;
	struct seen s;

	policy.preempt = true;
	plan_apply(p, &(struct plan_delta){ .kind = PLAN_POLICY, .policy = &policy });
	plan_apply(p, &(struct plan_delta){
			      .kind = PLAN_TENANT, .name = "owners", .tenant = &r });
	put(p, 1, 8, 0, "ann", "others");
	s = at(p, 1000);
	OK(s.started == 1, "what nobody asks for is lent");
	for (int i = 2; i < 500; i++) {
		char user[16];
		snprintf(user, sizeof user, "u%d", i);
		put(p, i, 4, 0, user, "others");
	}
	put(p, 500, 4, 0, "bob", "owners");
	s = at(p, 100000);
	OK(s.told == 1 && s.by == 500,
	   "and taken back, though hundreds of kinds wait that came before");
	plan_destroy(p);
}

/* Memory of another layout. */
static void some_pass(struct plan *p, int count)
{
	for (int i = 0; i < count; i++)
		put(p, 2 + i, 3, 100 + i, "ann", "a");
	for (int i = 0; i < count; i++)
		drop(p, PLAN_LEAVE, 2 + i);
}

/* Six of eight are held for long.  A head that wants seven leaves one of the two others to
 * those behind it; the next head, which wants all eight, leaves none. */
static void come_and_go(void)
{
	struct plan *p = begin();
	int64_t id = 100;
	int delayed = 0;

	put(p, 1, 6, 10000, "ann", "a");
	at(p, 1);
	for (int i = 0; i < ROUNDS; i++, id += 4) {
		some_pass(p, i % 23);
		put(p, id, 7, 1000, "ann", "a");
		put(p, id + 1, 2, 50000, "ann", "a");
		at(p, 2);
		drop(p, PLAN_LEAVE, id + 1);
		drop(p, PLAN_LEAVE, id);
		put(p, id + 2, 8, 1000, "ann", "a");
		put(p, id + 3, 1, 50000, "ann", "a");
		delayed += at(p, 2).started == id + 3;
		drop(p, PLAN_RELEASE, id + 3);
		drop(p, PLAN_LEAVE, id + 3);
		drop(p, PLAN_LEAVE, id + 2);
	}
	OK(!delayed, "a head is not taken for one that left (%d of %d)", delayed, ROUNDS);
	plan_destroy(p);
}

int main(void)
{
	many_kinds();
	come_and_go();
	return END();
}
