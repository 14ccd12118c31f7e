// SPDX-License-Identifier: Apache-2.0
/* Random yards against the mirror: every other one with a policy and a tree of groups, the
 * rest with one queue.  YARD_TEST_SEED=n replays one history; YARD_TEST_SEEDS=n tries more
 * (1500 are a million steps). */
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "mirror.h"
#include "tap.h"

#define FULL_SEEDS    16 /* every law worked out; the rest: what a decision may not do */
#define SEEDS         200
#define STEPS         700
#define DECISIONS_MAX 256

struct told {
	int64_t job;
	size_t count;
	struct placement first, last;
};

struct run {
	struct mirror m;
	struct plan *p, *twin; /* the twin is thrown away and rebuilt now and then */
	uint64_t seed;
	int64_t now_ms, next_id;
	struct told told[2][DECISIONS_MAX];
	size_t told_count[2];
	const char *broken;
	struct m_job *heads[M_GROUPS]; /* before a decision, those ahead of it */
	size_t head_count;
	int started, backfilled, ordered, within, aged;
	bool light;
};

static void breach(struct run *r, const char *law)
{
	if (law && !r->broken)
		r->broken = law;
}

/* A start may not move the first head's own, nor take what heads ahead may hold. */
static void check_heads(struct run *r, struct m_job *j)
{
	struct m_when before, after;

	for (size_t i = 0; i < r->head_count; i++) {
		if (!m_quota_ok(&r->m, r->heads[i], false) ||
		    !m_quota_ok(&r->m, r->heads[i], true) ||
		    !m_tenant_ok(&r->m, r->heads[i]))
			breach(r, "a head's quota was taken");
	}
	if (!r->head_count)
		return;
	j->state = M_WAITING;
	before = m_earliest(&r->m, r->heads[0], NULL);
	j->state = M_RUNNING;
	after = m_earliest(&r->m, r->heads[0], m_lasts(&r->m, j) ? NULL : j);
	if (after.ms > before.ms || (after.ms == before.ms && after.id > before.id))
		breach(r, "the head was delayed");
	r->backfilled++;
}

/* Those before it could not start.  Who fits and is behind nobody is not passed. */
static void find_heads(struct run *r, const struct m_job *j)
{
	r->head_count = m_heads(&r->m, j, r->heads);
	if (r->head_count && !r->m.policy.backfill && r->m.has_policy)
		breach(r, "a head was passed against the policy");
	if (r->head_count && m_fits(&r->m, r->heads[0]))
		breach(r, "somebody was passed whose turn it was");
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct run *r = arg;
	size_t n = r->told_count[0]++;
	const struct m_job *j = m_find(&r->m, d->job);

	if (n < DECISIONS_MAX)
		r->told[0][n] = (struct told){ d->job, d->place_count, d->places[0],
					       d->places[d->place_count - 1] };
	r->head_count = 0;
	if (j && !r->light) {
		find_heads(r, j);
		r->within += m_within(&r->m, j);
		r->aged += m_aged(&r->m, j);
	}
	breach(r, m_decide(&r->m, d, r->now_ms));
	if (!r->broken)
		check_heads(r, m_find(&r->m, d->job));
	r->started++;
}

static void on_twin(void *arg, const struct plan_decision *d)
{
	struct run *r = arg;
	size_t n = r->told_count[1]++;

	if (n < DECISIONS_MAX)
		r->told[1][n] = (struct told){ d->job, d->place_count, d->places[0],
					       d->places[d->place_count - 1] };
}

static void apply(struct run *r, const struct plan_delta *d)
{
	plan_apply(r->p, d);
	plan_apply(r->twin, d);
}

static struct m_job *any(struct run *r, enum m_state state)
{
	int at = m_roll(&r->seed, M_JOBS);

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[(at + i) % M_JOBS];
		if (j->state == state)
			return j;
	}
	return NULL;
}

