// SPDX-License-Identifier: Apache-2.0
#include "fleet/search.h"

#include <string.h>

#include "fleet/rings.h"

#define NOT_YET (-1)
#define NO_MORE (-2)
#define MANY    (1 << 30) /* tasks: no bound is known */

static bool has_label(const char *labels, const char *label, size_t len)
{
	for (const char *at = labels; *at; at += *at == ',') {
		size_t n = strcspn(at, ",");
		if (n == len && memcmp(at, label, len) == 0)
			return true;
		at += n;
	}
	return false;
}

static bool has_labels(const char *labels, const char *wanted)
{
	for (const char *at = wanted; at && *at; at += *at == ',') {
		size_t n = strcspn(at, ",");
		if (n && !has_label(labels, at, n))
			return false;
		at += n;
	}
	return true;
}

static bool has_kinds(const struct machine *m, const struct ask_role *r)
{
	for (size_t i = 0; i < r->device_count; i++) {
		bool any = false;
		for (int k = 0; k < FLEET_POOLS; k++)
			any |= m->pools[k].total &&
			       r->devices[i].kinds >> m->pools[k].kind & 1;
		if (!any)
			return false;
	}
	return true;
}

/* Which classes have the devices and the labels.  The last may hold nodes of all kinds. */
static uint64_t classes_of(const struct fleet *f, const struct ask_role *r)
{
	struct ask_role *mine =
		(struct ask_role *)(uintptr_t)r; /* the fleet's own fields */
	const struct layout *l = &f->layout;

	if (r->classes_at == l->version)
		return r->classes;
	mine->classes = 0;
	mine->classes_at = l->version;
	for (size_t i = 0; i < l->class_count; i++) {
		const struct machine *m = &f->machines[l->classes[i].nodes[0]];
		if (!l->classes[i].likeness ||
		    (has_kinds(m, r) && has_labels(m->node->labels, r->labels)))
			mine->classes |= (uint64_t)1 << i;
	}
	return r->classes;
}

int64_t role_room(const struct view *v, const struct ask_role *r, int node, int64_t most)
{
	const struct machine *m = &v->fleet->machines[node];

	if (r->labels && !has_labels(m->node->labels, r->labels))
		return 0;
	return space_room(v->fleet, node, view_space(v, node), r, most);
}

static struct span span_of(const struct class *c, struct area area)
{
	if (area.level == LEVEL_RACK)
		return c->racks[area.number];
	if (area.level == LEVEL_SWITCH)
		return c->nets[area.number];
	return (struct span){ 0, c->count };
}

static int64_t product(int64_t each, int64_t count)
{
	int64_t out;

	return __builtin_mul_overflow(each, count, &out) ? INT64_MAX : out;
}

/* The devices of one task, when the order of rings is about just these. */
static int64_t ring_need(const struct ask_role *r)
{
	return r->device_count == 1 && !r->devices[0].share_milli ? r->devices[0].count
								  : 0;
}

/* No more tasks of the role than that on a node of the bucket. */
static int bucket_room(const struct class *c, const struct ask_role *r, int bucket)
{
	int64_t room;

	if (c->order == CLASS_CPU) {
		if (r->cpu_milli <= 0 || bucket == c->buckets - 1)
			return MANY;
		room = (((int64_t)1 << bucket) - 1) / r->cpu_milli;
		return room < MANY ? (int)room : MANY;
	}
	if (!r->whole)
		return MANY;
	if (c->order == CLASS_RINGS)
		return ring_need(r) ? ring_room(bucket, ring_need(r))
				    : (int)(ring_idle(bucket) / r->whole);
	return bucket == DEVICES_MAX ? MANY : (int)(bucket / r->whole);
}

/* The bucket to look through at a step, or at the first step after it that has one with
 * nodes (then *step is that); -1: there is none. */
