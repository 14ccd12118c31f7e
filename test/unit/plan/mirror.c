// SPDX-License-Identifier: Apache-2.0
#include "mirror.h"

#include <stdio.h>
#include <string.h>

#include "plan/typical.h"

const char *const m_users[M_OWNERS] = { "ada", "bo", "cy", "di" };
const char *const m_groups[M_OWNERS] = { "red", "green", "blue", "east" };

uint64_t m_random(uint64_t *seed)
{
	uint64_t x = *seed += 0x9e3779b97f4a7c15ULL;

	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
	return x ^ (x >> 31);
}

int m_roll(uint64_t *seed, int below)
{
	return (int)(m_random(seed) % (uint64_t)below);
}

void m_make_node(struct mirror *m, int at, uint64_t *seed)
{
	struct node *n = &m->nodes[at];

	*n = (struct node){ .up = m_roll(seed, 8) > 0, .port_first = 100 };
	snprintf(n->name, sizeof n->name, "node-%c", 'a' + at);
	n->capacity.cpu_milli = 1000 * (1 + m_roll(seed, 8));
	n->capacity.memory_bytes = 100 * (1 + m_roll(seed, 10));
	n->port_last = 100 + m_roll(seed, 12);
	resources_set_device(&n->capacity, "gpu", m_roll(seed, 5));
	resources_set_device(&n->capacity, "npu", m_roll(seed, 3));
	n->max_tasks = m_roll(seed, 2) ? 0 : 1 + m_roll(seed, 6);
}

void m_make_job(struct m_job *j, int64_t id, uint64_t *seed)
{
	struct gang_role *r = &j->role;

	*j = (struct m_job){ .state = M_WAITING,
			     .user = m_roll(seed, M_OWNERS),
			     .group = m_roll(seed, M_OWNERS) };
	r->count = m_roll(seed, 3) ? 1 : 1 + m_roll(seed, M_TASKS);
	r->each.cpu_milli = 500 * m_roll(seed, 6);
	r->each.memory_bytes = 50 * m_roll(seed, 5);
	resources_set_device(&r->each, "gpu", m_roll(seed, 2) * m_roll(seed, 4));
	resources_set_device(&r->each, "npu", m_roll(seed, 5) ? 0 : 1);
	r->any_ports = m_roll(seed, 4) ? 0 : 1 + m_roll(seed, 2);
	if (m_roll(seed, 6) == 0)
		r->fixed_ports[r->fixed_count++] = 98 + m_roll(seed, 8);
	j->job =
		(struct plan_job){ .id = id,
				   .priority = m_roll(seed, 4) ? 0 : m_roll(seed, 5) - 2,
				   .user = m_users[j->user],
				   .group = m_groups[j->group],
				   .limit_ms = m_roll(seed, 3) ? 1 + m_roll(seed, 60) : 0,
				   .gang.roles = r,
				   .gang.role_count = 1 };
}

struct m_job *m_find(struct mirror *m, int64_t id)
{
	for (int i = 0; i < M_JOBS; i++) {
		if (m->jobs[i].state != M_NONE && m->jobs[i].job.id == id)
			return &m->jobs[i];
	}
	return NULL;
}

static uint64_t mask_on(const struct placement *p, const char *type)
{
	uint64_t mask = 0;

	for (int i = 0; i < DEVICE_KINDS_MAX; i++) {
		if (strcmp(p->devices[i].type, type) == 0)
			mask |= p->devices[i].mask;
	}
	return mask;
}

static bool is_fixed(const struct gang_role *r, int port)
{
	for (int i = 0; i < r->fixed_count; i++) {
		if (r->fixed_ports[i] == port)
			return true;
	}
	return false;
}

static bool share_port(const struct placement *a, const struct gang_role *ra,
		       const struct placement *b, const struct gang_role *rb)
{
	for (int i = 0; i < a->port_count; i++) {
		for (int k = 0; k < b->port_count; k++) {
			if (a->ports[i] == b->ports[k] && !is_fixed(ra, a->ports[i]) &&
			    !is_fixed(rb, b->ports[k]))
				return true;
		}
	}
	return false;
}

static const struct node *node_of(const struct mirror *m, const char *name)
{
	for (int i = 0; i < M_NODES; i++) {
		if (strcmp(m->nodes[i].name, name) == 0)
			return &m->nodes[i];
	}
	return NULL;
}

