// SPDX-License-Identifier: Apache-2.0
/* The tree of groups and the order of the queue, from their definitions in plan/tenant.h
 * and plan/order.h: everything is summed up anew each time. */
#include <string.h>

#include "mirror.h"

#define HOUR  INT64_C(3600000)
#define SCALE ((int64_t)1 << 20)
#define ANY   (INT64_MAX / 4)
#define ROOT  (-1)

static int64_t most_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int named(const struct mirror *m, int g)
{
	for (int i = 0; m->has_rule[g] && i < M_GROUPS; i++) {
		if (strcmp(m->rules[g].parent, m_groups[i]) == 0)
			return i;
	}
	return ROOT;
}

void m_find_parents(struct mirror *m)
{
	for (int g = 0; g < M_GROUPS; g++) {
		int n = g, depth = 0;
		while (n != ROOT && depth++ <= 8)
			n = named(m, n);
		m->above[g] = 1 + (n == ROOT ? named(m, g) : ROOT);
	}
}

int m_parent(const struct mirror *m, int g)
{
	return m->above[g] - 1;
}

bool m_below(const struct mirror *m, int g, int above)
{
	for (; g != ROOT; g = m_parent(m, g)) {
		if (g == above)
			return true;
	}
	return above == ROOT;
}

static int64_t of(const struct resources *r, int dim)
{
	switch (dim) {
	case 0:
		return r->cpu_milli;
	case 1:
		return r->memory_bytes;
	case 2:
		return (int64_t)resources_device(r, "gpu") * DEVICE_SHARE;
	default:
		return (int64_t)resources_device(r, "npu") * DEVICE_SHARE;
	}
}

/* What a rule sets; -1: nothing. */
static int64_t set(const struct resources *r, int dim)
{
	if (dim < 2)
		return of(r, dim);
	for (int i = 0; i < DEVICE_KINDS_MAX; i++) {
		if (strcmp(r->devices[i].type, dim == 2 ? "gpu" : "npu") == 0)
			return (int64_t)r->devices[i].count * DEVICE_SHARE;
	}
	return -1;
}

static int64_t want(const struct m_job *j, int dim)
{
	return of(&j->role.each, dim) * j->role.count;
}

static bool holds(const struct m_job *j)
{
	return j->state == M_RUNNING || (j->state == M_WAITING && j->claims);
}

static int64_t used(const struct mirror *m, int g, int dim, bool own)
{
	int64_t sum = 0;

	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *j = &m->jobs[i];
		if (holds(j) && (own ? j->group == g : m_below(m, j->group, g)))
			sum += want(j, dim);
	}
	return sum;
}

struct pool {
	int64_t all, kept_below, pool, keep, seen;
};

static struct pool pool_of(const struct mirror *m, int g, int dim)
{
	int64_t guarantee =
		g != ROOT && m->has_rule[g] ? set(&m->rules[g].guarantee, dim) : 0;
	int64_t lend = g != ROOT && m->has_rule[g] ? set(&m->rules[g].lend, dim) : -1;
	struct pool p = { .seen = g == ROOT ? 0 : used(m, g, dim, true) };

	for (int c = 0; c < M_GROUPS; c++) {
		struct pool x;
		if (m_parent(m, c) != g)
			continue;
		x = pool_of(m, c, dim);
		p.all += x.all;
		p.kept_below += x.kept_below + x.keep;
		p.seen += most_of(0, x.seen - x.keep);
	}
	p.all = most_of(p.all, guarantee);
	if (g == ROOT) {
		p.pool = ANY;
		for (int i = 0; i < M_NODES && p.kept_below; i++) {
			p.pool = p.pool == ANY ? -p.kept_below : p.pool;
			p.pool += m->nodes[i].up ? of(&m->nodes[i].capacity, dim) : 0;
		}
		return p;
	}
	p.pool = p.all - p.kept_below;
	p.keep = lend >= 0 ? most_of(0, p.pool - lend) : 0;
	return p;
}

static int64_t room(const struct mirror *m, int g, int dim)
{
	struct pool p = pool_of(m, g, dim);
	int64_t borrow = g != ROOT && m->has_rule[g] ? set(&m->rules[g].borrow, dim) : -1;
	int64_t more;

	if (g == ROOT)
		return p.pool - p.seen;
	more = room(m, m_parent(m, g), dim);
	if (borrow >= 0 && more > p.pool - p.keep - most_of(0, p.seen - p.keep) + borrow)
		more = p.pool - p.keep - most_of(0, p.seen - p.keep) + borrow;
	return most_of(0, p.keep - p.seen) + most_of(0, more);
}