static void change_quota(struct run *r)
{
	bool group = m_roll(&r->seed, 2), set = m_roll(&r->seed, 3) > 0;
	int who = m_roll(&r->seed, M_OWNERS);
	struct quota *q = group ? &r->m.group_quota[who] : &r->m.user_quota[who];
	struct plan_delta d = { .kind = group ? PLAN_QUOTA_GROUP : PLAN_QUOTA_USER,
				.name = group ? m_groups[who] : m_users[who],
				.quota = set ? q : NULL };

	*(group ? &r->m.has_group[who] : &r->m.has_user[who]) = set;
	*q = (struct quota){ .max_running_jobs = m_roll(&r->seed, 6) - 1 };
	q->limit.cpu_milli = m_roll(&r->seed, 2) ? -1 : 500 * m_roll(&r->seed, 20);
	q->limit.memory_bytes = m_roll(&r->seed, 2) ? -1 : 50 * m_roll(&r->seed, 30);
	resources_set_device(&q->limit, "gpu", m_roll(&r->seed, 7));
	apply(r, &d);
}

static void amounts(struct run *r, struct resources *out, int scale)
{
	*out = (struct resources){ .cpu_milli = -1, .memory_bytes = -1 };
	if (m_roll(&r->seed, 3) == 0)
		out->cpu_milli = 500 * m_roll(&r->seed, scale);
	if (m_roll(&r->seed, 2))
		resources_set_device(out, "gpu", m_roll(&r->seed, scale));
	if (m_roll(&r->seed, 6) == 0)
		resources_set_device(out, "npu", m_roll(&r->seed, scale));
}

/* Parents in a circle, too, now and then. */
static void change_rule(struct run *r)
{
	int who = m_roll(&r->seed, M_GROUPS);
	struct tenant_rule *t = &r->m.rules[who];
	struct plan_delta d = { .kind = PLAN_TENANT, .name = m_groups[who] };

	*t = (struct tenant_rule){ .weight = 1 + m_roll(&r->seed, 4),
				   .order = (enum tenant_order)m_roll(&r->seed, 3) };
	r->m.has_rule[who] = m_roll(&r->seed, 4) > 0;
	if (m_roll(&r->seed, 2))
		snprintf(t->parent, sizeof t->parent, "%s",
			 m_groups[m_roll(&r->seed, 3) ? 3 : m_roll(&r->seed, M_GROUPS)]);
	amounts(r, &t->guarantee, 6);
	amounts(r, &t->borrow, 4);
	amounts(r, &t->lend, 4);
	m_find_parents(&r->m);
	d.tenant = r->m.has_rule[who] ? t : NULL;
	apply(r, &d);
}

static void change_policy(struct run *r)
{
	struct plan_policy *p = &r->m.policy;
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = p };

	*p = plan_policy_default;
	p->preempt = false; /* preempt.c tries that */
	p->fair = m_roll(&r->seed, 4) > 0;
	p->age_bound_ms = m_roll(&r->seed, 2) ? 0 : 20 + m_roll(&r->seed, 100);
	p->half_life_ms = m_roll(&r->seed, 2) ? 0 : 3600000;
	p->backfill = m_roll(&r->seed, 6) > 0;
	p->believe_guesses = m_roll(&r->seed, 4) == 0;
	r->m.has_policy = true;
	apply(r, &d);
}

static void leave_or_release(struct run *r, enum m_state state)
{
	struct m_job *j = any(r, state);
	struct plan_delta d = { .kind = state == M_WAITING ? PLAN_LEAVE : PLAN_RELEASE };

	if (!j)
		return;
	d.id = j->job.id;
	d.since_ms = r->now_ms;
	if (state == M_RUNNING)
		m_ran(&r->m, j);
	j->state = M_NONE;
	apply(r, &d);
}

static void submit(struct run *r)
{
	struct m_job *j = any(r, M_NONE);
	struct plan_delta d = { .kind = PLAN_WAIT };

	if (!j)
		return;
	m_make_job(j, r->next_id++, &r->seed);
	j->job.submit_ms = r->now_ms;
	if (r->m.has_policy && m_roll(&r->seed, 3) == 0)
		j->job.guess_ms = 1 + m_roll(&r->seed, 15);
	if (r->m.has_policy && m_roll(&r->seed, 5) == 0)
		j->job.served_ms = m_roll(&r->seed, 3);
	d.job = &j->job;
	apply(r, &d);
}