/* Two tasks on one node may share nothing. */
static const char *clash(const struct placement *a, const struct gang_role *ra,
			 const struct placement *b, const struct gang_role *rb)
{
	if (strcmp(a->node, b->node) != 0)
		return NULL;
	if (a->slot == b->slot)
		return "a slot given twice";
	if (mask_on(a, "gpu") & mask_on(b, "gpu") ||
	    mask_on(a, "npu") & mask_on(b, "npu"))
		return "a device given twice";
	return share_port(a, ra, b, rb) ? "a port given twice" : NULL;
}

static const char *check_task(const struct mirror *m, const struct m_job *j, int rank)
{
	const struct placement *p = &j->places[rank];
	const struct node *n = node_of(m, p->node);
	int any = 0;

	if (!n || !n->up)
		return "placed on a node that is not there";
	for (int k = 0; k < 2; k++) {
		const char *type = k ? "npu" : "gpu";
		uint64_t mask = mask_on(p, type);
		int have = resources_device(&n->capacity, type);
		if (__builtin_popcountll(mask) != resources_device(&j->role.each, type))
			return "not the asked number of devices";
		if (mask >> have)
			return "a device the node does not have";
	}
	if (p->port_count != j->role.any_ports + j->role.fixed_count)
		return "not the asked number of ports";
	for (int i = 0; i < p->port_count; i++) {
		bool fixed = is_fixed(&j->role, p->ports[i]);
		any += !fixed;
		if (!fixed && (p->ports[i] < n->port_first || p->ports[i] > n->port_last))
			return "a port out of range";
		for (int k = 0; k < i; k++) {
			if (p->ports[k] == p->ports[i])
				return "a port twice in one task";
		}
	}
	if (any != j->role.any_ports)
		return "a fixed port given as any";
	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *o = &m->jobs[i];
		int end = o == j ? rank : o->role.count;
		for (int k = 0; (o == j || o->state == M_RUNNING) && k < end; k++) {
			const char *why = clash(p, &j->role, &o->places[k], &o->role);
			if (why)
				return why;
		}
	}
	return NULL;
}

/* Free on a node beside all running jobs but those whose end is not after `when`. */
static void free_on(const struct mirror *m, int at, const bool *ended,
		    struct resources *out, int *ports, int *tasks)
{
	const struct node *n = &m->nodes[at];

	*tasks = n->max_tasks ? n->max_tasks : INT32_MAX;

	*out = n->capacity;
	*ports = n->port_last - n->port_first + 1;
	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *j = &m->jobs[i];
		for (int k = 0; j->state == M_RUNNING && !ended[i] && k < j->role.count;
		     k++) {
			const struct placement *p = &j->places[k];
			if (strcmp(p->node, n->name) != 0)
				continue;
			--*tasks;
			out->cpu_milli -= j->role.each.cpu_milli;
			out->memory_bytes -= j->role.each.memory_bytes;
			for (int q = 0; q < p->port_count; q++)
				*ports -= !is_fixed(&j->role, p->ports[q]) &&
					  p->ports[q] >= n->port_first &&
					  p->ports[q] <= n->port_last;
			for (int t = 0; t < 2; t++) {
				const char *type = t ? "npu" : "gpu";
				uint64_t have = ((uint64_t)1 << resources_device(
							 &n->capacity, type)) -
						1;
				int left = resources_device(out, type) -
					   __builtin_popcountll(mask_on(p, type) & have);
				resources_set_device(out, type, left);
			}
		}
	}
}

static int most(int64_t have, int64_t each, int bound)
{
	int64_t n = each <= 0 ? bound : have <= 0 ? 0 : have / each;

	return n < bound ? (int)n : bound;
}

static bool fits_without(const struct mirror *m, const struct m_job *j, const bool *ended)
{
	int left = j->role.count;

	for (int i = 0; i < M_NODES && left > 0; i++) {
		struct resources have;
		int ports, tasks, n = left;
		if (!m->nodes[i].up)
			continue;
		free_on(m, i, ended, &have, &ports, &tasks);
		n = most(tasks, 1, n);
		n = most(have.cpu_milli, j->role.each.cpu_milli, n);
		n = most(have.memory_bytes, j->role.each.memory_bytes, n);
		n = most(resources_device(&have, "gpu"),
			 resources_device(&j->role.each, "gpu"), n);
		n = most(resources_device(&have, "npu"),
			 resources_device(&j->role.each, "npu"), n);
		n = most(ports - j->role.fixed_count, j->role.any_ports, n);
		left -= n;
	}
	return left <= 0;
}

bool m_fits(const struct mirror *m, const struct m_job *j)
{
	bool none[M_JOBS] = { false };

	return fits_without(m, j, none);
}

bool m_possible(const struct mirror *m, const struct m_job *j)
{
	bool all[M_JOBS];

	memset(all, true, sizeof all);
	return fits_without(m, j, all);
}

