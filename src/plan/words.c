// SPDX-License-Identifier: Apache-2.0
#include "plan/words.h"

#include "base/units.h"

static int64_t popcount(uint64_t mask)
{
	return __builtin_popcountll(mask);
}

size_t words_dims(const struct plan *p, int node, const struct space *s,
		  const struct shape_role *r, struct dim out[DIMS_MAX])
{
	const struct node_state *n = &p->nodes[node];
	size_t count = 0;

	for (size_t i = 0; i < r->device_count; i++) {
		int pool = nodes_pool(p, node, r->devices[i].kind);
		out[count++] =
			(struct dim){ DIM_DEVICES,
				      r->devices[i].kind,
				      r->types[i],
				      r->devices[i].count,
				      pool < 0 ? 0 : s->devices[pool],
				      pool < 0 ? 0 : popcount(n->pools[pool].total) };
	}
	if (r->cpu_milli > 0)
		out[count++] = (struct dim){ DIM_CPU,      KIND_NONE,
					     "cpu",        r->cpu_milli,
					     s->cpu_milli, n->node.capacity.cpu_milli };
	if (r->memory_bytes > 0)
		out[count++] =
			(struct dim){ DIM_MEMORY,      KIND_NONE,
				      "memory",        r->memory_bytes,
				      s->memory_bytes, n->node.capacity.memory_bytes };
	if (r->any_ports > 0)
		out[count++] = (struct dim){ DIM_PORTS,
					     KIND_NONE,
					     "ports",
					     r->any_ports,
					     s->ports - r->fixed_count,
					     n->node.port_last - n->node.port_first + 1 };
	if (n->node.max_tasks > 0)
		out[count++] = (struct dim){ DIM_TASKS, KIND_NONE, "task slots",
					     1,         s->tasks,  n->node.max_tasks };
	return count;
}

void words_number(const struct dim *d, int64_t n, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	switch (d->what) {
	case DIM_CPU:
		buf_adds(out, units_show_cpu(n, text));
		return;
	case DIM_MEMORY:
		buf_adds(out, units_show_bytes(n, text));
		return;
	case DIM_DEVICES:
	case DIM_PORTS:
	case DIM_TASKS:
		buf_printf(out, "%lld", (long long)n);
		return;
	}
}

void words_amount(const struct dim *d, int64_t n, struct buf *out)
{
	words_number(d, n, out);
	buf_printf(out, " %s", d->what == DIM_TASKS && n == 1 ? "task slot" : d->name);
}

void words_role(const struct shape_role *r, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	for (size_t i = 0; i < r->device_count; i++)
		buf_printf(out, "%lld %s, ", (long long)r->devices[i].count, r->types[i]);
	buf_printf(out, "%s cpu", units_show_cpu(r->cpu_milli, text));
	if (r->memory_bytes > 0)
		buf_printf(out, ", %s memory", units_show_bytes(r->memory_bytes, text));
	if (r->any_ports > 0)
		buf_printf(out, ", %d ports", r->any_ports);
}

int64_t words_fits(const struct plan *p, const struct space *spaces,
		   const struct shape_role *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < p->node_count; i++)
		sum += fit_count(p, &spaces[i], (int)i, r, r->count);
	return sum;
}

/* Nearer: fewer things short, then more free of the first one asked for. */
int words_nearest(const struct plan *p, const struct space *spaces,
		  const struct space *whole, const struct shape_role *r)
{
	int best = -1, best_short = 0;
	int64_t best_free = 0;

	for (size_t i = 0; i < p->node_count; i++) {
		struct dim dims[DIMS_MAX];
		size_t count = words_dims(p, (int)i, &spaces[i], r, dims);
		int lacks = 0;
		int64_t free = count ? dims[0].free : 0;
		if (!spaces[i].up || (whole && !fit_count(p, &whole[i], (int)i, r, 1)))
			continue;
		for (size_t k = 0; k < count; k++)
			lacks += dims[k].want > dims[k].free;
		if (best < 0 || lacks < best_short ||
		    (lacks == best_short && free > best_free)) {
			best = (int)i;
			best_short = lacks;
			best_free = free;
		}
	}
	return best;
}

static struct dim quota_dim(const struct plan *p, const struct owner *o,
			    const struct shape *s, enum quota_short what, int kind)
{
	struct dim d = { DIM_PORTS, KIND_NONE, "jobs",
			 1,         o->jobs,   o->quota.max_running_jobs };

	switch (what) {
	case QUOTA_CPU:
		return (struct dim){ DIM_CPU,      KIND_NONE,
				     "cpu",        s->total.cpu_milli,
				     o->cpu_milli, o->quota.limit.cpu_milli };
	case QUOTA_MEMORY:
		return (struct dim){ DIM_MEMORY,      KIND_NONE,
				     "memory",        s->total.memory_bytes,
				     o->memory_bytes, o->quota.limit.memory_bytes };
	case QUOTA_DEVICES:
		d = (struct dim){ DIM_DEVICES, kind, p->kinds[kind],
				  0,           0,    owner_limit(o, kind) };
		if ((size_t)kind < o->device_cap)
			d.free = o->devices[kind];
		for (size_t i = 0; i < s->total.device_count; i++) {
			if (s->total.devices[i].kind == kind)
				d.want = s->total.devices[i].count;
		}
		return d;
	case QUOTA_JOBS:
	case QUOTA_OK:
		return d;
	}
	return d;
}

void words_quota(const struct plan *p, const struct owner *o, const struct shape *s,
		 enum quota_short what, int kind, struct buf *out)
{
	/* Here `free` is what is held. */
	struct dim d = quota_dim(p, o, s, what, kind);

	buf_printf(out, "the quota of %s %s is ", o->is_group ? "group" : "user",
		   o->name);
	words_amount(&d, d.total, out);
	buf_adds(out, " at once; ");
	words_number(&d, d.free, out);
	buf_adds(out, what == QUOTA_JOBS ? " run" : " held");
	if (what != QUOTA_JOBS) {
		buf_adds(out, ", this job asks for ");
		words_number(&d, d.want, out);
	}
}