static bool any_rule(const struct mirror *m)
{
	bool any = false;

	for (int g = 0; g < M_GROUPS; g++) {
		const struct tenant_rule *r = &m->rules[g];
		for (int d = 0; d < 4 && m->has_rule[g]; d++)
			any |= set(&r->guarantee, d) >= 0 || set(&r->borrow, d) >= 0 ||
			       set(&r->lend, d) >= 0;
	}
	return any;
}

bool m_tenant_ok(const struct mirror *m, const struct m_job *j)
{
	for (int d = 0; d < 4 && any_rule(m); d++) {
		if (want(j, d) > 0 && want(j, d) > room(m, j->group, d))
			return false;
	}
	return true;
}

bool m_within(const struct mirror *m, const struct m_job *j)
{
	for (int g = j->group; g != ROOT; g = m_parent(m, g)) {
		bool sets = false, asks = false, over = false;
		for (int d = 0; d < 4 && m->has_rule[g]; d++) {
			int64_t most = set(&m->rules[g].guarantee, d);
			if (most < 0) {
				over |= d > 1 && want(j, d) > 0;
				continue;
			}
			sets = true;
			asks |= want(j, d) > 0;
			over |= want(j, d) > 0 &&
				used(m, g, d, false) + want(j, d) > most;
		}
		if (sets)
			return asks && !over;
	}
	return false;
}

static int64_t half_life(const struct mirror *m)
{
	return m->policy.half_life_ms / HOUR;
}

/* Histories are shorter than a half-life of these tests: 2^-(age/half) in 1/64 steps. */
static int64_t faded(const struct mirror *m, int64_t amount, int hour)
{
	int64_t half = half_life(m), age = most_of(0, m->now_ms / HOUR - hour);
	uint32_t w = 65536;

	if (!half || age / half >= 16)
		return 0;
	for (int64_t i = 0; i < age % half * 64 / half; i++)
		w = 0; /* the tests' half-lives are one hour: no steps between */
	w >>= age / half;
	return amount / 65536 * w + amount % 65536 * w / 65536;
}

static int64_t dominant(const struct mirror *m, int g, bool own, int64_t weight)
{
	int64_t most = 0, span = half_life(m) * HOUR;

	for (int d = 0; d < 3; d++) {
		int64_t held = 0, past = 0, all = 0;
		for (int i = 0; i < M_NODES; i++) {
			const struct resources *c = &m->nodes[i].capacity;
			if (!m->nodes[i].up)
				continue;
			all += d == 0   ? c->cpu_milli
			       : d == 1 ? c->memory_bytes >> 20
					: of(c, 2) + of(c, 3);
		}
		for (int i = 0; i < M_JOBS; i++) {
			const struct m_job *j = &m->jobs[i];
			if (holds(j) && (own ? j->group == g : m_below(m, j->group, g)))
				held += d == 0   ? want(j, 0)
					: d == 1 ? want(j, 1) >> 20
						 : want(j, 2) + want(j, 3);
		}
		for (int c = 0; c < M_GROUPS; c++) {
			for (int h = 0; h < M_HOURS && (own ? c == g : m_below(m, c, g));
			     h++) {
				const struct use *u = &m->hours[c][h];
				past += faded(m,
					      d == 0   ? u->cpu_milli
					      : d == 1 ? u->memory_mib
						       : u->device_milli,
					      h);
			}
		}
		held += span ? past / span : 0;
		if (all > 0)
			most = most_of(most, held * SCALE / all);
	}
	return most * 1000 / most_of(weight, 1);
}

bool m_aged(const struct mirror *m, const struct m_job *j)
{
	return m->policy.age_bound_ms > 0 &&
	       m->now_ms - m->policy.age_bound_ms >= j->job.submit_ms;
}

/* Who came first of those that are not aged; ids are in the order of submits here. */
static int64_t first_in(const struct mirror *m, int g, bool own)
{
	int64_t first = INT64_MAX;

	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *j = &m->jobs[i];
		if (j->state == M_WAITING && !j->claims && !m_aged(m, j) &&
		    (own ? j->group == g : m_below(m, j->group, g)) && j->job.id < first)
			first = j->job.id;
	}
	return first;
}

