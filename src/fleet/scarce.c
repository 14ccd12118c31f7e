// SPDX-License-Identifier: Apache-2.0
/* Classes of nodes that are alike, and which of them are scarce. */
#include <string.h>

#include "base/mem.h"
#include "fleet/scores.h"

/* What a node has free, as the rules see it. */
void stand_read(const struct fleet *f, int node, const struct need *n, struct stand *out)
{
	const struct machine *m = &f->machines[node];
	const struct space *s = view_space(&f->live, node);
	const uint16_t *left = space_left(f, s);

	out->cpu_milli = s->cpu_milli;
	out->fragment = -1;
	out->sum = out->spot_count = out->sizes = 0;
	for (size_t i = 0; i < f->row_pools; i++) {
		int count = __builtin_popcountll(m->pools[i].total), at = out->spot_count;
		uint16_t *by_device = out->of[at].left;
		if (m->pools[i].kind < 0 || !count)
			continue;
		for (int d = 0; d < count; d++)
			by_device[d] = s->idle[i] >> d & 1 ? DEVICE_SHARE
							   : left[m->pools[i].first + d];
		spot_set(&out->spots[at], m->pools[i].kind, by_device, count);
		out->of[at].pool = (int)i;
		out->of[at].will_do = n && n->kinds >> m->pools[i].kind & 1;
		out->sum += out->spots[at].sum;
		out->spot_count++;
	}
	for (int k = 0; k < TASK_SIZES && (size_t)node < f->scores->held_cap; k++)
		out->sizes |= (uint8_t)(!!f->scores->held[node][k] << k);
}

/* Nodes are of one class when an idle one of them holds the same as an idle other. */
static bool alike(const struct fleet *f, int a, int b)
{
	const struct machine *x = &f->machines[a], *y = &f->machines[b];

	if (x->node->capacity.cpu_milli != y->node->capacity.cpu_milli ||
	    x->node->capacity.memory_bytes != y->node->capacity.memory_bytes)
		return false;
	for (size_t i = 0; i < f->row_pools; i++) {
		if (x->pools[i].kind != y->pools[i].kind ||
		    x->pools[i].total != y->pools[i].total)
			return false;
	}
	return true;
}

static int class_of(struct scores *s, const struct fleet *f, int node)
{
	int k = 0;

	while (k < s->class_count && !alike(f, s->classes[k], node))
		k++;
	if (k == CLASSES_KNOWN)
		return k - 1; /* the rest are one class, whatever they are */
	if (k == s->class_count)
		s->classes[s->class_count++] = node;
	return k;
}

static void slots_reserve(struct scores *s, size_t nodes)
{
	int cap = (int)(nodes + CLASSES_KNOWN * BLOCK_NODES);

	if (cap > s->slot_cap) {
		for (size_t i = 0; i < s->table_count; i++) {
			struct table *t = &s->tables[i];
			t->scores =
				mem_realloc(t->scores, (size_t)cap, sizeof *t->scores);
			t->best = mem_realloc(t->best, (size_t)cap / BLOCK_NODES + 1,
					      sizeof *t->best);
		}
		s->slots = mem_realloc(s->slots, (size_t)cap, sizeof *s->slots);
		s->class_of = mem_realloc(s->class_of, (size_t)cap / BLOCK_NODES + 1, 1);
		s->slot_of = mem_realloc(s->slot_of, nodes, sizeof *s->slot_of);
		s->slot_cap = cap;
	}
	if ((int)nodes > s->node_cap) {
		s->last = mem_realloc(s->last, nodes, sizeof *s->last);
		s->free = mem_realloc(s->free, nodes, sizeof *s->free);
		s->known = mem_realloc(s->known, nodes, sizeof *s->known);
		for (size_t i = (size_t)s->node_cap; i < nodes; i++) {
			s->last[i] = 0;
			s->known[i] = (struct known){ 0 };
		}
		s->node_cap = (int)nodes;
	}
}

static int64_t shape_milli(const struct typical_shape *t)
{
	return (int64_t)t->count * t->milli * t->seen;
}

