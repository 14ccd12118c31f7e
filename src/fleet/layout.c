// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/mem.h"
#include "fleet/inside.h"
#include "fleet/rings.h"

static void classes_free(struct layout *l)
{
	for (size_t i = 0; i < l->class_count; i++) {
		free(l->classes[i].nodes);
		free(l->classes[i].racks);
		free(l->classes[i].nets);
		l->classes[i] = (struct class){ 0 };
	}
	l->class_count = 0;
}

void layout_fini(struct layout *l)
{
	classes_free(l);
	free(l->by_rank);
}

static int by_place(const void *x, const void *y, void *arg)
{
	const struct fleet *f = arg;
	const struct node *a = f->machines[*(const int *)x].node,
			  *b = f->machines[*(const int *)y].node;
	int d = strcmp(a->rack, b->rack);

	d = d ? d : strcmp(a->net, b->net);
	return d ? d : strcmp(a->name, b->name);
}

/* Racks and switches get numbers in the order of ranks. */
static void number_places(struct fleet *f)
{
	struct layout *l = &f->layout;
	const struct machine *was = NULL;
	int in_rack = 0, in_net = 0;

	l->rack_count = l->net_count = l->rack_most = l->net_most = 0;
	for (size_t i = 0; i < f->live.count; i++) {
		struct machine *m = &f->machines[l->by_rank[i]];
		bool same_rack = was && strcmp(was->node->rack, m->node->rack) == 0;
		bool same_net = same_rack && strcmp(was->node->net, m->node->net) == 0;
		m->rank = (int)i;
		l->rack_count += m->node->rack[0] && !same_rack;
		l->net_count += m->node->net[0] && !same_net;
		m->rack = m->node->rack[0] ? l->rack_count - 1 : -1;
		m->net = m->node->net[0] ? l->net_count - 1 : -1;
		in_rack = m->rack < 0 ? 0 : same_rack ? in_rack + 1 : 1;
		in_net = m->net < 0 ? 0 : same_net ? in_net + 1 : 1;
		l->rack_most = in_rack > l->rack_most ? in_rack : l->rack_most;
		l->net_most = in_net > l->net_most ? in_net : l->net_most;
		was = m;
	}
}

static int by_likeness(const void *x, const void *y, void *arg)
{
	const struct fleet *f = arg;
	const struct machine *a = &f->machines[*(const int *)x],
			     *b = &f->machines[*(const int *)y];
	int d = strcmp(a->likeness, b->likeness);

	return d ? d : a->rank - b->rank;
}

static int device_total(const struct machine *m)
{
	int sum = 0;

	for (int i = 0; i < FLEET_POOLS; i++)
		sum += bits_count(m->pools[i].total);
	return sum;
}

static enum class_order order_of(const struct machine *m)
{
	int pools = 0, devices = device_total(m);

	for (int i = 0; i < FLEET_POOLS; i++)
		pools += m->pools[i].total != 0;
	if (!devices)
		return CLASS_CPU;
	return m->rings && pools == 1 && devices <= 2 * RING_DEVICES ? CLASS_RINGS
								     : CLASS_IDLE;
}

static struct class *class_add(struct layout *l, int count)
{
	struct class *c = &l->classes[l->class_count++];

	*c = (struct class){ .count = count };
	c->nodes = mem_alloc((size_t)count, sizeof *c->nodes);
	c->racks = mem_alloc((size_t)l->rack_count, sizeof *c->racks);
	c->nets = mem_alloc((size_t)l->net_count, sizeof *c->nets);
	return c;
}

/* The run of nodes that are like the one at `from`. */
static size_t run_end(const struct fleet *f, const int *nodes, size_t from)
{
	const char *like = f->machines[nodes[from]].likeness;
	size_t to = from + 1;

	while (to < f->live.count && strcmp(f->machines[nodes[to]].likeness, like) == 0)
		to++;
	return to;
}

/* Runs shorter than this have no class of their own: those of the same length as the
 * first that has no place stay out too, so that names alone decide nothing. */
