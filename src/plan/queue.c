// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "base/mem.h"
#include "plan/model.h"

struct entry *bucket_first(const struct bucket *b)
{
	return TREE_OF(tree_first(&b->jobs), struct entry, in_bucket);
}

/* Puts the shape into the tree of a state at the place of its first candidate. */
void queue_move(struct plan *p, struct shape *s, enum shape_state state)
{
	const struct tree_node *first = tree_first(&s->ready);

	backfill_forget(p);
	if (s->state != SHAPE_IDLE)
		tree_remove(&p->shapes[s->state], &s->at);
	s->state = first ? state : SHAPE_IDLE;
	if (s->state != SHAPE_IDLE)
		tree_add(&p->shapes[s->state], &s->at, first->first, first->second);
}

void queue_move_all(struct plan *p, enum shape_state from, enum shape_state to)
{
	struct tree_node *n;

	while ((n = tree_first(&p->shapes[from])))
		queue_move(p, TREE_OF(n, struct shape, at), to);
}

/* The bucket's place follows its first job; a shape that gets a new candidate before
 * all others, or a new limit, may be tried again. */
static void bucket_place(struct plan *p, struct bucket *b)
{
	const struct tree_node *first = tree_first(&b->jobs);
	struct tree *home = b->parked ? &b->parked->parked : &b->shape->ready;

	if (b->at.size)
		tree_remove(home, &b->at);
	if (first)
		tree_add(home, &b->at, first->first, first->second);
	if (!b->parked)
		queue_move(p, b->shape, b->shape->state);
}

int64_t queue_guess(const struct entry *e)
{
	int64_t step = 1;

	if (e->guess_ms <= 0)
		return 0;
	while (e->guess_ms / step >= 16)
		step *= 2;
	return (e->guess_ms + step - 1) / step * step;
}

static struct bucket *bucket_get(struct plan *p, const struct entry *e)
{
	AUTO_BUF struct buf key = { 0 };
	int64_t guess = queue_guess(e);
	struct bucket *b;

	buf_printf(&key, "%p/%lld/%lld/%lld/%d/%s/%s", (void *)e->shape,
		   (long long)e->limit_ms, (long long)guess, (long long)e->served_ms,
		   e->preemptible, e->user->name, e->group->name);
	b = map_gets(p->bucket_by_key, buf_str(&key));
	if (b)
		return b;
	b = mem_alloc(1, sizeof *b);
	*b = (struct bucket){ .key = buf_take(&key),
			      .shape = e->shape,
			      .user = e->user,
			      .group = e->group,
			      .limit_ms = e->limit_ms,
			      .guess_ms = guess,
			      .served_ms = e->served_ms,
			      .preemptible = e->preemptible };
	map_puts(p->bucket_by_key, b->key, b);
	return b;
}

static void line_join(struct plan *p, struct entry *e)
{
	int64_t bound = p->policy.age_bound_ms;

	e->aged = order_aged(p, e);
	if (e->aged)
		return;
	tree_add(&e->group->tenant->line, &e->in_line, e->submit_ms, e->id);
	p->turns += tree_first(&e->group->tenant->line) == &e->in_line;
	if (e->submit_ms > 0 && bound > 0 && e->submit_ms < p->age_ms - bound)
		p->age_ms = e->submit_ms + bound;
}

void queue_join(struct plan *p, struct entry *e)
{
	struct bucket *b = bucket_get(p, e);
	const struct entry *was_first = bucket_first(b);
	enum shape_state state = e->shape->state;
	int64_t key;

	line_join(p, e);
	key = order_key(e);
	e->bucket = b;
	tree_add(&p->queue, &e->at, key, e->id);
	tree_add(&b->jobs, &e->in_bucket, key, e->id);
	if (bucket_first(b) == was_first)
		return; /* like one before it, which could not start either */
	bucket_place(p, b);
	if (!b->parked && (state == SHAPE_IDLE || state == SHAPE_BACK))
		queue_move(p, e->shape, SHAPE_OPEN);
}

void queue_leave(struct plan *p, struct entry *e)
{
	struct bucket *b = e->bucket;

	p->turns += tree_first(&e->group->tenant->line) == &e->in_line;
	if (e->in_line.size)
		tree_remove(&e->group->tenant->line, &e->in_line);
	tree_remove(&p->queue, &e->at);
	tree_remove(&b->jobs, &e->in_bucket);
	e->bucket = NULL;
	bucket_place(p, b);
	if (tree_count(&b->jobs))
		return;
	map_dels(p->bucket_by_key, b->key);
	free(b->key);
	free(b);
}

void queue_charge(struct entry *e, int sign)
{
	owner_charge(e->user, e->shape, sign);
	for (struct tenant *t = e->group->tenant; t->parent; t = t->parent)
		owner_charge(t->owner, e->shape, sign);
	tenant_charge(e->group->tenant, e->shape, sign);
}

void queue_believe(struct plan *p, struct entry *e)
{
	int64_t lasts = entry_lasts(e);

	e->end_ms = lasts > 0 && e->since_ms < FOREVER - lasts ? e->since_ms + lasts
							       : FOREVER;
	tree_add(&p->running, &e->at, e->end_ms, e->id);
}

void queue_runs(struct plan *p, struct entry *e, int64_t since_ms)
{
	e->since_ms = since_ms;
	queue_believe(p, e);
	preempt_runs(p, e);
	queue_charge(e, 1);
	p->version++;
}

void queue_discharge(struct plan *p, struct entry *e)
{
	queue_charge(e, -1);
	queue_unpark(p, e->user);
	for (struct tenant *t = e->group->tenant; t; t = t->parent)
		queue_unpark(p, t->owner);
}

struct owner *queue_quota_owner(const struct bucket *b, enum quota_short *what,
				int *limit)
{
	struct tenant *short_of;

	*what = owner_short(b->user, b->shape, NULL, limit);
	if (*what != QUOTA_OK)
		return b->user;
	for (struct tenant *t = b->group->tenant; t->parent; t = t->parent) {
		*what = owner_short(t->owner, b->shape, NULL, limit);
		if (*what != QUOTA_OK)
			return t->owner;
	}
	short_of = tenant_short(b->group->tenant, b->shape, limit);
	if (!short_of)
		return NULL;
	*what = short_of->parent ? QUOTA_BORROW : QUOTA_KEPT;
	return short_of->owner;
}

bool queue_quota_ok(struct plan *p, struct bucket *b)
{
	enum quota_short what;
	int limit;
	struct owner *o = queue_quota_owner(b, &what, &limit);

	if (!o)
		return true;
	tree_remove(&b->shape->ready, &b->at);
	p->preempt->fresh |=
		p->dims.count > 0; /* others may hold what it is guaranteed */
	b->parked = o;
	tree_add(&o->parked, &b->at, b->at.first, b->at.second);
	queue_move(p, b->shape, b->shape->state);
	return false;
}

void queue_unpark(struct plan *p, struct owner *o)
{
	struct tree_node *n;

	while ((n = tree_first(&o->parked))) {
		struct bucket *b = TREE_OF(n, struct bucket, at);
		tree_remove(&o->parked, n);
		b->parked = NULL;
		bucket_place(p, b);
		if (b->shape->state == SHAPE_IDLE || b->shape->state == SHAPE_BACK)
			queue_move(p, b->shape, SHAPE_OPEN);
	}
}
