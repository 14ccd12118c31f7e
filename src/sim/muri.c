// SPDX-License-Identifier: Apache-2.0
/* muri.c - the replay: one loop over events, the same for every policy. */
#include "sim/muri.h"

#include <math.h>

#include "base/mem.h"
#include "base/str.h"
#include "sim/muri_replay.h"
#include "sim/parts.h"

static const struct muri_policy *const policies[] = {
	&muri_yard, &muri_blind, &muri_share,    &muri_share_blind,
	&muri_srsf, &muri_srtf,  &muri_tiresias,
};

double muri_left(const struct muri_replay *r, int job)
{
	return r->tasks[job].left * r->trace->jobs[job].iteration_s;
}

void muri_room_clear(struct muri_room *m, bool count_only)
{
	for (int i = 0; i < MURI_NODES; i++)
		m->free[i] = MURI_NODE_GPUS;
	m->total = MURI_GPUS;
	m->count_only = count_only;
}

static bool take_nodes(struct muri_room *m, int nodes)
{
	int idle = 0;

	for (int i = 0; i < MURI_NODES; i++)
		idle += m->free[i] == MURI_NODE_GPUS;
	if (idle < nodes)
		return false;
	for (int i = 0; nodes; i++)
		if (m->free[i] == MURI_NODE_GPUS) {
			m->free[i] = 0;
			nodes--;
		}
	return true;
}

static bool take_some(struct muri_room *m, int gpus)
{
	for (int i = 0; i < MURI_NODES; i++)
		if (m->free[i] >= gpus) {
			m->free[i] -= gpus;
			return true;
		}
	return false;
}

bool muri_room_take(struct muri_room *m, int gpus)
{
	if (m->total < gpus)
		return false;
	if (!m->count_only &&
	    !(gpus > MURI_NODE_GPUS ? take_nodes(m, gpus / MURI_NODE_GPUS)
				    : take_some(m, gpus)))
		return false;
	m->total -= gpus;
	return true;
}

void muri_sort(int *queue, size_t count, const double *key)
{
	for (size_t i = 1; i < count; i++) {
		int job = queue[i];
		size_t at = i;

		for (; at && key[queue[at - 1]] > key[job]; at--)
			queue[at] = queue[at - 1];
		queue[at] = job;
	}
}

/* The next moment at which anything happens: an end, an arrival, the policy's own. */
static double next_event(const struct muri_replay *r)
{
	double at = INFINITY;

	for (size_t i = 0; i < r->running_count; i++)
		at = fmin(at, r->tasks[r->running[i]].due_s);
	if (r->arrived < r->trace->count)
		at = fmin(at, r->trace->jobs[r->arrived].submit_s);
	if (r->policy->wake)
		at = fmin(at, r->policy->wake(r));
	return at;
}

/* Charges what ran, and notes who ends. */
static void charge(struct muri_replay *r, double to)
{
	r->ended_count = 0;
	for (size_t i = 0; i < r->running_count; i++) {
		struct muri_task *t = &r->tasks[r->running[i]];
		const struct muri_job *j = &r->trace->jobs[r->running[i]];

		if (t->lead == r->running[i])
			r->busy_s += (to - r->now_s) * j->gpus;
		/* In this order: Tiresias compares the sum with its limits, to the last bit. */
		t->attained_s = t->attained_s + to - r->now_s;
		t->worked_s += (to - r->now_s) * j->iteration_s / t->pace_s;
		if (t->due_s == to) {
			t->end_s = to;
			t->running = false;
			r->ended[r->ended_count++] = r->running[i];
		} else {
			t->left -= fmax(to - r->now_s - t->lost_s, 0) / t->pace_s;
		}
	}
	r->now_s = to;
}

static void forget_ended(struct muri_replay *r)
{
	size_t kept = 0;

	if (r->ended_count == 0)
		return;
	for (size_t i = 0; i < r->count; i++)
		if (r->tasks[r->queue[i]].end_s < 0)
			r->queue[kept++] = r->queue[i];
	r->count = kept;
}

static void arrive(struct muri_replay *r)
{
	const struct muri_trace *t = r->trace;

	for (; r->arrived < t->count && t->jobs[r->arrived].submit_s == r->now_s;
	     r->arrived++) {
		const struct muri_job *j = &t->jobs[r->arrived];

		r->tasks[r->arrived] = (struct muri_task){
			.left = j->iterations,
			.first_s = -1,
			.end_s = -1,
			.lead = (int)r->arrived,
			.pace_s = j->iteration_s,
			.lost_s = j->overhead_s,
		};
		r->queue[r->count++] = (int)r->arrived;
	}
}

/* Empties the cluster and fills it in the order of the queue. */
static void place(struct muri_replay *r)
{
	struct muri_room room;

	muri_room_clear(&room, r->policy->count_only);
	r->running_count = 0;
	for (size_t i = 0; i < r->count; i++) {
		int id = r->queue[i];
		struct muri_task *t = &r->tasks[id];
		bool fits = t->lead == id ? muri_room_take(&room, r->trace->jobs[id].gpus)
					  : r->tasks[t->lead].running;

		t->preemptions += t->running && !fits;
		r->preemptions += t->running && !fits;
		t->running = fits;
		if (!fits)
			continue;
		if (t->first_s < 0)
			t->first_s = r->now_s;
		t->due_s = r->now_s + t->left * t->pace_s;
		r->running[r->running_count++] = id;
	}
}

