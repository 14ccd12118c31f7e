// SPDX-License-Identifier: Apache-2.0
#include "plan/plan.h"

#include "base/mem.h"
#include "plan/model.h"

struct plan *plan_create(void)
{
	struct plan *p = mem_alloc(1, sizeof *p);

	p->node_by_name = map_create();
	p->shape_by_key = map_create();
	p->bucket_by_key = map_create();
	p->users = map_create();
	p->groups = map_create();
	p->jobs = map_create();
	p->scratch = mem_alloc(1, sizeof *p->scratch);
	p->node_version = 1;
	return p;
}

static struct entry *entry_create(struct plan *p, const struct plan_job *job)
{
	struct entry *e = mem_alloc(1, sizeof *e);

	e->id = job->id;
	e->priority = job->priority;
	e->limit_ms = job->limit_ms;
	e->shape = shape_get(p, job);
	e->user = owner_get(p, false, job->user);
	e->group = owner_get(p, true, job->group);
	map_put(p->jobs, e->id, e);
	return e;
}

static void entry_destroy(struct plan *p, struct entry *e)
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

static void wait(struct plan *p, const struct plan_job *job)
{
	struct entry *e = map_get(p->jobs, job->id);

	if (!e)
		queue_join(p, entry_create(p, job));
	else if (e->bucket && e->priority != job->priority)
		move(p, e, job->priority);
}

static void leave(struct plan *p, int64_t id)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || !e->bucket)
		return;
	queue_leave(p, e);
	entry_destroy(p, e);
}

static void hold(struct plan *p, const struct plan_delta *d)
{
	struct entry *e = map_get(p->jobs, d->job->id);

	if (e && !e->bucket)
		return;
	if (e)
		leave(p, e->id);
	e = entry_create(p, d->job);
	nodes_adopt(p, e, d->places, d->place_count);
	e->end_ms = FOREVER;
	if (e->limit_ms > 0 && d->since_ms < FOREVER - e->limit_ms)
		e->end_ms = d->since_ms + e->limit_ms;
	tree_add(&p->running, &e->at, e->end_ms, e->id);
	owner_charge(e->user, e->shape, 1);
	owner_charge(e->group, e->shape, 1);
	p->version++;
}

static void release(struct plan *p, int64_t id)
{
	struct entry *e = map_get(p->jobs, id);

	if (!e || e->bucket)
		return;
	tree_remove(&p->running, &e->at);
	nodes_give_back(p, e);
	owner_charge(e->user, e->shape, -1);
	owner_charge(e->group, e->shape, -1);
	queue_unpark(p, e->user);
	queue_unpark(p, e->group);
	entry_destroy(p, e);
	p->grown = true;
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

void plan_apply(struct plan *p, const struct plan_delta *d)
{
	switch (d->kind) {
	case PLAN_NODE:
		nodes_set(p, d->node);
		p->nodes_changed = true;
		p->node_version++;
		p->version++;
		return;
	case PLAN_WAIT:
		wait(p, d->job);
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
		else
			nodes_give_back(p, e);
		entry_destroy(p, e);
	}
	for (size_t it = 0; (o = map_next(p->users, &it));)
		owner_free(o);
	for (size_t it = 0; (o = map_next(p->groups, &it));)
		owner_free(o);
	nodes_free(p);
	map_destroy(p->node_by_name);
	map_destroy(p->shape_by_key);
	map_destroy(p->bucket_by_key);
	map_destroy(p->users);
	map_destroy(p->groups);
	map_destroy(p->jobs);
	for (size_t i = 0; i < p->kind_count; i++)
		free(p->kinds[i]);
	free(p->kinds);
	free(p->scratch->picks.items);
	free(p->scratch->head_picks.items);
	free(p->scratch->future);
	free(p->scratch->places);
	free(p->scratch);
	free(p);
}

int plan_position(const struct plan *p, int64_t job)
{
	const struct entry *e = map_get(p->jobs, job);

	return e && e->bucket ? (int)tree_rank(&e->at) + 1 : 0;
}

size_t plan_waiting(const struct plan *p)
{
	return tree_count(&p->queue);
}

size_t plan_queue(const struct plan *p, size_t position, int64_t *out, size_t max)
{
	struct tree_node *n = position ? tree_nth(&p->queue, position - 1) : NULL;
	size_t count = 0;

	for (; n && count < max; n = tree_next(n))
		out[count++] = TREE_OF(n, struct entry, at)->id;
	return count;
}

int plan_node_used(const struct plan *p, const char *node, struct resources *used,
		   int *tasks)
{
	uintptr_t at = (uintptr_t)map_gets(p->node_by_name, node);
	const struct node_state *n;

	if (!at)
		return -1;
	n = &p->nodes[at - 1];
	*used = (struct resources){ .cpu_milli = n->cpu_milli,
				    .memory_bytes = n->memory_bytes };
	for (int i = 0; i < NODE_POOLS; i++) {
		if (n->pools[i].used)
			resources_set_device(used, p->kinds[n->pools[i].kind],
					     __builtin_popcountll(n->pools[i].used));
	}
	*tasks = n->tasks;
	return 0;
}
