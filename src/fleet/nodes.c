// SPDX-License-Identifier: Apache-2.0
/* Nodes as they come and change. */
#include <string.h>

#include "base/mem.h"
#include "fleet/space.h"

#define KEPT_ROWS  256 /* of a gang of several roles; more are made for larger ones */
#define MORE_SLOTS 4   /* words: tasks on a node beyond the first 64 */

static uint64_t mask_of(int count)
{
	if (count >= DEVICES_MAX)
		return UINT64_MAX;
	return count <= 0 ? 0 : ((uint64_t)1 << count) - 1;
}

static bool pool_in_use(const struct pool *p)
{
	bool any = p->total || p->used;

	for (int i = 0; i < DEVICES_MAX && p->taken && !any; i++)
		any = p->taken[i] != 0;
	return any;
}

int machine_pool_make(struct machine *m, int kind)
{
	int at = -1;

	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].kind == kind)
			return i;
	}
	for (int i = 0; i < FLEET_POOLS && at < 0; i++) {
		if (m->pools[i].kind == KIND_NONE || !pool_in_use(&m->pools[i]))
			at = i;
	}
	if (at < 0)
		return -1;
	m->pools[at].kind = (int16_t)kind;
	if (!m->pools[at].taken)
		m->pools[at].taken = mem_alloc(DEVICES_MAX, sizeof *m->pools[at].taken);
	return at;
}

static void *row_alloc(void *old, size_t bytes)
{
	free(old);
	return mem_alloc(1, bytes);
}

static void rows_make(struct fleet *f, size_t pools, size_t devices)
{
	f->row_pools = pools;
	f->row_devices = devices;
	f->row_bytes = sizeof(struct space) + pools * sizeof(uint64_t) +
		       devices * sizeof(uint16_t);
	f->row_bytes = (f->row_bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
	chunks_reset(&f->chunks, CHUNK_NODES * f->row_bytes);
	f->live.chunk_count = 0;
	view_grow(&f->live, f->live.count);
	chunks_reserve(&f->chunks, f->chunks_wanted);
	f->trial = row_alloc(f->trial, f->row_bytes);
	f->attempt = row_alloc(f->attempt, f->row_bytes);
	f->choice = row_alloc(f->choice, f->row_bytes);
	free(f->kept);
	f->kept_cap = KEPT_ROWS;
	f->kept = mem_alloc(f->kept_cap, f->row_bytes);
	f->layout.stale = true;
}

/* Rows are as wide as the widest node needs.  All are made anew when that grows. */
static void rows_widen(struct fleet *f, const struct machine *m)
{
	size_t pools = f->row_pools, devices = f->row_devices, count = 0;
	AUTO_FREE struct taken *taken = NULL;

	for (int i = 0; i < FLEET_POOLS; i++) {
		if (m->pools[i].total && pools < (size_t)i + 1)
			pools = (size_t)i + 1;
		count += (size_t)bits_count(m->pools[i].total);
	}
	devices = count > devices ? count : devices;
	devices = (devices + 3) / 4 * 4; /* whole words */
	if (pools == f->row_pools && devices == f->row_devices && f->row_bytes)
		return;
	taken = mem_alloc(f->live.count, sizeof *taken);
	for (size_t i = 0; f->row_bytes && i < f->live.count; i++)
		taken[i] = machine_taken(f, (int)i);
	rows_make(f, pools, devices);
	for (size_t i = 0; i < f->live.count; i++)
		space_refresh(f, (int)i, &taken[i]);
}

void machines_reserve(struct fleet *f, size_t count)
{
	size_t cap = count < 2 * f->machine_cap ? 2 * f->machine_cap : count;
	char *block;

	if (count <= f->machine_cap)
		return;
	block = mem_alloc(1, cap * sizeof *f->machines + CACHE_LINE);
	if (f->live.count)
		memcpy(block + -(uintptr_t)block % CACHE_LINE, f->machines,
		       f->live.count * sizeof *f->machines);
	free(f->machine_block);
	f->machine_block = block;
	f->machines = (struct machine *)(void *)(block + -(uintptr_t)block % CACHE_LINE);
	f->machine_cap = cap;
	f->marks = mem_realloc(f->marks, cap, sizeof *f->marks);
	memset(f->marks, 0, cap * sizeof *f->marks);
	f->mark = 0;
}

static struct machine *machine_add(struct fleet *f, const char *name)
{
	size_t at = f->live.count;
	struct machine *m;

	machines_reserve(f, at + 1);
	m = &f->machines[at];
	*m = (struct machine){ .node = mem_alloc(1, sizeof *m->node),
			       .more_slots = mem_alloc(MORE_SLOTS, sizeof *m->more_slots),
			       .more_words = MORE_SLOTS };
	for (int i = 0; i < FLEET_POOLS; i++)
		m->pools[i].kind = KIND_NONE;
	map_puts(f->by_name, name, (void *)(uintptr_t)(at + 1));
	if (!f->row_bytes)
		rows_make(f, 0, 0);
	view_grow(&f->live, at + 1);
	view_write(&f->live, (int)at)->tasks = machine_task_limit(m->node);
	return m;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* What makes nodes alike: devices, islands, labels.  Kinds in the order of names. */
static char *likeness(const struct node *n)
{
	AUTO_BUF struct buf out = { 0 };
	const char *types[DEVICE_KINDS_MAX];
	size_t count = 0;

	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		if (n->capacity.devices[i].count > 0)
			types[count++] = n->capacity.devices[i].type;
	}
	qsort(types, count, sizeof *types, by_text);
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s*%d ", types[i],
			   resources_device(&n->capacity, types[i]));
	buf_printf(&out, "/%d%s %s", n->island, n->rings ? "r" : "", n->labels);
	return buf_take(&out);
}