/* The twin, rebuilt now and then, never saw the old priority. */
static void change_priority(struct run *r)
{
	struct m_job *j = any(r, m_roll(&r->seed, 4) ? M_WAITING : M_RUNNING);
	struct plan_delta d = { .kind = PLAN_WAIT };

	if (!j)
		return;
	j->job.priority = m_roll(&r->seed, 7) - 3;
	d.job = &j->job;
	apply(r, &d);
}

static void move(struct run *r)
{
	int what = m_roll(&r->seed, 100);

	if (r->m.has_policy && m_roll(&r->seed, 40) == 0) {
		change_rule(r);
	} else if (r->m.has_policy && m_roll(&r->seed, 100) == 0) {
		change_policy(r);
	} else if (what < 55) {
		submit(r);
	} else if (what < 86) {
		leave_or_release(r, M_RUNNING);
	} else if (what < 90) {
		change_priority(r);
	} else if (what < 95) {
		leave_or_release(r, M_WAITING);
	} else if (what < 97) {
		change_quota(r);
	} else if (what < 98) {
		int at = m_roll(&r->seed, M_NODES);
		struct plan_delta d = { .kind = PLAN_NODE, .node = &r->m.nodes[at] };
		m_make_node(&r->m, at, &r->seed);
		apply(r, &d);
	} else {
		plan_destroy(r->twin);
		r->twin = m_rebuild(&r->m);
	}
}

/* It ends before any head before it could start.  These have to be other people's, and no
 * rule made, or a limit may be in the way after all. */
static bool in_time(struct run *r, const struct m_job *j, struct m_job *const *heads,
		    size_t count)
{
	int64_t lasts = m_lasts(&r->m, j);
	bool rules = false;

	for (int g = 0; g < M_GROUPS; g++)
		rules |= r->m.has_rule[g];
	for (size_t i = 0; i < count; i++) {
		const struct m_job *h = heads[i];
		if (m_before(&r->m, h, j) &&
		    (!lasts || m_earliest(&r->m, h, NULL).ms - r->now_ms < lasts ||
		     j->user == h->user || j->group == h->group))
			return false;
	}
	return !rules && (r->m.policy.backfill || !r->m.has_policy);
}

/* Every job that waits does so for the reason it gives. */
static void check_reason(struct run *r, struct m_job *j, struct m_job *const *heads,
			 size_t count)
{
	AUTO_BUF struct buf words = { 0 };
	enum plan_reason_kind kind = plan_why(r->p, j->job.id, NULL, &words),
			      want = PLAN_REASON_ORDER;

	if (!m_quota_ok(&r->m, j, false))
		want = PLAN_REASON_USER_QUOTA;
	else if (!m_quota_ok(&r->m, j, true) || !m_tenant_ok(&r->m, j))
		want = PLAN_REASON_GROUP_QUOTA;
	else if (!m_possible(&r->m, j))
		want = PLAN_REASON_NEVER;
	else if (!m_fits(&r->m, j))
		want = PLAN_REASON_CAPACITY;
	else if (heads[0] == j)
		breach(r, "a job that fits, with nobody before it, still waits");
	else if (in_time(r, j, heads, count))
		breach(r, "a job that would end in time still waits");
	r->ordered += want == PLAN_REASON_ORDER;
	if (kind != want)
		breach(r, "a waiting job gives a wrong reason");
	if (!words.len)
		breach(r, "a waiting job gives no reason");
}

static void check_waiting(struct run *r)
{
	struct m_job *heads[M_GROUPS];
	size_t count = m_heads(&r->m, NULL, heads);

	for (int i = 0; i < M_JOBS && !r->broken; i++) {
		struct m_job *j = &r->m.jobs[i];
		int64_t there = 0;
		int position;
		if (j->state != M_WAITING)
			continue;
		check_reason(r, j, heads, count);
		position = m_position(&r->m, j);
		if (plan_position(r->p, j->job.id) != position ||
		    plan_queue(r->p, (size_t)position, &there, 1) != 1 ||
		    there != j->job.id)
			breach(r, "a wrong position in the queue");
	}
}

