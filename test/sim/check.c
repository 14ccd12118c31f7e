// SPDX-License-Identifier: Apache-2.0
/* The laws, checked from outside: by what clients were told, by what the machine really
 * did, by the store's own history. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model.h"

void broke(struct run *r, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	if (r->broken.code != ERR_NONE)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	err_set(&r->broken, ERR_INTERNAL, "%s (step %ld, %d crashes)", text, r->steps,
		r->crashes);
}

static void note_row(void *arg, const struct store_row *row)
{
	*(struct store_row *)arg = *row;
}

static void count_one(void *arg, const struct event *e)
{
	(void)e;
	++*(int *)arg;
}

/* Deleted whole or not at all; and what was said to be gone stays gone. */
static void check_doomed(struct run *r, const struct claim *c)
{
	struct store_row row;
	int events = 0;
	bool there = store_row(r->store, c->job, note_row, &row, NULL) == 0;

	store_events(r->store, c->job, 0, 10, count_one, &events, NULL);
	if (there != (events > 0))
		broke(r, "job %lld is deleted in part", (long long)c->job);
	if (there && c->deleted)
		broke(r, "job %lld was deleted and is there", (long long)c->job);
}

bool check_boot(struct run *r)
{
	for (size_t i = 0; i < r->claim_count; i++) {
		const struct claim *c = &r->claims[i];
		struct store_row row;

		if (c->doomed)
			check_doomed(r, c);
		else if (c->acked &&
			 store_row(r->store, c->job, note_row, &row, NULL) < 0)
			broke(r, "job %lld was acknowledged and is gone",
			      (long long)c->job);
	}
	if (yard_last_seq(r->yard) < r->told_seq)
		broke(r, "event %lld was shown to a watcher and is gone",
		      (long long)r->told_seq);
	return r->broken.code == ERR_NONE;
}

static bool holds(const struct job *j)
{
	return j->state == JOB_STARTING || j->state == JOB_RUNNING ||
	       j->state == JOB_STOPPING || j->state == JOB_COLLECTING;
}

struct census {
	int given[NODES_MAX][DEVICES_MAX]; /* of each device, in thousandths */
	struct resources used[NODES_MAX];
	char names[NODES_MAX][NODE_NAME_MAX];
	size_t count;
};

static size_t node_index(struct census *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++)
		if (strcmp(c->names[i], name) == 0)
			return i;
	strcpy(c->names[c->count], name);
	return c->count++;
}

static void count_job(struct run *r, const struct job *j, void *arg)
{
	struct census *c = arg;

	for (size_t t = 0; t < j->task_count; t++) {
		const struct placement *p = &j->tasks[t].place;
		size_t n = node_index(c, p->node);

		int share = p->devices[0].share_milli ? p->devices[0].share_milli
						      : DEVICE_SHARE;
		for (int d = 0; d < DEVICES_MAX; d++) {
			if (!(p->devices[0].mask >> d & 1))
				continue;
			c->given[n][d] += share;
			if (c->given[n][d] > DEVICE_SHARE)
				broke(r, "a device of %s is given twice (job %lld)",
				      p->node, (long long)j->id);
		}
		resources_add(&c->used[n], &j->spec->roles[j->tasks[t].role].each);
	}
}

static void count_holder(struct run *r, const struct job *j, void *arg)
{
	if (holds(j))
		count_job(r, j, arg);
}

bool check_now(struct run *r)
{
	struct census c = { 0 };
	struct yard_node nodes[NODES_MAX];
	size_t n = yard_nodes(r->yard, nodes, NODES_MAX);
	const char *violation = engine_sim_violation(r->machine);

	if (violation)
		broke(r, "%s", violation);
	for (size_t i = 0; i < r->claim_count; i++) {
		const struct job *j =
			r->claims[i].job ? yard_live(r->yard, r->claims[i].job) : NULL;
		if (j && holds(j))
			count_job(r, j, &c);
		if (j && job_is_array(j))
			each_member(r, j->id, count_holder, &c);
	}
	for (size_t i = 0; i < n; i++) {
		size_t at = node_index(&c, nodes[i].node.name);
		if (!resources_fit(&c.used[at], &nodes[i].node.capacity))
			broke(r, "%s holds more than it has", nodes[i].node.name);
	}
	return r->broken.code == ERR_NONE;
}

struct history {
	struct run *r;
	int64_t last_seq, job;
	int submitted, ended, placed;
	int64_t way; /* its attempt is to give way to that job */
	struct job *fold;
};

