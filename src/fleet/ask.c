// SPDX-License-Identifier: Apache-2.0
#include "fleet/ask.h"

#include <string.h>

#include "base/mem.h"
#include "fleet/fleet.h"

/* Far above any machine, low enough that sums over all tasks stay in range. */
static int64_t bounded(int64_t amount)
{
	const int64_t most = (int64_t)1 << 48;

	return amount < 0 ? 0 : amount < most ? amount : most;
}

/* What follows from the kinds. */
static void role_know(struct ask_role *r)
{
	uint64_t seen = 0;

	r->whole = 0;
	r->overlap = false;
	r->classes_at = 0;
	for (size_t i = 0; i < r->device_count; i++) {
		r->overlap |= (seen & r->devices[i].kinds) != 0;
		seen |= r->devices[i].kinds;
		r->whole += r->devices[i].share_milli ? 0 : r->devices[i].count;
	}
}

static void role_make(const struct fleet *f, const struct gang_role *from,
		      struct ask_role *r)
{
	*r = (struct ask_role){ .count = from->count,
				.least = from->least > 0 && from->least < from->count
						 ? from->least
						 : from->count,
				.cpu_milli = bounded(from->each.cpu_milli),
				.memory_bytes = bounded(from->each.memory_bytes),
				.any_ports = from->any_ports,
				.fixed_count = from->fixed_count,
				.labels = from->labels && from->labels[0]
						  ? mem_strdup(from->labels)
						  : NULL };
	memcpy(r->fixed_ports, from->fixed_ports, sizeof r->fixed_ports);
	for (size_t i = 0; i < DEVICE_KINDS_MAX && from->each.devices[i].count > 0; i++) {
		const struct device_count *d = &from->each.devices[i];
		bool shared = d->share_milli > 0 && d->share_milli < DEVICE_SHARE;
		r->devices[i] = (struct need){ .kinds = fleet_kinds_of(f, d->type),
					       .count = shared ? 1 : d->count,
					       .share_milli = shared ? d->share_milli : 0,
					       .type = mem_strdup(d->type) };
		r->device_count++;
	}
	role_know(r);
}

static int64_t milli_of(const struct need *n)
{
	return n->share_milli ? n->share_milli : n->count * DEVICE_SHARE;
}

static void total_add(struct ask *a, const struct ask_role *r)
{
	struct ask_total *t = &a->total;

	a->task_count += r->count;
	a->least_count += r->least;
	t->cpu_milli += r->cpu_milli * r->count;
	t->memory_bytes += r->memory_bytes * r->count;
	for (size_t i = 0; i < r->device_count; i++) {
		size_t at = 0;
		while (at < t->device_count &&
		       strcmp(t->devices[at].type, r->devices[i].type) != 0)
			at++;
		if (at == t->device_count)
			t->devices[t->device_count++] =
				(struct need){ .kinds = r->devices[i].kinds,
					       .type = r->devices[i].type };
		t->devices[at].count += milli_of(&r->devices[i]) * r->count;
	}
}

static int64_t devices_of(const struct ask_role *r)
{
	int64_t sum = 0;

	for (size_t i = 0; i < r->device_count; i++)
		sum += milli_of(&r->devices[i]);
	return sum;
}

/* Devices are the scarcest, then memory, then cpu. */
static bool demands_more(const struct ask_role *a, const struct ask_role *b)
{
	int64_t da = devices_of(a), db = devices_of(b);

	if (da != db)
		return da > db;
	if (a->memory_bytes != b->memory_bytes)
		return a->memory_bytes > b->memory_bytes;
	return a->cpu_milli > b->cpu_milli;
}

struct ask *ask_create(const struct fleet *f, const struct gang *g)
{
	struct ask *a = mem_alloc(1, sizeof *a);

	a->role_count = g->role_count;
	a->within = g->within;
	a->within_must = g->within_must;
	a->roles = mem_alloc(g->role_count, sizeof *a->roles);
	a->order = mem_alloc(g->role_count, sizeof *a->order);
	a->total.devices =
		mem_alloc(g->role_count * DEVICE_KINDS_MAX, sizeof *a->total.devices);
	for (size_t i = 0; i < g->role_count; i++) {
		size_t at = i;
		role_make(f, &g->roles[i], &a->roles[i]);
		total_add(a, &a->roles[i]);
		for (; at > 0 && demands_more(&a->roles[i], &a->roles[a->order[at - 1]]);
		     at--)
			a->order[at] = a->order[at - 1];
		a->order[at] = i;
	}
	return a;
}

static void need_refresh(const struct fleet *f, struct need *needs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		needs[i].kinds = fleet_kinds_of(f, needs[i].type);
}

void ask_refresh(const struct fleet *f, struct ask *a)
{
	for (size_t i = 0; i < a->role_count; i++) {
		need_refresh(f, a->roles[i].devices, a->roles[i].device_count);
		role_know(&a->roles[i]);
	}
	need_refresh(f, a->total.devices, a->total.device_count);
}

void ask_destroy(struct ask *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->role_count; i++) {
		for (size_t k = 0; k < a->roles[i].device_count; k++)
			free((char *)(uintptr_t)a->roles[i].devices[k].type);
		free((char *)(uintptr_t)a->roles[i].labels);
	}
	free(a->roles);
	free(a->order);
	free(a->total.devices);
	free(a);
}

void ask_key(const struct gang *g, struct buf *out)
{
	buf_printf(out, "%d%c", (int)g->within, g->within_must ? '!' : ' ');
	for (size_t i = 0; i < g->role_count; i++) {
		const struct gang_role *r = &g->roles[i];
		buf_printf(out, "%d/%d*%lld,%lld,%d", r->count, r->least,
			   (long long)r->each.cpu_milli, (long long)r->each.memory_bytes,
			   r->any_ports);
		for (int k = 0; k < r->fixed_count; k++)
			buf_printf(out, ":%d", r->fixed_ports[k]);
		for (size_t k = 0; k < DEVICE_KINDS_MAX && r->each.devices[k].count > 0;
		     k++)
			buf_printf(out, "|%s=%d.%d", r->each.devices[k].type,
				   r->each.devices[k].count,
				   r->each.devices[k].share_milli);
		buf_printf(out, "@%s;", r->labels ? r->labels : "");
	}
}
