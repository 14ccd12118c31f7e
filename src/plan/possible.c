// SPDX-License-Identifier: Apache-2.0
/* What can never run is refused at once, with the nearest that could. */
#include "base/mem.h"
#include "plan/words.h"

static bool anybody_has(const struct plan *p, int kind)
{
	for (size_t i = 0; i < p->node_count; i++) {
		int pool = nodes_pool(p, (int)i, kind);
		if (p->nodes[i].node.up && pool >= 0 && p->nodes[i].pools[pool].total)
			return true;
	}
	return false;
}

static int refuse_kind(const struct plan *p, const char *type, struct err *err)
{
	AUTO_BUF struct buf have = { 0 };

	for (size_t k = 0; k < p->kind_count; k++) {
		if (anybody_has(p, (int)k))
			buf_printf(&have, "%s%s", have.len ? ", " : "", p->kinds[k]);
	}
	return err_set(err, ERR_INVALID, "no node has devices of type %s (there %s: %s)",
		       type, have.len ? "are" : "is",
		       have.len ? buf_str(&have) : "none of any type");
}

/* Not even one task fits: what the nearest node has instead. */
static int refuse_one(const struct plan *p, const struct space *empty,
		      const struct shape_role *r, struct err *err)
{
	AUTO_BUF struct buf asks = { 0 };
	AUTO_BUF struct buf has = { 0 };
	struct dim dims[DIMS_MAX];
	int node = words_nearest(p, empty, NULL, r);
	size_t count;

	if (node < 0)
		return err_set(err, ERR_INVALID, "no node is up");
	for (size_t i = 0; i < r->device_count; i++) {
		if (!anybody_has(p, r->devices[i].kind))
			return refuse_kind(p, r->types[i], err);
	}
	count = words_dims(p, node, &empty[node], r, dims);
	for (size_t i = 0; i < count; i++) {
		if (dims[i].want <= dims[i].free)
			continue;
		buf_adds(&has, has.len ? " and " : "");
		words_amount(&dims[i], dims[i].free > 0 ? dims[i].free : 0, &has);
	}
	words_role(r, &asks);
	return err_set(
		err, ERR_INVALID,
		"a task asks for %s, and no node has all of that; the nearest, %s, has only %s",
		buf_str(&asks), p->nodes[node].node.name, buf_str(&has));
}

int words_never(const struct plan *p, const struct shape *s, struct err *err)
{
	const struct space *empty;

	fit_empty(p, &p->scratch->future, &p->scratch->future_cap);
	empty = p->scratch->future;
	for (size_t k = 0; k < s->role_count; k++) {
		const struct shape_role *r = &s->roles[k];
		int64_t fits = words_fits(p, empty, r);
		AUTO_BUF struct buf each = { 0 };
		if (fits == 0)
			return refuse_one(p, empty, r, err);
		if (fits >= r->count)
			continue;
		words_role(r, &each);
		return err_set(
			err, ERR_INVALID,
			"%d tasks of %s each do not fit on all nodes together: at most %lld do",
			r->count, buf_str(&each), (long long)fits);
	}
	return err_set(
		err, ERR_INVALID,
		"its %d tasks do not fit on all nodes at once, though each role alone would: "
		"ask for fewer tasks",
		s->task_count);
}

static int check_quota(const struct plan *p, const struct map *owners, const char *name,
		       const struct shape *s, struct err *err)
{
	const struct owner *o = map_gets(owners, name ? name : "");
	int kind = KIND_NONE;
	enum quota_short what = o ? owner_never(o, s, &kind) : QUOTA_OK;
	AUTO_BUF struct buf words = { 0 };

	if (what == QUOTA_OK)
		return 0;
	words_quota(p, o, s, what, kind, &words);
	return err_set(err, ERR_QUOTA, "%s: more than may ever run at once",
		       buf_str(&words));
}

int plan_possible(const struct plan *p, const struct plan_job *job, struct err *err)
{
	struct shape *s = shape_make(p, job);
	int rc = check_quota(p, p->users, job->user, s, err);

	if (rc == 0)
		rc = check_quota(p, p->groups, job->group, s, err);
	if (rc == 0 && !fit_ever(p, s))
		rc = words_never(p, s, err);
	shape_free(s);
	return rc;
}
