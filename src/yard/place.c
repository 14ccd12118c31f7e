// SPDX-License-Identifier: Apache-2.0
/* The plan's side: jobs, nodes and quotas as deltas; its decisions as PLACED and STOP
 * events. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/why.h"
#include "yard/internal.h"

/* As the gang wants them: "zone=a,disk=nvme".  NULL: none; the caller frees. */
static char *labels_text(const struct pairs *where)
{
	char text[NODE_LABELS_MAX];

	/* The check saw to it that they can be written. */
	return where->count && node_labels_write(where, text) == 0 ? mem_strdup(text)
								   : NULL;
}

/* A checked spec has its ports in the order plan gives them out: any number first, then fixed. */
static void fill_role(const struct role *r, struct gang_role *out)
{
	*out = (struct gang_role){ .count = r->count,
				   .least = r->least,
				   .each = r->each,
				   .labels = labels_text(&r->where) };
	for (size_t i = 0; i < r->port_count; i++) {
		if (!r->ports[i].fixed)
			out->any_ports += r->ports[i].count;
		else if (out->fixed_count < PORTS_MAX)
			out->fixed_ports[out->fixed_count++] = r->ports[i].fixed;
	}
}

struct gang_roles { /* what a gang's roles own */
	struct gang_role *items;
	size_t count;
};

static void drop_roles(struct gang_roles *r)
{
	for (size_t i = 0; i < r->count; i++)
		free((void *)(uintptr_t)r->items[i].labels);
	free(r->items);
}
#define AUTO_ROLES __attribute__((cleanup(drop_roles)))

static void fill_job(const struct spec *s, struct plan_job *out, struct gang_roles *own)
{
	struct gang_role *roles = mem_alloc(s->role_count, sizeof *roles);

	for (size_t i = 0; i < s->role_count; i++)
		fill_role(&s->roles[i], &roles[i]);
	out->priority = s->priority;
	out->preemptible = s->preemptible;
	out->limit_ms = s->time_limit_ms;
	out->gang = (struct gang){ .roles = roles,
				   .role_count = s->role_count,
				   .within = s->within,
				   .within_must = s->within_must };
	*own = (struct gang_roles){ roles, s->role_count };
}

void yard_with_plan_job(struct yard *y, const struct spec *s, const char *user,
			const char *group,
			void (*call)(void *arg, const struct plan_job *job), void *arg)
{
	struct plan_job pj = { .user = user,
			       .group = group,
			       .submit_ms = world_now_ms(y->world) };
	AUTO_ROLES struct gang_roles roles = { 0 };

	fill_job(s, &pj, &roles);
	yard_fill_guess(y, s, &pj);
	call(arg, &pj);
}

/* What became of it so far: one that gave way keeps its age. */
static void fill_life(const struct job *j, struct plan_job *out)
{
	out->priority = j->priority;
	out->submit_ms = j->age_ms;
	out->served_ms = j->ways.lost_ms;
}

void yard_plan_wait(struct yard *y, const struct job *j)
{
	struct plan_job pj = { .id = j->id, .user = j->owner, .group = j->group };
	AUTO_ROLES struct gang_roles roles = { 0 };
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &pj };

	fill_job(j->spec, &pj, &roles);
	fill_life(j, &pj);
	yard_fill_guess(y, j->spec, &pj);
	y->fresh_job = j->id;
	yard_tell(y, &d);
	if (j->placed_ms)
		return; /* it comes back: nobody asked again */
	d.kind = PLAN_ASKED;
	yard_tell(y, &d);
}

void yard_plan_held(struct yard *y, const struct job *j)
{
	struct plan_job pj = { .id = j->id, .user = j->owner, .group = j->group };
	AUTO_ROLES struct gang_roles roles = { 0 };
	AUTO_FREE struct placement *places = mem_alloc(j->task_count, sizeof *places);
	struct plan_delta d = { .kind = PLAN_HELD, .job = &pj, .places = places };

	fill_job(j->spec, &pj, &roles);
	fill_life(j, &pj);
	yard_fill_guess(y, j->spec, &pj);
	for (size_t i = 0; i < j->task_count; i++) {
		places[i] = j->tasks[i].place;
		places[i].slot -= placement_block(y->config.identity);
	}
	d.place_count = j->task_count;
	d.since_ms = j->placed_ms;
	d.id = j->stop == STOP_PREEMPTED ? j->way : 0;
	yard_tell(y, &d);
	yard_tell(y, &(struct plan_delta){ .kind = PLAN_ASKED, .job = &pj });
}

