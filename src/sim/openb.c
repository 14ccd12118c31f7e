// SPDX-License-Identifier: Apache-2.0
#include "sim/openb.h"

#include <inttypes.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "plan/journal.h"
#include "plan/typical.h"
#include "sim/native.h"
#include "sim/parts.h"

#define PODS_ON_NODE 1001
#define COLUMNS      (OPENB_DEMAND + 2)

static const struct sim_choice choices[] = {
	{ "yard", "ours; knows what is typical in the workload, as the others do" },
	{ "yard-online", "ours; learns what is typical from what arrived so far" },
	{ "fgd", "least new fragments, rounded as published" },
	{ "bestfit", "the node that is left with least" },
	{ "dotprod", "the node whose rest looks least like the pod" },
	{ "clustering", "nodes with pods of the same size" },
	{ "packing", "GPUs in use, then nodes in use, then idle ones" },
	{ "random", "any node with room" },
	{ NULL, NULL },
};

/* Pods that ask the same. */
struct kind {
	struct gang gang;
	struct gang_role role;
	int64_t milli; /* of devices */
	int64_t count; /* in the list */
	char *key;
};

struct openb {
	const struct sim_setup *setup;
	struct plan *plan;
	struct plan_hash *hash;
	struct native_timer *timer;
	struct kind *kinds;
	size_t kind_count, kind_cap;
	size_t *kind_of; /* by row of the list */
	int32_t *rows;   /* in the order of arrival */
	size_t row_count, row_cap;
	bool online;
	int64_t capacity, arrived, allocated; /* milli of devices */
	int64_t id;
	bool placed;
	int64_t decisions, dropped;
	double first_drop;
	struct {
		double sum;
		int64_t count;
		double fragment;
	} columns[COLUMNS];
};

static uint64_t draw(uint64_t seed, uint64_t count)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + count * 0xd1342543de82ef95u + 1;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void kind_make(const struct sim_job *j, struct kind *k)
{
	AUTO_BUF struct buf type = { 0 };

	k->role = (struct gang_role){ .count = 1,
				      .each = { .cpu_milli = j->cpu_milli,
						.memory_bytes = j->memory_bytes } };
	k->milli = j->share_milli ? j->share_milli : (int64_t)j->gpus * DEVICE_SHARE;
	buf_printf(&type, "gpu%s%s", j->models ? ":" : "", j->models ? j->models : "");
	if (j->gpus)
		resources_set_share(&k->role.each, buf_str(&type), j->gpus,
				    j->share_milli);
}

static void add_pod(struct openb *x, struct map *by_key, const struct sim_job *j)
{
	AUTO_BUF struct buf key = { 0 };
	size_t at;

	buf_printf(&key, "%" PRId64 " %" PRId64 " %d %d %s", j->cpu_milli,
		   j->memory_bytes, j->gpus, j->share_milli, j->models ? j->models : "");
	at = (size_t)(uintptr_t)map_gets(by_key, buf_str(&key));
	if (!at) {
		mem_grow(&x->kinds, &x->kind_cap, x->kind_count, sizeof *x->kinds);
		at = ++x->kind_count;
		x->kinds[at - 1] = (struct kind){ .key = buf_take(&key) };
		kind_make(j, &x->kinds[at - 1]);
		map_puts(by_key, x->kinds[at - 1].key, (void *)(uintptr_t)at);
	}
	x->kinds[at - 1].count++;
	x->kind_of[j->row] = at - 1;
}

static void make_kinds(struct openb *x)
{
	const struct sim_trace *t = x->setup->trace;
	struct map *by_key = map_create();

	x->kind_of = mem_alloc(t->count + 1, sizeof *x->kind_of);
	for (size_t i = 0; i < t->count; i++)
		add_pod(x, by_key, &t->jobs[i]);
	map_destroy(by_key);
	for (size_t i = 0; i < x->kind_count; i++)
		x->kinds[i].gang =
			(struct gang){ .roles = &x->kinds[i].role, .role_count = 1 };
}

static void arrive(struct openb *x, int32_t row)
{
	mem_grow(&x->rows, &x->row_cap, x->row_count, sizeof *x->rows);
	x->rows[x->row_count++] = row;
}

