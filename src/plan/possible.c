// SPDX-License-Identifier: Apache-2.0
/* What can never run is refused at once, with the nearest that could. */
#include <string.h>

#include "base/mem.h"
#include "plan/reason.h"
#include "plan/words.h"

static int refuse_kind(const struct plan *p, const char *type, struct err *err)
{
	AUTO_BUF struct buf have = { 0 };

	for (int k = 0; k < (int)fleet_kinds(p->fleet); k++) {
		if (fleet_devices(p->fleet, (uint64_t)1 << k))
			buf_printf(&have, "%s%s", have.len ? ", " : "",
				   fleet_kind_name(p->fleet, k));
	}
	return err_set(err, ERR_INVALID, "no node has devices of type %s (there %s: %s)",
		       type, have.len ? "are" : "is",
		       have.len ? buf_str(&have) : "none of any type");
}

/* Nodes with these labels cannot hold a task that others could; 0: labels do not matter. */
static int refuse_labels(const struct view *empty, const struct ask_role *r,
			 const char *asks, struct err *err)
{
	struct ask_role any = *r, none = { .count = 1, .least = 1, .labels = r->labels };

	any.labels = NULL;
	any.classes_at = 0;
	if (!r->labels || !view_room(empty, &any, -1, 1))
		return 0;
	if (!view_room(empty, &none, -1, 1))
		return err_set(err, ERR_INVALID, "no node that is up has the label%s %s",
			       strchr(r->labels, ',') ? "s" : "", r->labels);
	return err_set(err, ERR_INVALID,
		       "a task asks for %s, and no node with %s has all of that; one "
		       "without has",
		       asks, r->labels);
}

/* Not even one task fits: what the nearest node has instead. */
static int refuse_one(const struct plan *p, const struct view *empty,
		      const struct ask_role *r, struct err *err)
{
	AUTO_BUF struct buf asks = { 0 };
	AUTO_BUF struct buf has = { 0 };
	struct dim dims[DIMS_MAX];
	int node = words_nearest(p, empty, NULL, r);
	size_t count;

	if (node < 0)
		return err_set(err, ERR_INVALID, "no node is up");
	for (size_t i = 0; i < r->device_count; i++) {
		if (!fleet_devices(p->fleet, r->devices[i].kinds))
			return refuse_kind(p, r->devices[i].type, err);
	}
	words_role(r, &asks);
	if (refuse_labels(empty, r, buf_str(&asks), err) < 0)
		return -1;
	count = words_dims(empty, p, node, r, dims);
	for (size_t i = 0; i < count; i++) {
		if (dims[i].want <= dims[i].free)
			continue;
		buf_adds(&has, has.len ? " and " : "");
		words_amount(&dims[i], dims[i].free > 0 ? dims[i].free : 0, &has);
	}
	if (!has.len) /* it has enough, but not near to each other */
		return err_set(
			err, ERR_INVALID,
			"a task asks for %s, and no node has that many linked closely",
			buf_str(&asks));
	return err_set(
		err, ERR_INVALID,
		"a task asks for %s, and no node has all of that; the nearest, %s, has only %s",
		buf_str(&asks), fleet_node(p->fleet, node)->name, buf_str(&has));
}

/* Drained nodes are opened again one day: who fits there may wait for that. */
static bool some_day(const struct plan *p, const struct ask *a)
{
	view_empty(p->fleet, &p->scratch->future);
	view_reopen(p->scratch->future);
	return view_fit(p->scratch->future, a, NULL, &p->scratch->head_picks);
}

static int say_closed(const struct plan *p, struct err *err)
{
	AUTO_BUF struct buf nodes = { 0 };
	int more = 0;

	for (int i = 0; i < (int)fleet_count(p->fleet); i++) {
		const struct node *n = fleet_node(p->fleet, i);
		if (!n->up || n->state == NODE_OPEN)
			continue;
		if (nodes.len) {
			more++;
			continue;
		}
		buf_printf(&nodes, "%s is %s", n->name,
			   n->state == NODE_DRAIN ? "drained" : "in quarantine");
		if (n->reason[0])
			buf_printf(&nodes, " (%s)", n->reason);
	}
	if (more)
		buf_printf(&nodes, ", as %s %d more", more == 1 ? "is" : "are", more);
	return err_set(err, ERR_INVALID,
		       "nodes that could hold it take nothing new now: %s",
		       buf_str(&nodes));
}

int words_never(const struct plan *p, const struct ask *a, struct err *err)
{
	const struct view *empty;

	if (some_day(p, a))
		return say_closed(p, err);
	view_empty(p->fleet, &p->scratch->future);
	empty = p->scratch->future;
	for (size_t k = 0; k < a->role_count; k++) {
		const struct ask_role *r = &a->roles[k];
		int64_t fits = view_room(empty, r, -1, r->count);
		AUTO_BUF struct buf each = { 0 };
		if (fits == 0)
			return refuse_one(p, empty, r, err);
		if (fits >= r->least)
			continue;
		words_role(r, &each);
		return err_set(
			err, ERR_INVALID,
			"%d tasks of %s each do not fit on all nodes together: at most %lld do",
			r->least, buf_str(&each), (long long)fits);
	}
	if (cause_near(p, empty, a))
		return err_set(
			err, ERR_INVALID,
			"its %d task%s do%s not fit in one %s: ask for fewer, or do "
			"not insist on it (within-must)",
			a->least_count, a->least_count == 1 ? "" : "s",
			a->least_count == 1 ? "es" : "", words_level(a->within));
	return err_set(
		err, ERR_INVALID,
		"its %d tasks do not fit on all nodes at once, though each role alone would: "
		"ask for fewer tasks",
		a->least_count);
}

static int check_quota(const struct owner *o, const struct shape *s, struct err *err)
{
	int limit = -1;
	enum quota_short what = o ? owner_never(o, s, &limit) : QUOTA_OK;
	AUTO_BUF struct buf words = { 0 };

	if (what == QUOTA_OK)
		return 0;
	words_quota(o, s->ask, what, limit, &words);
	buf_adds(&words, ": more than may ever run at once");
	words_ceiling(o, what, limit, &words);
	return err_set(err, ERR_QUOTA, "%s", buf_str(&words));
}

/* Its group and all above: quotas, then what the tree lets it hold when nobody else does. */
static int check_group(const struct plan *p, const char *name, struct shape *s,
		       struct err *err)
{
	const struct owner *o = map_gets(p->groups, name ? name : "");
	struct tenant *t = o ? o->tenant : p->root;
	AUTO_BUF struct buf words = { 0 };
	int dim;

	for (const struct tenant *n = t; n->parent; n = n->parent) {
		if (check_quota(n->owner, s, err) < 0)
			return -1;
	}
	t = tenant_never(t, s, &dim);
	if (!t)
		return 0;
	words_quota(t->owner, s->ask, t->parent ? QUOTA_BORROW : QUOTA_KEPT, dim, &words);
	return err_set(err, ERR_QUOTA, "%s: more than may ever run at once",
		       buf_str(&words));
}

int plan_possible(const struct plan *p, const struct plan_job *job, struct err *err)
{
	struct shape *s = shape_make(p, job);
	int rc = check_quota(map_gets(p->users, job->user ? job->user : ""), s, err);

	if (rc == 0)
		rc = check_group(p, job->group, s, err);
	if (rc == 0 && !shape_ever(p, s) && !some_day(p, s->ask))
		rc = words_never(p, s->ask, err);
	shape_free(s);
	return rc;
}
