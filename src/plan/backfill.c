// SPDX-License-Identifier: Apache-2.0
/* EASY backfill: the head gets a reservation, everyone else may use what does not touch
 * it.  Running jobs are believed to end at their limits; those without a limit end
 * last, in the order of their ids, so that a head that waits for some of them is not
 * passed for ever by others that never end either. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void spare_of(const struct plan *p, struct reservation *r, int node)
{
	const struct space *now = &p->live[node], *then = &r->after[node];
	struct space *s = &r->spare[node];

	s->up = now->up;
	s->cpu_milli = least(now->cpu_milli, then->cpu_milli);
	s->memory_bytes = least(now->memory_bytes, then->memory_bytes);
	s->tasks = least(now->tasks, then->tasks);
	s->ports = (int)least(now->ports, then->ports);
	for (int i = 0; i < NODE_POOLS; i++)
		s->devices[i] = (int)least(now->devices[i], then->devices[i]);
}

/* How many tasks of each role the nodes hold, each role for itself: that this is enough
 * is necessary for a fit and cheap to keep up, so the real search is rarely made. */
static void count_node(const struct plan *p, const struct reservation *r, int node,
		       int sign, int64_t *have)
{
	const struct shape *s = r->head->shape;

	for (size_t k = 0; k < s->role_count; k++)
		have[k] += sign * fit_count(p, &r->after[node], node, &s->roles[k],
					    s->roles[k].count);
}

static bool enough(const struct shape *s, const int64_t *have)
{
	for (size_t k = 0; k < s->role_count; k++) {
		if (have[k] < s->roles[k].count)
			return false;
	}
	return true;
}

static void end_job(const struct plan *p, const struct entry *e, struct reservation *r,
		    int64_t *have)
{
	for (size_t i = 0; i < e->grant_count; i++) {
		int node = e->grants[i].node;
		count_node(p, r, node, -1, have);
		fit_return(p, &r->after[node], e, &e->grants[i]);
		count_node(p, r, node, 1, have);
	}
}

/* Lets running jobs end in their order until the head fits. */
static bool find_start(const struct plan *p, struct reservation *r, struct picks *picks)
{
	const struct shape *s = r->head->shape;
	AUTO_FREE int64_t *have = mem_alloc(s->role_count, sizeof *have);
	struct tree_node *n = tree_first(&p->running);

	for (size_t i = 0; i < p->node_count; i++)
		count_node(p, r, (int)i, 1, have);
	while (n) {
		const struct entry *e = TREE_OF(n, struct entry, at);
		struct tree_node *next = tree_next(n);
		end_job(p, e, r, have);
		r->at_ms = e->end_ms;
		r->last = e->id;
		n = next;
		if (n && n->first == e->end_ms && e->end_ms != FOREVER)
			continue; /* those end at the same moment */
		if (enough(s, have) && fit_shape(p, r->after, s, picks))
			return true;
	}
	return false;
}

void backfill_reserve(const struct plan *p, const struct entry *head,
		      struct reservation *r)
{
	struct picks *picks = &p->scratch->head_picks;

	backfill_fini(r);
	*r = (struct reservation){ .head = head, .at_ms = FOREVER };
	r->after = mem_dup(p->live, p->node_count * sizeof *p->live);
	r->spare = mem_alloc(p->node_count, sizeof *r->spare);
	if (!find_start(p, r, picks)) {
		/* Cannot happen to one who fits on empty nodes; but then nothing is spare. */
		*r = (struct reservation){ head, FOREVER, 0, r->after, r->spare };
		return;
	}
	for (size_t i = 0; i < picks->count; i++) {
		const struct pick *k = &picks->items[i];
		const struct shape_role *role = &head->shape->roles[k->role];
		fit_take(p, &r->after[k->node], k->node, role, k->count);
		if (role->any_ports) /* the room that fit_count() will ask for again */
			r->after[k->node].ports -= role->fixed_count;
	}
	for (size_t i = 0; i < p->node_count; i++)
		spare_of(p, r, (int)i);
}

void backfill_fini(struct reservation *r)
{
	free(r->after);
	free(r->spare);
	*r = (struct reservation){ 0 };
}

bool backfill_in_time(const struct entry *e, int64_t now_ms, const struct reservation *r)
{
	if (e->limit_ms <= 0)
		return false;
	return r->at_ms == FOREVER ||
	       (r->at_ms > now_ms && e->limit_ms <= r->at_ms - now_ms);
}

bool backfill_ok(const struct plan *p, const struct entry *e, int64_t now_ms,
		 struct reservation *r, struct picks *picks)
{
	if (backfill_in_time(e, now_ms, r))
		return true;
	return fit_shape(p, r->spare, e->shape, picks);
}

/* With e's share taken the head must still be within its owners' quotas, or it would be
 * the head no more. */
bool backfill_quota_ok(const struct entry *e, const struct entry *head)
{
	int kind;

	if (e->user == head->user &&
	    owner_short(e->user, e->shape, head->shape, &kind) != QUOTA_OK)
		return false;
	return e->group != head->group ||
	       owner_short(e->group, e->shape, head->shape, &kind) == QUOTA_OK;
}