static bool within_quota(const struct mirror *m, const struct m_job *j, bool group,
			 int who)
{
	const struct quota *q = group ? &m->group_quota[who] : &m->user_quota[who];
	struct resources want = j->role.each, sum;
	int jobs = 1;

	if (!(group ? m->has_group[who] : m->has_user[who]))
		return true;
	resources_scale(&want, j->role.count);
	sum = want;
	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *o = &m->jobs[i];
		struct resources r = o->role.each;
		if (o == j || (o->state != M_RUNNING && !o->claims) ||
		    !(group ? m_below(m, o->group, who) : o->user == who))
			continue;
		resources_scale(&r, o->role.count);
		resources_add(&sum, &r);
		jobs++;
	}
	if (q->max_running_jobs >= 0 && jobs > q->max_running_jobs)
		return false;
	if (want.cpu_milli && q->limit.cpu_milli >= 0 &&
	    sum.cpu_milli > q->limit.cpu_milli)
		return false;
	if (want.memory_bytes && q->limit.memory_bytes >= 0 &&
	    sum.memory_bytes > q->limit.memory_bytes)
		return false;
	return !resources_device(&want, "gpu") || !q->limit.devices[0].type[0] ||
	       resources_device(&sum, "gpu") <= resources_device(&q->limit, "gpu");
}

bool m_quota_ok(const struct mirror *m, const struct m_job *j, bool group)
{
	if (!group)
		return within_quota(m, j, false, j->user);
	for (int g = j->group; g >= 0; g = m_parent(m, g)) {
		if (!within_quota(m, j, true, g))
			return false;
	}
	return true;
}

bool m_ahead(const struct m_job *a, const struct m_job *b)
{
	if (a->job.priority != b->job.priority)
		return a->job.priority > b->job.priority;
	return a->job.id < b->job.id;
}

struct m_job *m_head(struct mirror *m)
{
	struct m_job *head = NULL;

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &m->jobs[i];
		if (j->state != M_WAITING || (head && m_ahead(head, j)) ||
		    !m_quota_ok(m, j, false) || !m_quota_ok(m, j, true) ||
		    !m_possible(m, j) || m_fits(m, j))
			continue;
		head = j;
	}
	return head;
}

int64_t m_lasts(const struct mirror *m, const struct m_job *j)
{
	if (j->job.limit_ms)
		return j->job.limit_ms;
	return m->policy.believe_guesses ? j->job.guess_ms : 0;
}

static int64_t end_of(const struct mirror *m, const struct m_job *j)
{
	return m_lasts(m, j) ? j->since_ms + m_lasts(m, j) : M_NEVER;
}

struct m_when m_earliest(const struct mirror *m, const struct m_job *j,
			 const struct m_job *stays)
{
	bool ended[M_JOBS] = { false };
	struct m_when at = { 0, 0 };

	while (!fits_without(m, j, ended)) {
		struct m_when next = { M_NEVER, M_NEVER };
		for (int i = 0; i < M_JOBS; i++) {
			const struct m_job *o = &m->jobs[i];
			int64_t end = end_of(m, o);
			if (o->state != M_RUNNING || ended[i] || o == stays)
				continue;
			if (end < next.ms || (end == next.ms && o->job.id < next.id))
				next = (struct m_when){ end, o->job.id };
		}
		if (next.id == M_NEVER)
			return next;
		at = next;
		for (int i = 0; i < M_JOBS; i++) {
			const struct m_job *o = &m->jobs[i];
			ended[i] |= o->state == M_RUNNING && o != stays &&
				    end_of(m, o) == at.ms &&
				    (at.ms != M_NEVER || o->job.id == at.id);
		}
		if (at.ms != M_NEVER)
			at.id = 0;
	}
	return at;
}

void m_free_on(const struct mirror *m, int node, const bool *ended, struct resources *out,
	       int *ports, int *tasks)
{
	free_on(m, node, ended, out, ports, tasks);
}

int m_position(const struct mirror *m, const struct m_job *j)
{
	int before = 0;

	for (int i = 0; i < M_JOBS; i++)
		before += m->jobs[i].state == M_WAITING && m_before(m, &m->jobs[i], j);
	return before + 1;
}