static void sample(struct muri_replay *r, struct sim_result *out)
{
	int used = 0;

	for (size_t i = 0; i < r->running_count; i++)
		if (r->tasks[r->running[i]].lead == r->running[i])
			used += r->trace->jobs[r->running[i]].gpus;
	sim_sample_add(out, &(struct sim_sample){
				    .at = r->now_s,
				    .use = (double)used / MURI_GPUS,
				    .waiting = (double)(r->count - r->running_count),
				    .gang = MURI_GPUS - used,
			    });
}

static void replay(struct muri_replay *r, struct sim_result *out)
{
	while (r->arrived < r->trace->count || r->count) {
		charge(r, next_event(r));
		forget_ended(r);
		arrive(r);
		r->events++;
		r->policy->order(r);
		place(r);
		sample(r, out);
	}
}

static void fill_rows(const struct sim_trace *t, const struct muri_replay *r,
		      struct sim_result *out)
{
	out->rows = mem_alloc(t->count, sizeof *out->rows);
	out->row_count = t->count;
	for (size_t i = 0; i < t->count; i++)
		out->rows[i] = (struct sim_row){
			.name = t->jobs[i].name,
			.gpus = t->jobs[i].gpus,
			.device_milli = t->jobs[i].gpus * 1000,
			.preemptions = r->tasks[i].preemptions,
			.submit_s = r->trace->jobs[i].submit_s,
			.start_s = r->tasks[i].first_s,
			.end_s = r->tasks[i].end_s,
			.ran_s = r->tasks[i].attained_s,
			.alone_s = muri_length(&r->trace->jobs[i]),
		};
}

static void fill_figures(const struct muri_replay *r, struct sim_result *out)
{
	double avg_s, makespan_s, ours_s = 0;

	sim_figures(out);
	muri_bound(r->trace, &avg_s, &makespan_s);
	sim_figure_get(out, "makespan_s", &ours_s);
	if (ours_s > 0)
		sim_figure_set(out, "use_percent",
			       100 * r->busy_s / (ours_s * MURI_GPUS));
	sim_figure_set(out, "events", (double)r->events);
	if (r->policy->shares)
		return; /* then a GPU does more work than the bounds know of */
	sim_figure_set(out, "bound_avg_jct_s", avg_s);
	sim_figure_set(out, "bound_makespan_s", makespan_s);
}

static const struct muri_policy *find_policy(const char *name, struct err *err)
{
	const char *names[COUNT_OF(policies)];

	for (size_t i = 0; i < COUNT_OF(policies); i++) {
		names[i] = policies[i]->name;
		if (str_eq(names[i], name))
			return policies[i];
	}
	const char *near = str_guess(name, names, COUNT_OF(policies));
	err_set(err, ERR_INVALID, "the rules muri have no policy '%s'%s%s%s", name,
		near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
	return NULL;
}

static int check(const struct sim_setup *s, struct err *err)
{
	if (s->trace->reader != &sim_read_muri)
		return err_set(err, ERR_INVALID,
			       "the rules muri need a trace of Muri's: one "
			       "that tells iterations");
	for (size_t i = 0; s->cluster && i < s->cluster->count; i++)
		if (s->cluster->count != MURI_NODES ||
		    s->cluster->nodes[i].capacity.devices[0].count != MURI_NODE_GPUS)
			return err_set(
				err, ERR_INVALID,
				"the rules muri are those of %d nodes of %d devices",
				MURI_NODES, MURI_NODE_GPUS);
	return 0;
}

static int run(const struct sim_setup *s, struct sim_result *out, struct err *err)
{
	const struct muri_policy *p = find_policy(s->policy, err);

	if (!p || check(s, err) < 0)
		return -1;
	const struct muri_trace *t = s->trace->extra;
	AUTO_FREE struct muri_task *tasks = mem_alloc(t->count, sizeof *tasks);
	AUTO_FREE int *queue = mem_alloc(t->count, sizeof *queue);
	struct muri_replay r = {
		.trace = t,
		.policy = p,
		.tasks = tasks,
		.queue = queue,
		.state = p->create ? p->create(t) : NULL,
	};
	*out = (struct sim_result){ 0 };
	replay(&r, out);
	if (p->destroy)
		p->destroy(r.state);
	fill_rows(s->trace, &r, out);
	fill_figures(&r, out);
	return 0;
}

static const struct sim_choice choices[] = {
	{ "yard", "the set of greatest worth that fits (lengths known)" },
	{ "yard-blind", "Gittins index, learned from what ended (lengths unknown)" },
	{ "yard-share", "the same as yard, with up to four jobs on the same GPUs" },
	{ "yard-share-blind",
	  "the same, with what yard-blind learned (lengths unknown)" },
	{ "srsf", "least remaining GPU time first (lengths known)" },
	{ "srtf", "shortest remaining time first (lengths known)" },
	{ "tiresias",
	  "least attained GPU time first, in three levels (lengths unknown)" },
	{ NULL, NULL },
};

static const char *const columns[] = { "avg_jct_s",   "p99_jct_s",       "makespan_s",
				       "preemptions", "bound_avg_jct_s", NULL };

const struct sim_rules sim_muri = {
	.name = "muri",
	.about = "64 GPUs, job completion time, as the simulator of Muri counts it",
	.policies = choices,
	.cluster = "8x8",
	.reader = "muri",
	.columns = columns,
	.run = run,
};