void yard_plan_id(struct yard *y, enum plan_delta_kind kind, int64_t id)
{
	struct plan_delta d = { .kind = kind, .id = id };

	if (kind == PLAN_RELEASE) /* till now it used what it had */
		d.since_ms = world_now_ms(y->world);
	yard_tell(y, &d);
}

void yard_plan_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q)
{
	struct plan_delta d = { .name = name, .quota = q };

	d.kind = str_eq(scope, "user") ? PLAN_QUOTA_USER : PLAN_QUOTA_GROUP;
	yard_tell(y, &d);
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
	yard_tell(y, &d);
	y->step_asked = true;
}

int yard_plan_possible(struct yard *y, const struct spec *s, const char *user,
		       const char *group, struct err *err)
{
	struct plan_job pj = { .id = y->next_job, .user = user, .group = group };
	AUTO_ROLES struct gang_roles roles = { 0 };

	fill_job(s, &pj, &roles);
	return plan_possible(y->plan, &pj, err);
}

/* Time of day may jump: one looks again now and then. */
#define AWAKE_MOST_MS INT64_C(60000)

static void on_awake(void *arg)
{
	struct yard *y = arg;

	y->step_asked = true;
	yard_kick(y);
}

/* A window opens, somebody has waited long enough: no event tells of that. */
static void stay_awake(struct yard *y)
{
	int64_t left = plan_next_ms(y->plan) - world_now_ms(y->world);

	if (left > INT64_MAX / 2) {
		if (y->awake)
			world_timer_stop(y->awake);
		return;
	}
	left = left < 1 ? 1 : left < AWAKE_MOST_MS ? left : AWAKE_MOST_MS;
	if (!y->awake)
		y->awake = world_timer_create(y->world, on_awake, y);
	world_timer_at(y->awake, world_mono_ms(y->world) + left);
}

struct decisions {
	int block; /* of addresses: the plan counts from 0 */
	struct event *items;
	size_t count, cap;
};

static void decided(void *arg, const struct plan_decision *d)
{
	struct decisions *ds = arg;
	struct event e = { .job = d->job };

	switch (d->verb) {
	case PLAN_START:
		e.kind = EV_PLACED;
		e.places = mem_dup(d->places, d->place_count * sizeof *d->places);
		e.place_count = d->place_count;
		for (size_t i = 0; i < e.place_count; i++)
			e.places[i].slot += ds->block;
		break;
	case PLAN_PREEMPT:
		e.kind = EV_STOP;
		e.stop = STOP_PREEMPTED;
		e.way = d->by;
		break;
	}
	mem_grow(&ds->items, &ds->cap, ds->count, sizeof *ds->items);
	ds->items[ds->count++] = e;
}

/* What was overtaken meanwhile: a place is given back; who was to give way goes already. */
static void carry_out(struct yard *y, struct event *e)
{
	struct live *l = yard_find(y, e->job);

	if (e->kind == EV_PLACED)
		e->attempt = l ? l->job->attempt + 1 : 0;
	if (l && job_legal(l->job, e)) {
		if (YARD_PLANT == PLANT_PREEMPT && e->kind == EV_STOP)
			yard_plan_id(y, PLAN_RELEASE, e->job);
		yard_record(y, e, NULL, NULL);
		return;
	}
	if (e->kind == EV_PLACED)
		yard_plan_id(y, PLAN_RELEASE, e->job);
	event_fini(e);
}

void yard_plan_step(struct yard *y)
{
	struct decisions ds = { .block = placement_block(y->config.identity) };

	yard_ask_step(y, world_now_ms(y->world), decided, &ds);
	for (size_t i = 0; i < ds.count; i++)
		carry_out(y, &ds.items[i]);
	free(ds.items);
	yard_hope_fresh(y);
	stay_awake(y);
}
