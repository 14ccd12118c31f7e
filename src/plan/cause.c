// SPDX-License-Identifier: Apache-2.0
/* What is short: on the node that comes nearest, or of all together; and who holds it. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "plan/reason.h"
#include "plan/step.h"
#include "plan/words.h"

#define HOLDERS_TOLD   2
#define HOLDERS_LOOKED 4096

static int64_t held_devices(const struct plan *p, const struct grant *g,
			    const struct need *n)
{
	int64_t sum = 0;

	for (size_t k = 0; k < DEVICE_KINDS_MAX; k++) {
		if (g->devices[k].mask &&
		    n->kinds >> fleet_pool_kind(p->fleet, g->node, g->devices[k].pool) &
			    1)
			sum += g->devices[k].share_milli
				       ? g->devices[k].share_milli
				       : DEVICE_SHARE *
						 __builtin_popcountll(g->devices[k].mask);
	}
	return sum / (n->share_milli ? n->share_milli : DEVICE_SHARE);
}

static int64_t held_on(const struct plan *p, const struct entry *e, int node,
		       const struct dim *d)
{
	int64_t sum = 0;

	for (size_t i = 0; i < e->grants.count; i++) {
		const struct grant *g = &e->grants.items[i];
		const struct ask_role *r = &e->shape->ask->roles[g->role];
		if (g->node != node)
			continue;
		switch (d->what) {
		case DIM_CPU:
			sum += r->cpu_milli;
			break;
		case DIM_MEMORY:
			sum += r->memory_bytes;
			break;
		case DIM_PORTS:
			sum += g->port_count;
			break;
		case DIM_TASKS:
			sum++;
			break;
		case DIM_DEVICES:
			sum += held_devices(p, g, d->need);
			break;
		}
	}
	return sum;
}

void reason_say_job(const struct plan *p, int64_t job, struct buf *out)
{
	const struct plan_eyes *eyes = p->scratch->eyes;

	if (!eyes || eyes->see(eyes->arg, job))
		buf_printf(out, "job %lld", (long long)job);
	else
		buf_adds(out, "somebody's job");
}

struct holder {
	int64_t job, amount;
};

/* "; job 7 holds 3 gpu there, job 9 1 gpu, 2 more the rest" */
static void say_holders(const struct plan *p, int node, const struct dim *d,
			const char *where, struct buf *out)
{
	struct holder top[HOLDERS_TOLD] = { 0 };
	size_t others = 0;

	if (tree_count(&p->running) > HOLDERS_LOOKED)
		return; /* where so many run, it matters little who is on one node */
	for (struct tree_node *n = tree_first(&p->running); n; n = tree_next(n)) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		struct holder h = { e->id, held_on(p, e, node, d) };
		if (!h.amount)
			continue;
		for (size_t i = 0; i < HOLDERS_TOLD; i++) {
			struct holder was = top[i];
			if (h.amount > was.amount ||
			    (h.amount == was.amount && h.job < was.job)) {
				top[i] = h;
				h = was;
			}
		}
		others += h.amount > 0;
	}
	for (size_t i = 0; i < HOLDERS_TOLD && top[i].amount; i++) {
		buf_adds(out, i ? ", " : "; ");
		reason_say_job(p, top[i].job, out);
		buf_adds(out, i ? " " : " holds ");
		words_amount(d, top[i].amount, out);
		buf_adds(out, i ? "" : where);
	}
	if (others)
		buf_printf(out, ", %zu more the rest", others);
}

/* Of several nodes none has any of it. */
static bool none_anywhere(const struct plan *p, const struct view *v, const struct dim *d)
{
	int nodes = 0;

	if (d->what != DIM_DEVICES)
		return false;
	for (int i = 0; i < (int)fleet_count(p->fleet); i++) {
		struct amount a = view_devices(v, i, d->need);
		if (view_open(v, i) && a.free > 0)
			return false;
		nodes += view_open(v, i) && a.total > 0;
	}
	return nodes > 1;
}