static int bucket_at(const struct view *v, const struct class *c,
		     const struct ask_role *r, int want, int *step)
{
	int64_t first;
	int bucket;

	if (c->order == CLASS_RINGS)
		return ring_visit(want == 1 ? ring_need(r) : 0, *step);
	if (c->order == CLASS_CPU)
		first = index_cpu_bucket(product(r->cpu_milli, want));
	else
		first = product(r->whole, want);
	if (first >= c->buckets && c->buckets == DEVICES_MAX + 1)
		first = DEVICES_MAX; /* that one holds all that have more, too */
	bucket = first < c->buckets ? index_bucket(v, c, (int)first + *step) : -1;
	if (bucket >= 0)
		*step = bucket - (int)first;
	return bucket;
}

/* Below all that have devices: those that have none, by their idle cpu. */
static int idle_of(const struct class *c, int bucket)
{
	if (c->order == CLASS_CPU)
		return bucket - c->buckets;
	return c->order == CLASS_RINGS ? ring_idle(bucket) : bucket;
}

void search_init(struct search *x, const struct view *v, const struct ask_role *r,
		 const struct stay *stay, struct area area)
{
	x->v = v;
	x->r = r;
	x->stay = stay;
	x->area = area;
	x->classes = classes_of(v->fleet, r);
	x->want = 0;
	x->seen = 0;
}

void search_want(struct search *x, int want)
{
	x->want = want;
	x->seen = 0;
	for (uint64_t left = x->classes; left; left &= left - 1) {
		int i = __builtin_ctzll(left);
		x->next[i] = (struct candidate){
			.at = span_of(&x->v->fleet->layout.classes[i], x->area).from,
			.node = NOT_YET
		};
	}
}

bool node_stays_open(const struct node *n, const struct stay *stay)
{
	for (size_t i = 0; stay && i < n->window_count; i++) {
		const struct node_window *w = &n->windows[i];
		bool mine =
			w->group[0] && stay->group && strcmp(w->group, stay->group) == 0;
		if (!mine && stay->from_ms < w->to_ms && stay->to_ms > w->from_ms)
			return false;
	}
	return true;
}

static bool is_for(const struct fleet *f, const struct class *c, int node,
		   const struct ask_role *r, const struct stay *stay)
{
	const struct machine *m = &f->machines[node];

	return !(m->windows && stay && !node_stays_open(m->node, stay)) &&
	       (c->likeness || has_labels(m->node->labels, r->labels));
}

static bool will_do(struct search *x, const struct class *c, int node)
{
	const struct fleet *f = x->v->fleet;
	int room;

	if (f->marks[node] == f->mark || !is_for(f, c, node, x->r, x->stay))
		return false;
	room = (int)space_room(f, node, view_space(x->v, node), x->r, x->want);
	if (room < x->want && room > x->seen)
		x->seen = room;
	return room == x->want;
}

static void advance(struct search *x, int class)
{
	const struct class *c = &x->v->fleet->layout.classes[class];
	struct candidate *k = &x->next[class];
	struct span span = span_of(c, x->area);
	int bucket;

	for (; (bucket = bucket_at(x->v, c, x->r, x->want, &k->step)) >= 0; k->step++) {
		if (x->v->counts[c->counts_at + (size_t)bucket] == 0 ||
		    bucket_room(c, x->r, bucket) < x->want) {
			k->at = span.from;
			continue;
		}
		while ((k->at = index_next(x->v, c, bucket, k->at, span.to)) >= 0) {
			int node = c->nodes[k->at++];
			if (!will_do(x, c, node))
				continue;
			k->node = node;
			k->idle = idle_of(c, bucket);
			return;
		}
		k->at = span.from;
	}
	k->node = NO_MORE;
}

static bool tighter(const struct fleet *f, const struct candidate *a,
		    const struct candidate *b)
{
	if (a->idle != b->idle)
		return a->idle < b->idle;
	return f->machines[a->node].rank < f->machines[b->node].rank;
}

/* The same for one task on any node, without a state that is kept. */
static bool class_one(const struct view *v, const struct class *c,
		      const struct ask_role *r, const struct stay *stay,
		      struct candidate *out)
{
	const struct fleet *f = v->fleet;
	int bucket;