/* What is recorded of an end is what really happened, or an honest "nobody knows". */
void check_exit(struct run *r, const struct event *e)
{
	struct task_ref ref = { .job = e->job, .task = e->task, .attempt = e->attempt };
	struct task_exit truth;

	if (e->exit.kind == EXIT_LOST) {
		if (engine_sim_starts(r->machine, &ref) > 0 &&
		    !engine_sim_truth(r->machine, &ref, &truth))
			broke(r, "task %d of job %lld is recorded as lost and runs",
			      e->task, (long long)e->job);
		return;
	}
	if (e->exit.kind == EXIT_UNSTARTED) {
		if (engine_sim_starts(r->machine, &ref) > 0)
			broke(r,
			      "task %d of job %lld ran and is recorded as never started",
			      e->task, (long long)e->job);
		return;
	}
	if (!engine_sim_truth(r->machine, &ref, &truth))
		broke(r, "task %d of job %lld is recorded as ended and is not", e->task,
		      (long long)e->job);
	else if (truth.kind != e->exit.kind || truth.code != e->exit.code)
		broke(r, "task %d of job %lld ended otherwise than recorded", e->task,
		      (long long)e->job);
}

/* One that gave way comes back; or it was done, or a person or its array ended it. */
static void check_way(struct history *h, const struct event *e)
{
	const struct job *j = h->fold;

	if (e->kind == EV_STOP && e->stop == STOP_PREEMPTED) {
		if (!j->spec->preemptible)
			broke(h->r, "job %lld has to give way and need not",
			      (long long)h->job);
		if (!e->way || e->way == h->job)
			broke(h->r, "job %lld gives way to nobody", (long long)h->job);
		h->way = e->way;
	}
	if (e->kind == EV_RETRY && h->way && j->failures && !j->spec->retry.max)
		broke(h->r, "giving way counts as a failure of job %lld",
		      (long long)h->job);
	if (e->kind == EV_ENDED && h->way && j->stop == STOP_PREEMPTED &&
	    e->outcome != OUTCOME_SUCCEEDED)
		broke(h->r, "job %lld gave way and did not come back", (long long)h->job);
	if (e->kind == EV_PLACED)
		h->way = 0;
}

static void one_event(void *arg, const struct event *e)
{
	struct history *h = arg;

	if (e->kind == EV_EXITED)
		check_exit(h->r, e); /* and that nothing of it began later */

	if (e->seq <= h->last_seq)
		broke(h->r, "events of job %lld are out of order", (long long)h->job);
	h->last_seq = e->seq;
	h->submitted += e->kind == EV_SUBMITTED;
	h->ended += e->kind == EV_ENDED;
	if (e->kind == EV_SUBMITTED) {
		h->fold = h->fold ? h->fold : job_create(e, NULL);
		return;
	}
	if (!h->fold || !job_legal(h->fold, e)) {
		broke(h->r, "the %s of job %lld does not follow from its history",
		      event_kind_word(e->kind), (long long)h->job);
		return;
	}
	job_apply(h->fold, e);
	check_way(h, e);
}

void check_history(struct run *r, int64_t job)
{
	struct history h = { .r = r, .job = job };
	struct err err = { 0 };

	if (store_events(r->store, job, 0, 100000, one_event, &h, &err) < 0)
		broke(r, "events of job %lld: %s", (long long)job, err.text);
	if (h.submitted != 1 || h.ended != 1)
		broke(r, "job %lld was submitted %d and ended %d times", (long long)job,
		      h.submitted, h.ended);
	for (int a = 1; h.fold && a <= h.fold->attempt; a++) {
		for (size_t t = 0; t < h.fold->task_count; t++) {
			struct task_ref ref = { .job = job,
						.task = (int)t,
						.attempt = a };
			if (engine_sim_starts(r->machine, &ref) > 1)
				broke(r, "attempt %d of task %zu of job %lld ran twice",
				      a, t, (long long)job);
		}
	}
	if (h.fold)
		check_resume(r, h.fold);
	if (h.fold && h.fold->outcome == OUTCOME_NONE)
		broke(r, "job %lld has ended without an outcome", (long long)job);
	if (h.fold && job_is_array(h.fold))
		check_members_of(r, job);
	job_destroy(h.fold);
}

bool check_end(struct run *r)
{
	struct yard_node nodes[NODES_MAX];
	size_t n = yard_nodes(r->yard, nodes, NODES_MAX);

	if (yard_live_count(r->yard))
		broke(r, "%zu jobs never end", yard_live_count(r->yard));
	if (engine_sim_running(r->machine))
		broke(r, "%d tasks run that no job knows",
		      engine_sim_running(r->machine));
	for (size_t i = 0; i < n; i++)
		if (nodes[i].tasks || nodes[i].used.cpu_milli ||
		    nodes[i].used.memory_bytes)
			broke(r, "%s: %d tasks and %lld mcpu are not given back",
			      nodes[i].node.name, nodes[i].tasks,
			      (long long)nodes[i].used.cpu_milli);
	for (size_t i = 0; i < r->claim_count; i++)
		if (r->claims[i].doomed)
			check_doomed(r, &r->claims[i]);
		else if (r->claims[i].acked)
			check_history(r, r->claims[i].job);
	return r->broken.code == ERR_NONE;
}
