// SPDX-License-Identifier: Apache-2.0
/* One seed: clients, faults and a clock drive the shipped yard. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model.h"
#include "yard/edit.h"
#include "yard/share.h"

#define ACTIONS        120
#define END_STEPS_MAX  400000
#define END_VIRTUAL_MS (60ll * 24 * 3600 * 1000) /* members one after the other */

static uint64_t chance(struct run *r, uint64_t below)
{
	return world_random(r->world) % below;
}

static void say(struct run *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

static void say(struct run *r, const char *fmt, ...)
{
	va_list ap;

	if (!r->verbose)
		return;
	printf("# %8lld ms  ", (long long)world_mono_ms(r->world));
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static void saw(void *arg, const struct event *e)
{
	struct run *r = arg;

	if (e->seq <= r->told_seq)
		broke(r, "event %lld was shown twice or out of order", (long long)e->seq);
	r->told_seq = e->seq;
	if (e->kind == EV_EXITED)
		check_exit(r, e);
	check_grace(r, e);
	check_nodes(r, e);
	r->preemptions += e->kind == EV_STOP && e->stop == STOP_PREEMPTED;
	say(r, "event %lld: %s of job %lld task %d", (long long)e->seq,
	    event_kind_word(e->kind), (long long)e->job, e->task);
}

static struct engine *make_engine(void *arg, const struct engine_sink *sink,
				  struct err *err)
{
	struct run *r = arg;

	(void)err;
	return engine_sim_create(r->machine, sink);
}

static void boot(struct run *r)
{
	struct yard_config c = { .world = r->world,
				 .identity = "sim",
				 .make_engine = make_engine,
				 .make_engine_arg = r };
	struct plan_policy policy = plan_policy_default;
	struct err err = { 0 };

	c.store = r->store = store_memory_open(r->world, r->disk);
	c.depot = r->depot = depot_sim_create(r->world, r->seed % 3 ? 5 : 0);
	c.uid_base = r->seed % 2 ? 100000 : -1;
	accounts_begin(r, &c);
	r->yard = yard_create(&c, &err);
	if (!r->yard) {
		broke(r, "boot: %s", err.text);
		return;
	}
	r->told_seq = r->told_seq > yard_last_seq(r->yard) ? r->told_seq
							   : yard_last_seq(r->yard);
	/* Preempted soon in most histories, and after the default minute in others. */
	policy.min_run_ms =
		r->seed % 5 ? (int64_t)(r->seed % 7) * 100 : policy.min_run_ms;
	yard_set_policy(r->yard, &policy);
	yard_watch_add(r->yard, saw, r);
	check_boot(r);
	check_accounts(r);
	nodes_begin(r);
}

static void take_down(struct run *r)
{
	yard_destroy(r->yard);
	who_destroy(r->who);
	if (r->store)
		store_destroy(r->store);
	if (r->depot)
		r->depot->ops->destroy(r->depot);
	r->yard = NULL;
	r->who = NULL;
	r->store = NULL;
	r->depot = NULL;
}

static void crash(struct run *r, bool power)
{
	say(r, power ? "POWER CUT" : "CRASH");
	r->crashes++;
	r->cuts += power;
	engine_sim_machine_crash(r->machine, power);
	world_sim_crash(r->world);
	take_down(r);
	boot(r);
}

static struct spec *make_spec(const struct claim *c)
{
	struct spec *s = spec_create();
	struct problems p = { 0 };
	int v = c->variant, roles = 1 + (v % 5 == 0);

	s->name = str_printf("sim-%d", v);
	for (int i = 0; i < roles; i++) {
		struct role *role = spec_add_role(s);
		role->name = str_printf("r%d", i);
		role->count = 1 + (v / 3 + i) % 3;
		role->argv = mem_alloc(2, sizeof *role->argv);
		role->argv[role->argc++] = mem_strdup("true");
		role->each.cpu_milli = 250 * (1 + v % 4);
		role->each.memory_bytes = (int64_t)(64 + v % 64) << 20;
		if (v % 6 == 4) /* a quarter to three quarters of one */
			resources_set_share(&role->each, "gpu", 1, 250 * (1 + v / 6 % 3));
		else if (v % 3 == 1)
			resources_set_device(&role->each, "gpu", 1 + v % 2);
		if (v % 4 == 2) /* as many as there is room for */
			role->least = 1;
		if (v % 7 == 2)
			role->succeed_after = 1;
		if (v % 7 == 3)
			role->fail_after = SPEC_ALL;
	}
	s->priority = v % 4 == 0 ? v % 11 : 0;
	s->preemptible = v % 3 == 0 || v % 10 == 7;
	s->retry =
		(struct retry){ .max = v % 3, .backoff_ms = 100, .backoff_max_ms = 1000 };
	s->time_limit_ms = v % 4 == 3 ? 2000 + v * 37 % 5000 : 0;
	s->retry.time_limit = v % 5 < 3;
	s->grace_ms = 200 + v % 900;
	s->grace_max_ms = s->grace_ms + v % 5 * 8000;
	if (v % 2)
		spec_add_output(s, v % 7 < 5 ? "checkpoints" : "model", NULL);
	if (v % 8 == 5) {
		s->array.count = 1 + v / 8 % 9;
		s->array.parallel = v / 72 % 4;
		s->array.stop_after = v % 3 ? 0 : 1 + v / 8 % 3;
	}
	if (c->after) {
		s->after = mem_alloc(1, sizeof *s->after);
		s->after[s->after_count++] = (struct dependency){ c->after, v % 2 == 0 };
	}
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

static void submitted(void *arg, int64_t job, bool again, const struct err *err)
{
	struct claim *c = arg;
	struct run *r = c->run;

	if (err) {
		say(r, "submit %s refused: %s", c->key, err->text);
		if (c->acked && err->code != ERR_BUSY)
			broke(r,
			      "key %s was acknowledged as job %lld and is refused now: %s",
			      c->key, (long long)c->job, err->text);
		if (!c->acked && err->code != ERR_BUSY && err->code != ERR_INVALID &&
		    err->code != ERR_QUOTA)
			broke(r, "submit %s: %s", c->key, err->text);
		c->refused |= err->code == ERR_INVALID || err->code == ERR_QUOTA;
		return;
	}
	if (c->acked && (c->job != job || !again))
		broke(r, "key %s made job %lld and then job %lld", c->key,
		      (long long)c->job, (long long)job);
	for (size_t i = 0; i < r->claim_count; i++)
		if (&r->claims[i] != c && r->claims[i].acked && r->claims[i].job == job)
			broke(r, "number %lld was given twice", (long long)job);
	say(r, "submit %s acknowledged as job %lld%s", c->key, (long long)job,
	    again ? " (again)" : "");
	c->acked = true;
	c->job = job;
}

static void principal(struct principal *p, bool admin)
{
	*p = (struct principal){ .role = admin ? ROLE_ADMIN : ROLE_MEMBER,
				 .scopes = SCOPE_ALL,
				 .uid = admin ? 0 : 1000 };
	strcpy(p->name, admin ? "root" : "alice");
	strcpy(p->group, "lab");
}

static void ask(struct run *r, struct claim *c)
{
	struct principal who;
	char digest[16];

	principal(&who, false);
	snprintf(digest, sizeof digest, "v%d", c->variant);
	c->asked = true;
	yard_submit(r->yard, &who, make_spec(c), c->key, digest, submitted, c);
}

static void ask_new(struct run *r)
{
	struct claim *c;

	if (r->claim_count == CLAIMS_MAX)
		return;
	c = &r->claims[r->claim_count];
	*c = (struct claim){ .run = r, .variant = (int)chance(r, 1000) };
	snprintf(c->key, sizeof c->key, "key-%zu", r->claim_count++);
	if (c->variant % 6 == 0 && r->claim_count > 1) {
		const struct claim *on = &r->claims[chance(r, r->claim_count - 1)];
		c->after = on->acked ? on->job : 0;
	}
	ask(r, c);
}

static void conflict(void *arg, int64_t job, bool again, const struct err *err)
{
	struct claim *c = arg;

	(void)again;
	if (!err || (err->code != ERR_CONFLICT && err->code != ERR_BUSY))
		broke(c->run,
		      "key %s with another body gave job %lld instead of a conflict",
		      c->key, (long long)job);
}

static void ask_conflict(struct run *r, struct claim *c)
{
	struct principal who;

	if (!c->acked)
		return;
	principal(&who, false);
	yard_submit(r->yard, &who, make_spec(c), c->key, "another", conflict, c);
}

static void stopped(void *arg, int64_t job, bool again, const struct err *err)
{
	struct claim *c = arg;

	(void)job, (void)again;
	if (!err)
		c->stop_acked = true;
	else if (err->code != ERR_BUSY)
		broke(c->run, "stop of job %lld: %s", (long long)c->job, err->text);
}

static void ask_stop(struct run *r, struct claim *c)
{
	struct principal who;

	if (!c->acked)
		return;
	principal(&who, false);
	if (chance(r, 8))
		yard_stop(r->yard, &who, c->job, "enough", stopped, c);
	else
		yard_kill(r->yard, &who, c->job, "at once", stopped, c);
}

static void deleted(void *arg, int64_t job, bool again, const struct err *err)
{
	struct claim *c = arg;

	(void)job, (void)again;
	say(c->run, "delete of job %lld: %s", (long long)c->job,
	    err ? err->text : "done");
	if (!err || err->code == ERR_NOT_FOUND)
		c->deleted = true;
	else if (err->code == ERR_CONFLICT) /* it lives, or another waits for it */
		c->doomed = false;
	else if (err->code != ERR_BUSY)
		broke(c->run, "delete of job %lld: %s", (long long)c->job, err->text);
}

static void ask_delete(struct run *r, struct claim *c)
{
	struct principal who;

	if (!c->acked)
		return;
	principal(&who, false);
	c->doomed = true;
	yard_delete(r->yard, &who, c->job, deleted, c);
}

static void ignored(void *arg, int64_t job, bool again, const struct err *err)
{
	(void)arg, (void)job, (void)again, (void)err;
}

static void ask_priority(struct run *r, const struct claim *c)
{
	struct principal who;

	principal(&who, false);
	if (c->acked)
		yard_set_priority(r->yard, &who, c->job, (int)chance(r, 20) - 10, ignored,
				  r);
}

static void ask_quota(struct run *r, int64_t cpu_milli)
{
	struct principal admin;
	struct quota q = { .limit = { .cpu_milli = cpu_milli, .memory_bytes = -1 },
			   .max_running_jobs = -1 };

	principal(&admin, true);
	yard_set_quota(r->yard, &admin, chance(r, 2) ? "user" : "group",
		       chance(r, 2) ? "alice" : "lab", &q, ignored, r);
}

static void set_disk(struct run *r, int fail_percent)
{
	struct store_disk_faults f = { .fail_percent = fail_percent,
				       .delay_most_ms = 1 + (int64_t)chance(r, 40) };

	r->full_disks += fail_percent > 0;
	store_disk_set_faults(r->disk, &f);
}

static void act(struct run *r)
{
	struct claim *any = r->claim_count ? &r->claims[chance(r, r->claim_count)] : NULL;
	uint64_t dice = chance(r, 100);

	if (any && any->doomed) /* its key may make another job by now */
		any = NULL;
	if (dice < 40)
		ask_new(r);
	else if (dice < 52 && any)
		ask(r, any);
	else if (dice < 62 && any)
		ask_stop(r, any);
	else if (dice < 65 && any)
		ask_conflict(r, any);
	else if (dice < 73)
		crash(r, false);
	else if (dice < 76)
		crash(r, true);
	else if (dice < 78) {
		world_sim_jump_wall(r->world, (int64_t)chance(r, 7200000) - 3600000);
		r->jumped_ms = world_mono_ms(r->world);
	} else if (dice < 81)
		ask_quota(r, (int64_t)(4 + chance(r, 9)) * 1000);
	else if (dice < 84)
		set_disk(r, (int)chance(r, 2) * 30);
	else if (dice < 86)
		ask_node(r, chance(r, 1000));
	else if (dice < 88 && any)
		ask_priority(r, any);
	else if (dice < 93 && any)
		ask_delete(r, any);
	else if (dice >= 93 &&
		 r->seed % 2) /* several at once: some wait behind a commit */
		for (int i = 0; i < ACCOUNTS; i++)
			if (r->change_count < CHANGES_MAX)
				ask_change(r, i);
}

static void step_some(struct run *r, uint64_t most)
{
	for (uint64_t n = chance(r, most); n && r->broken.code == ERR_NONE; n--) {
		r->steps++;
		if (!world_sim_step(r->world))
			return;
		check_now(r);
	}
}

static bool ask_unanswered(struct run *r)
{
	bool any = false;

	for (size_t i = 0; i < r->claim_count; i++) {
		struct claim *c = &r->claims[i];
		if (c->acked || c->refused)
			continue;
		any = true;
		ask(r, c);
	}
	return any;
}

/* No more faults: all that was asked is asked again until it is answered, then all ends. */
static void wind_down(struct run *r)
{
	int64_t give_up = world_mono_ms(r->world) + END_VIRTUAL_MS;

	set_disk(r, 0);
	for (int i = 0; i < 4; i++) {
		struct principal admin;
		struct quota none = { .limit = { .cpu_milli = -1, .memory_bytes = -1 },
				      .max_running_jobs = -1 };

		principal(&admin, true);
		yard_set_quota(r->yard, &admin, i & 1 ? "user" : "group",
			       i & 2 ? "alice" : "lab", &none, ignored, r);
	}
	for (int round = 0; round < 20 && open_nodes(r); round++)
		world_sim_run_until(r->world, world_mono_ms(r->world) + 1000);
	for (int round = 0; round < 20 && ask_unanswered(r); round++)
		world_sim_run_until(r->world, world_mono_ms(r->world) + 1000);
	for (long n = 0; n < END_STEPS_MAX && r->broken.code == ERR_NONE; n++) {
		r->steps++;
		if (world_mono_ms(r->world) > give_up || !world_sim_step(r->world))
			break;
	}
	for (size_t i = 0; i < r->claim_count; i++)
		if (!r->claims[i].acked && !r->claims[i].refused)
			broke(r, "submit %s was never answered", r->claims[i].key);
}

static void make_machine(struct run *r)
{
	struct node nodes[3] = { 0 };
	size_t count = 1 + r->seed % 3;
	struct engine_sim_faults f = {
		.lie_percent = (int)chance(r, 20),
		.start_fail_percent = (int)chance(r, 10),
		.lost_percent = (int)chance(r, 10),
		/* Some run for hours, so that a crash never finds them over by themselves. */
		.run_ms_max =
			1 + (int64_t)chance(r, r->seed % 4 ? 4000 : 4 * 3600 * 1000),
		.ignore_term_percent = (int)chance(r, 60),
		.fail_percent = (int)chance(r, 40),
	};

	for (size_t i = 0; i < count; i++) {
		snprintf(nodes[i].name, sizeof nodes[i].name, "node-%zu", i);
		nodes[i].capacity.cpu_milli = 4000;
		nodes[i].capacity.memory_bytes = 4ll << 30;
		resources_set_device(&nodes[i].capacity, "gpu", 4);
		nodes[i].up = true;
		nodes[i].port_first = 20000;
		nodes[i].port_last = 20999;
	}
	r->machine = engine_sim_machine_create(r->world, nodes, count, &f);
}

bool run_seed(struct run *r, uint64_t seed, bool verbose)
{
	*r = (struct run){ .seed = seed, .verbose = verbose };
	r->world = world_sim_create(seed);
	r->disk = store_disk_create();
	make_machine(r);
	boot(r);
	for (int i = 0; i < ACTIONS && r->broken.code == ERR_NONE; i++) {
		act(r);
		if (r->yard)
			step_some(r, 30);
	}
	if (r->broken.code == ERR_NONE)
		wind_down(r);
	if (r->broken.code == ERR_NONE)
		check_end(r);
	engine_sim_machine_crash(r->machine, false);
	world_sim_crash(r->world);
	take_down(r);
	engine_sim_machine_destroy(r->machine);
	store_disk_destroy(r->disk);
	world_destroy(r->world);
	return r->broken.code == ERR_NONE;
}