static int64_t share(const struct mirror *m, int g, bool own)
{
	return dominant(m, g, own, own || !m->has_rule[g] ? 1 : m->rules[g].weight);
}

static int fork_cmp(const struct mirror *m, int a, bool own_a, int b, bool own_b)
{
	int64_t x = share(m, a, own_a), y = share(m, b, own_b);

	if (x == y) {
		x = first_in(m, a, own_a);
		y = first_in(m, b, own_b);
	}
	if (x != y)
		return x < y ? -1 : 1;
	if (own_a != own_b)
		return own_a ? -1 : 1;
	return strcmp(m_groups[a], m_groups[b]);
}

/* Down from the root to where they part. */
static int tree_turn(const struct mirror *m, int a, int b)
{
	int above = a;

	while (!m_below(m, b, above))
		above = m_parent(m, above);
	if (above == a || above == b) {
		int other = above == a ? b : a;
		while (m_parent(m, other) != above)
			other = m_parent(m, other);
		return above == a ? fork_cmp(m, a, true, other, false)
				  : fork_cmp(m, other, false, b, true);
	}
	while (m_parent(m, a) != above)
		a = m_parent(m, a);
	while (m_parent(m, b) != above)
		b = m_parent(m, b);
	return fork_cmp(m, a, false, b, false);
}

static int64_t work(const struct mirror *m, const struct m_job *j)
{
	int64_t size = want(j, 2) + want(j, 3) + want(j, 0) / 64 + 1, ms = INT64_MAX, all;

	if (!m->has_rule[j->group] || m->rules[j->group].order == TENANT_FIFO)
		return 0;
	if (m->rules[j->group].order == TENANT_SERVED)
		return j->job.served_ms * size;
	if (j->job.limit_ms)
		ms = j->job.limit_ms;
	if (j->job.guess_ms && j->job.guess_ms < ms)
		ms = j->job.guess_ms;
	return __builtin_mul_overflow(ms, size, &all) ? INT64_MAX : all;
}

bool m_before(const struct mirror *m, const struct m_job *a, const struct m_job *b)
{
	bool x = m_aged(m, a), y = m_aged(m, b);
	int turn;

	if (x || y)
		return x != y ? x
		       : a->job.submit_ms != b->job.submit_ms
			       ? a->job.submit_ms < b->job.submit_ms
			       : a->job.id < b->job.id;
	x = m_within(m, a);
	y = m_within(m, b);
	if (x != y)
		return x;
	if (a->job.priority != b->job.priority || !m->policy.fair)
		return m_ahead(a, b);
	if (a->group != b->group) {
		turn = tree_turn(m, a->group, b->group);
		return turn < 0;
	}
	return work(m, a) != work(m, b) ? work(m, a) < work(m, b) : a->job.id < b->job.id;
}

size_t m_heads(struct mirror *m, const struct m_job *before, struct m_job *out[M_GROUPS])
{
	size_t count = 0;

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &m->jobs[i];
		size_t at = 0, to;
		if (j->state != M_WAITING || !m_quota_ok(m, j, false) ||
		    !m_quota_ok(m, j, true) || !m_tenant_ok(m, j) || !m_possible(m, j) ||
		    (before && (j == before || !m_before(m, j, before))))
			continue;
		while (at < count && m->policy.fair && out[at]->group != j->group)
			at++;
		if (at < count && m_before(m, out[at], j))
			continue;
		for (; at < count && at + 1 < count; at++)
			out[at] = out[at + 1];
		count -= at < count;
		for (to = count++; to > 0 && m_before(m, j, out[to - 1]); to--)
			out[to] = out[to - 1];
		out[to] = j;
	}
	return count;
}

/* What it used till now counts from now on. */
void m_ran(struct mirror *m, const struct m_job *j)
{
	for (int h = 0; h < M_HOURS; h++) {
		int64_t from = most_of(j->since_ms, h * HOUR);
		int64_t to = m->now_ms < (h + 1) * HOUR ? m->now_ms : (h + 1) * HOUR;
		struct use *u = &m->hours[j->group][h];
		if (to <= from)
			continue;
		u->cpu_milli += want(j, 0) * (to - from);
		u->memory_mib += (want(j, 1) >> 20) * (to - from);
		u->device_milli += (want(j, 2) + want(j, 3)) * (to - from);
	}
}
