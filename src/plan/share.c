// SPDX-License-Identifier: Apache-2.0
/* Shares: what a part of the tree holds and held of all there is, by its weight. */
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"
#include "plan/tenant.h"
#include "plan/why.h"

#define HALVINGS 16                 /* after so many nothing is left, */
#define KEPT     4096               /* nor after so many hours */
#define SCALE    ((int64_t)1 << 20) /* a share of all */
#define MOST     ((int64_t)1 << 38) /* of anything that one job holds, as counted here */

/* 2^(-i/64) in 1/65536 */
static const uint32_t fading[64] = {
	65536, 64830, 64132, 63441, 62757, 62081, 61413, 60751, 60097, 59449, 58809,
	58176, 57549, 56929, 56316, 55709, 55109, 54515, 53928, 53347, 52773, 52204,
	51642, 51085, 50535, 49991, 49452, 48920, 48393, 47871, 47356, 46846, 46341,
	45842, 45348, 44859, 44376, 43898, 43425, 42958, 42495, 42037, 41584, 41136,
	40693, 40255, 39821, 39392, 38968, 38548, 38133, 37722, 37316, 36914, 36516,
	36123, 35734, 35349, 34968, 34591, 34219, 33850, 33486, 33125,
};

static int64_t half_life_hours(const struct plan *p)
{
	int64_t hours = p->policy.half_life_ms / HOUR_MS;

	return p->policy.half_life_ms > 0 && hours < 1 ? 1 : hours;
}

static int64_t faded(int64_t amount, uint32_t weight)
{
	return amount / 65536 * weight + amount % 65536 * weight / 65536;
}

static struct use fade(const struct plan *p, const struct hour_use *h)
{
	int64_t half = half_life_hours(p);
	int64_t age = p->fade_hour > h->hour ? p->fade_hour - h->hour : 0;
	uint32_t w = 0;

	if (half && age / half < HALVINGS && age < KEPT)
		w = fading[age % half * 64 / half] >> (age / half);
	return (struct use){ faded(h->use.cpu_milli, w), faded(h->use.memory_mib, w),
			     faded(h->use.device_milli, w) };
}

static void use_add(struct use *to, const struct use *u, int64_t sign)
{
	to->cpu_milli += sign * u->cpu_milli;
	to->memory_mib += sign * u->memory_mib;
	to->device_milli += sign * u->device_milli;
}

static int64_t part(int64_t held, int64_t past, int64_t all, int64_t span_ms)
{
	int64_t amount = held + (span_ms ? past / span_ms : 0);

	return all > 0 && amount > 0 ? amount * SCALE / all : 0;
}

static int64_t dominant(const struct plan *p, const struct use *held,
			const struct use *past, int weight)
{
	const struct use *all = &p->capacity;
	int64_t span = half_life_hours(p) * HOUR_MS;
	int64_t most = part(held->cpu_milli, past->cpu_milli, all->cpu_milli, span);
	int64_t memory = part(held->memory_mib, past->memory_mib, all->memory_mib, span);
	int64_t devices =
		part(held->device_milli, past->device_milli, all->device_milli, span);

	most = memory > most ? memory : most;
	most = devices > most ? devices : most;
	return most * 1000 / (weight > 0 ? weight : 1);
}

static void weigh(struct tenant *t)
{
	const struct plan *p = t->plan;

	t->share = dominant(p, &t->held, &t->past, t->has_rule ? t->rule.weight : 1);
	t->own_share = dominant(p, &t->own, &t->own_past, 1);
}

struct use shape_use(const struct shape *s)
{
	const struct ask_total *t = &s->ask->total;
	struct use u = { t->cpu_milli, t->memory_bytes >> 20, 0 };

	for (size_t i = 0; i < t->device_count; i++)
		u.device_milli += t->devices[i].count;
	u.cpu_milli = u.cpu_milli < MOST ? u.cpu_milli : MOST;
	u.memory_mib = u.memory_mib < MOST ? u.memory_mib : MOST;
	u.device_milli = u.device_milli < MOST ? u.device_milli : MOST;
	return u;
}

void tenant_hold(struct tenant *t, const struct shape *s, int sign)
{
	struct use u = shape_use(s);

	use_add(&t->own, &u, sign);
	for (; t->parent; t = t->parent) {
		use_add(&t->held, &u, sign);
		weigh(t);
	}
}

static struct hour_use *hour_of(struct tenant *t, int64_t hour)
{
	size_t at = t->hour_count;

	while (at > 0 && t->hours[at - 1].hour > hour)
		at--;
	if (at > 0 && t->hours[at - 1].hour == hour)
		return &t->hours[at - 1];
	mem_grow(&t->hours, &t->hour_cap, t->hour_count, sizeof *t->hours);
	memmove(t->hours + at + 1, t->hours + at,
		(t->hour_count++ - at) * sizeof *t->hours);
	t->hours[at] = (struct hour_use){ .hour = hour };
	return &t->hours[at];
}

void tenant_used(struct tenant *t, int64_t hour, const struct use *u, bool add)
{
	struct hour_use *h;
	struct use before, after;

	t->owner->refs += !t->hour_count; /* what it used is to be remembered */
	h = hour_of(t, hour);
	before = fade(t->plan, h);
	if (!add)
		h->use = (struct use){ 0 };
	use_add(&h->use, u, 1);
	after = fade(t->plan, h);
	use_add(&after, &before, -1);
	use_add(&t->own_past, &after, 1);
	for (; t->parent; t = t->parent) {
		use_add(&t->past, &after, 1);
		weigh(t);
	}
}

