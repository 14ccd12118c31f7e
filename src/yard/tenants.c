// SPDX-License-Identifier: Apache-2.0
/* The tree of groups: which rules go together, and who holds what. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "plan/rules.h"
#include "yard/internal.h"
#include "yard/share.h"

/* ---- rules that go together ---- */

struct rules {
	struct tenant_named *items;
	size_t count, cap;
	const char *but; /* all but the rule of this one */
};

static void note_rule(void *arg, const char *group, const struct tenant_rule *rule)
{
	struct rules *r = arg;

	if (str_eq(group, r->but))
		return;
	mem_grow(&r->items, &r->cap, r->count, sizeof *r->items);
	r->items[r->count++] = (struct tenant_named){ group, rule };
}

/* Not against the nodes: one may be promised what comes tomorrow. */
int yard_tenant_check(const struct yard *y, const char *group,
		      const struct tenant_rule *rule, struct err *err)
{
	struct rules r = { .but = group };

	yard_each_tenant(y, note_rule, &r);
	r.but = NULL;
	note_rule(&r, group, rule);
	int rc = tenant_check(r.items, r.count, NULL, 0, err);
	free(r.items);
	return rc;
}

/* ---- who holds what ---- */

/* "gpu" of "gpu:a100". */
static void add_devices(struct resources *sum, const char *type, int count,
			int share_milli)
{
	struct resources one = { .devices[0] = { .count = count,
						 .share_milli = share_milli } };
	size_t n = strcspn(type, ":");

	memcpy(one.devices[0].type, type, n);
	if (count)
		resources_add(sum, &one);
}

static void add_task(struct resources *sum, const struct job *j, const struct task *t)
{
	struct resources each = { .cpu_milli = j->spec->roles[t->role].each.cpu_milli,
				  .memory_bytes =
					  j->spec->roles[t->role].each.memory_bytes };

	resources_add(sum, &each);
	for (int i = 0; i < DEVICE_KINDS_MAX && t->place.devices[i].type[0]; i++)
		add_devices(sum, t->place.devices[i].type,
			    __builtin_popcountll(t->place.devices[i].mask),
			    t->place.devices[i].share_milli);
}

static bool holds(const struct job *j)
{
	return j->state == JOB_STARTING || j->state == JOB_RUNNING ||
	       j->state == JOB_STOPPING || j->state == JOB_COLLECTING;
}

static struct yard_share *share_of(struct map *all, const char *group)
{
	struct yard_share *s = map_gets(all, group);

	if (s)
		return s;
	s = mem_alloc(1, sizeof *s);
	strncpy(s->group, group, sizeof s->group - 1);
	map_puts(all, group, s);
	return s;
}

void yard_each_share(const struct yard *y,
		     void (*each)(void *arg, const struct yard_share *s), void *arg)
{
	struct map *all = map_create();
	struct yard_share *s;
	const struct live *l;

	for (size_t it = 0; (l = map_next(y->live, &it));) {
		const struct job *j = l->job;
		if (job_is_array(j))
			continue; /* its members count */
		s = share_of(all, j->group);
		s->waiting += j->state == JOB_QUEUED;
		if (!holds(j))
			continue;
		s->running++;
		for (size_t i = 0; i < j->task_count; i++)
			add_task(&s->held, j, &j->tasks[i]);
	}
	for (size_t it = 0; (s = map_next(all, &it));) {
		each(arg, s);
		free(s);
	}
	map_destroy(all);
}

int64_t yard_turn(const struct yard *y, const char *group)
{
	return plan_turn(y->plan, group);
}

void yard_capacity(const struct yard *y, struct resources *out)
{
	*out = (struct resources){ 0 };
	for (size_t i = 0; i < y->node_count; i++) {
		const struct node *n = &y->nodes[i];
		struct resources plain = { .cpu_milli = n->capacity.cpu_milli,
					   .memory_bytes = n->capacity.memory_bytes };
		if (!n->up)
			continue;
		resources_add(out, &plain);
		for (int k = 0; k < DEVICE_KINDS_MAX; k++)
			add_devices(out, n->capacity.devices[k].type,
				    n->capacity.devices[k].count, 0);
	}
}
