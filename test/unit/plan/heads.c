// SPDX-License-Identifier: Apache-2.0
/* Several heads, and nobody who starves.
 *
 * Heads: the same moment lived twice, on one node, with jobs that run exactly as long as
 * they may: once with the heads of all groups alone, once with all others and newcomers.
 * No head may start later the second time.  (On several nodes the places of heads behind
 * the first are chosen anew with every change: there replay.c tries the first.)
 *
 * Age: newcomers of higher priority come without end, and still nobody waits longer than
 * the bound and what has to end then: from the moment it is the oldest of those past their
 * bound, at most the longest run. */
#include <inttypes.h>

#include "base/mem.h"
#include "mirror.h"
#include "tap.h"

#define SEEDS   400
#define LONGEST 50
#define BOUND   300

struct life {
	struct mirror m;
	struct plan *p;
	int64_t now_ms, next_id;
	const char *broken;
	int64_t starts[2000];   /* by id */
	int64_t first_ms[2000]; /* since when it is the oldest past its bound */
};

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct life *l = arg;
	const char *broken = m_decide(&l->m, d, l->now_ms);

	l->starts[d->job] = l->now_ms;
	if (broken)
		l->broken = broken;
}

static void submit(struct life *l, uint64_t *seed, int priority)
{
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &l->m.jobs[i];
		struct plan_delta d = { .kind = PLAN_WAIT, .job = &j->job };
		if (j->state != M_NONE)
			continue;
		m_make_job(j, l->next_id++, seed);
		j->job.priority = priority < 0 ? priority : priority + j->group;
		j->job.limit_ms = 1 + m_roll(seed, LONGEST);
		j->job.submit_ms = l->now_ms;
		plan_apply(l->p, &d);
		return;
	}
}

static void step(struct life *l)
{
	l->m.now_ms = l->now_ms;
	plan_step(l->p, l->now_ms, 0, on_decision, l);
}

/* To the next end of a running job, or when the plan wants to be asked again. */
static void live_on(struct life *l)
{
	int64_t next = plan_next_ms(l->p);

	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *j = &l->m.jobs[i];
		int64_t end = j->since_ms + j->job.limit_ms;
		if (j->state == M_RUNNING && end < next)
			next = end;
	}
	l->now_ms = next == INT64_MAX || next <= l->now_ms ? l->now_ms + 1 : next;
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &l->m.jobs[i];
		struct plan_delta d = { .kind = PLAN_RELEASE, .id = j->job.id };
		if (j->state != M_RUNNING || j->since_ms + j->job.limit_ms > l->now_ms)
			continue;
		d.since_ms = l->now_ms;
		j->state = M_NONE;
		plan_apply(l->p, &d);
	}
	step(l);
}

static void begin(struct life *l, uint64_t *seed, int nodes, int64_t bound_ms)
{
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = &l->m.policy };

	l->m.policy = plan_policy_default;
	l->m.policy.half_life_ms = 0;
	l->m.policy.age_bound_ms = bound_ms;
	l->m.policy.preempt = false;
	l->m.has_policy = true;
	l->now_ms = l->next_id = 1;
	l->p = plan_create();
	plan_apply(l->p, &d);
	for (int i = 0; i < M_NODES; i++) {
		d = (struct plan_delta){ .kind = PLAN_NODE, .node = &l->m.nodes[i] };
		m_make_node(&l->m, i, seed);
		l->m.nodes[i].up = i < nodes;
		plan_apply(l->p, &d);
	}
}

static bool run_all(struct life *l, const int64_t *ids, size_t count, uint64_t *seed)
{
	size_t left = count;

	for (int turns = 0; turns < 3000 && left && !l->broken; turns++) {
		for (int k = seed && l->next_id < 1990 ? m_roll(seed, 3) : 0; k > 0; k--)
			submit(l, seed, -9);
		if (seed)
			step(l);
		live_on(l);
		left = 0;
		for (size_t i = 0; i < count; i++)
			left += !l->starts[ids[i]];
	}
	return !left;
}