/* All pods in any order, and some of them again until there is enough demand. */
static void draw_order(struct openb *x, uint64_t seed)
{
	size_t count = x->setup->trace->count;
	int64_t most = x->capacity / 100 * OPENB_DEMAND, sum = 0;
	uint64_t draws = 0;

	for (size_t i = 0; i < count; i++)
		arrive(x, (int32_t)i);
	for (size_t i = count; i > 1; i--) {
		size_t k = draw(seed, draws++) % i;
		int32_t row = x->rows[k];
		x->rows[k] = x->rows[i - 1];
		x->rows[i - 1] = row;
	}
	for (size_t i = 0; i < x->row_count; i++) {
		sum += x->kinds[x->kind_of[x->rows[i]]].milli;
		if (sum > most)
			x->row_count = i;
	}
	for (size_t tries = 0; sum < most && count && tries < SIM_JOBS_MAX; tries++) {
		int32_t row = (int32_t)(draw(seed, draws++) % count);
		sum += x->kinds[x->kind_of[row]].milli;
		if (sum <= most)
			arrive(x, row);
	}
}

static void make_order(struct openb *x)
{
	const struct openb_trace *t = x->setup->trace->extra;
	uint64_t seed = x->setup->seed % OPENB_NAMES;

	for (size_t i = 0; i < t->order_count; i++) {
		if (t->orders[i].seed != seed)
			continue;
		for (size_t k = 0; k < t->orders[i].count; k++)
			arrive(x, t->orders[i].rows[k]);
		return;
	}
	draw_order(x, seed);
}

static void tell(struct openb *x, const struct plan_delta *d)
{
	native_timer_begin(x->timer);
	plan_apply(x->plan, d);
	native_timer_end(x->timer, false);
}

static void rename_node(struct node *n, uint64_t number)
{
	AUTO_BUF struct buf name = { 0 };

	buf_printf(&name, "n%016" PRIx64, number);
	memcpy(n->name, buf_str(&name), name.len + 1);
}

static void make_nodes(struct openb *x)
{
	const struct sim_cluster *c = x->setup->cluster;
	uint64_t names = x->setup->seed / OPENB_NAMES;

	for (size_t i = 0; i < c->count; i++) {
		struct node n = c->nodes[i];
		n.max_tasks = PODS_ON_NODE;
		n.up = true;
		if (names)
			rename_node(&n, draw(names, i));
		for (size_t k = 0; k < DEVICE_KINDS_MAX; k++)
			x->capacity +=
				(int64_t)n.capacity.devices[k].count * DEVICE_SHARE;
		tell(x, &(struct plan_delta){ .kind = PLAN_NODE, .node = &n });
	}
}

static int make_policy(struct openb *x, struct err *err)
{
	struct plan_policy p = { .backfill = true,
				 .weights = PLACEMENT_WEIGHTS,
				 .rule = PLACE_RULE_COUNT,
				 .seed = x->setup->seed };

	x->online = str_eq(x->setup->policy, "yard-online");
	for (int i = 0; i < PLACE_RULE_COUNT; i++) {
		if (str_eq(x->online ? "yard" : x->setup->policy,
			   placement_rule_names[i]))
			p.rule = (enum placement_rule)i;
	}
	if (p.rule == PLACE_RULE_COUNT)
		return err_set(err, ERR_INVALID, "the openb rules have no policy '%s'",
			       x->setup->policy);
	tell(x, &(struct plan_delta){ .kind = PLAN_POLICY, .policy = &p });
	return 0;
}

static void set_typical(struct openb *x)
{
	struct plan_job *jobs = mem_alloc(x->kind_count + 1, sizeof *jobs);
	int64_t *counts = mem_alloc(x->kind_count + 1, sizeof *counts);

	for (size_t i = 0; i < x->kind_count; i++) {
		jobs[i].gang = x->kinds[i].gang;
		counts[i] = x->kinds[i].count;
	}
	plan_set_typical(x->plan, jobs, counts, x->kind_count);
	free(jobs);
	free(counts);
}

static void decide(void *arg, const struct plan_decision *d)
{
	struct openb *x = arg;

	plan_hash_add(x->hash, x->id, d);
	x->decisions++;
	x->placed |= d->verb == PLAN_START && d->job == x->id;
}

/* Of what arrived, in percent of the devices: half to even, as published. */
static int64_t percent(const struct openb *x)
{
	int64_t twice = 200 * x->arrived, whole = twice / (2 * x->capacity);
	int64_t rest = twice % (2 * x->capacity);

	return whole + (rest > x->capacity || (rest == x->capacity && whole % 2));
}

