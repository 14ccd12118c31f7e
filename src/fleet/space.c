// SPDX-License-Identifier: Apache-2.0
/* What is free on one node. */
#include <string.h>

#include "fleet/space.h"

int machine_task_limit(const struct node *n)
{
	return n->max_tasks > 0 ? n->max_tasks : 1 << 30;
}

static int ports_free(const struct machine *m)
{
	int count = 0;

	for (int port = m->node->port_first; port > 0 && port <= m->node->port_last;
	     port++)
		count += !m->ports || !(m->ports[port / 64] >> port % 64 & 1);
	return count;
}

static bool takes_new(const struct node *n)
{
	return n->up && n->state == NODE_OPEN;
}

void space_empty(const struct fleet *f, int node, struct space *s)
{
	const struct machine *m = &f->machines[node];

	memset(s, 0, f->row_bytes);
	s->bucket = BUCKET_NONE;
	s->open = takes_new(m->node);
	s->cpu_milli = m->node->capacity.cpu_milli;
	s->memory_bytes = m->node->capacity.memory_bytes;
	s->tasks = machine_task_limit(m->node);
	if (m->node->port_first > 0 && m->node->port_last >= m->node->port_first)
		s->ports = m->node->port_last - m->node->port_first + 1;
	for (size_t i = 0; i < f->row_pools; i++)
		s->idle[i] = m->pools[i].total;
}

struct taken machine_taken(const struct fleet *f, int node)
{
	const struct node *n = f->machines[node].node;
	const struct space *s = view_space(&f->live, node);

	return (struct taken){ n->capacity.cpu_milli - s->cpu_milli,
			       n->capacity.memory_bytes - s->memory_bytes,
			       machine_task_limit(n) - s->tasks };
}

void space_refresh(struct fleet *f, int node, const struct taken *t)
{
	const struct machine *m = &f->machines[node];
	struct space *s = view_write(&f->live, node);
	uint8_t bucket = s->bucket;
	uint16_t *left = space_left(f, s);

	space_empty(f, node, s);
	s->bucket = bucket; /* where the index has it, until it is moved */
	s->cpu_milli -= t->cpu_milli;
	s->memory_bytes -= t->memory_bytes;
	s->tasks -= t->tasks;
	s->ports = ports_free(m);
	for (size_t i = 0; i < f->row_pools; i++) {
		const struct pool *p = &m->pools[i];
		int count = bits_count(p->total);
		s->idle[i] &= ~p->used;
		for (int d = 0; d < count && p->taken; d++) {
			if (!p->taken[d])
				continue;
			s->idle[i] &= ~((uint64_t)1 << d);
			left[p->first + d] = (uint16_t)(DEVICE_SHARE - p->taken[d]);
			if (left[p->first + d])
				s->shared++;
		}
	}
}

static int64_t times(int64_t have, int64_t each, int64_t most)
{
	int64_t n;

	if (each <= 0)
		return most;
	if (have < each)
		return 0;
	if (most == 1)
		return 1; /* what is asked most often needs no division */
	n = have / each;
	return n < most ? n : most;
}

static bool take_one(const struct fleet *f, int node, struct space *s,
		     const struct ask_role *r)
{
	for (size_t i = 0; i < r->device_count; i++) {
		struct portion p;
		if (!devices_choose(f, node, s, &r->devices[i], &p))
			return false;
		devices_take(f, node, s, &p);
	}
	return true;
}

/* One task's needs may be met by the same devices: then only trying tells. */
static int64_t room_by_trying(const struct fleet *f, int node, const struct space *s,
			      const struct ask_role *r, int64_t most)
{
	int64_t n = 0;

	memcpy(f->trial, s, f->row_bytes);
	while (n < most && take_one(f, node, f->trial, r))
		n++;
	return n;
}

int64_t space_room(const struct fleet *f, int node, const struct space *s,
		   const struct ask_role *r, int64_t most)
{
	int64_t n = most;

	if (!s->open)
		return 0;
	n = times(s->cpu_milli, r->cpu_milli, n);
	n = times(s->memory_bytes, r->memory_bytes, n);
	n = times(s->tasks, 1, n);
	/* A task's own fixed port may be the very number that is free: keep that many more. */
	n = times(s->ports - r->fixed_count, r->any_ports, n);
	for (size_t i = 0; i < r->device_count && n > 0; i++)
		n = devices_room(f, node, s, &r->devices[i], n);
	return n > 0 && r->overlap ? room_by_trying(f, node, s, r, n) : n;
}

void space_take(const struct fleet *f, int node, struct space *s,
		const struct ask_role *r, int64_t count)
{
	s->cpu_milli -= r->cpu_milli * count;
	s->memory_bytes -= r->memory_bytes * count;
	s->tasks -= (int)count;
	s->ports -= r->any_ports * (int)count;
	for (int64_t i = 0; i < count && r->device_count; i++)
		take_one(f, node, s, r);
}