static void check_possible(struct run *r)
{
	struct m_job j;
	struct err err = { 0 };
	struct mirror empty = r->m;
	int rc;

	m_make_job(&j, 1, &r->seed);
	for (int i = 0; i < M_JOBS; i++)
		empty.jobs[i].state = M_NONE;
	rc = plan_possible(r->p, &j.job, &err);
	if ((rc == 0) != (m_possible(&r->m, &j) && m_quota_ok(&empty, &j, false) &&
			  m_quota_ok(&empty, &j, true) && m_tenant_ok(&empty, &j)))
		breach(r, "plan_possible is wrong");
	if (rc < 0 && !err.text[0])
		breach(r, "plan_possible refuses without a word");
}

static void check_used(struct run *r)
{
	for (int n = 0; n < M_NODES; n++) {
		struct resources used, sum = { 0 };
		int tasks, count = 0;
		for (int i = 0; i < M_JOBS; i++) {
			const struct m_job *j = &r->m.jobs[i];
			for (int k = 0; j->state == M_RUNNING && k < j->role.count; k++) {
				if (strcmp(j->places[k].node, r->m.nodes[n].name) != 0)
					continue;
				resources_add(&sum, &j->role.each);
				count++;
			}
		}
		if (plan_node_used(r->p, r->m.nodes[n].name, &used, &tasks) < 0 ||
		    tasks != count || used.cpu_milli != sum.cpu_milli ||
		    used.memory_bytes != sum.memory_bytes ||
		    resources_device(&used, "gpu") != resources_device(&sum, "gpu") ||
		    resources_device(&used, "npu") != resources_device(&sum, "npu"))
			breach(r, "what is used on a node does not add up");
	}
}

static void look(void *arg, struct plan *p, int64_t id)
{
	struct run *r = arg;
	AUTO_BUF struct buf words = { 0 };
	struct plan_when when;

	if (plan_why(p, id, NULL, &words) == PLAN_REASON_NONE || !words.len)
		breach(r, "a job that is tried gives no reason");
	plan_estimate(p, id, r->now_ms, NULL, &when);
	if (when.soonest_ms > when.likely_ms || when.likely_ms > when.latest_ms ||
	    when.soonest_ms < r->now_ms)
		breach(r, "an estimate contradicts itself");
}

/* Questions change nothing: only one of the twins is asked. */
static void ask_around(struct run *r)
{
	struct m_job *j = any(r, M_WAITING), other;
	struct plan_offer offers[PLAN_OFFERS_MAX];

	m_make_job(&other, 0, &r->seed);
	plan_try(r->p, &other.job, look, r);
	plan_offers_free(offers, plan_offers(r->p, &other.job, r->now_ms, offers));
	if (!j)
		return;
	look(r, r->p, j->job.id);
	plan_offers_free(offers, plan_offers(r->p, &j->job, r->now_ms, offers));
}

static void step(struct run *r)
{
	size_t most = m_roll(&r->seed, 20) ? 0 : 1 + (size_t)m_roll(&r->seed, 2);

	r->now_ms += r->m.has_policy && m_roll(&r->seed, 30) == 0
			     ? m_roll(&r->seed, 4000000)
			     : m_roll(&r->seed, 5);
	r->m.now_ms = r->now_ms;
	r->told_count[0] = r->told_count[1] = 0;
	plan_step(r->p, r->now_ms, most, on_decision, r);
	plan_step(r->twin, r->now_ms, most, on_twin, r);
	if (most && r->told_count[0] > most)
		breach(r, "more decisions than asked for");
	if (r->told_count[0] != r->told_count[1] ||
	    memcmp(r->told[0], r->told[1], sizeof(struct told) * r->told_count[0]) != 0)
		breach(r, "the rebuilt twin decides otherwise");
	if (!r->light && !most && m_roll(&r->seed, r->m.has_policy ? 10 : 4) == 0) {
		check_waiting(r);
		check_used(r);
		check_possible(r);
		if (m_roll(&r->seed, 4) == 0)
			ask_around(r);
		r->told_count[0] = 0;
		plan_step(r->p, r->now_ms, 0, on_decision, r);
		if (r->told_count[0])
			breach(r, "a step without news decided something");
	}
}

