// SPDX-License-Identifier: Apache-2.0
/* The tree of groups: which rules go together, and who holds what. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"
#include "yard/share.h"

#define DEPTH_MAX 8 /* levels of the tree below the root */
#define TYPES_MAX 8 /* device types in all rules together */

/* ---- rules that go together ---- */

struct family {
	const struct yard *yard;
	const char *parent; /* whose children are added up */
	const char *but;    /* all but this one */
	struct resources sum;
};

/* Shapes are guaranteed as devices too; what is not set adds nothing. */
static void add_guarantee(struct resources *sum, const struct tenant_rule *r)
{
	struct resources g = r->guarantee;

	g.cpu_milli = g.cpu_milli < 0 ? 0 : g.cpu_milli;
	g.memory_bytes = g.memory_bytes < 0 ? 0 : g.memory_bytes;
	resources_add(sum, &g);
	for (size_t i = 0; i < r->shape_count; i++) {
		struct resources one = { .devices[0] = r->shapes[i].devices };
		resources_scale(&one, r->shapes[i].count);
		resources_add(sum, &one);
	}
}

static void add_child(void *arg, const char *group, const struct tenant_rule *rule)
{
	struct family *f = arg;

	if (str_eq(rule->parent, f->parent) && !str_eq(group, f->but))
		add_guarantee(&f->sum, rule);
}

/* What is promised to those below is part of what is promised to the one above. */
static int check_sum(const struct resources *children, const struct tenant_rule *above,
		     const char *name, struct err *err)
{
	struct resources whole = { 0 };
	const char *what = NULL;

	add_guarantee(&whole, above);
	if (above->guarantee.cpu_milli >= 0 && children->cpu_milli > whole.cpu_milli)
		what = "cpu";
	if (above->guarantee.memory_bytes >= 0 &&
	    children->memory_bytes > whole.memory_bytes)
		what = "memory";
	for (int i = 0; i < DEVICE_KINDS_MAX && whole.devices[i].type[0]; i++)
		if (resources_milli(children, whole.devices[i].type) >
		    device_milli(&whole.devices[i]))
			what = whole.devices[i].type;
	if (!what)
		return 0;
	return err_set(
		err, ERR_INVALID,
		"guarantee: the groups below '%s' would be guaranteed more %s than "
		"it is itself",
		name, what);
}

static int check_chain(const struct yard *y, const char *group, const char *parent,
		       struct err *err)
{
	struct tenant_rule above;
	int depth = 1;

	for (; *parent; parent = above.parent) {
		if (str_eq(parent, group))
			return err_set(err, ERR_INVALID,
				       "parent: a group cannot be below itself");
		if (++depth > DEPTH_MAX)
			return err_set(err, ERR_INVALID,
				       "parent: the tree may be %d levels deep",
				       DEPTH_MAX);
		struct tenant_rule next;
		yard_tenant(y, parent, &next);
		above = next;
	}
	return 0;
}

struct types {
	char names[TYPES_MAX + 1][DEVICE_TYPE_MAX];
	int count;
	const char *but;
};

static void note_type(struct types *t, const char *type)
{
	int i = 0;

	while (i < t->count && !str_eq(t->names[i], type))
		i++;
	if (*type && i == t->count && t->count <= TYPES_MAX)
		memcpy(t->names[t->count++], type, strlen(type) + 1);
}

static void note_types(void *arg, const char *group, const struct tenant_rule *r)
{
	struct types *t = arg;

	if (str_eq(group, t->but))
		return;
	for (int i = 0; i < DEVICE_KINDS_MAX; i++) {
		note_type(t, r->guarantee.devices[i].type);
		note_type(t, r->borrow.devices[i].type);
		note_type(t, r->lend.devices[i].type);
	}
	for (size_t i = 0; i < r->shape_count; i++)
		note_type(t, r->shapes[i].devices.type);
}

/* The plan keeps an account of each for every group. */
static int check_types(const struct yard *y, const char *group,
		       const struct tenant_rule *rule, struct err *err)
{
	struct types t = { .but = group };

	yard_each_tenant(y, note_types, &t);
	note_types(&t, "", rule);
	if (t.count <= TYPES_MAX)
		return 0;
	return err_set(err, ERR_INVALID,
		       "guarantee: the rules of all groups may name %d device types",
		       TYPES_MAX);
}

int yard_tenant_check(const struct yard *y, const char *group,
		      const struct tenant_rule *rule, struct err *err)
{
	struct family siblings = { y, rule->parent, group, { 0 } },
		      children = { y, group, group, { 0 } };
	struct tenant_rule above;

	if (check_chain(y, group, rule->parent, err) < 0 ||
	    check_types(y, group, rule, err) < 0)
		return -1;
	yard_each_tenant(y, add_child, &siblings);
	yard_each_tenant(y, add_child, &children);
	add_guarantee(&siblings.sum, rule);
	if (check_sum(&children.sum, rule, group, err) < 0)
		return -1;
	if (!rule->parent[0])
		return 0;
	yard_tenant(y, rule->parent, &above);
	return check_sum(&siblings.sum, &above, rule->parent, err);
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