/* One thing is short: how much of it is free where most is. */
static void say_block(const struct plan *p, const struct view *v, int node,
		      const struct dim *d, struct buf *out)
{
	const char *name = fleet_node(p->fleet, node)->name;
	AUTO_FREE char *where = NULL;

	if (d->free <= 0 && none_anywhere(p, v, d)) {
		where = str_printf(" on %s", name);
		buf_adds(out, "; none is free on any node");
	} else if (d->free <= 0) {
		buf_adds(out, "; none of the ");
		words_number(d, d->total, out);
		buf_printf(out, " on %s is free", name);
	} else if (d->what == DIM_DEVICES) {
		buf_adds(out, "; the largest free block is ");
		words_number(d, d->free, out);
		buf_adds(out, " of ");
		words_number(d, d->total, out);
		buf_printf(out, ", on %s", name);
	} else {
		buf_printf(out, "; the nearest, %s, has ", name);
		words_number(d, d->free, out);
		buf_adds(out, " of ");
		words_number(d, d->total, out);
		buf_adds(out, " free");
	}
	say_holders(p, node, d, where ? where : " there", out);
}

/* Several things are short at once. */
static void say_blocks(const struct plan *p, int node, const struct dim *dims,
		       size_t count, struct buf *out)
{
	const char *join = "";

	buf_printf(out, "; the nearest, %s, has ", fleet_node(p->fleet, node)->name);
	for (size_t i = 0; i < count; i++) {
		if (dims[i].want <= dims[i].free)
			continue;
		buf_adds(out, join);
		words_number(&dims[i], dims[i].free > 0 ? dims[i].free : 0, out);
		buf_adds(out, " of ");
		words_amount(&dims[i], dims[i].total, out);
		join = " and ";
	}
	buf_adds(out, " free");
}

/* A node that has room, but takes nobody now. */
static void say_closed(const struct plan *p, const struct ask_role *r, struct buf *out)
{
	const struct view *v = fleet_now(p->fleet);

	for (int i = 0; i < (int)fleet_count(p->fleet); i++) {
		const struct node *n = fleet_node(p->fleet, i);
		struct dim dims[DIMS_MAX];
		size_t count, lacks = 0;
		if (!n->up || n->state == NODE_OPEN)
			continue;
		count = words_dims(v, p, i, r, dims);
		for (size_t k = 0; k < count; k++)
			lacks += dims[k].want > dims[k].free;
		if (lacks)
			continue;
		buf_printf(out, "; %s has room, but is %s", n->name,
			   n->state == NODE_DRAIN ? "drained" : "in quarantine");
		if (n->reason[0])
			buf_printf(out, " (%s)", n->reason);
		return;
	}
}

static const struct node_window *window_of(const struct node *n, const struct stay *stay)
{
	for (size_t k = 0; k < n->window_count; k++) {
		const struct node_window *w = &n->windows[k];
		if (stay->from_ms < w->to_ms && stay->to_ms > w->from_ms &&
		    !(w->group[0] && strcmp(w->group, stay->group) == 0))
			return w;
	}
	return NULL;
}

bool cause_window(const struct plan *p, const struct view *v, const struct entry *e,
		  size_t role, struct buf *out)
{
	struct stay stay = step_stay(e, p->now_ms);
	char text[UNITS_TEXT_MAX];

	for (int i = 0; p->windows && i < (int)fleet_count(p->fleet); i++) {
		const struct node *n = fleet_node(p->fleet, i);
		const struct node_window *w = window_of(n, &stay);
		if (!w || !view_room(v, &e->shape->ask->roles[role], i, 1))
			continue;
		buf_printf(out, "%s is kept for %s%s ", n->name,
			   w->group[0] ? "group " : "maintenance", w->group);
		if (w->from_ms > p->now_ms)
			buf_printf(out, "in %s, before it would end",
				   units_show_duration(w->from_ms - p->now_ms, text));
		else
			buf_printf(out, "for another %s",
				   units_show_duration(w->to_ms - p->now_ms, text));
		return true;
	}
	return false;
}

/* How many tasks of a role fit now, on nodes that are not kept for others. */
static int64_t fits_now(const struct plan *p, const struct view *v, const struct entry *e,
			size_t role)
{
	const struct ask_role *r = &e->shape->ask->roles[role];
	struct stay stay = step_stay(e, p->now_ms);
	int64_t sum = 0;

	for (int i = 0; i < (int)fleet_count(p->fleet); i++) {
		if (node_stays_open(fleet_node(p->fleet, i), &stay))
			sum += view_room(v, r, i, r->count);
	}
	return sum < r->count ? sum : r->count;
}

