// SPDX-License-Identifier: Apache-2.0
#include "plan/pack.h"

#include <string.h>

#include "base/mem.h"
#include "plan/model.h"

struct slot { /* of a node: what no place has yet, of devices by type */
	int free[TENANT_TYPES_MAX];
	int64_t cpu_milli, memory_bytes;
};

/* What jobs of a part of the tree that have such devices hold on a node. */
struct used {
	int devices;
	int64_t cpu_milli, memory_bytes;
};

struct packer {
	struct plan *p;
	const struct pack_for *f;
	struct view *v;
	size_t nodes;
	struct slot *slots;
	struct used *used;
	struct tenant **groups; /* to whom something is promised, by name */
	size_t group_count;
	int (*left)[TENANT_SHAPES_MAX]; /* places of each not found yet */
};

struct piece { /* of a node */
	int devices;
	int64_t cpu_milli, memory_bytes;
};

static int type_of(const struct plan *p, const struct tenant_shape *s)
{
	int at = 0;

	while (at + 2 < p->dims.count && strcmp(p->dims.types[at], s->devices.type) != 0)
		at++;
	return at;
}

/* Promises to others: not to those around it, and not those within another's. */
static bool counts(const struct tenant *t, const struct tenant *mine)
{
	const struct tenant *n = t->parent;

	if (!t->promises || (t != mine && tenant_below(mine, t)))
		return false;
	while (n->parent && !n->promises)
		n = n->parent;
	return t == mine || !n->parent || tenant_below(mine, n);
}

static int by_name(const void *a, const void *b)
{
	const struct tenant *x = *(struct tenant *const *)a;
	const struct tenant *y = *(struct tenant *const *)b;

	return strcmp(x->owner->name, y->owner->name);
}

/* One place of each shape of the rule, as the fleet reads it. */
static void make_places(struct tenant *t)
{
	if (t->places[0] && t->places_kinds == t->plan->kinds_known)
		return;
	promise_forget(t);
	t->places_kinds = t->plan->kinds_known;
	for (size_t i = 0; i < t->rule.shape_count; i++) {
		struct gang_role role = { .count = 1,
					  .each.devices[0] = t->rule.shapes[i].devices };
		struct gang g = { .roles = &role, .role_count = 1 };
		role.each.devices[0].share_milli = 0;
		t->places[i] = ask_create(t->plan->fleet, &g);
	}
}

static void find_groups(struct packer *k)
{
	struct owner *o;

	k->groups = mem_alloc(map_count(k->p->groups) + 1, sizeof(struct tenant *));
	for (size_t it = 0; (o = map_next(k->p->groups, &it));) {
		if (counts(o->tenant, k->f->mine))
			k->groups[k->group_count++] = o->tenant;
	}
	if (k->group_count > 1)
		qsort(k->groups, k->group_count, sizeof(struct tenant *), by_name);
	k->left = mem_alloc(k->group_count + 1, sizeof *k->left);
	for (size_t g = 0; g < k->group_count; g++) {
		make_places(k->groups[g]);
		for (size_t i = 0; i < k->groups[g]->rule.shape_count; i++)
			k->left[g][i] = k->groups[g]->rule.shapes[i].count;
	}
}

static void find_slots(struct packer *k)
{
	k->slots = mem_alloc(k->nodes + 1, sizeof *k->slots);
	for (size_t n = 0; n < k->nodes; n++) {
		if (!view_open(k->v, (int)n))
			continue;
		k->slots[n].cpu_milli = view_cpu(k->v, (int)n).free;
		k->slots[n].memory_bytes = view_memory(k->v, (int)n).free;
	}
	for (size_t g = 0; g < k->group_count; g++) {
		const struct tenant *t = k->groups[g];
		for (size_t i = 0; i < t->rule.shape_count; i++) {
			int type = type_of(k->p, &t->rule.shapes[i]);
			const struct need *need = &t->places[i]->roles[0].devices[0];
			for (size_t n = 0; n < k->nodes; n++)
				k->slots[n].free[type] =
					view_open(k->v, (int)n)
						? (int)view_devices(k->v, (int)n, need)
							  .free
						: 0;
		}
	}
}