static void pools_set(struct fleet *f, struct machine *m)
{
	int first = 0;

	for (int i = 0; i < FLEET_POOLS; i++)
		m->pools[i].total = 0;
	for (size_t i = 0; i < DEVICE_KINDS_MAX; i++) {
		const struct device_count *d = &m->node->capacity.devices[i];
		int kind = d->count > 0 ? fleet_kind(f, d->type) : KIND_NONE;
		int pool = kind >= 0 ? machine_pool_make(m, kind) : -1;
		if (pool >= 0)
			m->pools[pool].total = mask_of(d->count);
	}
	for (int i = 0; i < FLEET_POOLS; i++) {
		m->pools[i].first = (int16_t)first;
		first += bits_count(m->pools[i].total);
	}
}

void fleet_set_node(struct fleet *f, const struct node *n)
{
	int at = fleet_find(f, n->name);
	struct machine *m = at < 0 ? machine_add(f, n->name) : &f->machines[at];
	AUTO_FREE char *like = likeness(n);
	struct taken taken = machine_taken(f, (int)(m - f->machines));
	bool moved = at < 0 || strcmp(m->node->rack, n->rack) != 0 ||
		     strcmp(m->node->net, n->net) != 0;

	at = (int)(m - f->machines);
	*m->node = *n;
	if (m->node->port_last >= NODE_PORTS)
		m->node->port_last = NODE_PORTS - 1;
	if (n->port_first > 0 && !m->ports)
		m->ports = mem_alloc(NODE_PORTS / 64, sizeof *m->ports);
	m->island = n->island > 0 && n->island < DEVICES_MAX ? (uint8_t)n->island : 0;
	m->rings = n->rings;
	m->windows = n->window_count > 0;
	if (!m->likeness || strcmp(m->likeness, like) != 0) {
		free(m->likeness);
		m->likeness = TAKE(like);
		moved = true;
	}
	pools_set(f, m);
	f->layout.stale |= moved;
	rows_widen(f, m);
	space_refresh(f, at, &taken);
	index_move(&f->live, at, view_write(&f->live, at));
	f->version++;
}

void fleet_reserve_roles(struct fleet *f, size_t roles)
{
	if (roles <= f->role_cap)
		return;
	f->role_cap = roles;
	f->cursors = mem_realloc(f->cursors, roles, sizeof *f->cursors);
	f->role_at = mem_realloc(f->role_at, roles, sizeof *f->role_at);
}
