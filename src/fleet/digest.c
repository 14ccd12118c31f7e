// SPDX-License-Identifier: Apache-2.0
/* A fleet as text, in an order that no history shows in: nodes by rank, kinds by name. */
#include "fleet/inside.h"

static int pool_next(const struct fleet *f, const struct machine *m, int after)
{
	int best = -1;

	for (int i = 0; i < FLEET_POOLS; i++) {
		int rank = m->pools[i].kind >= 0 ? f->kind_rank[m->pools[i].kind] : -1;
		if (rank > after &&
		    (best < 0 || rank < f->kind_rank[m->pools[best].kind]))
			best = i;
	}
	return best;
}

static void put_pool(const struct fleet *f, const struct space *s, const struct pool *p,
		     struct buf *out)
{
	uint64_t carries = 0;

	for (int d = 0; d < DEVICES_MAX && p->taken; d++)
		carries |= p->taken[d] ? (uint64_t)1 << d : 0;
	if (!p->total && !p->used && !carries)
		return;
	buf_printf(out, " %s:%llx-%llx", f->kinds[p->kind], (unsigned long long)p->total,
		   (unsigned long long)p->used);
	for (uint64_t left = carries; left; left &= left - 1) {
		int d = __builtin_ctzll(left);
		buf_printf(out, ",%d=%d", d, p->taken[d]);
		if (p->total >> d & 1)
			buf_printf(out, "/%d", space_left(f, s)[p->first + d]);
	}
}

static void put_words(const char *name, const uint64_t *words, size_t count,
		      struct buf *out)
{
	while (count && !words[count - 1])
		count--;
	if (count)
		buf_printf(out, " %s", name);
	for (size_t i = 0; i < count; i++)
		buf_printf(out, "%s%llx", i ? "." : "", (unsigned long long)words[i]);
}

static void put_node(const struct fleet *f, int node, struct buf *out)
{
	const struct machine *m = &f->machines[node];
	const struct space *s = view_space(&f->live, node);

	buf_printf(out, "%d %s rack %d switch %d class %d at %d bucket %d%s: ", m->rank,
		   m->node->name, m->rack, m->net, m->class, m->at, s->bucket,
		   s->open ? "" : " closed");
	buf_printf(out, "cpu %lld memory %lld tasks %d ports %d shared %d",
		   (long long)s->cpu_milli, (long long)s->memory_bytes, s->tasks,
		   s->ports, s->shared);
	for (int i = pool_next(f, m, -1); i >= 0;
	     i = pool_next(f, m, f->kind_rank[m->pools[i].kind])) {
		put_pool(f, s, &m->pools[i], out);
		if (m->pools[i].total)
			buf_printf(out, " idle %llx", (unsigned long long)s->idle[i]);
	}
	put_words("slots ", &m->slots, 1, out);
	put_words("more ", m->more_slots, m->more_words, out);
	if (m->ports)
		put_words("ports ", m->ports, NODE_PORTS / 64, out);
	buf_addc(out, '\n');
}

static void put_class(const struct view *v, const struct class *c, struct buf *out)
{
	size_t words = (size_t)c->buckets * (size_t)(c->words + c->sums);
	size_t counts = c->nets_at - c->counts_at +
			(size_t)(v->fleet->layout.net_count * c->buckets);

	buf_printf(out, "class %s order %d of %d:", c->likeness ? c->likeness : "(rest)",
		   (int)c->order, c->count);
	put_words("bits ", v->bits + c->bits_at, words, out);
	buf_adds(out, " counts");
	for (size_t i = 0; i < counts; i++)
		buf_printf(out, " %d", v->counts[c->counts_at + i]);
	buf_addc(out, '\n');
}

void fleet_digest(const struct fleet *f, struct buf *out)
{
	layout_need(f, &f->layout);
	for (size_t i = 0; i < f->live.count; i++)
		put_node(f, f->layout.by_rank[i], out);
	for (size_t i = 0; i < f->layout.class_count; i++)
		put_class(&f->live, &f->layout.classes[i], out);
}
