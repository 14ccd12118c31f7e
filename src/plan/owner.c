// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <string.h>

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
		if (group)
			tenant_create(p, o);
	}
	o->refs++;
	return o;
}

void owner_free(struct owner *o)
{
	tenant_destroy(o->tenant);
	free(o->name);
	free(o->held);
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
	if (q) {
		o->quota = *q;
		if (!had)
			o->refs++;
	} else if (had) {
		owner_put(p, o);
	}
}

static struct held *held_of(struct owner *o, const char *type)
{
	struct held *h;

	for (size_t i = 0; i < o->held_count; i++) {
		if (strcmp(o->held[i].type, type) == 0)
			return &o->held[i];
	}
	mem_grow(&o->held, &o->held_cap, o->held_count, sizeof *o->held);
	h = &o->held[o->held_count++];
	*h = (struct held){ 0 };
	memcpy(h->type, type, strnlen(type, DEVICE_TYPE_MAX - 1));
	return h;
}

void owner_charge(struct owner *o, const struct shape *s, int sign)
{
	const struct ask_total *t = &s->ask->total;

	o->cpu_milli += sign * t->cpu_milli;
	o->memory_bytes += sign * t->memory_bytes;
	o->jobs += sign;
	for (size_t i = 0; i < t->device_count; i++)
		held_of(o, t->devices[i].type)->milli += sign * t->devices[i].count;
}

int64_t owner_holds(const struct owner *o, const char *type)
{
	int64_t sum = 0;

	for (size_t i = 0; i < o->held_count; i++)
		sum += device_within(o->held[i].type, type) ? o->held[i].milli : 0;
	return sum;
}

int64_t ask_milli(const struct ask *a, const char *type)
{
	int64_t sum = 0;

	for (size_t i = 0; a && i < a->total.device_count; i++)
		sum += device_within(a->total.devices[i].type, type)
			       ? a->total.devices[i].count
			       : 0;
	return sum;
}

static bool over(int64_t limit, int64_t held, int64_t want, int64_t beside)
{
	/* Who asks for none of it is not stopped by having too much of it already. */
	return limit >= 0 && want > 0 && held + want + beside > limit;
}

static enum quota_short check(const struct owner *o, const struct ask *a,
			      const struct ask *beside, bool held, int *limit)
{
	const struct resources *most = &o->quota.limit;

	if (!o->has_quota)
		return QUOTA_OK;
	for (int i = 0; i < DEVICE_KINDS_MAX && most->devices[i].type[0]; i++) {
		const char *type = most->devices[i].type;
		*limit = i;
		if (over((int64_t)most->devices[i].count * DEVICE_SHARE,
			 held ? owner_holds(o, type) : 0, ask_milli(a, type),
			 ask_milli(beside, type)))
			return QUOTA_DEVICES;
	}
	*limit = -1;
	if (over(most->cpu_milli, held ? o->cpu_milli : 0, a->total.cpu_milli,
		 beside ? beside->total.cpu_milli : 0))
		return QUOTA_CPU;
	if (over(most->memory_bytes, held ? o->memory_bytes : 0, a->total.memory_bytes,
		 beside ? beside->total.memory_bytes : 0))
		return QUOTA_MEMORY;
	if (over(o->quota.max_running_jobs, held ? o->jobs : 0, 1, beside ? 1 : 0))
		return QUOTA_JOBS;
	return QUOTA_OK;
}

enum quota_short owner_short(const struct owner *o, const struct shape *s,
			     const struct shape *beside, int *limit)
{
	return check(o, s->ask, beside ? beside->ask : NULL, true, limit);
}

enum quota_short owner_never(const struct owner *o, const struct shape *s, int *limit)
{
	return check(o, s->ask, NULL, false, limit);
}
