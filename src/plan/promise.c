// SPDX-License-Identifier: Apache-2.0
#include "plan/promise.h"

#include "base/mem.h"
#include "plan/model.h"
#include "plan/pack.h"

void promise_forget(struct tenant *t)
{
	for (size_t i = 0; i < TENANT_SHAPES_MAX; i++) {
		ask_destroy(t->places[i]);
		t->places[i] = NULL;
	}
}

bool promise_binds(const struct plan *p, const struct entry *e)
{
	return p->dims.shapes && !(p->policy.preempt && e->preemptible);
}

/* The nearest part of the tree around it to which something is promised, or the root. */
static struct tenant *part_of(const struct entry *e)
{
	struct tenant *t = e->group->tenant;

	while (t->parent && !t->promises)
		t = t->parent;
	return t;
}

void promise_keep(struct plan *p, const struct entry *e, struct view *v)
{
	struct pack_for f = { .mine = part_of(e), .but = DEVICES_MAX };

	if (promise_binds(p, e))
		pack(p, &f, v);
}

/* What is free, or would be if all went who give way. */
static void obtainable(struct plan *p, struct view **v)
{
	struct tree_node *n = tree_first(&p->preempt->may_yield);

	view_copy(p->fleet, preempt_open(p), v);
	for (; n && p->policy.preempt; n = tree_next(n)) {
		const struct entry *y = TREE_OF(n, struct entry, in_way);
		view_return(*v, y->shape->ask, &y->grants, -1);
	}
}

/* The shape of a rule that is the tightest for the largest of its tasks; -1: none. */
static int shape_for(const struct tenant *t, const struct ask *a)
{
	const struct ask_role *r = &a->roles[a->order[0]];
	int best = -1;

	for (size_t i = 0; i < t->rule.shape_count && r->device_count; i++) {
		const struct device_count *d = &t->rule.shapes[i].devices;
		if (device_within(r->devices[0].type, d->type) &&
		    r->devices[0].count <= d->count &&
		    (best < 0 || d->count < t->rule.shapes[best].devices.count))
			best = (int)i;
	}
	return best;
}

/* With it there, as many places are kept as before. */
static bool keeps(struct plan *p, struct tenant *mine, const struct entry *e,
		  const struct picks *picks)
{
	struct newcomer new = { e, picks };
	struct pack_for f = { .mine = mine, .new = &new };

	obtainable(p, &p->scratch->tried);
	view_take(p->scratch->tried, e->shape->ask, picks);
	return pack(p, &f, p->scratch->tried) >= mine->kept_count;
}

/* Into places of its own part of the tree: as few of them as will do. */
static bool fit_own(struct plan *p, struct tenant *mine, const struct entry *e,
		    const struct view *v, const struct stay *stay, struct picks *picks)
{
	const struct ask *a = e->shape->ask;
	int shape = shape_for(mine, a);
	int most = shape < 0 ? 0 : mine->rule.shapes[shape].count;

	for (int but = 1; but <= most && but <= a->task_count; but++) {
		struct pack_for f = { .mine = mine, .shape = (size_t)shape, .but = but };
		obtainable(p, &p->scratch->tried);
		pack(p, &f, p->scratch->tried);
		view_least(v, p->scratch->tried, &p->scratch->kept);
		if (view_fit(p->scratch->kept, a, stay, picks))
			return keeps(p, mine, e, picks);
	}
	return false;
}

bool promise_fit(struct plan *p, const struct entry *e, const struct view *v,
		 const struct stay *stay, struct picks *picks)
{
	struct tenant *mine;

	if (!promise_binds(p, e))
		return view_fit(v, e->shape->ask, stay, picks);
	mine = part_of(e);
	if (mine->kept_version != p->version + 1) {
		struct pack_for f = { .mine = mine };
		mine->kept_version = p->version + 1;
		obtainable(p, &mine->kept);
		mine->kept_count = pack(p, &f, mine->kept);
	}
	view_least(v, mine->kept, &p->scratch->kept);
	if (view_fit(p->scratch->kept, e->shape->ask, stay, picks) &&
	    (!mine->promises || keeps(p, mine, e, picks)))
		return true;
	if (mine->promises && fit_own(p, mine, e, v, stay, picks))
		return true;
	/* Wherever it likes best: the places may all be somewhere else then. */
	return view_fit(v, e->shape->ask, stay, picks) && keeps(p, mine, e, picks);
}