/* Could an idle node of that class hold such an ask? */
static bool class_holds(const struct fleet *f, int node, const struct typical_shape *t)
{
	const struct machine *m = &f->machines[node];

	if (m->node->capacity.cpu_milli < t->cpu_milli ||
	    m->node->capacity.memory_bytes < t->memory_bytes)
		return false;
	for (size_t i = 0; i < f->row_pools; i++) {
		if (m->pools[i].kind >= 0 && t->kinds >> m->pools[i].kind & 1 &&
		    __builtin_popcountll(m->pools[i].total) >= t->count)
			return true;
	}
	return false;
}

/* Whether there is anything to be clever about: shares, cpu that may run short, or asks
 * that only some nodes can hold. */
static bool makes_difference(struct scores *s, const struct fleet *f)
{
	const struct typical *t = &s->typical;
	uint64_t all =
		s->class_count < 64 ? ((uint64_t)1 << s->class_count) - 1 : UINT64_MAX;
	bool differs = t->shares;

	for (int k = 0; k < s->class_count; k++) {
		const struct machine *m = &f->machines[s->classes[k]];
		int64_t devices = 0;
		for (size_t i = 0; i < f->row_pools; i++)
			devices += __builtin_popcountll(m->pools[i].total);
		differs |= m->node->capacity.cpu_milli < 2 * t->cpu_per_device * devices;
		all &= devices ? UINT64_MAX : ~((uint64_t)1 << k);
	}
	for (size_t i = 0; i < s->demand_count; i++)
		differs |= (s->demands[i].classes & all) != all;
	return differs;
}

static void order_slots(struct scores *s, const struct fleet *f)
{
	int at = 0;

	s->class_count = 0;
	for (size_t i = 0; i < f->live.count; i++)
		s->slot_of[f->layout.by_rank[i]] = class_of(s, f, f->layout.by_rank[i]);
	for (int k = 0; k < s->class_count; k++) {
		for (size_t i = 0; i < f->live.count; i++) {
			int node = f->layout.by_rank[i];
			if (s->slot_of[node] == k)
				s->slots[at++] = node;
		}
		for (; at % BLOCK_NODES; at++)
			s->slots[at] = -1;
		for (int b = k ? s->slot_count / BLOCK_NODES : 0; b < at / BLOCK_NODES;
		     b++)
			s->class_of[b] = (uint8_t)k;
		s->slot_count = at;
	}
	for (int i = 0; i < s->slot_count; i++) {
		if (s->slots[i] >= 0)
			s->slot_of[s->slots[i]] = i;
	}
}

/* What is asked for, by the classes that could hold it. */
static void make_demands(struct scores *s, const struct fleet *f)
{
	const struct typical *t = &s->typical;
	int64_t asked = 0;

	s->demand_count = 0;
	for (size_t i = 0; i < t->shape_count; i++)
		asked += shape_milli(&t->shapes[i]);
	for (size_t i = 0; i < t->shape_count && asked; i++) {
		uint64_t classes = 0;
		size_t at = 0;
		for (int k = 0; k < s->class_count; k++)
			classes |= (uint64_t)class_holds(f, s->classes[k], &t->shapes[i])
				   << k;
		if (!t->shapes[i].count || !classes)
			continue;
		while (at < s->demand_count && s->demands[at].classes != classes)
			at++;
		if (at == s->demand_count)
			s->demands[s->demand_count++] =
				(struct demand){ .classes = classes };
		s->demands[at].part += shape_milli(&t->shapes[i]) * PRICE_ONE / asked;
	}
}

static int node_free(const struct fleet *f, int node)
{
	const struct space *s = view_space(&f->live, node);
	const uint16_t *left = space_left(f, s);
	int sum = 0;

	for (size_t i = 0; i < f->row_pools; i++)
		sum += DEVICE_SHARE * __builtin_popcountll(s->idle[i]);
	for (size_t i = 0; i < f->row_devices && s->shared; i++)
		sum += left[i];
	return s->open ? sum : 0;
}

static void class_add(struct scores *s, int class, int64_t milli)
{
	struct node_class *c = &s->of[class];
	int64_t level;

	c->free += milli;
	level = (c->free * SCARCE_LEVELS + c->most - 1) / c->most;
	if (level == c->level)
		return;
	c->level = level;
	s->scarce_stale = true;
}

