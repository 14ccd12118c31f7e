// SPDX-License-Identifier: Apache-2.0
/* The run itself.  At each moment: what is due ends, arrivals join, and the plan is asked
 * until it decides nothing more; exactly the calls that the daemon makes. */
#include "sim/native.h"

#include "base/map.h"
#include "base/mem.h"
#include "plan/journal.h"
#include "plan/why.h"
#include "sim/mirror.h"
#include "sim/parts.h"

#define NEVER INT64_MAX

static const struct sim_job *trace_job(const struct native *x, int64_t id)
{
	return &x->setup->trace->jobs[id - 1];
}

static const char *group_of(const struct native *x, const struct sim_job *j)
{
	return j->group && !x->policy.one_queue ? j->group : "all";
}

static void who_is(const struct sim_job *j, struct learn_who *out)
{
	*out = (struct learn_who){ .user = j->user,
				   .group = j->group,
				   .command = j->command,
				   .device_milli = (int64_t)j->gpus *
						   (j->share_milli ? j->share_milli
								   : DEVICE_SHARE) };
}

/* How long it runs in all when it is let: a limit ends it. */
static int64_t length_of(const struct sim_job *j)
{
	return j->limit_ms && j->limit_ms < j->duration_ms ? j->limit_ms : j->duration_ms;
}

/* What the plan is told of its length. */
static void expect(const struct native *x, int64_t id, struct plan_job *out)
{
	const struct sim_job *j = trace_job(x, id);
	const struct native_job *n = &x->jobs[id - 1];
	struct learn_who who;
	struct guess g = { 0 };

	if (x->setup->durations == SIM_UNKNOWN)
		return;
	if (x->setup->durations == SIM_KNOWN) {
		out->limit_ms = n->left_ms > 0 ? n->left_ms : 1;
		out->guess_ms = out->guess_low_ms = out->guess_high_ms = out->limit_ms;
		return;
	}
	out->limit_ms = j->limit_ms;
	who_is(j, &who);
	if (n->served_ms)
		learn_left(x->learn, &who, n->served_ms, &g);
	else
		learn_guess(x->learn, &who, &g);
	if (!g.count)
		return;
	out->guess_ms = g.likely_ms > 0 ? g.likely_ms : 1;
	out->guess_low_ms = g.low_ms;
	out->guess_high_ms = g.high_ms;
}

static void describe(const struct native *x, int64_t id, struct plan_job *out)
{
	const struct sim_job *j = trace_job(x, id);
	const struct native_job *n = &x->jobs[id - 1];

	*out = (struct plan_job){
		.id = id,
		.priority = j->priority,
		.user = j->user ? j->user : "all",
		.group = group_of(x, j),
		.gang = *n->gang,
		.submit_ms =
			j->submit_ms + n->served_ms, /* time that it ran is no wait */
		.served_ms = n->served_ms,
		.preemptible = j->preemptible || x->policy.all_preemptible,
	};
	if (x->policy.by_duration)
		out->priority =
			-(int)(length_of(j) / 1000 < INT32_MAX ? length_of(j) / 1000
							       : INT32_MAX);
	expect(x, id, out);
}

static void tell(struct native *x, const struct plan_delta *d)
{
	native_timer_begin(x->timer);
	plan_apply(x->plan, d);
	native_timer_end(x->timer, false);
}

static void wait(struct native *x, int64_t id)
{
	struct plan_job job;

	describe(x, id, &job);
	x->jobs[id - 1].state = NATIVE_WAITING;
	x->jobs[id - 1].promise_ms = -1;
	tell(x, &(struct plan_delta){ .kind = PLAN_WAIT, .job = &job });
}

static void arrive(struct native *x)
{
	int64_t id = (int64_t)++x->arrived;
	struct native_job *n = &x->jobs[id - 1];
	struct plan_job job;
	struct err err;

	n->gang = native_gang(x, trace_job(x, id));
	n->left_ms = length_of(trace_job(x, id));
	n->first_ms = -1;
	describe(x, id, &job);
	if (plan_possible(x->plan, &job, &err) < 0) {
		n->rejected = true;
		n->state = NATIVE_OVER;
		x->over++;
		return;
	}
	mirror_wait(x->mirror, n->gang);
	wait(x, id);
	tell(x, &(struct plan_delta){ .kind = PLAN_ASKED, .job = &job });
}

static void end(struct native *x, int64_t id)
{
	struct native_job *n = &x->jobs[id - 1];
	struct learn_who who;

	n->served_ms += n->end_ms - n->start_ms;
	n->left_ms = 0;
	n->state = NATIVE_OVER;
	x->over++;
	mirror_end(x->mirror, id);
	who_is(trace_job(x, id), &who);
	learn_note(x->learn, &who, n->served_ms);
	tell(x, &(struct plan_delta){
			.kind = PLAN_RELEASE, .id = id, .since_ms = x->now_ms });
}

