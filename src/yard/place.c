// SPDX-License-Identifier: Apache-2.0
/* The plan's side: jobs, nodes and quotas as deltas; its decisions as PLACED events. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/why.h"
#include "yard/internal.h"

/* A checked spec has its ports in the order plan gives them out: any number first, then fixed. */
static void fill_role(const struct role *r, struct gang_role *out)
{
	*out = (struct gang_role){ .count = r->count,
				   .least = r->least,
				   .each = r->each };
	for (size_t i = 0; i < r->port_count; i++) {
		if (!r->ports[i].fixed)
			out->any_ports += r->ports[i].count;
		else if (out->fixed_count < PORTS_MAX)
			out->fixed_ports[out->fixed_count++] = r->ports[i].fixed;
	}
}

/* The caller frees the roles. */
static struct gang_role *fill_job(const struct spec *s, struct plan_job *out)
{
	struct gang_role *roles = mem_alloc(s->role_count, sizeof *roles);

	for (size_t i = 0; i < s->role_count; i++)
		fill_role(&s->roles[i], &roles[i]);
	out->priority = s->priority;
	out->limit_ms = s->time_limit_ms;
	out->gang.roles = roles;
	out->gang.role_count = s->role_count;
	return roles;
}

void yard_plan_wait(struct yard *y, const struct job *j)
{
	struct plan_job pj = { .id = j->id, .user = j->owner, .group = j->group };
	AUTO_FREE struct gang_role *roles = fill_job(j->spec, &pj);
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &pj };

	pj.priority = j->priority;
	plan_apply(y->plan, &d);
}

void yard_plan_held(struct yard *y, const struct job *j)
{
	struct plan_job pj = { .id = j->id, .user = j->owner, .group = j->group };
	AUTO_FREE struct gang_role *roles = fill_job(j->spec, &pj);
	AUTO_FREE struct placement *places = mem_alloc(j->task_count, sizeof *places);
	struct plan_delta d = { .kind = PLAN_HELD, .job = &pj, .places = places };

	for (size_t i = 0; i < j->task_count; i++)
		places[i] = j->tasks[i].place;
	d.place_count = j->task_count;
	d.since_ms = j->placed_ms;
	plan_apply(y->plan, &d);
}

void yard_plan_id(struct yard *y, enum plan_delta_kind kind, int64_t id)
{
	struct plan_delta d = { .kind = kind, .id = id };

	plan_apply(y->plan, &d);
}

void yard_plan_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q)
{
	struct plan_delta d = { .name = name, .quota = q };

	d.kind = str_eq(scope, "user") ? PLAN_QUOTA_USER : PLAN_QUOTA_GROUP;
	plan_apply(y->plan, &d);
}

void yard_plan_node(struct yard *y, const struct node *n)
{
	struct plan_delta d = { .kind = PLAN_NODE, .node = n };
	size_t i = 0;

	while (i < y->node_count && !str_eq(y->nodes[i].name, n->name))
		i++;
	if (i == y->node_count) {
		mem_grow(&y->nodes, &y->node_cap, y->node_count, sizeof *y->nodes);
		y->node_count++;
	}
	y->nodes[i] = *n;
	plan_apply(y->plan, &d);
	y->step_asked = true;
}

int yard_plan_possible(struct yard *y, const struct spec *s, const char *user,
		       const char *group, struct err *err)
{
	struct plan_job pj = { .id = y->next_job, .user = user, .group = group };
	AUTO_FREE struct gang_role *roles = fill_job(s, &pj);

	return plan_possible(y->plan, &pj, err);
}

struct decisions {
	struct event *items;
	size_t count, cap;
};

static void decided(void *arg, const struct plan_decision *d)
{
	struct decisions *ds = arg;

	mem_grow(&ds->items, &ds->cap, ds->count, sizeof *ds->items);
	ds->items[ds->count++] = (struct event){
		.kind = EV_PLACED,
		.job = d->job,
		.places = mem_dup(d->places, d->place_count * sizeof *d->places),
		.place_count = d->place_count,
	};
}

void yard_plan_step(struct yard *y)
{
	struct decisions ds = { 0 };

	plan_step(y->plan, world_now_ms(y->world), 0, decided, &ds);
	for (size_t i = 0; i < ds.count; i++) {
		struct event *e = &ds.items[i];
		struct live *l = yard_find(y, e->job);

		e->attempt = l ? l->job->attempt + 1 : 0;
		if (!l || !job_legal(l->job, e)) {
			yard_plan_id(y, PLAN_RELEASE, e->job);
			event_fini(e);
			continue;
		}
		yard_record(y, e, NULL, NULL);
	}
	free(ds.items);
}
