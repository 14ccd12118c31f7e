// SPDX-License-Identifier: Apache-2.0
#include "plan/words.h"

#include "base/units.h"

static struct dim dim_of(enum dim_what what, const char *name, int64_t want,
			 struct amount a)
{
	return (struct dim){ what, NULL, name, want, a.free, a.total };
}

size_t words_dims(const struct view *v, const struct plan *p, int node,
		  const struct ask_role *r, struct dim out[DIMS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < r->device_count; i++) {
		const struct need *n = &r->devices[i];
		out[count] = dim_of(DIM_DEVICES, n->type, n->share_milli ? 1 : n->count,
				    view_devices(v, node, n));
		out[count++].need = n;
	}
	if (r->cpu_milli > 0)
		out[count++] = dim_of(DIM_CPU, "cpu", r->cpu_milli, view_cpu(v, node));
	if (r->memory_bytes > 0)
		out[count++] = dim_of(DIM_MEMORY, "memory", r->memory_bytes,
				      view_memory(v, node));
	if (r->any_ports > 0) {
		struct amount a = view_ports(v, node);
		a.free -= r->fixed_count;
		out[count++] = dim_of(DIM_PORTS, "ports", r->any_ports, a);
	}
	if (fleet_node(p->fleet, node)->max_tasks > 0)
		out[count++] = dim_of(DIM_TASKS, "task slots", 1, view_tasks(v, node));
	return count;
}

void words_number(const struct dim *d, int64_t n, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	if (d->need && d->need->share_milli) {
		buf_adds(out, units_show_cpu(n * d->need->share_milli, text));
		return;
	}
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

void words_role(const struct ask_role *r, struct buf *out)
{
	char text[UNITS_TEXT_MAX];

	for (size_t i = 0; i < r->device_count; i++) {
		const struct need *n = &r->devices[i];
		buf_printf(out, "%s %s, ",
			   units_show_cpu(n->share_milli ? n->share_milli
							 : n->count * DEVICE_SHARE,
					  text),
			   n->type);
	}
	buf_printf(out, "%s cpu", units_show_cpu(r->cpu_milli, text));
	if (r->memory_bytes > 0)
		buf_printf(out, ", %s memory", units_show_bytes(r->memory_bytes, text));
	if (r->any_ports > 0)
		buf_printf(out, ", %d ports", r->any_ports);
}

const char *plan_reason_word(enum plan_reason_kind kind)
{
	static const char *const words[] = {
		[PLAN_REASON_NONE] = "none",
		[PLAN_REASON_NEW] = "starts",
		[PLAN_REASON_CAPACITY] = "capacity",
		[PLAN_REASON_ORDER] = "order",
		[PLAN_REASON_USER_QUOTA] = "user-quota",
		[PLAN_REASON_GROUP_QUOTA] = "group-quota",
		[PLAN_REASON_NEVER] = "never",
		[PLAN_REASON_PREEMPTING] = "preempting",
	};

	return words[kind];
}

const char *words_level(enum level l)
{
	static const char *const names[] = { [LEVEL_ANY] = "cluster",
					     [LEVEL_RACK] = "rack",
					     [LEVEL_SWITCH] = "switch",
					     [LEVEL_NODE] = "node",
					     [LEVEL_ISLAND] = "island" };

	return names[l];
}

/* Nearer: fewer things short, then more free of the first one asked for. */
int words_nearest(const struct plan *p, const struct view *v, const struct view *whole,
		  const struct ask_role *r)
{
	int best = -1, best_short = 0;
	int64_t best_free = 0;

	for (int i = 0; i < (int)fleet_count(p->fleet); i++) {
		struct dim dims[DIMS_MAX];
		size_t count = words_dims(v, p, i, r, dims);
		int lacks = 0;
		int64_t free = count ? dims[0].free : 0;
		if (!view_open(v, i) || (whole && !view_room(whole, r, i, 1)))
			continue;
		for (size_t k = 0; k < count; k++)
			lacks += dims[k].want > dims[k].free;
		if (best < 0 || lacks < best_short ||
		    (lacks == best_short && free > best_free)) {
			best = i;
			best_short = lacks;
			best_free = free;
		}
	}
	return best;
}

/* Here `free` is what is held. */
static struct dim quota_dim(const struct owner *o, const struct ask *a,
			    enum quota_short what, int limit)
{
	const struct resources *most = &o->quota.limit;
	struct amount jobs = { o->jobs, o->quota.max_running_jobs };

	if (what == QUOTA_CPU)
		return dim_of(DIM_CPU, "cpu", a->total.cpu_milli,
			      (struct amount){ o->cpu_milli, most->cpu_milli });
	if (what == QUOTA_MEMORY)
		return dim_of(DIM_MEMORY, "memory", a->total.memory_bytes,
			      (struct amount){ o->memory_bytes, most->memory_bytes });
	if (what == QUOTA_DEVICES) {
		const struct device_count *d = &most->devices[limit];
		struct amount held = { owner_holds(o, d->type) / DEVICE_SHARE, d->count };
		return dim_of(DIM_DEVICES, d->type, ask_milli(a, d->type) / DEVICE_SHARE,
			      held);
	}
	return dim_of(DIM_PORTS, "jobs", 1, jobs);
}

/* The tree of groups says no: "group red holds 6 gpu, is guaranteed 4 and may borrow 2". */
static void words_tenant(const struct tenant *t, const struct ask *a, bool kept, int dim,
			 struct buf *out)
{
	const struct dims *m = &t->plan->dims;
	int64_t unit = dim > 1 ? DEVICE_SHARE : 1;
	int64_t want = dim == 0   ? a->total.cpu_milli
		       : dim == 1 ? a->total.memory_bytes
				  : ask_milli(a, m->types[dim - 2]);
	struct dim d = { .what = dim == 0   ? DIM_CPU
				 : dim == 1 ? DIM_MEMORY
					    : DIM_DEVICES,
			 .name = dim == 0   ? "cpu"
				 : dim == 1 ? "memory"
					    : m->types[dim - 2] };

	if (kept) {
		words_amount(&d, (t->pool[dim] + t->kept_below[dim]) / unit, out);
		buf_adds(out, " are there in all, of which ");
		words_number(&d, t->kept_below[dim] / unit, out);
		buf_adds(out, " are kept for groups to which they are guaranteed");
	} else {
		buf_printf(out, "group %s holds ", t->owner->name);
		words_amount(&d, t->used[dim] / unit, out);
		buf_adds(out, ", is guaranteed ");
		words_number(&d, (t->guarantee[dim] > 0 ? t->guarantee[dim] : 0) / unit,
			     out);
		buf_adds(out, " and may borrow ");
		words_number(&d, t->borrow[dim] / unit, out);
	}
	buf_adds(out, "; this job asks for ");
	words_number(&d, want / unit, out);
}

void words_quota(const struct owner *o, const struct ask *a, enum quota_short what,
		 int limit, struct buf *out)
{
	struct dim d;

	if (what == QUOTA_BORROW || what == QUOTA_KEPT) {
		words_tenant(o->tenant, a, what == QUOTA_KEPT, limit, out);
		return;
	}
	d = quota_dim(o, a, what, limit);
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

void words_ceiling(const struct owner *o, enum quota_short what, int limit,
		   struct buf *out)
{
	const struct ask none = { 0 };
	struct dim d = quota_dim(o, &none, what, limit);

	if (what == QUOTA_JOBS || d.total <= 0)
		return;
	buf_adds(out, "; ask for at most ");
	words_amount(&d, d.total, out);
	buf_adds(out, " in all");
}
