// SPDX-License-Identifier: Apache-2.0
#include "plan/order.h"

#include "base/mem.h"
#include "plan/model.h"

#define AGED      (-(INT64_C(1) << 62)) /* priorities are far from that */
#define AGED_END  (-(INT64_C(1) << 61))
#define LATEST_MS (INT64_C(1) << 60)

int64_t order_key(const struct entry *e)
{
	if (!e->aged)
		return -(int64_t)e->priority;
	return AGED + (e->submit_ms < LATEST_MS ? e->submit_ms : LATEST_MS);
}

bool order_aged(const struct plan *p, const struct entry *e)
{
	int64_t bound = p->policy.age_bound_ms;

	return bound > 0 && e->submit_ms > 0 && p->now_ms - bound >= e->submit_ms;
}

int64_t entry_lasts(const struct entry *e)
{
	const struct plan *p = e->group->tenant->plan;

	if (e->limit_ms > 0)
		return e->limit_ms;
	return p->policy.believe_guesses ? queue_guess(e) : 0;
}

static int64_t times(int64_t ms, const struct shape *s)
{
	struct use u = shape_use(s);
	int64_t work;

	return __builtin_mul_overflow(ms, u.device_milli + u.cpu_milli / 64 + 1, &work)
		       ? INT64_MAX
		       : work;
}

/* What a group's own order goes by; equal for all of a bucket. */
static int64_t work(const struct bucket *b)
{
	const struct tenant *t = b->group->tenant;
	int64_t ms = b->limit_ms > 0 ? b->limit_ms : INT64_MAX;

	if (!t->has_rule)
		return 0;
	switch (t->rule.order) {
	case TENANT_FIFO:
		return 0;
	case TENANT_SERVED:
		return times(b->served_ms, b->shape);
	case TENANT_SHORT:
		if (b->guess_ms > 0 && b->guess_ms < ms)
			ms = b->guess_ms;
		return times(ms, b->shape);
	}
	return 0;
}

static bool within(struct bucket *b)
{
	const struct plan *p = b->group->tenant->plan;

	if (!p->dims.count)
		return false;
	if (b->within_version != p->version + 1) {
		b->within_version = p->version + 1;
		b->within = tenant_within(b->group->tenant, b->shape);
	}
	return b->within;
}

/* Two buckets, their jobs being of one priority; 0: submit order decides. */
static int group_cmp(const struct bucket *a, const struct bucket *b)
{
	int64_t x, y;

	if (!a->group->tenant->plan->policy.fair)
		return 0;
	if (a->group != b->group)
		return tenant_cmp(a->group->tenant, b->group->tenant);
	x = work(a);
	y = work(b);
	return x < y ? -1 : x > y;
}

int order_cmp(const struct entry *a, const struct entry *b)
{
	int64_t x = a->in_bucket.first, y = b->in_bucket.first;
	int by_group;

	if (x >= AGED_END && y >= AGED_END) {
		bool in = within(a->bucket), other = within(b->bucket);
		if (in != other)
			return in ? -1 : 1;
	}
	if (x != y)
		return x < y ? -1 : 1;
	by_group = x >= AGED_END ? group_cmp(a->bucket, b->bucket) : 0;
	if (by_group)
		return by_group;
	return a->id < b->id ? -1 : a->id > b->id;
}

bool order_before(const struct entry *a, const struct entry *b)
{
	return order_cmp(a, b) < 0;
}

static size_t before_in(struct bucket *b, const struct entry *e)
{
	int64_t x = e->in_bucket.first;
	int by_group;

	if (x < AGED_END)
		return tree_before(&b->jobs, x, e->id);
	if (within(b) != within(e->bucket))
		return within(b) ? tree_count(&b->jobs)
				 : tree_before(&b->jobs, AGED_END, 0);
	by_group = group_cmp(b, e->bucket);
	if (by_group)
		return tree_before(&b->jobs, by_group < 0 ? x + 1 : x, INT64_MIN);
	return tree_before(&b->jobs, x, e->id);
}

/* Nobody's place hangs on anything but priority, age and number. */
static bool plain(const struct plan *p)
{
	return !p->policy.fair && !p->dims.count;
}

size_t order_rank(const struct plan *p, const struct entry *e)
{
	struct bucket *b;
	size_t before = 0;

	if (plain(p))
		return tree_rank(&e->at);
	for (size_t it = 0; (b = map_next(p->bucket_by_key, &it));)
		before += before_in(b, e);
	return before;
}

static void sink(struct tree_node **heap, size_t count, size_t at)
{
	for (;;) {
		size_t child = 2 * at + 1;
		struct tree_node *swap = heap[at];
		if (child >= count)
			return;
		if (child + 1 < count &&
		    order_before(TREE_OF(heap[child + 1], struct entry, in_bucket),
				 TREE_OF(heap[child], struct entry, in_bucket)))
			child++;
		if (!order_before(TREE_OF(heap[child], struct entry, in_bucket),
				  TREE_OF(heap[at], struct entry, in_bucket)))
			return;
		heap[at] = heap[child];
		heap[child] = swap;
		at = child;
	}
}