static void note(struct openb *x)
{
	int64_t at = percent(x);
	int64_t parts = (10000 * x->allocated + x->capacity / 2) / x->capacity;

	if (at >= COLUMNS)
		return;
	x->columns[at].sum += (double)parts / 100;
	if (!x->columns[at].count++)
		x->columns[at].fragment = (double)plan_fragmentation(x->plan) / 100;
}

static void pod(struct openb *x, const struct kind *k)
{
	struct plan_job job = {
		.id = ++x->id, .user = "all", .group = "all", .gang = k->gang
	};

	x->arrived += k->milli;
	tell(x, &(struct plan_delta){ .kind = PLAN_WAIT, .job = &job });
	if (x->online)
		tell(x, &(struct plan_delta){ .kind = PLAN_ASKED, .job = &job });
	x->placed = false;
	native_timer_begin(x->timer);
	plan_step(x->plan, x->id, 0, decide, x);
	native_timer_end(x->timer, true);
	if (x->placed) {
		x->allocated += k->milli;
	} else {
		if (!x->dropped++)
			x->first_drop = 100 * (double)x->arrived / (double)x->capacity;
		tell(x, &(struct plan_delta){ .kind = PLAN_LEAVE, .id = x->id });
	}
	note(x);
}

static double column(const struct openb *x, int at)
{
	return x->columns[at].count ? x->columns[at].sum / (double)x->columns[at].count
				    : 0;
}

static void report(const struct openb *x, struct sim_result *out)
{
	sim_figure_set(out, "alloc_at_90_percent", column(x, 90));
	sim_figure_set(out, "alloc_at_95_percent", column(x, 95));
	sim_figure_set(out, "alloc_at_100_percent", column(x, 100));
	sim_figure_set(out, "alloc_at_110_percent", column(x, 110));
	sim_figure_set(out, "alloc_at_130_percent", column(x, 130));
	sim_figure_set(out, "unallocated_at_100_devices",
		       (100 - column(x, 100)) * (double)x->capacity /
			       (100 * DEVICE_SHARE));
	sim_figure_set(out, "fragment_at_90_percent", x->columns[90].fragment);
	sim_figure_set(out, "fragment_at_100_percent", x->columns[100].fragment);
	sim_figure_set(out, "first_drop_percent", x->first_drop);
	sim_figure_set(out, "pods", (double)x->row_count);
	sim_figure_set(out, "dropped", (double)x->dropped);
	native_timer_report(x->timer, x->decisions, out);
	out->samples_by_demand = true;
	for (int i = 0; i < COLUMNS; i++) {
		if (x->columns[i].count)
			sim_sample_add(
				out, &(struct sim_sample){
					     .at = i,
					     .use = column(x, i) / 100,
					     .fragment = x->columns[i].fragment / 100 });
	}
	plan_hash_show(x->hash, out->hash);
}

static int run(const struct sim_setup *s, struct sim_result *out, struct err *err)
{
	struct openb x = { .setup = s,
			   .plan = plan_create(),
			   .hash = plan_hash_create(),
			   .timer = native_timer_create(s->clock_ns) };
	int result = make_policy(&x, err);

	if (result == 0) {
		make_nodes(&x);
		make_kinds(&x);
		if (!x.online)
			set_typical(&x);
		if (x.capacity)
			make_order(&x);
		for (size_t i = 0; i < x.row_count; i++)
			pod(&x, &x.kinds[x.kind_of[x.rows[i]]]);
		report(&x, out);
	}
	for (size_t i = 0; i < x.kind_count; i++)
		free(x.kinds[i].key);
	free(x.kinds);
	free(x.kind_of);
	free(x.rows);
	native_timer_destroy(x.timer);
	plan_hash_destroy(x.hash);
	plan_destroy(x.plan);
	return result;
}

static const char *const columns[] = { "alloc_at_90_percent",    "alloc_at_95_percent",
				       "alloc_at_100_percent",   "alloc_at_130_percent",
				       "fragment_at_90_percent", NULL };

const struct sim_rules sim_openb = {
	.name = "openb",
	.about = "pods come one at a time and never leave; how full does the cluster get",
	.policies = choices,
	.reader = "openb",
	.columns = columns,
	.headline = "alloc_at_100_percent",
	.seeded = true,
	.run = run,
};