/* No node has room for one task of this role: the node that comes nearest says why. */
static void say_one(const struct plan *p, const struct view *v, const struct ask *a,
		    size_t role, struct buf *out)
{
	const struct ask_role *r = &a->roles[role];
	const struct dim *only = NULL;
	struct dim dims[DIMS_MAX];
	size_t count = 0, n = 0;
	int node;

	view_empty(p->fleet, &p->scratch->future);
	node = words_nearest(p, v, p->scratch->future, r);
	if (node >= 0)
		count = words_dims(v, p, node, r, dims);
	buf_adds(out, "waits for ");
	for (size_t i = 0; i < count; i++) {
		if (dims[i].want <= dims[i].free)
			continue;
		buf_adds(out, n++ ? " and " : "");
		words_amount(&dims[i], dims[i].want, out);
		only = &dims[i];
	}
	if (!n) /* each thing is there, but not on the devices that are near each other */
		words_role(r, out);
	buf_adds(out, " on one node");
	if (r->count > 1)
		buf_printf(out, " for each of %d tasks", r->count);
	if (r->labels)
		buf_printf(out, " with %s", r->labels);
	if (a->role_count > 1)
		buf_printf(out, " (a task of role %zu)", role + 1);
	if (n == 1)
		say_block(p, v, node, only, out);
	else if (n > 1)
		say_blocks(p, node, dims, count, out);
	say_closed(p, r, out);
}

static void say_many(const struct plan *p, const struct ask *a, size_t role, int64_t fits,
		     struct buf *out)
{
	const struct ask_role *r = &a->roles[role];

	buf_printf(out, "waits for room for %d tasks", r->least);
	if (a->role_count > 1)
		buf_printf(out, " of role %zu", role + 1);
	buf_adds(out, " at once, each ");
	words_role(r, out);
	if (fits)
		buf_printf(out, "; %lld would fit now", (long long)fits);
	else
		buf_adds(out, "; none would fit now");
	say_closed(p, r, out);
}

bool cause_near(const struct plan *p, const struct view *v, const struct ask *a)
{
	struct ask far = *a;

	far.within_must = false;
	far.within = LEVEL_ANY;
	far.score_at = 0;
	return a->within_must && view_fit(v, &far, NULL, &p->scratch->picks);
}

/* A window may be in its way even where there is no room yet. */
static void say_kept(const struct plan *p, const struct entry *e, size_t role,
		     struct buf *out)
{
	AUTO_BUF struct buf window = { 0 };

	if (!p->windows)
		return;
	view_empty(p->fleet, &p->scratch->future);
	if (cause_window(p, p->scratch->future, e, role, &window))
		buf_printf(out, "; %s", buf_str(&window));
}

/* One role alone is too much for what is free. */
static bool say_role(const struct plan *p, const struct view *v, const struct entry *e,
		     size_t role, struct buf *out)
{
	const struct ask *a = e->shape->ask;
	const struct ask_role *r = &a->roles[role];
	int64_t fits = view_room(v, r, -1, r->count), open = fits;

	if (fits && p->windows)
		open = fits_now(p, v, e, role);
	if (open >= r->least && fits)
		return false;
	if (fits)
		say_many(p, a, role, open, out);
	else
		say_one(p, v, a, role, out);
	say_kept(p, e, role, out);
	return true;
}

void cause_capacity(const struct plan *p, const struct view *v, const struct entry *e,
		    struct buf *out)
{
	const struct ask *a = e->shape->ask;

	for (size_t k = 0; k < a->role_count; k++) {
		if (say_role(p, v, e, k, out))
			return;
	}
	if (cause_near(p, v, a))
		buf_printf(out,
			   "waits for room for its %d task%s in one %s: there is enough, "
			   "but not so near to each other",
			   a->least_count, a->least_count == 1 ? "" : "s",
			   words_level(a->within));
	else
		buf_printf(
			out,
			"waits for room for all its %d tasks at once: each role would fit alone now",
			a->least_count);
}