static const char *history(uint64_t seed, bool light, struct run *r)
{
	m_knows = seed % 3 == 0;
	*r = (struct run){
		.p = m_create(), .twin = m_create(), .seed = seed, .next_id = 1
	};
	r->light = light;
	r->now_ms = 1;
	if (seed % 2 == 0)
		change_policy(r);
	for (int i = 0; i < M_NODES; i++) {
		struct plan_delta d = { .kind = PLAN_NODE, .node = &r->m.nodes[i] };
		m_make_node(&r->m, i, &r->seed);
		apply(r, &d);
	}
	for (int i = 0; i < STEPS && !r->broken; i++) {
		for (int k = m_roll(&r->seed, 3); k >= 0; k--)
			move(r);
		step(r);
	}
	plan_destroy(r->p);
	plan_destroy(r->twin);
	return r->broken;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

static void note_last(void *arg, const struct plan_decision *d)
{
	*(int64_t *)arg = d->job;
}

/* The head keeps its number and its likeness, and still whom it holds back has changed. */
static void lowered_head(void)
{
	struct node n = { .name = "one", .up = true, .capacity.cpu_milli = 4 };
	struct gang_role wide = { .count = 1, .each.cpu_milli = 4 }, slim = wide,
			 most = wide;
	struct plan_job jobs[] = {
		{ .id = 1, .gang.roles = &most },
		{ .id = 2, .gang.roles = &wide, .priority = 5 },
		{ .id = 3, .gang.roles = &slim },
		{ .id = 4, .gang.roles = &wide, .priority = -5 },
	};
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };
	struct plan *p = plan_create();
	int64_t last = 0, order[4];

	slim.each.cpu_milli = 1;
	most.each.cpu_milli = 3;
	plan_apply(p, &d);
	d.kind = PLAN_WAIT;
	for (size_t i = 0; i < 4; i++) {
		jobs[i].user = jobs[i].group = "ada";
		jobs[i].gang.role_count = 1;
		d.job = &jobs[i];
		plan_apply(p, &d);
		plan_step(p, 0, 0, note_last, &last);
	}
	OK(last == 1 && plan_waiting(p) == 3, "a narrow job may not delay the head");
	jobs[1].priority = -1;
	d.job = &jobs[1];
	plan_apply(p, &d);
	OK(plan_queue(p, 1, order, 4) == 3 && order[0] == 3 && order[1] == 2 &&
		   order[2] == 4,
	   "a lowered priority moves the head back");
	plan_step(p, 0, 0, note_last, &last);
	OK(last == 3, "and whom it held back is started");
	plan_destroy(p);
}

int main(void)
{
	uint64_t one = number("YARD_TEST_SEED", 0), seed = one ? one : 1;
	uint64_t end = one ? one + 1 : 1 + number("YARD_TEST_SEEDS", SEEDS);
	const char *broken = NULL;
	struct run *r = mem_alloc(1, sizeof *r);
	int64_t started = 0, backfilled = 0, ordered = 0, within = 0, aged = 0;

	for (; seed < end && !broken; seed++) {
		broken = history(seed, !one && seed > FULL_SEEDS, r);
		started += r->started;
		backfilled += r->backfilled;
		ordered += r->ordered;
		within += r->within;
		aged += r->aged;
	}
	OK(!broken, "%" PRIu64 " histories of %d steps keep every law",
	   end - (one ? one : 1), STEPS);
	if (broken)
		printf("# seed %" PRIu64 " at job %" PRId64
		       ": %s; replay with YARD_TEST_SEED\n",
		       seed - 1, r->next_id, broken);
	OK(one || (started > 1000 && backfilled > 100 && ordered > 100 && within > 100 &&
		   aged > 100),
	   "the histories reach the corners (%" PRId64 " starts, %" PRId64
	   " past a head, %" PRId64 " held back, %" PRId64 " within a guarantee, %" PRId64
	   " past their age)",
	   started, backfilled, ordered, within, aged);
	free(r);
	lowered_head();
	return END();
}