void tenant_ran(struct tenant *t, const struct shape *s, int64_t from_ms, int64_t to_ms)
{
	int64_t hour = from_ms / HOUR_MS, last = to_ms / HOUR_MS;

	if (to_ms <= from_ms || from_ms < 0)
		return;
	if (hour < last - KEPT)
		hour = last - KEPT;
	for (; hour <= last; hour++) {
		int64_t from = from_ms > hour * HOUR_MS ? from_ms : hour * HOUR_MS;
		int64_t to = to_ms < (hour + 1) * HOUR_MS ? to_ms : (hour + 1) * HOUR_MS;
		struct use u = shape_use(s);
		u.cpu_milli *= to - from;
		u.memory_mib *= to - from;
		u.device_milli *= to - from;
		if (to > from)
			tenant_used(t, hour, &u, true);
	}
}

/* Hours that count no more are forgotten. */
static void fade_own(struct tenant *t)
{
	int64_t oldest = t->plan->fade_hour - KEPT;
	size_t old = 0;

	while (old < t->hour_count && t->hours[old].hour <= oldest)
		old++;
	t->hour_count -= old;
	t->forgotten = old && !t->hour_count;
	if (old && t->hour_count)
		memmove(t->hours, t->hours + old, t->hour_count * sizeof *t->hours);
	t->own_past = (struct use){ 0 };
	for (size_t i = 0; i < t->hour_count; i++) {
		struct use u = fade(t->plan, &t->hours[i]);
		use_add(&t->own_past, &u, 1);
	}
}

void tenants_fade(struct plan *p)
{
	struct owner *o;

	p->fade_hour = p->now_ms > 0 ? p->now_ms / HOUR_MS : 0;
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		o->tenant->past = (struct use){ 0 };
		fade_own(o->tenant);
	}
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		for (struct tenant *n = o->tenant; n->parent; n = n->parent)
			use_add(&n->past, &o->tenant->own_past, 1);
	}
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		bool forgotten = o->tenant->forgotten;
		weigh(o->tenant);
		o->tenant->forgotten = false;
		if (forgotten)
			owner_put(p, o);
	}
	p->weighed = true;
}

void tenants_capacity(struct plan *p, const struct node *n, int sign)
{
	if (!n->up)
		return;
	p->memory_bytes += sign * n->capacity.memory_bytes;
	p->capacity.cpu_milli += sign * n->capacity.cpu_milli;
	p->capacity.memory_mib += sign * (n->capacity.memory_bytes >> 20);
	for (int i = 0; i < DEVICE_KINDS_MAX; i++)
		p->capacity.device_milli +=
			(int64_t)sign * n->capacity.devices[i].count * DEVICE_SHARE;
	p->weighed = false;
}

/* Who came first of those who wait in a part of the tree. */
static void find_firsts(struct plan *p)
{
	struct owner *o;

	for (size_t it = 0; (o = map_next(p->groups, &it));)
		o->tenant->first = NULL;
	for (size_t it = 0; (o = map_next(p->groups, &it));) {
		const struct tree_node *mine = tree_first(&o->tenant->line);
		for (struct tenant *n = o->tenant; mine && n->parent; n = n->parent) {
			if (!n->first ||
			    tree_cmp(n->first, mine->first, mine->second) > 0)
				n->first = mine;
		}
	}
	p->firsts_turns = p->turns + 1;
}

static const struct tree_node *first_in(const struct tenant *t, bool whole)
{
	struct plan *p = t->plan;

	if (!whole || !t->children)
		return tree_first(&t->line);
	if (p->firsts_turns != p->turns + 1)
		find_firsts(p);
	return t->first;
}

/* Two sides of a fork: parts of the tree, or a group's own jobs beside its children. */
static int fork_cmp(const struct tenant *a, bool whole_a, const struct tenant *b,
		    bool whole_b)
{
	int64_t x = whole_a ? a->share : a->own_share;
	int64_t y = whole_b ? b->share : b->own_share;
	const struct tree_node *m, *n;

	if (x != y)
		return x < y ? -1 : 1;
	m = first_in(a, whole_a);
	n = first_in(b, whole_b);
	if (m && n && tree_cmp(m, n->first, n->second))
		return tree_cmp(m, n->first, n->second);
	if (!m != !n)
		return m ? -1 : 1;
	if (whole_a != whole_b)
		return whole_b ? -1 : 1;
	return strcmp(a->owner->name, b->owner->name);
}

int tenant_cmp(const struct tenant *a, const struct tenant *b)
{
	const struct tenant *x = a, *y = b, *from_x = NULL, *from_y = NULL;

	if (a == b)
		return 0;
	if (!a->plan->weighed)
		tenants_fade(a->plan);
	for (; x->depth > y->depth; x = x->parent)
		from_x = x;
	for (; y->depth > x->depth; y = y->parent)
		from_y = y;
	if (x == y)
		return from_x ? fork_cmp(from_x, true, b, false)
			      : fork_cmp(a, false, from_y, true);
	while (x->parent != y->parent) {
		x = x->parent;
		y = y->parent;
	}
	return fork_cmp(x, true, y, true);
}

int64_t plan_turn(const struct plan *p, const char *group)
{
	const struct owner *o = map_gets(p->groups, group);

	return o && o->tenant ? o->tenant->share / SCALE : 0;
}
