// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "base/mem.h"
#include "fleet/score.h"
#include "plan/model.h"
#include "plan/typical.h"

static void root_create(struct plan *p)
{
	struct owner *o = mem_alloc(1, sizeof *o);

	o->name = mem_strdup("");
	o->is_group = true;
	tenant_create(p, o);
	p->root = o->tenant;
}

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
	root_create(p);
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

/* What was worked out for a head is not for another one that gets its memory. */
static void forget_head(struct plan *p, const struct entry *e)
{
	for (size_t i = 0; i < HEADS_MAX; i++) {
		if (p->heads.r[i].head != e)
			continue;
		p->heads.r[i].head = NULL;
		backfill_forget(p);
	}
}

void entry_destroy(struct plan *p, struct entry *e)
{
	forget_head(p, e);
	map_del(p->jobs, e->id);
	shape_put(p, e->shape);
	owner_put(p, e->user);
	owner_put(p, e->group);
	free(e);
}

/* Another place in the queue may change who the head is, and so for whom it has room. */
static void move(struct plan *p, struct entry *e, const struct plan_job *job)
{
	queue_leave(p, e);
	e->priority = job->priority;
	e->guess_ms = job->guess_ms;
	e->guess_low_ms = job->guess_low_ms;
	e->guess_high_ms = job->guess_high_ms;
	queue_join(p, e);
	p->version++;
}

static void wait(struct plan *p, const struct plan_delta *d)
{
	const struct plan_job *job = d->job;
	struct entry *e = map_get(p->jobs, job->id);

	if (!e)
		queue_join(p, entry_create(p, job));
	else if (e->bucket &&
		 (e->priority != job->priority || e->guess_ms != job->guess_ms))
		move(p, e, job);
	else if (e->priority != job->priority)
		preempt_priority(p, e, job->priority);
	if (!e && d->id == job->id && d->place_count)
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
	queue_runs(p, e, d->since_ms);
	if (d->id)
		preempt_told(p, e, d->id);
}

static void note_freed(struct plan *p, const struct grants *g)
{
	for (size_t i = 0; i < g->count && !p->grown; i++) {
		int node = g->items[i].node;
		if (i && g->items[i - 1].node == node)
			continue;
		if (p->freed_count == FREED_MAX)
			p->grown = true;
		else
			p->freed[p->freed_count++] = node;
	}
}

static void release(struct plan *p, int64_t id, int64_t at_ms)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || waits(e))
		return;
	preempt_stops(p, e);
	tree_remove(&p->running, &e->at);
	note_freed(p, &e->grants);
	fleet_give_back(p->fleet, e->shape->ask, &e->grants);
	tenant_ran(e->group->tenant, e->shape, e->since_ms,
		   at_ms > 0 ? at_ms : p->now_ms);
	queue_discharge(p, e);
	entry_destroy(p, e);
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

static void set_node(struct plan *p, const struct node *n)
{
	int at = fleet_find(p->fleet, n->name);

	if (at >= 0) {
		const struct node *was = fleet_node(p->fleet, at);
		p->windows -= was->window_count;
		tenants_capacity(p, was, -1);
	}
	fleet_set_node(p->fleet, n);
	p->windows += n->window_count;
	tenants_capacity(p, n, 1);
	shapes_refresh(p);
	queue_unpark(p, p->root->owner); /* there may be more that nobody keeps */
	p->nodes_changed = true;
	p->version++;
}

/* When others end is believed otherwise: they run on in another order. */
static void believe(struct plan *p)
{
	struct entry *e;

	for (size_t it = 0; (e = map_next(p->jobs, &it));) {
		if (waits(e))
			continue;
		tree_remove(&p->running, &e->at);
		queue_believe(p, e);
	}
}

static void set_policy(struct plan *p, const struct plan_policy *policy)
{
	bool believed = p->policy.believe_guesses;

	p->policy = *policy;
	if (believed != policy->believe_guesses)
		believe(p);
	fleet_set_rule(p->fleet, policy->rule, &policy->weights, policy->seed);
	order_policy(p);
	tenants_fade(p);
	p->preempt->fresh = true;
	p->version++;
}

static void set_used(struct plan *p, const char *group, int64_t at_ms,
		     const struct use *u)
{
	struct owner *o = owner_get(p, true, group);

	tenant_used(o->tenant, at_ms / HOUR_MS, u, false);
	owner_put(p, o);
	p->version++;
}

void plan_apply(struct plan *p, const struct plan_delta *d)
{
	switch (d->kind) {
	case PLAN_NODE:
		set_node(p, d->node);
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
		release(p, d->id, d->since_ms);
		return;
	case PLAN_QUOTA_USER:
	case PLAN_QUOTA_GROUP:
		set_quota(p, d->kind == PLAN_QUOTA_GROUP, d->name, d->quota);
		return;
	case PLAN_CHECKPOINT:
		keep(p, d->id, d->since_ms);
		return;
	case PLAN_TENANT:
		tenant_set(p, d->name, d->tenant);
		return;
	case PLAN_POLICY:
		set_policy(p, d->policy);
		return;
	case PLAN_USED:
		set_used(p, d->name, d->since_ms, d->used);
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
	heads_fini(p);
	owner_free(p->root->owner);
	view_destroy(p->scratch->kept);
	view_destroy(p->scratch->tried);
	free(p->scratch->queues);
	free(p->scratch->candidates);
	free(p->scratch->lines);
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
	return e && e->bucket ? (int)(preempt_count(p) + order_rank(p, e)) + 1 : 0;
}

size_t plan_waiting(const struct plan *p)
{
	return preempt_count(p) + tree_count(&p->queue);
}

size_t plan_queue(const struct plan *p, size_t position, int64_t *out, size_t max)
{
	size_t first = preempt_count(p), count = 0;

	if (!position)
		return 0;
	for (; position <= first && count < max; position++)
		out[count++] = preempt_nth(p, position - 1)->by;
	return count + order_list(p, position - 1 - first, out + count, max - count);
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
	int64_t next = preempt_next_ms(p);

	if (p->policy.age_bound_ms > 0 && p->age_ms < next)
		next = p->age_ms;
	return p->windows && p->edge_ms < next ? p->edge_ms : next;
}
