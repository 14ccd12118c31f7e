// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "base/mem.h"
#include "fleet/score.h"
#include "plan/model.h"

struct plan *plan_create(void)
{
	struct plan *p = mem_alloc(1, sizeof *p);

	p->fleet = fleet_create();
	p->policy = plan_policy_default;
	p->shape_by_key = map_create();
	p->bucket_by_key = map_create();
	p->users = map_create();
	p->groups = map_create();
	p->jobs = map_create();
	p->scratch = mem_alloc(1, sizeof *p->scratch);
	preempt_create(p);
	return p;
}

struct entry *entry_create(struct plan *p, const struct plan_job *job)
{
	struct entry *e = mem_alloc(1, sizeof *e);

	e->id = job->id;
	e->priority = job->priority;
	e->limit_ms = job->limit_ms;
	e->since_ms = e->submit_ms = job->submit_ms;
	e->served_ms = job->served_ms;
	e->preemptible = job->preemptible;
	e->guess_ms = job->guess_ms;
	e->guess_low_ms = job->guess_low_ms;
	e->guess_high_ms = job->guess_high_ms;
	e->shape = shape_get(p, job);
	e->user = owner_get(p, false, job->user);
	e->group = owner_get(p, true, job->group);
	map_put(p->jobs, e->id, e);
	return e;
}

void entry_destroy(struct plan *p, struct entry *e)
{
	map_del(p->jobs, e->id);
	shape_put(p, e->shape);
	owner_put(p, e->user);
	owner_put(p, e->group);
	free(e);
}

/* Another place in the queue may change who the head is, and so for whom it has room. */
static void move(struct plan *p, struct entry *e, int priority)
{
	queue_leave(p, e);
	e->priority = priority;
	queue_join(p, e);
	p->version++;
}

static void wait(struct plan *p, const struct plan_delta *d)
{
	const struct plan_job *job = d->job;
	struct entry *e = map_get(p->jobs, job->id);

	if (!e)
		queue_join(p, entry_create(p, job));
	else if (e->bucket && e->priority != job->priority)
		move(p, e, job->priority);
	else if (e->priority != job->priority)
		preempt_priority(p, e, job->priority);
	if (!e && d->place_count)
		preempt_pin(p, map_get(p->jobs, job->id), d->places, d->place_count);
	p->preempt->fresh = true;
}

static bool waits(const struct entry *e)
{
	return e->bucket || e->claim;
}

static void leave(struct plan *p, int64_t id)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || !waits(e))
		return;
	if (e->bucket)
		queue_leave(p, e);
	preempt_drop(p, id);
	p->preempt->fresh = true; /* others are the first now */
	entry_destroy(p, e);
}

static void hold(struct plan *p, const struct plan_delta *d)
{
	struct entry *e = map_get(p->jobs, d->job->id);

	if (e && !waits(e)) {
		if (d->id)
			preempt_told(p, e, d->id);
		return;
	}
	if (e)
		leave(p, e->id);
	e = entry_create(p, d->job);
	fleet_adopt(p->fleet, e->shape->ask, d->places, d->place_count, &e->grants);
	shapes_refresh(p);
	e->since_ms = d->since_ms;
	e->end_ms = FOREVER;
	if (e->limit_ms > 0 && d->since_ms < FOREVER - e->limit_ms)
		e->end_ms = d->since_ms + e->limit_ms;
	e->since_ms = d->since_ms;
	preempt_runs(p, e);
	if (d->id)
		preempt_told(p, e, d->id);
	tree_add(&p->running, &e->at, e->end_ms, e->id);
	owner_charge(e->user, e->shape, 1);
	owner_charge(e->group, e->shape, 1);
	p->version++;
}

static void release(struct plan *p, int64_t id)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || waits(e))
		return;
	preempt_stops(p, e);
	tree_remove(&p->running, &e->at);
	fleet_give_back(p->fleet, e->shape->ask, &e->grants);
	owner_charge(e->user, e->shape, -1);
	owner_charge(e->group, e->shape, -1);
	queue_unpark(p, e->user);
	queue_unpark(p, e->group);
	entry_destroy(p, e);
	p->grown = true;
	p->version++;
}

static void keep(struct plan *p, int64_t id, int64_t until_ms)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || waits(e) || until_ms <= e->kept_ms)
		return;
	e->kept_ms = until_ms;
	p->version++;
}

static void set_quota(struct plan *p, bool group, const char *name, const struct quota *q)
{
	struct owner *o = owner_get(p, group, name);

	owner_set_quota(p, o, q);
	queue_unpark(p, o);
	owner_put(p, o);
	p->version++;
}