/* Everybody who is no head comes after all heads. */
static void lower(struct life *l, struct m_job *const *heads, size_t count)
{
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &l->m.jobs[i];
		struct plan_delta d = { .kind = PLAN_WAIT, .job = &j->job };
		bool head = false;
		for (size_t k = 0; k < count; k++)
			head |= heads[k] == j;
		if (j->state != M_WAITING || head)
			continue;
		j->job.priority = -5;
		plan_apply(l->p, &d);
	}
}

static int twice(uint64_t seed, int *tried)
{
	struct life *a = mem_alloc(1, sizeof *a), *b = mem_alloc(1, sizeof *b);
	struct m_job *heads[M_GROUPS];
	int64_t ids[M_GROUPS];
	size_t count;
	int rc = 0;

	begin(a, &seed, 1, 0);
	for (int i = 0; i < 30; i++) {
		submit(a, &seed, 1);
		if (m_roll(&seed, 3) == 0)
			live_on(a);
	}
	step(a);
	count = m_heads(&a->m, NULL, heads);
	for (size_t i = 0; i < count; i++)
		ids[i] = heads[i]->job.id;
	*b = *a;
	for (int i = 0; i < M_JOBS; i++) {
		bool head = false;
		for (size_t k = 0; k < count; k++)
			head |= b->m.jobs[i].job.id == ids[k];
		if (b->m.jobs[i].state == M_WAITING && !head)
			b->m.jobs[i].state = M_NONE;
	}
	b->p = m_rebuild(&b->m);
	lower(a, heads, count);
	if (!run_all(b, ids, count, NULL) || !run_all(a, ids, count, &seed))
		rc = -1;
	for (size_t i = 0; i < count; i++)
		rc = rc || a->starts[ids[i]] > b->starts[ids[i]] ? -1 : 0;
	*tried += count > 1 ? (int)count : 0;
	rc = a->broken || b->broken ? -1 : rc;
	plan_destroy(a->p);
	plan_destroy(b->p);
	free(a);
	free(b);
	return rc;
}

/* The oldest past its bound that could run and that no quota stops. */
static void note_oldest(struct life *l)
{
	struct m_job *oldest = NULL;

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &l->m.jobs[i];
		if (j->state == M_WAITING && m_aged(&l->m, j) && m_possible(&l->m, j) &&
		    (!oldest || m_before(&l->m, j, oldest)))
			oldest = j;
	}
	if (oldest && !l->first_ms[oldest->job.id])
		l->first_ms[oldest->job.id] = l->now_ms;
}

static int starve(uint64_t seed, int *aged)
{
	struct life *l = mem_alloc(1, sizeof *l);
	int rc = 0;

	begin(l, &seed, M_NODES, BOUND);
	for (int turns = 0; turns < 900 && l->next_id < 1950 && !l->broken; turns++) {
		for (int k = 1 + m_roll(&seed, 3); k > 0; k--)
			submit(l, &seed, m_roll(&seed, 4) ? turns : 0);
		step(l);
		note_oldest(l);
		live_on(l);
	}
	for (int64_t id = 1; id < l->next_id; id++) {
		int64_t end = l->starts[id] ? l->starts[id] : l->now_ms;
		if (!l->first_ms[id])
			continue;
		++*aged;
		if (end - l->first_ms[id] > LONGEST)
			rc = -1;
	}
	rc = l->broken ? -1 : rc;
	plan_destroy(l->p);
	free(l);
	return rc;
}

int main(void)
{
	uint64_t seed = 1, broken = 0;
	int tried = 0, aged = 0;

	for (; seed <= SEEDS && !broken; seed++)
		broken = twice(seed, &tried) ? seed : 0;
	OK(!broken, "no head of any group starts later for those behind it");
	if (broken)
		printf("# seed %" PRIu64 "\n", broken);
	OK(tried > SEEDS, "and that was tried (%d heads)", tried);
	broken = 0;
	for (seed = 1; seed <= 20 && !broken; seed++)
		broken = starve(seed, &aged) ? seed : 0;
	OK(!broken,
	   "nobody waits past its bound longer than the longest run, once it is first");
	if (broken)
		printf("# seed %" PRIu64 "\n", broken);
	OK(aged > 50, "and that was tried (%d waited so long)", aged);
	return END();
}