/* It stops at once; what it did stays done, but for the cost of coming back. */
static void give_way(struct native *x, int64_t id)
{
	struct native_job *n = &x->jobs[id - 1];
	int64_t ran = x->now_ms - n->start_ms;

	n->served_ms += ran;
	n->left_ms += x->setup->restart_cost_ms - ran;
	x->lost_ms += x->setup->restart_cost_ms * trace_job(x, id)->gpus;
	n->preemptions++;
	n->end_ms = -1;
	mirror_end(x->mirror, id);
	tell(x, &(struct plan_delta){
			.kind = PLAN_RELEASE, .id = id, .since_ms = x->now_ms });
	wait(x, id);
}

static void decide(void *arg, const struct plan_decision *d)
{
	struct native *x = arg;
	struct native_job *n = &x->jobs[d->job - 1];

	x->decisions++;
	plan_hash_add(x->hash, x->now_ms, d);
	if (d->verb == PLAN_PREEMPT) {
		mem_grow(&x->victims, &x->victim_cap, x->victim_count,
			 sizeof *x->victims);
		x->victims[x->victim_count++] = d->job;
		return;
	}
	n->state = NATIVE_RUNNING;
	n->start_ms = x->now_ms;
	n->end_ms = x->now_ms + n->left_ms;
	if (n->first_ms < 0)
		n->first_ms = x->now_ms;
	if (n->promise_ms >= 0 && x->now_ms > n->promise_ms) {
		x->heads_delayed++;
		x->head_delay_ms += x->now_ms - n->promise_ms;
	}
	heap_add(&x->ends, n->end_ms, d->job);
	mirror_start(x->mirror, d->job, n->gang, d->places, d->place_count);
}

static int64_t end_of(void *arg, int64_t id)
{
	const struct native *x = arg;

	return x->jobs[id - 1].end_ms;
}

/* Who is first now; 0: nobody waits. */
static int64_t first(const struct native *x)
{
	int64_t head = 0;

	return plan_queue(x->plan, 1, &head, 1) ? head : 0;
}

static void take_back(struct native *x)
{
	if (x->head && x->jobs[x->head - 1].state == NATIVE_WAITING)
		x->jobs[x->head - 1].promise_ms = -1;
	x->head = 0;
}

/* Before a step: who was first and is not any more has been passed by a better right, not
 * by backfill; the same when the order changes with time. */
static void look_again(struct native *x)
{
	if (x->head && (first(x) != x->head || plan_next_ms(x->plan) <= x->now_ms))
		take_back(x);
}

/* Behind a step: whoever is first now is told when it could start if nobody started before
 * it; that is held against what comes. */
static void promise(struct native *x)
{
	int64_t head = first(x);

	if (head == x->head)
		return;
	take_back(x);
	x->head = head;
	if (head)
		x->jobs[head - 1].promise_ms = mirror_earliest(
			x->mirror, x->jobs[head - 1].gang, x->now_ms, end_of, x);
}

/* Steps until nothing more is decided: room made by those who gave way is used at once. */
static void step(struct native *x)
{
	do {
		x->victim_count = 0;
		look_again(x);
		native_timer_begin(x->timer);
		plan_step(x->plan, x->now_ms, 0, decide, x);
		native_timer_end(x->timer, true);
		x->steps++;
		for (size_t i = 0; i < x->victim_count; i++)
			give_way(x, x->victims[i]);
	} while (x->victim_count);
	promise(x);
}

/* Moments of runs that were cut short are passed over. */
static const struct moment *next_end(struct native *x)
{
	const struct moment *m;

	while ((m = heap_first(&x->ends))) {
		const struct native_job *n = &x->jobs[m->id - 1];
		if (n->state == NATIVE_RUNNING && n->end_ms == m->at_ms)
			return m;
		heap_drop_first(&x->ends);
	}
	return NULL;
}

static int64_t next_ms(struct native *x)
{
	const struct moment *m = next_end(x);
	int64_t at = m ? m->at_ms : NEVER, wake = plan_next_ms(x->plan);

	if (x->arrived < x->setup->trace->count &&
	    x->setup->trace->jobs[x->arrived].submit_ms < at)
		at = x->setup->trace->jobs[x->arrived].submit_ms;
	/* What the plan looks forward to is of use only while somebody waits. */
	if (plan_waiting(x->plan) && wake < at)
		at = wake > x->now_ms ? wake : x->now_ms + 1;
	return at;
}

static void run(struct native *x)
{
	const struct sim_trace *t = x->setup->trace;
	const struct moment *m;
	int64_t at;

	while ((at = next_ms(x)) != NEVER) {
		native_watch_move(x->watch, x, at);
		x->now_ms = at;
		while ((m = next_end(x)) && m->at_ms <= at) {
			int64_t id = m->id;
			heap_drop_first(&x->ends);
			end(x, id);
		}
		while (x->arrived < t->count && t->jobs[x->arrived].submit_ms <= at)
			arrive(x);
		step(x);
	}
}

