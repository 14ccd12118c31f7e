// SPDX-License-Identifier: Apache-2.0
#include "herd.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

int h_roll(struct herd *h, int below)
{
	uint64_t x = h->seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return (int)((x ^ (x >> 31)) % (uint64_t)below);
}

static void name_place(char *out, size_t size, struct herd *h, char kind, int count)
{
	int n = h_roll(h, count + 1);

	if (n)
		snprintf(out, size, "%c%d", kind, n);
}

void h_make_node(struct herd *h, int at)
{
	static const char *const labels[] = { "", "zone=a", "zone=b,disk=nvme",
					      "disk=nvme" };
	static const int sizes[] = { 0, 2, 4, 8, 8, 8 };
	struct node *n = &h->nodes[at];
	bool rings = h->rings && h_roll(h, 2);

	*n = (struct node){ .up = h_roll(h, 10) > 0,
			    .state = h_roll(h, 12) ? NODE_OPEN : NODE_DRAIN,
			    .rings = rings,
			    .max_tasks = h_roll(h, 4) ? 0 : 1 + h_roll(h, 8) };
	snprintf(n->name, sizeof n->name, "n%02d", (at * 7) % H_NODES);
	n->capacity.cpu_milli = 1000 * (1 + h_roll(h, 16));
	n->capacity.memory_bytes = 100 * (1 + h_roll(h, 10));
	if (rings) {
		resources_set_device(&n->capacity, "npu", 8);
	} else {
		resources_set_device(&n->capacity, "gpu:a", sizes[h_roll(h, 6)]);
		resources_set_device(&n->capacity, "gpu:b", h_roll(h, 3) ? 0 : 4);
	}
	n->island = rings ? 4 : h->islands ? 2 * h_roll(h, 3) : 0;
	if (h->racks) {
		name_place(n->rack, sizeof n->rack, h, 'r', 2);
		name_place(n->net, sizeof n->net, h, 's', 2);
	}
	if (h->labels)
		snprintf(n->labels, sizeof n->labels, "%s", labels[h_roll(h, 4)]);
	fleet_set_node(h->f, n);
}

void h_init(struct herd *h, uint64_t seed)
{
	h->seed = seed;
	h->f = fleet_create();
	h->node_count = 1 + h_roll(h, H_NODES);
	for (int i = 0; i < h->node_count; i++)
		h_make_node(h, i);
}

void h_fini(struct herd *h)
{
	for (int i = 0; i < H_JOBS; i++)
		h_drop_job(h, &h->jobs[i]);
	free(h->picks.items);
	fleet_destroy(h->f);
}

void h_make_job(struct herd *h, struct h_job *j)
{
	static const char *const types[] = { "gpu", "gpu:a", "gpu:b", "gpu:a|b", "npu" };
	static const char *const labels[] = { "zone=a", "disk=nvme", "disk=nvme,zone=b" };
	static const int counts[] = { 1, 1, 1, 2, 2, 4, 8, 3 };
	struct gang_role *r = &j->role;

	*j = (struct h_job){ 0 };
	r->count = h_roll(h, 2) ? 1 : 1 + h_roll(h, H_TASKS);
	r->least = h_roll(h, 3) ? 0 : 1 + h_roll(h, r->count);
	r->each.cpu_milli = h_roll(h, 3) ? 500 : 1000 * h_roll(h, 6);
	r->each.memory_bytes = h_roll(h, 3) ? 10 : 50 * h_roll(h, 4);
	if (h_roll(h, 8)) {
		resources_set_device(&r->each, types[h_roll(h, 5)], counts[h_roll(h, 8)]);
		if (h->shares && h_roll(h, 2)) {
			r->each.devices[0].count = 1;
			r->each.devices[0].share_milli = 1 + h_roll(h, 999);
		}
	}
	if (h->labels && !h_roll(h, 3))
		r->labels = labels[h_roll(h, 3)];
	if (h->racks && h_roll(h, 2)) {
		j->gang.within = (enum level)h_roll(h, LEVEL_NODE + 1);
		j->gang.within_must = h_roll(h, 2);
	}
	j->gang.roles = r;
	j->gang.role_count = 1;
	j->ask = ask_create(h->f, &j->gang);
}