static size_t shortest_run(const struct fleet *f, const int *nodes)
{
	size_t least = 1, runs;

	do {
		runs = 0;
		for (size_t at = 0, to; at < f->live.count; at = to) {
			to = run_end(f, nodes, at);
			runs += to - at >= least;
		}
		least += runs >= CLASSES_MAX;
	} while (runs >= CLASSES_MAX);
	return least;
}

static void spans_make(const struct fleet *f, struct class *c)
{
	for (int i = 0; i < c->count; i++) {
		const struct machine *m = &f->machines[c->nodes[i]];
		if (m->rack >= 0) {
			struct span *s = &c->racks[m->rack];
			*s = (struct span){ s->to ? s->from : i, i + 1 };
		}
		if (m->net >= 0) {
			struct span *s = &c->nets[m->net];
			*s = (struct span){ s->to ? s->from : i, i + 1 };
		}
	}
}

static void class_finish(struct fleet *f, struct class *c)
{
	struct layout *l = &f->layout;
	int devices = 0;

	for (int i = 0; i < c->count; i++) {
		struct machine *m = &f->machines[c->nodes[i]];
		int has = device_total(m);
		devices = has > devices ? has : devices;
		m->class = (int8_t)(c - l->classes);
		m->at = i;
	}
	c->order = c->likeness ? order_of(&f->machines[c->nodes[0]]) : CLASS_IDLE;
	c->buckets = index_buckets(c->order, devices);
	c->words = (c->count + 63) / 64;
	c->sums = (c->words + 63) / 64;
	c->some_at = l->bits;
	c->bits_at = c->some_at + BUCKET_WORDS;
	c->counts_at = l->counts;
	c->racks_at = c->counts_at + (size_t)c->buckets;
	c->nets_at = c->racks_at + (size_t)(l->rack_count * c->buckets);
	l->bits = c->bits_at + (size_t)(c->buckets * (c->words + c->sums));
	l->counts = c->nets_at + (size_t)(l->net_count * c->buckets);
	spans_make(f, c);
}

static void classes_make(struct fleet *f)
{
	struct layout *l = &f->layout;
	size_t count = f->live.count, rest = 0, least;
	AUTO_FREE int *nodes = mem_dup(l->by_rank, count * sizeof *nodes);
	struct class *c;

	classes_free(l);
	l->bits = l->counts = 0;
	if (!count)
		return;
	qsort_r(nodes, count, sizeof *nodes, by_likeness, f);
	least = shortest_run(f, nodes);
	for (size_t at = 0, to; at < count; at = to) {
		to = run_end(f, nodes, at);
		for (size_t i = at; i < to; i++)
			f->machines[nodes[i]].class = -1;
		if (to - at < least) {
			rest += to - at;
			continue;
		}
		c = class_add(l, (int)(to - at));
		memcpy(c->nodes, nodes + at, (to - at) * sizeof *nodes);
		c->likeness = f->machines[nodes[at]].likeness;
		class_finish(f, c);
	}
	if (!rest)
		return;
	c = class_add(l, (int)rest);
	for (size_t i = 0, at = 0; i < count; i++) {
		if (f->machines[l->by_rank[i]].class < 0)
			c->nodes[at++] = l->by_rank[i];
	}
	class_finish(f, c);
}

void layout_make(struct fleet *f)
{
	struct layout *l = &f->layout;
	size_t count = f->live.count;

	l->by_rank = mem_realloc(l->by_rank, count, sizeof *l->by_rank);
	for (size_t i = 0; i < count; i++)
		l->by_rank[i] = (int)i;
	qsort_r(l->by_rank, count, sizeof *l->by_rank, by_place, f);
	number_places(f);
	classes_make(f);
	l->version++;
	l->stale = false;
	f->bounds = mem_realloc(f->bounds, (size_t)l->rack_count + (size_t)l->net_count,
				sizeof *f->bounds);
	view_index_reserve(&f->live);
	index_clear(&f->live);
	for (size_t i = 0; i < count; i++) {
		struct space *s = view_write(&f->live, (int)i);
		s->bucket = BUCKET_NONE;
		index_move(&f->live, (int)i, s);
	}
}