static size_t list_plain(const struct plan *p, size_t from, int64_t *out, size_t max)
{
	struct tree_node *n = tree_nth(&p->queue, from);
	size_t count = 0;

	for (; n && count < max; n = tree_next(n))
		out[count++] = TREE_OF(n, struct entry, at)->id;
	return count;
}

size_t order_list(const struct plan *p, size_t from, int64_t *out, size_t max)
{
	AUTO_FREE struct tree_node **heap = NULL;
	size_t size = 0, count = 0;
	struct bucket *b;

	if (plain(p))
		return list_plain(p, from, out, max);
	heap = mem_alloc(map_count(p->bucket_by_key) + 1, sizeof(struct tree_node *));
	for (size_t it = 0; (b = map_next(p->bucket_by_key, &it));)
		heap[size++] = tree_first(&b->jobs);
	for (size_t i = size / 2; i-- > 0;)
		sink(heap, size, i);
	while (size && count < max) {
		if (from)
			from--;
		else
			out[count++] = heap[0]->second; /* its number */
		heap[0] = tree_next(heap[0]);
		if (!heap[0])
			heap[0] = heap[--size];
		sink(heap, size, 0);
	}
	return count;
}

void order_age(struct plan *p)
{
	int64_t bound = p->policy.age_bound_ms;
	struct owner *o;

	if (bound <= 0 || p->now_ms < p->age_ms)
		return;
	p->age_ms = INT64_MAX;
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		struct tree_node *n;
		while ((n = tree_after(&o->tenant->line, 0, INT64_MAX))) {
			struct entry *e = TREE_OF(n, struct entry, in_line);
			if (!order_aged(p, e))
				break;
			queue_leave(p, e);
			queue_join(p, e);
			p->version++;
		}
		if (n && n->first + bound < p->age_ms)
			p->age_ms = n->first + bound;
	}
}

void order_policy(struct plan *p)
{
	struct entry *e;

	p->age_ms = 0;
	for (size_t it = 0; (e = map_next(p->jobs, &it));) {
		if (!e->bucket || e->aged == order_aged(p, e))
			continue;
		queue_leave(p, e);
		queue_join(p, e);
	}
}

/* The best so far of a queue: of its group, or of all. */
static struct tenant *queue_of(const struct plan *p, const struct entry *e)
{
	return p->policy.fair ? e->group->tenant : p->root;
}

static void consider(struct plan *p, struct bucket *b)
{
	struct entry *e = bucket_first(b);
	struct tenant *t = queue_of(p, e);
	enum quota_short what;
	int limit;

	if (t->head && !order_before(e, t->head))
		return;
	if (queue_quota_owner(b, &what, &limit))
		return;
	if (!t->head) {
		struct scratch *s = p->scratch;
		mem_grow(&s->queues, &s->queue_cap, s->queue_count,
			 sizeof(struct tenant *));
		s->queues[s->queue_count++] = t;
	}
	t->head = e;
}

/* Of an open shape only those were tried whom this pass has come by. */
static void consider_held(struct plan *p, const struct shape *s)
{
	for (struct tree_node *k = tree_first(&s->ready); k; k = tree_next(k)) {
		struct bucket *b = TREE_OF(k, struct bucket, at);
		if (b->behind && (s->state == SHAPE_BACK || b->pass == p->pass))
			consider(p, b);
	}
}

static size_t insert(struct entry *out[HEADS_MAX], size_t count, struct entry *e)
{
	size_t at = count;

	while (at > 0 && order_before(e, out[at - 1]))
		at--;
	if (at == HEADS_MAX)
		return count;
	if (count == HEADS_MAX)
		count--;
	for (size_t i = count; i > at; i--)
		out[i] = out[i - 1];
	out[at] = e;
	return count + 1;
}

size_t order_heads(const struct plan *plan, struct entry *out[HEADS_MAX])
{
	struct plan *p = (struct plan *)(uintptr_t)plan; /* its scratch */
	struct tree_node *n = tree_first(&p->shapes[SHAPE_BLOCKED]);
	size_t count = 0;

	p->scratch->queue_count = 0;
	for (; n; n = tree_next(n)) {
		const struct shape *s = TREE_OF(n, struct shape, at);
		if (plain(p) && p->root->head &&
		    tree_cmp(n, p->root->head->at.first, p->root->head->at.second) > 0)
			break; /* nobody of it is before that one */
		for (struct tree_node *k = tree_first(&s->ready); k; k = tree_next(k))
			consider(p, TREE_OF(k, struct bucket, at));
	}
	for (enum shape_state st = SHAPE_OPEN; st <= SHAPE_BACK && p->policy.fair; st++) {
		n = st == SHAPE_BLOCKED ? NULL : tree_first(&p->shapes[st]);
		for (; n; n = tree_next(n))
			consider_held(p, TREE_OF(n, struct shape, at));
	}
	for (size_t i = 0; i < p->scratch->queue_count; i++) {
		count = insert(out, count, p->scratch->queues[i]->head);
		p->scratch->queues[i]->head = NULL;
	}
	return count;
}

const struct entry *queue_peek_head(const struct plan *p)
{
	struct entry *heads[HEADS_MAX];

	return order_heads(p, heads) ? heads[0] : NULL;
}