void h_drop_job(struct herd *h, struct h_job *j)
{
	if (j->on)
		fleet_give_back(h->f, j->ask, &j->grants);
	ask_destroy(j->ask);
	*j = (struct h_job){ 0 };
}

bool h_open(const struct node *n)
{
	return n->up && n->state == NODE_OPEN;
}

static void take_device(struct h_free *out, const struct placement *p, size_t k)
{
	for (size_t i = 0; i < out->pool_count; i++) {
		if (strcmp(out->pools[i].type, p->devices[k].type) != 0)
			continue;
		for (int d = 0; d < out->pools[i].count; d++) {
			if (p->devices[k].mask >> d & 1)
				out->pools[i].left[d] -=
					p->devices[k].share_milli
						? p->devices[k].share_milli
						: DEVICE_SHARE;
		}
	}
}

void h_free_on(const struct herd *h, int node, struct h_free *out)
{
	const struct node *n = &h->nodes[node];

	*out = (struct h_free){ .cpu_milli = n->capacity.cpu_milli,
				.memory_bytes = n->capacity.memory_bytes,
				.tasks = n->max_tasks ? n->max_tasks : 1000 };
	for (size_t i = 0; i < DEVICE_KINDS_MAX && n->capacity.devices[i].count; i++) {
		out->pools[i].type = n->capacity.devices[i].type;
		out->pools[i].count = n->capacity.devices[i].count;
		for (int d = 0; d < DEVICES_MAX; d++)
			out->pools[i].left[d] = DEVICE_SHARE;
		out->pool_count++;
	}
	for (int i = 0; i < H_JOBS; i++) {
		const struct h_job *j = &h->jobs[i];
		for (size_t t = 0; j->on && t < j->count; t++) {
			if (strcmp(j->places[t].node, n->name) != 0)
				continue;
			out->cpu_milli -= j->role.each.cpu_milli;
			out->memory_bytes -= j->role.each.memory_bytes;
			out->tasks--;
			for (size_t k = 0; k < DEVICE_KINDS_MAX; k++)
				take_device(out, &j->places[t], k);
		}
	}
}

static int most(int64_t have, int64_t each, int bound)
{
	int64_t n = each <= 0 ? bound : have <= 0 ? 0 : have / each;

	return n < bound ? (int)n : bound;
}

static int ring_tasks(const int *left, int count)
{
	int idle[2] = { 0, 0 };

	for (int d = 0; d < 8; d++)
		idle[d / 4] += left[d] == DEVICE_SHARE;
	if (count == 8)
		return idle[0] + idle[1] == 8;
	if (count != 1 && count != 2 && count != 4)
		return 0;
	return idle[0] / count + idle[1] / count;
}

static int device_tasks(const struct node *n, const struct h_free *have,
			const struct device_count *want)
{
	int sum = 0;

	for (size_t i = 0; i < have->pool_count; i++) {
		int idle = 0;
		if (!device_matches(want->type, have->pools[i].type))
			continue;
		for (int d = 0; d < have->pools[i].count; d++) {
			idle += have->pools[i].left[d] == DEVICE_SHARE;
			if (want->share_milli)
				sum += have->pools[i].left[d] / want->share_milli;
		}
		if (want->share_milli)
			continue;
		sum += n->rings ? ring_tasks(have->pools[i].left, want->count)
				: idle / want->count;
	}
	return sum;
}

static bool has_all(const char *labels, const char *wanted)
{
	char list[NODE_LABELS_MAX + 3], one[NODE_LABELS_MAX + 3];

	snprintf(list, sizeof list, ",%s,", labels);
	while (wanted && *wanted) {
		int len = (int)strcspn(wanted, ",");
		snprintf(one, sizeof one, ",%.*s,", len, wanted);
		if (!strstr(list, one))
			return false;
		wanted += len + (wanted[len] == ',');
	}
	return true;
}

