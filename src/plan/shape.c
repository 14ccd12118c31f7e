// SPDX-License-Identifier: Apache-2.0
#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

int plan_kind_find(const struct plan *p, const char *type)
{
	for (size_t i = 0; i < p->kind_count; i++) {
		if (strcmp(p->kinds[i], type) == 0)
			return (int)i;
	}
	return -1;
}

int plan_kind(struct plan *p, const char *type)
{
	int known = plan_kind_find(p, type);

	if (known >= 0)
		return known;
	mem_grow(&p->kinds, &p->kind_cap, p->kind_count, sizeof *p->kinds);
	p->kinds[p->kind_count] = mem_strdup(type);
	return (int)p->kind_count++;
}

/* Far above any machine, low enough that sums over all tasks stay in range. */
static int64_t bounded(int64_t amount)
{
	const int64_t most = (int64_t)1 << 48;

	return amount < 0 ? 0 : amount < most ? amount : most;
}

static void role_make(const struct plan *p, const struct plan_role *from,
		      struct shape_role *r)
{
	*r = (struct shape_role){ .count = from->count,
				  .cpu_milli = bounded(from->each.cpu_milli),
				  .memory_bytes = bounded(from->each.memory_bytes),
				  .any_ports = from->any_ports,
				  .fixed_count = from->fixed_count };
	memcpy(r->fixed_ports, from->fixed_ports, sizeof r->fixed_ports);
	for (size_t i = 0; i < DEVICE_KINDS_MAX && from->each.devices[i].count > 0; i++) {
		const struct device_count *d = &from->each.devices[i];
		int kind = plan_kind_find(p, d->type);
		r->devices[i] = (struct need){ kind < 0 ? KIND_UNKNOWN : kind, d->count };
		r->types[i] = kind < 0 ? d->type : p->kinds[kind];
		r->device_count++;
	}
}

static void total_add(struct shape *s, const struct shape_role *r)
{
	s->task_count += r->count;
	s->total.cpu_milli += r->cpu_milli * r->count;
	s->total.memory_bytes += r->memory_bytes * r->count;
	for (size_t i = 0; i < r->device_count; i++) {
		size_t at = 0;
		while (at < s->total.device_count &&
		       s->total.devices[at].kind != r->devices[i].kind)
			at++;
		if (at == s->total.device_count)
			s->total.devices[s->total.device_count++] =
				(struct need){ r->devices[i].kind, 0 };
		s->total.devices[at].count += r->devices[i].count * r->count;
	}
}

static int64_t devices_of(const struct shape_role *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < r->device_count; i++)
		sum += r->devices[i].count;
	return sum;
}

/* Devices are the scarcest, then memory, then cpu. */
static bool demands_more(const struct shape_role *a, const struct shape_role *b)
{
	int64_t da = devices_of(a), db = devices_of(b);

	if (da != db)
		return da > db;
	if (a->memory_bytes != b->memory_bytes)
		return a->memory_bytes > b->memory_bytes;
	return a->cpu_milli > b->cpu_milli;
}

struct shape *shape_make(const struct plan *p, const struct plan_job *job)
{
	struct shape *s = mem_alloc(1, sizeof *s);

	s->role_count = job->role_count;
	s->roles = mem_alloc(job->role_count, sizeof *s->roles);
	s->order = mem_alloc(job->role_count, sizeof *s->order);
	s->total.devices =
		mem_alloc(job->role_count * DEVICE_KINDS_MAX, sizeof *s->total.devices);
	for (size_t i = 0; i < job->role_count; i++) {
		size_t at = i;
		role_make(p, &job->roles[i], &s->roles[i]);
		total_add(s, &s->roles[i]);
		for (; at > 0 && demands_more(&s->roles[i], &s->roles[s->order[at - 1]]);
		     at--)
			s->order[at] = s->order[at - 1];
		s->order[at] = i;
	}
	return s;
}

void shape_free(struct shape *s)
{
	if (!s)
		return;
	free(s->key);
	free(s->roles);
	free(s->order);
	free(s->total.devices);
	free(s);
}

static void key_of(const struct plan_job *job, struct buf *out)
{
	for (size_t i = 0; i < job->role_count; i++) {
		const struct plan_role *r = &job->roles[i];
		buf_printf(out, "%d*%lld,%lld,%d", r->count, (long long)r->each.cpu_milli,
			   (long long)r->each.memory_bytes, r->any_ports);
		for (int k = 0; k < r->fixed_count; k++)
			buf_printf(out, ":%d", r->fixed_ports[k]);
		for (size_t k = 0; k < DEVICE_KINDS_MAX && r->each.devices[k].count > 0;
		     k++)
			buf_printf(out, "|%s=%d", r->each.devices[k].type,
				   r->each.devices[k].count);
		buf_addc(out, ';');
	}
}

static void intern_kinds(struct plan *p, const struct plan_job *job)
{
	for (size_t i = 0; i < job->role_count; i++) {
		const struct resources *each = &job->roles[i].each;
		for (size_t k = 0; k < DEVICE_KINDS_MAX && each->devices[k].count > 0;
		     k++)
			plan_kind(p, each->devices[k].type);
	}
}

struct shape *shape_get(struct plan *p, const struct plan_job *job)
{
	AUTO_BUF struct buf key = { 0 };
	struct shape *s;

	key_of(job, &key);
	s = map_gets(p->shape_by_key, buf_str(&key));
	if (!s) {
		intern_kinds(p, job);
		s = shape_make(p, job);
		s->key = buf_take(&key);
		map_puts(p->shape_by_key, s->key, s);
		p->fickle_shapes += s->role_count > 1;
	}
	s->refs++;
	return s;
}

void shape_put(struct plan *p, struct shape *s)
{
	assert(s->refs > 0);
	if (--s->refs)
		return;
	map_dels(p->shape_by_key, s->key);
	p->fickle_shapes -= s->role_count > 1;
	shape_free(s);
}
