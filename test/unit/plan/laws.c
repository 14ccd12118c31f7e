// SPDX-License-Identifier: Apache-2.0
/* Random yards against the mirror.  YARD_TEST_SEED=n replays one history;
 * YARD_TEST_SEEDS=n tries more (1500 are a million steps). */
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
	struct m_job *head; /* while a step is under way */
	int started, backfilled, ordered;
	bool light;
};

static void breach(struct run *r, const char *law)
{
	if (law && !r->broken)
		r->broken = law;
}

/* A start may not move the head's own. Jobs ahead of the head are not backfill. */
static void check_head(struct run *r, struct m_job *j)
{
	struct m_when before, after;

	if (!r->head || r->head->state != M_WAITING || j == r->head ||
	    m_ahead(j, r->head))
		return;
	j->state = M_WAITING;
	before = m_earliest(&r->m, r->head, NULL);
	j->state = M_RUNNING;
	after = m_earliest(&r->m, r->head, j->job.limit_ms ? NULL : j);
	if (after.ms > before.ms || (after.ms == before.ms && after.id > before.id))
		breach(r, "the head was delayed");
	if (!m_quota_ok(&r->m, r->head, false) || !m_quota_ok(&r->m, r->head, true))
		breach(r, "the head's quota was taken");
	r->backfilled++;
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct run *r = arg;
	size_t n = r->told_count[0]++;
	struct m_job *head = r->light ? NULL : m_head(&r->m);

	if (n < DECISIONS_MAX)
		r->told[0][n] = (struct told){ d->job, d->place_count, d->places[0],
					       d->places[d->place_count - 1] };
	r->head = head;
	breach(r, m_decide(&r->m, d, r->now_ms));
	if (!r->broken)
		check_head(r, m_find(&r->m, d->job));
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

static void leave_or_release(struct run *r, enum m_state state)
{
	struct m_job *j = any(r, state);
	struct plan_delta d = { .kind = state == M_WAITING ? PLAN_LEAVE : PLAN_RELEASE };

	if (!j)
		return;
	d.id = j->job.id;
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

	if (what < 55) {
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

/* Every job that waits does so for the reason it gives. */
static void check_waiting(struct run *r)
{
	struct m_job *head = m_head(&r->m);
	struct m_when when =
		head ? m_earliest(&r->m, head, NULL) : (struct m_when){ 0, 0 };

	for (int i = 0; i < M_JOBS && !r->broken; i++) {
		struct m_job *j = &r->m.jobs[i];
		AUTO_BUF struct buf words = { 0 };
		enum plan_reason_kind kind, want = PLAN_REASON_ORDER;
		if (j->state != M_WAITING)
			continue;
		kind = plan_why(r->p, j->job.id, NULL, &words);
		if (!m_quota_ok(&r->m, j, false))
			want = PLAN_REASON_USER_QUOTA;
		else if (!m_quota_ok(&r->m, j, true))
			want = PLAN_REASON_GROUP_QUOTA;
		else if (!m_possible(&r->m, j))
			want = PLAN_REASON_NEVER;
		else if (!m_fits(&r->m, j))
			want = PLAN_REASON_CAPACITY;
		else if (!head || m_ahead(j, head))
			breach(r, "a job that fits, with nobody before it, still waits");
		else if (j->job.limit_ms && when.ms - r->now_ms >= j->job.limit_ms &&
			 j->user != head->user && j->group != head->group)
			breach(r, "a job that would end in time still waits");
		r->ordered += want == PLAN_REASON_ORDER;
		if (kind != want)
			breach(r, "a waiting job gives a wrong reason");
		if (!words.len)
			breach(r, "a waiting job gives no reason");
		int64_t there = 0;
		int position = m_position(&r->m, j);
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
			  m_quota_ok(&empty, &j, true)))
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
	plan_estimate(p, id, r->now_ms, &when);
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

	r->now_ms += m_roll(&r->seed, 5);
	r->told_count[0] = r->told_count[1] = 0;
	plan_step(r->p, r->now_ms, most, on_decision, r);
	plan_step(r->twin, r->now_ms, most, on_twin, r);
	if (most && r->told_count[0] > most)
		breach(r, "more decisions than asked for");
	if (r->told_count[0] != r->told_count[1] ||
	    memcmp(r->told[0], r->told[1], sizeof(struct told) * r->told_count[0]) != 0)
		breach(r, "the rebuilt twin decides otherwise");
	if (!r->light && !most && m_roll(&r->seed, 4) == 0) {
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
	*r = (struct run){
		.p = m_create(), .twin = m_create(), .seed = seed, .next_id = 1
	};
	r->light = light;
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
	int64_t started = 0, backfilled = 0, ordered = 0;

	for (; seed < end && !broken; seed++) {
		broken = history(seed, !one && seed > FULL_SEEDS, r);
		started += r->started;
		backfilled += r->backfilled;
		ordered += r->ordered;
	}
	OK(!broken, "%" PRIu64 " histories of %d steps keep every law",
	   end - (one ? one : 1), STEPS);
	if (broken)
		printf("# seed %" PRIu64 " at job %" PRId64
		       ": %s; replay with YARD_TEST_SEED\n",
		       seed - 1, r->next_id, broken);
	OK(one || (started > 1000 && backfilled > 100 && ordered > 100),
	   "the histories reach the corners (%" PRId64 " starts, %" PRId64
	   " past a head, %" PRId64 " held back)",
	   started, backfilled, ordered);
	free(r);
	lowered_head();
	return END();
}