int h_room(const struct herd *h, int node, const struct h_job *j)
{
	const struct node *n = &h->nodes[node];
	const struct resources *each = &j->role.each;
	struct h_free have;
	int room = H_TASKS;

	if (!h_open(n) || !has_all(n->labels, j->role.labels))
		return 0;
	h_free_on(h, node, &have);
	room = most(have.cpu_milli, each->cpu_milli, room);
	room = most(have.memory_bytes, each->memory_bytes, room);
	room = most(have.tasks, 1, room);
	if (each->devices[0].count)
		room = most(device_tasks(n, &have, &each->devices[0]), 1, room);
	return room;
}

bool h_same_area(const struct node *a, const struct node *b, enum level level)
{
	if (level == LEVEL_ANY)
		return true;
	if (strcmp(a->name, b->name) == 0)
		return true;
	if (level >= LEVEL_NODE || strcmp(a->rack, b->rack) != 0)
		return false;
	if (level == LEVEL_RACK)
		return a->rack[0] != 0;
	return a->net[0] && strcmp(a->net, b->net) == 0;
}

int h_area_room(const struct herd *h, int node, enum level level, const struct h_job *j)
{
	int sum = 0;

	for (int i = 0; i < h->node_count; i++) {
		if (h_same_area(&h->nodes[node], &h->nodes[i], level))
			sum += h_room(h, i, j);
	}
	return sum;
}

static const char *check_place(const struct herd *h, const struct h_job *j,
			       const struct placement *p)
{
	const struct device_count *want = &j->role.each.devices[0];
	int at = 0;

	while (at < h->node_count && strcmp(h->nodes[at].name, p->node) != 0)
		at++;
	if (at == h->node_count || !h_open(&h->nodes[at]))
		return "a task on a node that takes none";
	if (!has_all(h->nodes[at].labels, j->role.labels))
		return "a task on a node without its labels";
	if (!want->count)
		return p->devices[0].mask ? "devices for nobody" : NULL;
	if (!device_matches(want->type, p->devices[0].type))
		return "devices of another kind";
	if (p->devices[0].share_milli != want->share_milli)
		return "another share than asked for";
	if (__builtin_popcountll(p->devices[0].mask) != want->count)
		return "another number of devices than asked for";
	if (h->nodes[at].rings && want->count <= 4 && !want->share_milli &&
	    p->devices[0].mask & 0x0f && p->devices[0].mask & 0xf0)
		return "a task across two rings";
	return NULL;
}

const char *h_start(struct herd *h, struct h_job *j)
{
	const char *law = NULL;

	fleet_grant(h->f, j->ask, &h->picks, &j->grants);
	j->on = true;
	j->count = j->grants.count;
	if (j->count > (size_t)j->role.count ||
	    j->count < (size_t)(j->role.least ? j->role.least : j->role.count))
		return "more tasks than asked for, or fewer than the least";
	fleet_describe(h->f, j->ask, &j->grants, j->places);
	for (size_t i = 0; i < j->count && !law; i++)
		law = check_place(h, j, &j->places[i]);
	for (int i = 0; i < h->node_count && !law; i++) {
		struct h_free left;
		bool here = false;
		for (size_t t = 0; t < j->count; t++)
			here |= strcmp(j->places[t].node, h->nodes[i].name) == 0;
		h_free_on(h, i, &left);
		if (here && ((j->role.each.cpu_milli && left.cpu_milli < 0) ||
			     (j->role.each.memory_bytes && left.memory_bytes < 0) ||
			     left.tasks < 0))
			law = "more given than the node has";
		for (size_t k = 0; k < left.pool_count; k++) {
			for (int d = 0; d < left.pools[k].count; d++)
				law = left.pools[k].left[d] < 0
					      ? "a device given out more than once"
					      : law;
		}
	}
	return law;
}

struct fleet *h_rebuild(struct herd *h, struct h_job **jobs, struct grants *grants)
{
	struct fleet *f = fleet_create();
	int at = h_roll(h, h->node_count), job = h_roll(h, H_JOBS);

	for (int i = 0; i < h->node_count; i++)
		fleet_set_node(f, &h->nodes[(at + i) % h->node_count]);
	for (int i = 0; i < H_JOBS; i++) {
		struct h_job *j = &h->jobs[(job + i) % H_JOBS];
		jobs[i] = j->on ? j : NULL;
		if (j->on)
			fleet_adopt(f, j->ask, j->places, j->count, &grants[i]);
	}
	return f;
}