static void asked(struct plan *p, const struct plan_job *job)
{
	struct shape *s = shape_get(p, job);

	fleet_note_ask(p->fleet, s->ask);
	shape_put(p, s);
}

void plan_set_typical(struct plan *p, const struct plan_job *jobs, const int64_t *counts,
		      size_t count)
{
	const struct ask **asks = mem_alloc(count + 1, sizeof *asks);
	struct shape **shapes = mem_alloc(count + 1, sizeof *shapes);

	for (size_t i = 0; i < count; i++) {
		shapes[i] = shape_make(p, &jobs[i]);
		asks[i] = shapes[i]->ask;
	}
	fleet_set_typical(p->fleet, asks, counts, count);
	for (size_t i = 0; i < count; i++)
		shape_free(shapes[i]);
	free(shapes);
	free(asks);
}

int64_t plan_fragmentation(const struct plan *p)
{
	return fleet_fragmentation(p->fleet);
}

void plan_apply(struct plan *p, const struct plan_delta *d)
{
	switch (d->kind) {
	case PLAN_NODE:
		fleet_set_node(p->fleet, d->node);
		shapes_refresh(p);
		p->nodes_changed = true;
		p->version++;
		return;
	case PLAN_WAIT:
		wait(p, d);
		return;
	case PLAN_LEAVE:
		leave(p, d->id);
		return;
	case PLAN_HELD:
		hold(p, d);
		return;
	case PLAN_RELEASE:
		release(p, d->id);
		return;
	case PLAN_QUOTA_USER:
	case PLAN_QUOTA_GROUP:
		set_quota(p, d->kind == PLAN_QUOTA_GROUP, d->name, d->quota);
		return;
	case PLAN_CHECKPOINT:
		keep(p, d->id, d->since_ms);
		return;
	case PLAN_TENANT:
	case PLAN_USED:
		return;
	case PLAN_POLICY:
		p->policy = *d->policy;
		fleet_set_rule(p->fleet, d->policy->rule, &d->policy->weights,
			       d->policy->seed);
		p->version++;
		return;
	case PLAN_ASKED:
		asked(p, d->job);
		return;
	}
}

void plan_destroy(struct plan *p)
{
	struct entry *e;
	struct owner *o;

	if (!p)
		return;
	for (size_t it = 0; (e = map_next(p->jobs, &it));) {
		if (e->bucket)
			queue_leave(p, e);
		else if (!e->claim)
			fleet_give_back(p->fleet, e->shape->ask, &e->grants);
		preempt_drop(p, e->id);
		preempt_stops(p, e);
		entry_destroy(p, e);
	}
	for (size_t it = 0; (o = map_next(p->users, &it));)
		owner_free(o);
	for (size_t it = 0; (o = map_next(p->groups, &it));)
		owner_free(o);
	map_destroy(p->shape_by_key);
	map_destroy(p->bucket_by_key);
	map_destroy(p->users);
	map_destroy(p->groups);
	map_destroy(p->jobs);
	preempt_destroy(p);
	free(p->scratch->picks.items);
	free(p->scratch->head_picks.items);
	view_destroy(p->scratch->future);
	fleet_destroy(p->fleet);
	free(p->scratch->places);
	free(p->scratch);
	free(p);
}

int plan_position(const struct plan *p, int64_t job)
{
	const struct entry *e = map_get(p->jobs, job);

	if (e && e->claim)
		return (int)preempt_rank(p, e->claim) + 1;
	return e && e->bucket ? (int)(preempt_count(p) + tree_rank(&e->at)) + 1 : 0;
}

size_t plan_waiting(const struct plan *p)
{
	return preempt_count(p) + tree_count(&p->queue);
}

size_t plan_queue(const struct plan *p, size_t position, int64_t *out, size_t max)
{
	size_t first = preempt_count(p), count = 0;
	struct tree_node *n;

	if (!position)
		return 0;
	for (; position <= first && count < max; position++)
		out[count++] = preempt_nth(p, position - 1)->by;
	n = position > first ? tree_nth(&p->queue, position - 1 - first) : NULL;
	for (; n && count < max; n = tree_next(n))
		out[count++] = TREE_OF(n, struct entry, at)->id;
	return count;
}

int plan_node_used(const struct plan *p, const char *node, struct resources *used,
		   int *tasks)
{
	int at = fleet_find(p->fleet, node);

	if (at < 0)
		return -1;
	fleet_used(p->fleet, at, used, tasks);
	return 0;
}

int64_t plan_next_ms(const struct plan *p)
{
	return preempt_next_ms(p);
}