const char *m_decide(struct mirror *m, const struct plan_decision *d, int64_t now_ms)
{
	struct m_job *j = m_find(m, d->job);

	if (!j || j->state != M_WAITING)
		return "a job that does not wait was placed";
	if (d->place_count != (size_t)j->role.count)
		return "a gang was not placed whole";
	if (!m_quota_ok(m, j, false) || !m_quota_ok(m, j, true))
		return "a quota was exceeded";
	if (!j->claims && !m_tenant_ok(m, j))
		return "a borrowing or lending limit was exceeded";
	if (!m_fits(m, j))
		return "placed beyond the capacity";
	memcpy(j->places, d->places, d->place_count * sizeof *d->places);
	for (int k = 0; k < j->role.count; k++) {
		const char *why = check_task(m, j, k);
		if (why)
			return why;
	}
	j->state = M_RUNNING;
	j->since_ms = now_ms;
	for (int i = 0; i < M_NODES; i++) {
		bool none[M_JOBS] = { false }, on = false;
		struct resources left;
		int ports, tasks;
		for (int k = 0; k < j->role.count; k++)
			on |= strcmp(j->places[k].node, m->nodes[i].name) == 0;
		free_on(m, i, none, &left, &ports, &tasks);
		if (on && (tasks < 0 || (j->role.each.cpu_milli && left.cpu_milli < 0) ||
			   (j->role.each.memory_bytes && left.memory_bytes < 0)))
			return "more given than the node has";
	}
	return NULL;
}

bool m_knows;

static void tell_typical(struct plan *p)
{
	struct gang_role roles[3] = { 0 };
	struct plan_job jobs[3] = { 0 };
	int64_t counts[3] = { 5, 3, 2 };

	for (int i = 0; i < 3; i++) {
		roles[i].count = 1;
		roles[i].each.cpu_milli = 1000 * (i + 1);
		resources_set_device(&roles[i].each, "gpu", i == 2 ? 2 : 1);
		roles[i].each.devices[0].share_milli = i ? 0 : 300;
		jobs[i].gang = (struct gang){ .roles = &roles[i], .role_count = 1 };
	}
	plan_set_typical(p, jobs, counts, 3);
}

struct plan *m_create(void)
{
	struct plan *p = plan_create();
	struct plan_policy policy = plan_policy_default;
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = &policy };

	policy.fair = false;
	policy.age_bound_ms = 0;
	plan_apply(p, &d);
	if (m_knows)
		tell_typical(p);
	return p;
}

static void tell_rules(const struct mirror *m, struct plan *p)
{
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = &m->policy };

	if (m->has_policy)
		plan_apply(p, &d);
	for (int g = 0; g < M_GROUPS; g++) {
		d = (struct plan_delta){ .kind = PLAN_TENANT, .name = m_groups[g] };
		d.tenant = m->has_rule[g] ? &m->rules[g] : NULL;
		plan_apply(p, &d);
		for (int h = 0; h < M_HOURS; h++) {
			d = (struct plan_delta){ .kind = PLAN_USED, .name = m_groups[g] };
			d.used = &m->hours[g][h];
			d.since_ms = h * INT64_C(3600000);
			if (d.used->cpu_milli || d.used->device_milli)
				plan_apply(p, &d);
		}
	}
}

struct plan *m_rebuild(const struct mirror *m)
{
	struct plan *p = m_create();

	for (int i = 0; i < M_NODES; i++) {
		struct plan_delta d = { .kind = PLAN_NODE, .node = &m->nodes[i] };
		plan_apply(p, &d);
	}
	tell_rules(m, p);
	for (int i = 0; i < M_OWNERS; i++) {
		struct plan_delta u = { .kind = PLAN_QUOTA_USER, .name = m_users[i] };
		struct plan_delta g = { .kind = PLAN_QUOTA_GROUP, .name = m_groups[i] };
		u.quota = m->has_user[i] ? &m->user_quota[i] : NULL;
		g.quota = m->has_group[i] ? &m->group_quota[i] : NULL;
		plan_apply(p, &u);
		plan_apply(p, &g);
	}
	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *j = &m->jobs[i];
		struct plan_job job = j->job;
		struct plan_delta d = { .kind = j->state == M_RUNNING ? PLAN_HELD
								      : PLAN_WAIT,
					.job = &job,
					.places = j->places,
					.place_count = (size_t)j->role.count,
					.since_ms = j->since_ms };
		struct plan_delta kept = { .kind = PLAN_CHECKPOINT,
					   .id = job.id,
					   .since_ms = j->kept_ms };
		job.gang.roles = &j->role; /* the mirror may be a copy */
		d.id = j->gives_way;
		if (j->state == M_WAITING) {
			d.id = j->pin_count ? job.id : 0;
			d.places = j->pins;
			d.place_count = j->pin_count;
		}
		if (j->state != M_NONE)
			plan_apply(p, &d);
		if (j->state == M_RUNNING && j->kept_ms)
			plan_apply(p, &kept);
	}
	return p;
}