/* Every group that the trace names gets the order of the policy, unless it has a rule. */
static void set_tenants(struct native *x)
{
	const struct sim_policy *custom = x->setup->custom;
	struct tenant_rule rule = { .guarantee = { .cpu_milli = -1, .memory_bytes = -1 },
				    .borrow = { .cpu_milli = -1, .memory_bytes = -1 },
				    .lend = { .cpu_milli = -1, .memory_bytes = -1 },
				    .order = x->policy.order };
	struct map *seen = map_create();

	for (size_t i = 0; custom && i < custom->tenant_count; i++) {
		const struct sim_tenant *t = &custom->tenants[i];
		map_puts(seen, t->name, x);
		tell(x, &(struct plan_delta){ .kind = PLAN_TENANT,
					      .name = t->name,
					      .tenant = &t->rule });
	}
	for (size_t i = 0; custom && i < custom->quota_count; i++) {
		const struct sim_quota *q = &custom->quotas[i];
		tell(x, &(struct plan_delta){ .kind = q->group ? PLAN_QUOTA_GROUP
							       : PLAN_QUOTA_USER,
					      .name = q->name,
					      .quota = &q->quota });
	}
	for (size_t i = 0; i < x->setup->trace->count; i++) {
		const char *group = group_of(x, &x->setup->trace->jobs[i]);
		if (map_gets(seen, group))
			continue;
		map_puts(seen, group, x);
		tell(x, &(struct plan_delta){
				.kind = PLAN_TENANT, .name = group, .tenant = &rule });
	}
	map_destroy(seen);
}

static void prepare(struct native *x, const struct sim_setup *s)
{
	x->setup = s;
	x->plan = plan_create();
	x->hash = plan_hash_create();
	x->learn = learn_create();
	x->mirror = mirror_create(s->cluster);
	x->gangs = map_create();
	x->timer = native_timer_create(s->clock_ns);
	x->watch = native_watch_create(s->cluster);
	x->jobs = mem_alloc(s->trace->count + 1, sizeof *x->jobs);
	for (size_t i = 0; i < s->cluster->count; i++)
		tell(x, &(struct plan_delta){ .kind = PLAN_NODE,
					      .node = &s->cluster->nodes[i] });
	x->policy.plan.seed = s->seed;
	tell(x, &(struct plan_delta){ .kind = PLAN_POLICY, .policy = &x->policy.plan });
	set_tenants(x);
}

static void finish(struct native *x)
{
	plan_destroy(x->plan);
	plan_hash_destroy(x->hash);
	learn_destroy(x->learn);
	mirror_destroy(x->mirror);
	native_gangs_free(x);
	heap_fini(&x->ends);
	native_timer_destroy(x->timer);
	native_watch_destroy(x->watch);
	free(x->jobs);
	free(x->victims);
}

static void report_rows(const struct native *x, struct sim_result *out)
{
	const struct sim_trace *t = x->setup->trace;

	out->row_count = t->count;
	out->rows = mem_alloc(t->count + 1, sizeof *out->rows);
	for (size_t i = 0; i < t->count; i++) {
		const struct native_job *n = &x->jobs[i];
		const struct sim_job *j = &t->jobs[i];
		bool ended = n->state == NATIVE_OVER && !n->rejected;
		out->rows[i] = (struct sim_row){
			.name = j->name,
			.user = j->user,
			.group = j->group,
			.gpus = j->gpus,
			.device_milli = (int64_t)j->gpus *
					(j->share_milli ? j->share_milli : DEVICE_SHARE),
			.preemptions = n->preemptions,
			.rejected = n->rejected,
			.submit_s = (double)j->submit_ms / 1000,
			.start_s = n->first_ms < 0 ? -1 : (double)n->first_ms / 1000,
			.end_s = ended ? (double)n->end_ms / 1000 : -1,
			.ran_s = (double)n->served_ms / 1000,
			.alone_s = (double)length_of(j) / 1000,
		};
	}
}

static int native_run(const struct sim_setup *s, struct sim_result *out, struct err *err)
{
	const struct native_policy *known = native_policy_find(s->policy);
	struct native x = { 0 };

	if (s->custom)
		x.policy = (struct native_policy){ .plan = s->custom->plan,
						   .order = s->custom->order,
						   .all_preemptible =
							   s->custom->all_preemptible,
						   .one_queue = s->custom->one_queue };
	else if (known)
		x.policy = *known;
	else
		return err_set(err, ERR_INVALID, "no policy '%s'", s->policy);
	prepare(&x, s);
	run(&x);
	*out = (struct sim_result){ 0 };
	report_rows(&x, out);
	sim_figures(out);
	native_watch_report(x.watch, out);
	sim_figure_set(out, "lost_device_s", (double)x.lost_ms / 1000);
	sim_figure_set(out, "head_delays", (double)x.heads_delayed);
	sim_figure_set(out, "head_delay_s", (double)x.head_delay_ms / 1000);
	native_timer_report(x.timer, x.decisions, out);
	plan_hash_show(x.hash, out->hash);
	finish(&x);
	return 0;
}

static const char *const columns[] = { "avg_jct_s",   "avg_queue_s", "p50_queue_s",
				       "p99_queue_s", "makespan_s",  "use_percent",
				       "preemptions", NULL };

const struct sim_rules sim_native = {
	.name = "native",
	.about = "our scheduler as it is in the daemon, on a virtual clock",
	.policies = native_choices,
	.columns = columns,
	.custom = true,
	.run = native_run,
};