void scarcity_moved(struct fleet *f, int node)
{
	struct scores *s = f->scores;
	int now = node_free(f, node);

	if (s->version != f->version + 1)
		return; /* all will be counted anew */
	class_add(s, s->class_of[s->slot_of[node] / BLOCK_NODES], now - s->free[node]);
	s->free[node] = now;
}

static void count_free(struct scores *s, const struct fleet *f)
{
	for (int k = 0; k < s->class_count; k++)
		s->of[k] = (struct node_class){ .most = 1 };
	for (int i = 0; i < s->slot_count; i++) {
		const struct machine *m;
		if (s->slots[i] < 0)
			continue;
		m = &f->machines[s->slots[i]];
		s->free[s->slots[i]] = node_free(f, s->slots[i]);
		s->of[s->class_of[i / BLOCK_NODES]].free += s->free[s->slots[i]];
		for (size_t k = 0; k < f->row_pools; k++)
			s->of[s->class_of[i / BLOCK_NODES]].most +=
				DEVICE_SHARE * __builtin_popcountll(m->pools[k].total);
	}
	for (int k = 0; k < s->class_count; k++)
		class_add(s, k, 0);
	s->scarce_stale = true;
}

/* What published rules measure by: the largest node. */
static void find_most(struct scores *s, const struct fleet *f)
{
	s->rater.cpu_most = s->rater.milli_most = 1;
	for (int k = 0; k < s->class_count; k++) {
		const struct machine *m = &f->machines[s->classes[k]];
		int64_t milli = 0;
		for (size_t i = 0; i < f->row_pools; i++)
			milli += DEVICE_SHARE * __builtin_popcountll(m->pools[i].total);
		if (milli > s->rater.milli_most)
			s->rater.milli_most = milli;
		if (m->node->capacity.cpu_milli > s->rater.cpu_most)
			s->rater.cpu_most = m->node->capacity.cpu_milli;
	}
}

void scores_order(struct fleet *f)
{
	struct scores *s = f->scores;

	layout_need(f, &f->layout);
	if (s->version == f->version + 1)
		return;
	if (s->typical.learned && s->kinds != fleet_kinds(f))
		typical_learn(&s->typical, f); /* asks may have devices of the new kind */
	s->kinds = fleet_kinds(f);
	slots_reserve(s, f->live.count);
	s->slot_count = 0;
	order_slots(s, f);
	find_most(s, f);
	make_demands(s, f);
	count_free(s, f);
	s->matters = makes_difference(s, f);
	s->epoch++;
	s->version = f->version + 1;
}

/* A class of nodes is scarce as far as asks that can go nowhere else will fill what is
 * free there: an ask counts by how much of what is free it cannot use.  What is free is
 * taken in steps, so that this is worked out rarely, and depends on nothing but what is
 * free now. */
static void scarcity_learn(struct scores *s)
{
	int64_t free[CLASSES_KNOWN], sum[CLASSES_KNOWN] = { 0 }, all = 0;

	for (int k = 0; k < s->class_count; k++) {
		free[k] = s->of[k].level * s->of[k].most / SCARCE_LEVELS;
		all += free[k];
	}
	for (size_t i = 0; i < s->demand_count; i++) {
		const struct demand *d = &s->demands[i];
		int64_t usable = 0, part;
		for (int k = 0; k < s->class_count; k++)
			usable += d->classes >> k & 1 ? free[k] : 0;
		if (!usable)
			continue;
		part = d->part * ((all - usable) * 1000 / usable) / 1000;
		for (int k = 0; k < s->class_count; k++)
			sum[k] += d->classes >> k & 1 ? part : 0;
	}
	for (int k = 0; k < s->class_count; k++) {
		int64_t x = sum[k] < PRICE_ONE ? sum[k] / 1000 : 1000;
		s->of[k].scarcity = x * x / 1000;
	}
	s->scarce_stale = false;
}

/* In 1/1,000,000, before the weight. */
int64_t scarcity_of(struct scores *s, int class, const struct ask_role *r)
{
	int64_t take;

	if (s->rater.rule != PLACE_YARD || !r->device_count)
		return 0;
	if (s->scarce_stale)
		scarcity_learn(s);
	take = r->devices[0].share_milli ? r->devices[0].share_milli
					 : r->devices[0].count * DEVICE_SHARE;
	return -s->of[class].scarcity * take;
}
