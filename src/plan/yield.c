// SPDX-License-Identifier: Apache-2.0
#include "plan/yield.h"

#include <stdlib.h>

#include "base/mem.h"
#include "plan/length.h"
#include "plan/model.h"

#define LOOKED_MAX 8192 /* at most: the search has a bound */

/* when_ms: if not now, when it would. */
static bool ranks_above(const struct entry *a, const struct entry *b, int64_t now_ms,
			int64_t *when_ms)
{
	*when_ms = INT64_MAX;
	if (b->preemptible && (!a->preemptible || a->priority > b->priority))
		return true;
	return length_outranks(a, b, now_ms, when_ms);
}

static bool within(const struct entry *e)
{
	return tenant_within(e->group->tenant, e->shape);
}

bool yield_passes(const struct entry *e, const struct entry *ahead)
{
	bool mine = within(e), other = within(ahead);
	int64_t when;

	if (ahead->aged)
		return false; /* nobody passes one who has waited long enough */
	return mine == other ? ranks_above(e, ahead, INT64_MAX, &when) : mine;
}

/* Nobody is told in the moment in which it starts. */
int64_t yield_ripe_ms(const struct plan *p, const struct entry *e)
{
	int64_t least = p->policy.min_run_ms > 0 ? p->policy.min_run_ms : 1;

	return e->since_ms < INT64_MAX - least ? e->since_ms + least : INT64_MAX;
}

/* The processor counts little, but it counts. */
static int64_t work_lost(const struct entry *e, int64_t now_ms)
{
	int64_t from = e->kept_ms > e->since_ms ? e->kept_ms : e->since_ms, lost;
	struct use u = shape_use(e->shape);

	if (now_ms <= from)
		return 0;
	return __builtin_mul_overflow(u.device_milli + u.cpu_milli / 64 + 1,
				      now_ms - from, &lost)
		       ? INT64_MAX
		       : lost;
}

static int by_loss(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->borrows != y->borrows)
		return x->borrows ? -1 : 1;
	if (x->e->priority != y->e->priority)
		return x->e->priority < y->e->priority ? -1 : 1;
	if (x->lost != y->lost)
		return x->lost < y->lost ? -1 : 1;
	if (x->e->since_ms != y->e->since_ms)
		return x->e->since_ms > y->e->since_ms ? -1 : 1;
	return x->e->id > y->e->id ? -1 : 1;
}

static struct entry *skip_told(struct yields *y)
{
	struct tree_node *n = y->next;

	for (; n && y->left > 0; n = tree_next(n), y->left--) {
		struct entry *e = y->all ? TREE_OF(n, struct entry, at)
					 : TREE_OF(n, struct entry, in_way);
		if (e->gives_way)
			continue;
		y->next = tree_next(n);
		y->left--;
		return e;
	}
	y->next = NULL;
	return NULL;
}

struct entry *yield_first(const struct plan *p, struct yields *y)
{
	*y = (struct yields){ .all = p->dims.count > 0, .left = LOOKED_MAX };
	y->next = tree_first(y->all ? &p->running : &p->preempt->may_yield);
	return skip_told(y);
}

struct entry *yield_next(struct yields *y)
{
	return skip_told(y);
}

/* What was borrowed is taken back only as long as it is: with those before it in the list
 * gone, its group still holds more than it is guaranteed. */
static void check_borrowed(struct candidates *out)
{
	size_t kept = 0;

	for (size_t i = 0; i < out->count; i++) {
		struct entry *e = out->items[i].e;
		if (out->items[i].borrows && !e->preemptible &&
		    tenant_secure(e->group->tenant, e->shape))
			continue;
		tenant_charge(e->group->tenant, e->shape, -1);
		out->items[kept++] = out->items[i];
	}
	out->count = kept;
	for (size_t i = 0; i < kept; i++) {
		struct entry *e = out->items[i].e;
		tenant_charge(e->group->tenant, e->shape, 1);
	}
}

void yield_collect(struct plan *p, const struct entry *by, struct candidates *out,
		   int64_t *until_ms)
{
	bool mine = within(by);
	struct yields y;

	out->count = 0;
	for (struct entry *e = yield_first(p, &y); e; e = yield_next(&y)) {
		bool other = tenant_secure(e->group->tenant, e->shape), may = mine;
		int64_t when = INT64_MAX;
		if (mine == other)
			may = ranks_above(by, e, p->now_ms, &when);
		if (!may && when < *until_ms)
			*until_ms = when;
		if (!may || yield_ripe_ms(p, e) > p->now_ms)
			continue;
		mem_grow(&out->items, &out->cap, out->count, sizeof *out->items);
		out->items[out->count++] =
			(struct candidate){ e, mine && !other, work_lost(e, p->now_ms) };
	}
	if (out->count)
		qsort(out->items, out->count, sizeof *out->items, by_loss);
	if (mine)
		check_borrowed(out);
}
