// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "base/mem.h"
#include "plan/model.h"

struct entry *bucket_first(const struct bucket *b)
{
	return TREE_OF(tree_first(&b->jobs), struct entry, in_bucket);
}

struct bucket *shape_first(const struct shape *s)
{
	return TREE_OF(tree_first(&s->ready), struct bucket, at);
}

/* Puts the shape into the tree of a state at the place of its first candidate. */
void queue_move(struct plan *p, struct shape *s, enum shape_state state)
{
	const struct tree_node *first = tree_first(&s->ready);

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

static struct bucket *bucket_get(struct plan *p, const struct entry *e)
{
	AUTO_BUF struct buf key = { 0 };
	struct bucket *b;

	buf_printf(&key, "%p/%lld/%d/%s/%s", (void *)e->shape, (long long)e->limit_ms,
		   e->preemptible, e->user->name, e->group->name);
	b = map_gets(p->bucket_by_key, buf_str(&key));
	if (b)
		return b;
	b = mem_alloc(1, sizeof *b);
	*b = (struct bucket){ .key = buf_take(&key),
			      .shape = e->shape,
			      .user = e->user,
			      .group = e->group,
			      .limit_ms = e->limit_ms };
	map_puts(p->bucket_by_key, b->key, b);
	return b;
}

void queue_join(struct plan *p, struct entry *e)
{
	struct bucket *b = bucket_get(p, e);
	const struct entry *was_first = bucket_first(b);
	enum shape_state state = e->shape->state;

	e->bucket = b;
	tree_add(&p->queue, &e->at, -e->priority, e->id);
	tree_add(&b->jobs, &e->in_bucket, -e->priority, e->id);
	if (bucket_first(b) == was_first)
		return; /* like one before it, which could not start either */
	bucket_place(p, b);
	if (!b->parked && (state == SHAPE_IDLE || state == SHAPE_BACK))
		queue_move(p, e->shape, SHAPE_OPEN);
}

void queue_leave(struct plan *p, struct entry *e)
{
	struct bucket *b = e->bucket;

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

struct owner *queue_quota_owner(const struct bucket *b, enum quota_short *what,
				int *limit)
{
	*what = owner_short(b->user, b->shape, NULL, limit);
	if (*what != QUOTA_OK)
		return b->user;
	*what = owner_short(b->group, b->shape, NULL, limit);
	return *what != QUOTA_OK ? b->group : NULL;
}

bool queue_quota_ok(struct plan *p, struct bucket *b)
{
	enum quota_short what;
	int limit;
	struct owner *o = queue_quota_owner(b, &what, &limit);

	if (!o)
		return true;
	tree_remove(&b->shape->ready, &b->at);
	b->parked = o;
	tree_add(&o->parked, &b->at, bucket_first(b)->at.first,
		 bucket_first(b)->at.second);
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

struct entry *queue_head(struct plan *p)
{
	struct tree_node *n;

	while ((n = tree_first(&p->shapes[SHAPE_BLOCKED]))) {
		struct bucket *b = shape_first(TREE_OF(n, struct shape, at));
		if (queue_quota_ok(p, b))
			return bucket_first(b);
	}
	return NULL;
}

const struct entry *queue_peek_head(const struct plan *p)
{
	enum quota_short what;
	int limit;

	for (struct tree_node *n = tree_first(&p->shapes[SHAPE_BLOCKED]); n;
	     n = tree_next(n)) {
		const struct shape *s = TREE_OF(n, struct shape, at);
		for (struct tree_node *k = tree_first(&s->ready); k; k = tree_next(k)) {
			const struct bucket *b = TREE_OF(k, struct bucket, at);
			if (!queue_quota_owner(b, &what, &limit))
				return bucket_first(b);
		}
	}
	return NULL;
}