/* So many devices with their part of the node's cpu and memory. */
static struct piece piece_of(const struct packer *k, const struct ask *place, int node,
			     int devices)
{
	int64_t all = view_devices(k->v, node, &place->roles[0].devices[0]).total;

	if (!all)
		return (struct piece){ devices, 0, 0 };
	return (struct piece){ devices, view_cpu(k->v, node).total / all * devices,
			       view_memory(k->v, node).total / all * devices };
}

static int64_t beyond(int64_t a, int64_t b)
{
	return a > b ? a - b : 0;
}

/* Takes what is lacking of a piece beside what is used of it; false: it is not there. */
static bool take(struct packer *k, size_t g, size_t shape, int node, struct used *u,
		 bool show)
{
	const struct tenant *t = k->groups[g];
	const struct ask *place = t->places[shape];
	struct slot *s = &k->slots[node];
	int type = type_of(k->p, &t->rule.shapes[shape]);
	struct piece whole =
		piece_of(k, place, node, t->rule.shapes[shape].devices.count);
	struct ask_role role = place->roles[0];
	struct ask one = *place;
	struct pick pick = { 0, node, 1, -1 };
	struct picks picks = { .items = &pick, .count = 1 };

	role.devices[0].count = beyond(whole.devices, u->devices);
	role.cpu_milli = beyond(whole.cpu_milli, u->cpu_milli);
	role.memory_bytes = beyond(whole.memory_bytes, u->memory_bytes);
	if (s->free[type] < role.devices[0].count ||
	    (role.cpu_milli && s->cpu_milli < role.cpu_milli) ||
	    (role.memory_bytes && s->memory_bytes < role.memory_bytes))
		return false;
	s->free[type] -= (int)role.devices[0].count;
	s->cpu_milli -= role.cpu_milli;
	s->memory_bytes -= role.memory_bytes;
	u->devices = (int)beyond(u->devices, whole.devices);
	u->cpu_milli = beyond(u->cpu_milli, whole.cpu_milli);
	u->memory_bytes = beyond(u->memory_bytes, whole.memory_bytes);
	k->left[g][shape]--;
	role.device_count = role.devices[0].count > 0;
	one.roles = &role;
	if (show)
		view_take(k->v, &one, &picks);
	return true;
}

static void used_add(struct used *u, const struct ask_role *r, int devices, int tasks)
{
	if (devices <= 0)
		return;
	u->devices += devices;
	u->cpu_milli += r->cpu_milli * tasks;
	u->memory_bytes += r->memory_bytes * tasks;
}

static void add_newcomer(const struct newcomer *new, const struct need *n,
			 struct used *used)
{
	const struct ask *a = new->e->shape->ask;

	for (size_t i = 0; i < new->picks->count; i++) {
		const struct pick *k = &new->picks->items[i];
		const struct ask_role *r = &a->roles[k->role];
		int devices = 0;
		for (size_t d = 0; d < r->device_count; d++) {
			if (r->devices[d].kinds & n->kinds)
				devices += (int)r->devices[d].count * k->count;
		}
		used_add(&used[k->node], r, devices, k->count);
	}
}

static int devices_of(const struct plan *p, const struct grant *g, const struct need *n)
{
	int sum = 0;

	for (size_t d = 0; d < DEVICE_KINDS_MAX; d++) {
		uint64_t mask = g->devices[d].mask;
		if (mask &&
		    n->kinds >> fleet_pool_kind(p->fleet, g->node, g->devices[d].pool) &
			    1)
			sum += __builtin_popcountll(mask);
	}
	return sum;
}

static void find_used(struct packer *k, const struct tenant *t, const struct need *n)
{
	const struct plan *p = k->p;

	memset(k->used, 0, k->nodes * sizeof *k->used);
	for (struct tree_node *at = tree_first(&p->running); at; at = tree_next(at)) {
		const struct entry *e = TREE_OF(at, struct entry, at);
		if (!promise_binds(p, e) || !tenant_below(e->group->tenant, t))
			continue;
		for (size_t i = 0; i < e->grants.count; i++) {
			const struct grant *g = &e->grants.items[i];
			used_add(&k->used[g->node], &e->shape->ask->roles[g->role],
				 devices_of(p, g, n), 1);
		}
	}
	if (k->f->new &&tenant_below(k->f->new->e->group->tenant, t))
		add_newcomer(k->f->new, n, k->used);
}

