// SPDX-License-Identifier: Apache-2.0
#include <assert.h>

#include "base/mem.h"
#include "plan/model.h"

static struct map *table(const struct plan *p, bool group)
{
	return group ? p->groups : p->users;
}

struct owner *owner_get(struct plan *p, bool group, const char *name)
{
	struct owner *o = map_gets(table(p, group), name ? name : "");

	if (!o) {
		o = mem_alloc(1, sizeof *o);
		o->name = mem_strdup(name ? name : "");
		o->is_group = group;
		map_puts(table(p, group), o->name, o);
	}
	o->refs++;
	return o;
}

void owner_free(struct owner *o)
{
	free(o->name);
	free(o->devices);
	free(o);
}

void owner_put(struct plan *p, struct owner *o)
{
	assert(o->refs > 0);
	if (--o->refs)
		return;
	map_dels(table(p, o->is_group), o->name);
	owner_free(o);
}

/* An owner with a quota is kept by it: one ref. */
void owner_set_quota(struct plan *p, struct owner *o, const struct quota *q)
{
	bool had = o->has_quota;

	o->has_quota = q != NULL;
	o->limit_count = 0;
	if (q) {
		o->quota = *q;
		for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
			const struct device_count *d = &q->limit.devices[i];
			if (d->type[0])
				o->limits[o->limit_count++] =
					(struct need){ plan_kind(p, d->type), d->count };
		}
		if (!had)
			o->refs++;
	} else if (had) {
		owner_put(p, o);
	}
}

void owner_charge(struct owner *o, const struct shape *s, int sign)
{
	o->cpu_milli += sign * s->total.cpu_milli;
	o->memory_bytes += sign * s->total.memory_bytes;
	o->jobs += sign;
	for (size_t i = 0; i < s->total.device_count; i++) {
		size_t kind = (size_t)s->total.devices[i].kind;
		if (kind >= o->device_cap) {
			size_t cap = kind + 1;
			o->devices = mem_realloc(o->devices, cap, sizeof *o->devices);
			for (size_t k = o->device_cap; k < cap; k++)
				o->devices[k] = 0;
			o->device_cap = cap;
		}
		o->devices[kind] += sign * s->total.devices[i].count;
	}
}

static int64_t wants(const struct shape *s, int kind)
{
	for (size_t i = 0; s && i < s->total.device_count; i++) {
		if (s->total.devices[i].kind == kind)
			return s->total.devices[i].count;
	}
	return 0;
}

static bool over(int64_t limit, int64_t held, int64_t want, int64_t beside)
{
	/* Who asks for none of it is not stopped by having too much of it already. */
	return limit >= 0 && want > 0 && held + want + beside > limit;
}

static enum quota_short check(const struct owner *o, const struct shape *s,
			      const struct shape *beside, bool held, int *kind)
{
	if (!o->has_quota)
		return QUOTA_OK;
	for (size_t i = 0; i < o->limit_count; i++) {
		size_t k = (size_t)o->limits[i].kind;
		*kind = o->limits[i].kind;
		if (over(o->limits[i].count,
			 held && k < o->device_cap ? o->devices[k] : 0, wants(s, *kind),
			 wants(beside, *kind)))
			return QUOTA_DEVICES;
	}
	*kind = -1;
	if (over(o->quota.limit.cpu_milli, held ? o->cpu_milli : 0, s->total.cpu_milli,
		 beside ? beside->total.cpu_milli : 0))
		return QUOTA_CPU;
	if (over(o->quota.limit.memory_bytes, held ? o->memory_bytes : 0,
		 s->total.memory_bytes, beside ? beside->total.memory_bytes : 0))
		return QUOTA_MEMORY;
	if (over(o->quota.max_running_jobs, held ? o->jobs : 0, 1, beside ? 1 : 0))
		return QUOTA_JOBS;
	return QUOTA_OK;
}

enum quota_short owner_short(const struct owner *o, const struct shape *s,
			     const struct shape *beside, int *kind)
{
	return check(o, s, beside, true, kind);
}

enum quota_short owner_never(const struct owner *o, const struct shape *s, int *kind)
{
	return check(o, s, NULL, false, kind);
}

int64_t owner_limit(const struct owner *o, int kind)
{
	for (size_t i = 0; i < o->limit_count; i++) {
		if (o->limits[i].kind == kind)
			return o->limits[i].count;
	}
	return -1;
}