	for (int step = 0; (bucket = bucket_at(v, c, r, 1, &step)) >= 0; step++) {
		if (!v->counts[c->counts_at + (size_t)bucket])
			continue;
		for (int at = 0; (at = index_next(v, c, bucket, at, c->count)) >= 0;
		     at++) {
			int node = c->nodes[at];
			if (!is_for(f, c, node, r, stay) ||
			    !space_room(f, node, view_space(v, node), r, 1))
				continue;
			out->node = node;
			out->idle = idle_of(c, bucket);
			return true;
		}
	}
	return false;
}

int search_one(const struct view *v, const struct ask_role *r, const struct stay *stay)
{
	struct candidate best = { .node = -1 }, other;

	for (uint64_t left = classes_of(v->fleet, r); left; left &= left - 1) {
		const struct class *c = &v->fleet->layout.classes[__builtin_ctzll(left)];
		if (class_one(v, c, r, stay, &other) &&
		    (best.node < 0 || tighter(v->fleet, &other, &best)))
			best = other;
	}
	return best.node;
}

int search_next(struct search *x)
{
	struct candidate *best = NULL;
	int node;

	for (uint64_t left = x->classes; left; left &= left - 1) {
		struct candidate *k = &x->next[__builtin_ctzll(left)];
		if (k->node == NOT_YET)
			advance(x, __builtin_ctzll(left));
		if (k->node >= 0 && (!best || tighter(x->v->fleet, k, best)))
			best = k;
	}
	if (!best)
		return -1;
	node = best->node;
	best->node = NOT_YET;
	return node;
}

int search_most(const struct search *x, int below)
{
	int most = x->seen;

	for (uint64_t left = x->classes; left; left &= left - 1) {
		const struct class *c =
			&x->v->fleet->layout.classes[__builtin_ctzll(left)];
		for (int b = 0; b < c->buckets; b++) {
			int room = bucket_room(c, x->r, b);
			if (!x->v->counts[c->counts_at + (size_t)b] || room <= most)
				continue;
			if (room < below)
				most = room;
			else if (!x->want)
				return below; /* nothing was looked at yet */
		}
	}
	return most < below ? most : below;
}

int64_t search_bound(const struct view *v, const struct ask_role *r, struct area area)
{
	int64_t sum = 0;

	for (uint64_t left = classes_of(v->fleet, r); left; left &= left - 1) {
		const struct class *c = &v->fleet->layout.classes[__builtin_ctzll(left)];
		const int *counts = v->counts + c->counts_at;
		if (area.level == LEVEL_RACK)
			counts = v->counts + c->racks_at + area.number * c->buckets;
		else if (area.level == LEVEL_SWITCH)
			counts = v->counts + c->nets_at + area.number * c->buckets;
		for (int b = 0; b < c->buckets; b++) {
			if (counts[b])
				sum += (int64_t)counts[b] * bucket_room(c, r, b);
		}
	}
	return sum;
}

/* Nodes one by one, when few are left. */
static void bounds_by_node(const struct view *v, const struct class *c, int bucket,
			   int64_t room, enum level level, int64_t *bounds)
{
	for (int at = 0; (at = index_next(v, c, bucket, at, c->count)) >= 0; at++) {
		const struct machine *m = &v->fleet->machines[c->nodes[at]];
		int number = level == LEVEL_RACK ? m->rack : m->net;
		if (number >= 0)
			bounds[number] += room;
	}
}

void search_bounds(const struct view *v, const struct ask_role *r, enum level level,
		   int64_t *bounds)
{
	const struct layout *l = &v->fleet->layout;
	int areas = level == LEVEL_RACK ? l->rack_count : l->net_count;

	for (uint64_t left = classes_of(v->fleet, r); left; left &= left - 1) {
		const struct class *c = &l->classes[__builtin_ctzll(left)];
		const int *counts =
			v->counts + (level == LEVEL_RACK ? c->racks_at : c->nets_at);
		for (int b = index_bucket(v, c, 0); b >= 0;
		     b = index_bucket(v, c, b + 1)) {
			int64_t room = bucket_room(c, r, b);
			if (!room)
				continue;
			if (v->counts[c->counts_at + (size_t)b] < areas) {
				bounds_by_node(v, c, b, room, level, bounds);
				continue;
			}
			for (int i = 0; i < areas; i++)
				bounds[i] += room * counts[i * c->buckets + b];
		}
	}
}