/* Places of one type that are in use: whole ones, then the smallest that hold the rest. */
static int keep_used(struct packer *k, size_t g, const char *type)
{
	const struct tenant_rule *r = &k->groups[g]->rule;
	bool show = k->groups[g] != k->f->mine;
	int kept = 0;

	for (int part = 0; part < 2; part++) {
		for (int turn = 1; turn <= DEVICES_MAX; turn++) {
			int size = part ? turn : DEVICES_MAX + 1 - turn;
			for (size_t i = 0; i < r->shape_count; i++) {
				if (r->shapes[i].devices.count != size ||
				    strcmp(r->shapes[i].devices.type, type) != 0)
					continue;
				for (int n = 0; n < (int)k->nodes; n++) {
					struct used *u = &k->used[n];
					while (k->left[g][i] > 0 && u->devices > 0 &&
					       (part ? u->devices <= size
						     : u->devices >= size) &&
					       take(k, g, i, n, u, show))
						kept++;
				}
			}
		}
	}
	return kept;
}

static int find_free(const struct packer *k, size_t g, size_t shape)
{
	const struct tenant *t = k->groups[g];
	int type = type_of(k->p, &t->rule.shapes[shape]), best = -1;
	int size = t->rule.shapes[shape].devices.count;

	for (int n = 0; n < (int)k->nodes; n++) {
		const struct slot *s = &k->slots[n],
				  *b = best < 0 ? NULL : &k->slots[best];
		struct piece want;
		if (s->free[type] < size || (b && (s->free[type] > b->free[type] ||
						   (s->free[type] == b->free[type] &&
						    s->cpu_milli >= b->cpu_milli))))
			continue;
		want = piece_of(k, t->places[shape], n, size);
		if (s->cpu_milli >= want.cpu_milli &&
		    s->memory_bytes >= want.memory_bytes)
			best = n;
	}
	return best;
}

static int keep_free(struct packer *k, size_t g, size_t shape)
{
	bool own = k->groups[g] == k->f->mine && shape == k->f->shape;
	int kept = 0;

	while (k->left[g][shape] > 0) {
		struct used none = { 0 };
		int node = find_free(k, g, shape);
		if (node < 0)
			break;
		take(k, g, shape, node, &none, !own || kept >= k->f->but);
		kept++;
	}
	return kept;
}

static int pack_used(struct packer *k)
{
	int kept = 0;

	for (size_t g = 0; g < k->group_count; g++) {
		const struct tenant *t = k->groups[g];
		for (size_t i = 0; i < t->rule.shape_count; i++) {
			const char *type = t->rule.shapes[i].devices.type;
			bool again = false;
			for (size_t j = 0; j < i; j++)
				again |= !strcmp(t->rule.shapes[j].devices.type, type);
			if (again)
				continue;
			find_used(k, t, &t->places[i]->roles[0].devices[0]);
			kept += keep_used(k, g, type);
		}
	}
	return kept;
}

int pack(struct plan *p, const struct pack_for *f, struct view *v)
{
	struct packer k = { .p = p, .f = f, .v = v, .nodes = fleet_count(p->fleet) };
	int kept;

	find_groups(&k);
	find_slots(&k);
	k.used = mem_alloc(k.nodes + 1, sizeof *k.used);
	kept = pack_used(&k);
	for (int size = DEVICES_MAX; size > 0; size--) {
		for (size_t g = 0; g < k.group_count; g++) {
			const struct tenant_rule *r = &k.groups[g]->rule;
			for (size_t i = 0; i < r->shape_count; i++)
				kept += r->shapes[i].devices.count == size
						? keep_free(&k, g, i)
						: 0;
		}
	}
	free(k.groups);
	free(k.left);
	free(k.slots);
	free(k.used);
	return kept;
}
