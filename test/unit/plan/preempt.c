// SPDX-License-Identifier: Apache-2.0
/* Preemption in random yards, against the mirror.  YARD_TEST_SEED=n replays one history. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "mirror.h"
#include "tap.h"

#define PARKED_LATE   1087 /* nobody gave way to it */
#define SEEDS         40
#define STEPS         300
#define DRAIN_STEPS   4000
#define DECISIONS_MAX 128
#define DIMS          5

struct told {
	int verb;
	int64_t job, by;
	size_t count;
	char first[NODE_NAME_MAX], last[NODE_NAME_MAX];
	uint64_t mask;
};

struct run {
	struct mirror m;
	struct plan *p, *twin;
	uint64_t seed;
	int64_t now_ms, next_id;
	struct told told[2][DECISIONS_MAX];
	size_t told_count[2];
	const char *broken;
	int64_t by; /* whose victims are being told, */
	int victims[M_JOBS], victim_count;
	bool disturbed[M_JOBS]; /* nodes or quotas changed since it claimed, */
	bool uncertain[M_JOBS]; /* and it may start by its claim or not */
	int starts, preemptions, claims, multiple, came_back, kept_out, reclaimed;
	bool draining, ruled;
};

static void breach(struct run *r, const char *law)
{
	if (law && !r->broken)
		r->broken = law;
}

static bool ranks_above(const struct m_job *a, const struct m_job *b)
{
	return b->job.preemptible &&
	       (!a->job.preemptible || a->job.priority > b->job.priority);
}

/* What it holds is within what its group is guaranteed. */
static bool secure(struct run *r, struct m_job *j)
{
	bool in;

	j->state = M_NONE;
	in = m_within(&r->m, j);
	j->state = M_RUNNING;
	return in;
}

static bool within(struct run *r, struct m_job *j)
{
	bool claims = j->claims, in;

	j->claims = false;
	in = m_within(&r->m, j);
	j->claims = claims;
	return in;
}

static bool may_ask(struct run *r, struct m_job *by, struct m_job *v)
{
	bool mine = within(r, by), other = secure(r, v);

	return mine == other ? ranks_above(by, v) : mine;
}

static bool ripe(const struct run *r, const struct m_job *j)
{
	const struct plan_policy *p =
		r->m.has_policy ? &r->m.policy : &plan_policy_default;

	return r->now_ms - j->since_ms >= (p->min_run_ms > 0 ? p->min_run_ms : 1);
}

/* cpu, memory, gpu, npu, tasks of so many tasks of a job. */
static void amounts(const struct m_job *j, int tasks, int64_t out[DIMS])
{
	out[0] += j->role.each.cpu_milli * tasks;
	out[1] += j->role.each.memory_bytes * tasks;
	out[2] += (int64_t)resources_device(&j->role.each, "gpu") * tasks;
	out[3] += (int64_t)resources_device(&j->role.each, "npu") * tasks;
	out[4] += tasks;
}

static int tasks_on(const struct placement *places, size_t count, const char *node)
{
	int n = 0;

	for (size_t i = 0; i < count; i++)
		n += strcmp(places[i].node, node) == 0;
	return n;
}

static void free_on(const struct run *r, int node, const bool *gone, int64_t out[DIMS])
{
	struct resources have;
	int ports, tasks;

	m_free_on(&r->m, node, gone, &have, &ports, &tasks);
	out[0] = have.cpu_milli;
	out[1] = have.memory_bytes;
	out[2] = resources_device(&have, "gpu");
	out[3] = resources_device(&have, "npu");
	out[4] = tasks;
}

/* Free on a node for all but claimants: less what each claim lacks beyond its victims. */
static void open_on(const struct run *r, int node, const bool *gone, int64_t out[DIMS])
{
	const struct mirror *m = &r->m;
	int64_t now[DIMS];

	free_on(r, node, gone, now);
	memcpy(out, now, sizeof now);
	for (int i = 0; i < M_JOBS; i++) {
		const struct m_job *c = &m->jobs[i];
		int64_t need[DIMS] = { 0 }, then[DIMS];
		bool all[M_JOBS];
		if (!c->claims)
			continue;
		amounts(c, tasks_on(c->pins, c->pin_count, m->nodes[node].name), need);
		memcpy(all, gone, sizeof all);
		for (int k = 0; k < M_JOBS; k++)
			all[k] |= m->jobs[k].state == M_RUNNING &&
				  m->jobs[k].gives_way == c->job.id;
		free_on(r, node, all, then);
		for (int d = 0; d < DIMS; d++) {
			int64_t lacks = need[d] - (then[d] - now[d]);
			out[d] -= lacks > 0 ? lacks : 0;
		}
	}
}

static bool fits_open(const struct run *r, const struct m_job *j, const bool *gone)
{
	int left = j->role.count;

	for (int i = 0; i < M_NODES && left > 0; i++) {
		int64_t have[DIMS], each[DIMS] = { 0 };
		int64_t n = left;
		if (!r->m.nodes[i].up)
			continue;
		open_on(r, i, gone, have);
		amounts(j, 1, each);
		for (int d = 0; d < DIMS; d++) {
			int64_t most = !each[d]       ? n
				       : have[d] <= 0 ? 0
						      : have[d] / each[d];
			n = most < n ? most : n;
		}
		left -= (int)n;
	}
	return left <= 0;
}

static int index_of(const struct run *r, const struct m_job *j)
{
	return (int)(j - r->m.jobs);
}

/* With those gone there is room for it, and nothing that others borrowed stops it. */
static bool could(struct run *r, const struct m_job *j, const bool *gone)
{
	bool ok;

	if (!fits_open(r, j, gone))
		return false;
	for (int i = 0; i < M_JOBS; i++) {
		if (gone[i])
			r->m.jobs[i].state = M_NONE;
	}
	ok = m_tenant_ok(&r->m, j);
	for (int i = 0; i < M_JOBS; i++) {
		if (gone[i])
			r->m.jobs[i].state = M_RUNNING;
	}
	return ok;
}

/* Nodes or rules changed under a claim: what it has left is less than nothing, and no view
 * can say that of devices. */
static bool unsettled(const struct run *r)
{
	for (int i = 0; i < M_JOBS; i++) {
		if (r->m.jobs[i].claims && r->disturbed[i])
			return true;
	}
	return false;
}

static void check_needed(struct run *r, struct m_job *by)
{
	bool gone[M_JOBS] = { false };

	by->claims = false; /* as it was before */
	if (could(r, by, gone))
		breach(r, "somebody gives way to one who fits");
	for (int i = 0; i < r->victim_count; i++)
		gone[r->victims[i]] = true;
	if (!could(r, by, gone))
		breach(r, "somebody gives way to one who does not fit then");
	for (int i = 0; i < r->victim_count; i++) {
		gone[r->victims[i]] = false;
		if (could(r, by, gone))
			breach(r, "somebody gives way who is not needed");
		gone[r->victims[i]] = true;
	}
	by->claims = true;
}

/* Whose victims were told are complete: they suffice, and each of them is needed. */
static void check_set(struct run *r)
{
	struct m_job *by = r->by ? m_find(&r->m, r->by) : NULL;

	if (!by || r->broken)
		return;
	if (!unsettled(r))
		check_needed(r, by);
	r->multiple += r->victim_count > 1;
	r->claims++;
	r->by = 0;
	r->victim_count = 0;
}

static void preempted(struct run *r, const struct plan_decision *d)
{
	struct m_job *v = m_find(&r->m, d->job), *by = m_find(&r->m, d->by);

	if (r->by != d->by)
		check_set(r);
	if (!v || v->state != M_RUNNING || v->gives_way || !by ||
	    by->state != M_WAITING || (by->claims && r->by != d->by)) {
		breach(r, "told to give way: not a running job, or not to a waiting one");
		return;
	}
	if (!may_ask(r, by, v))
		breach(r, "gives way to one that it need not give way to");
	r->reclaimed += !v->job.preemptible;
	if (!ripe(r, v))
		breach(r, "gives way before its time");
	if (!m_quota_ok(&r->m, by, false) || !m_quota_ok(&r->m, by, true))
		breach(r, "gives way to one whom a quota stops");
	r->by = d->by;
	r->victims[r->victim_count++] = index_of(r, v);
	v->gives_way = d->by;
	by->claims = true;
	by->pin_count = d->place_count;
	memcpy(by->pins, d->places, d->place_count * sizeof *d->places);
	r->disturbed[index_of(r, by)] = false;
	r->preemptions++;
}

static void started(struct run *r, const struct plan_decision *d)
{
	struct m_job *j = m_find(&r->m, d->job);
	bool none[M_JOBS] = { false };

	check_set(r);
	if (!j)
		return;
	j->claims |= r->uncertain[index_of(r, j)];
	breach(r, m_decide(&r->m, d, r->now_ms));
	j->claims = false;
	j->pin_count = 0;
	for (int i = 0; i < M_NODES && !r->broken; i++) {
		int64_t have[DIMS], each[DIMS] = { 0 };
		bool any = false, calm = true;
		amounts(j, 1, each);
		for (int k = 0; k < M_JOBS; k++) {
			any |= r->m.jobs[k].claims;
			calm &= !r->m.jobs[k].claims || !r->disturbed[k];
		}
		open_on(r, i, none, have);
		for (int k = 0; k < DIMS && any && calm && r->m.nodes[i].up; k++) {
			if (have[k] < 0 && each[k] &&
			    tasks_on(j->places, (size_t)j->role.count,
				     r->m.nodes[i].name))
				breach(r, "what was claimed was taken by another");
		}
	}
	r->starts++;
}

static void note(struct run *r, int which, const struct plan_decision *d)
{
	size_t n = r->told_count[which]++;
	struct told *t = &r->told[which][n];

	if (n >= DECISIONS_MAX)
		return;
	memset(t, 0, sizeof *t);
	t->verb = (int)d->verb;
	t->job = d->job;
	t->by = d->by;
	t->count = d->place_count;
	memcpy(t->first, d->places[0].node, NODE_NAME_MAX);
	memcpy(t->last, d->places[d->place_count - 1].node, NODE_NAME_MAX);
	t->mask = d->places[0].devices[0].mask;
}

static void on_decision(void *arg, const struct plan_decision *d)
{
	struct run *r = arg;

	note(r, 0, d);
	if (d->verb == PLAN_PREEMPT)
		preempted(r, d);
	else
		started(r, d);
}

static void on_twin(void *arg, const struct plan_decision *d)
{
	note(arg, 1, d);
}

static void apply(struct run *r, const struct plan_delta *d)
{
	plan_apply(r->p, d);
	plan_apply(r->twin, d);
}

static struct m_job *any(struct run *r, bool (*is)(const struct m_job *j))
{
	int at = m_roll(&r->seed, M_JOBS);

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[(at + i) % M_JOBS];
		if (is(j))
			return j;
	}
	return NULL;
}

static bool is_free(const struct m_job *j)
{
	return j->state == M_NONE;
}

static bool is_waiting(const struct m_job *j)
{
	return j->state == M_WAITING;
}

static bool is_running(const struct m_job *j)
{
	return j->state == M_RUNNING;
}

static bool is_going(const struct m_job *j)
{
	return j->state == M_RUNNING && j->gives_way;
}

static void submit(struct run *r)
{
	struct m_job *j = any(r, is_free);
	struct plan_delta d = { .kind = PLAN_WAIT };

	if (!j)
		return;
	m_make_job(j, r->next_id++, &r->seed);
	j->role.any_ports = j->role.fixed_count = 0;
	j->job.preemptible = m_roll(&r->seed, 3) > 0;
	j->job.submit_ms = r->now_ms;
	d.job = &j->job;
	apply(r, &d);
}

/* One who was told, or ends by itself: the first comes back, with its age. */
static void release(struct run *r, struct m_job *j)
{
	struct plan_delta d = { .kind = PLAN_RELEASE };
	bool back;

	if (!j)
		return;
	back = j->gives_way && (r->draining || m_roll(&r->seed, 8));
	d.id = j->job.id;
	j->state = M_NONE;
	j->gives_way = j->kept_ms = 0;
	apply(r, &d);
	if (!back)
		return;
	j->state = M_WAITING;
	j->job.served_ms += r->now_ms - j->since_ms;
	d = (struct plan_delta){ .kind = PLAN_WAIT, .job = &j->job };
	apply(r, &d);
	r->came_back++;
}

static void drop_claim(struct m_job *j)
{
	j->claims = false;
	j->pin_count = 0;
}

static void leave(struct run *r)
{
	struct m_job *j = any(r, is_waiting);
	struct plan_delta d = { .kind = PLAN_LEAVE };

	if (!j)
		return;
	d.id = j->job.id;
	j->state = M_NONE;
	drop_claim(j);
	apply(r, &d);
}

static void change_node(struct run *r, bool up)
{
	int at = m_roll(&r->seed, M_NODES);
	struct plan_delta d = { .kind = PLAN_NODE, .node = &r->m.nodes[at] };

	m_make_node(&r->m, at, &r->seed);
	r->m.nodes[at].up |= up;
	memset(r->disturbed, true, sizeof r->disturbed);
	apply(r, &d);
}

static void change_quota(struct run *r)
{
	int who = m_roll(&r->seed, M_OWNERS);
	bool set = m_roll(&r->seed, 3) > 0;
	struct quota *q = &r->m.user_quota[who];
	struct plan_delta d = { .kind = PLAN_QUOTA_USER,
				.name = m_users[who],
				.quota = set ? q : NULL };

	r->m.has_user[who] = set;
	*q = (struct quota){ .max_running_jobs = 1 + m_roll(&r->seed, 6) };
	q->limit.cpu_milli = q->limit.memory_bytes = -1;
	resources_set_device(&q->limit, "gpu", 2 + m_roll(&r->seed, 7));
	memset(r->disturbed, true, sizeof r->disturbed);
	apply(r, &d);
}

static void some(struct run *r, struct resources *out)
{
	*out = (struct resources){ .cpu_milli = -1, .memory_bytes = -1 };
	if (m_roll(&r->seed, 3) == 0)
		out->cpu_milli = 500 * m_roll(&r->seed, 20);
	if (m_roll(&r->seed, 3))
		resources_set_device(out, "gpu", 1 + m_roll(&r->seed, 6));
	if (m_roll(&r->seed, 4) == 0)
		resources_set_device(out, "npu", 1 + m_roll(&r->seed, 3));
}

static void change_rule(struct run *r)
{
	int who = m_roll(&r->seed, M_GROUPS);
	struct tenant_rule *t = &r->m.rules[who];
	struct plan_delta d = { .kind = PLAN_TENANT, .name = m_groups[who] };

	*t = (struct tenant_rule){ .weight = 1 };
	r->m.has_rule[who] = m_roll(&r->seed, 5) > 0;
	some(r, &t->guarantee);
	t->borrow = t->lend = (struct resources){ .cpu_milli = -1, .memory_bytes = -1 };
	if (m_roll(&r->seed, 3) == 0)
		some(r, &t->lend);
	if (m_roll(&r->seed, 3) == 0)
		some(r, &t->borrow);
	if (m_roll(&r->seed, 3) == 0 && who)
		memcpy(t->parent, m_groups[0], strlen(m_groups[0]));
	m_find_parents(&r->m);
	d.tenant = r->m.has_rule[who] ? t : NULL;
	memset(r->disturbed, true, sizeof r->disturbed);
	apply(r, &d);
}

static void change_policy(struct run *r)
{
	struct plan_policy *p = &r->m.policy;
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = p };

	*p = plan_policy_default;
	p->fair = false;
	p->age_bound_ms = m_roll(&r->seed, 2) ? 0 : 1000000 + m_roll(&r->seed, 9000000);
	p->min_run_ms = m_roll(&r->seed, 3) * 20000;
	r->m.has_policy = true;
	memset(r->disturbed, true, sizeof r->disturbed);
	apply(r, &d);
}

static void checkpoint(struct run *r)
{
	struct m_job *j = any(r, is_running);
	struct plan_delta d = { .kind = PLAN_CHECKPOINT };

	if (!j)
		return;
	j->kept_ms = r->now_ms;
	d.id = j->job.id;
	d.since_ms = r->now_ms;
	apply(r, &d);
}

static void change_priority(struct run *r)
{
	struct m_job *j = any(r, m_roll(&r->seed, 2) ? is_waiting : is_running);
	struct plan_delta d = { .kind = PLAN_WAIT };

	if (!j || j->gives_way)
		return;
	j->job.priority = m_roll(&r->seed, 7) - 3;
	d.job = &j->job;
	apply(r, &d);
}

static void move(struct run *r)
{
	int what = m_roll(&r->seed, 100);

	if (r->ruled && m_roll(&r->seed, 60) == 0)
		change_rule(r);
	if (r->ruled && m_roll(&r->seed, 200) == 0)
		change_policy(r);
	if (what < 50)
		submit(r);
	else if (what < 62)
		release(r, any(r, is_running));
	else if (what < 82)
		release(r, any(r, is_going));
	else if (what < 87)
		leave(r);
	else if (what < 93)
		checkpoint(r);
	else if (what < 97)
		change_priority(r);
	else if (what < 98)
		change_quota(r);
	else if (what < 99)
		change_node(r, false);
}

/* All of its victims are gone: it starts in this step, or something was changed. */
static int64_t due(const struct run *r, const struct m_job *j)
{
	if (!j->claims)
		return 0;
	for (int i = 0; i < M_JOBS; i++) {
		if (r->m.jobs[i].state == M_RUNNING &&
		    r->m.jobs[i].gives_way == j->job.id)
			return 0;
	}
	return j->job.id;
}

static bool before(const struct run *r, const struct m_job *a, const struct m_job *b)
{
	return r->ruled ? m_before(&r->m, a, b) : m_ahead(a, b);
}

/* The first in the queue that does not fit is not left waiting behind those who said that
 * they would give way.  (Of the others only what is borrowed is taken, no more: which that
 * is depends on who else goes.) */
static void check_head(struct run *r)
{
	struct m_job *head = NULL;
	bool none[M_JOBS] = { false }, ask[M_JOBS] = { false }, going[M_JOBS] = { false };

	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[i];
		if (j->state != M_WAITING || j->claims || (head && before(r, head, j)) ||
		    !m_quota_ok(&r->m, j, false) || !m_quota_ok(&r->m, j, true) ||
		    !m_possible(&r->m, j) || could(r, j, none))
			continue;
		if (m_tenant_ok(&r->m, j) || within(r, j))
			head = j;
	}
	if (!head)
		return;
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[i];
		bool runs = j->state == M_RUNNING;
		going[i] = runs && j->gives_way;
		ask[i] = runs && !j->gives_way && j->job.preemptible &&
			 may_ask(r, head, j) && ripe(r, j);
	}
	r->kept_out++;
	if (!unsettled(r) && could(r, head, ask) && !could(r, head, going))
		breach(r, "nobody gives way to the first in the queue, and some should");
}

static void check_why(struct run *r)
{
	for (int i = 0; i < M_JOBS && !r->broken; i++) {
		const struct m_job *j = &r->m.jobs[i];
		AUTO_BUF struct buf words = { 0 };
		enum plan_reason_kind kind = plan_why(r->p, j->job.id, NULL, &words);
		int64_t there = 0;
		int position = plan_position(r->p, j->job.id);
		if (j->state != M_WAITING)
			continue;
		if (j->claims != (kind == PLAN_REASON_PREEMPTING))
			breach(r, "a claimant gives another reason, or another that one");
		if (j->claims && !strstr(buf_str(&words), "way to it; it starts when"))
			breach(r, "a claimant does not say who gives way");
		if (plan_queue(r->p, (size_t)position, &there, 1) != 1 ||
		    there != j->job.id)
			breach(r, "positions and queue do not agree");
	}
}

/* Not while the mirror cannot know which of several claimants had their turn. */
static bool bounded(struct run *r)
{
	return !unsettled(r) && !r->draining && m_roll(&r->seed, 20) == 0;
}

static void step(struct run *r)
{
	size_t most = bounded(r) ? 1 + (size_t)m_roll(&r->seed, 3) : 0;
	int64_t owed[M_JOBS];

	r->m.now_ms = r->now_ms;
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[i];
		owed[i] = due(r, j);
		/* One who cannot start after all waits like everybody else. */
		r->uncertain[i] = owed[i] && r->disturbed[i];
		if (r->uncertain[i])
			drop_claim(j);
		owed[i] = most || r->disturbed[i] ? 0 : owed[i];
	}
	r->told_count[0] = r->told_count[1] = 0;
	plan_step(r->p, r->now_ms, most, on_decision, r);
	check_set(r);
	plan_step(r->twin, r->now_ms, most, on_twin, r);
	if (most && r->told_count[0] > most)
		breach(r, "more decisions than asked for");
	if (r->told_count[0] != r->told_count[1] ||
	    memcmp(r->told[0], r->told[1], sizeof(struct told) * r->told_count[0]) != 0)
		breach(r, "the rebuilt twin decides otherwise");
	for (int i = 0; i < M_JOBS; i++) {
		struct m_job *j = &r->m.jobs[i];
		if (owed[i] && j->job.id == owed[i] && j->state == M_WAITING)
			breach(r, "others gave way, and it did not start");
	}
	if (most || r->broken)
		return;
	check_head(r);
	if (m_roll(&r->seed, 4) == 0)
		check_why(r);
	r->told_count[0] = 0;
	plan_step(r->p, r->now_ms, 0, on_decision, r);
	plan_step(r->twin, r->now_ms, 0, on_twin, r);
	if (r->told_count[0])
		breach(r, "a step without news decided something");
	if (m_roll(&r->seed, 6) == 0) {
		plan_destroy(r->twin);
		r->twin = m_rebuild(&r->m);
	}
}

/* It could run if nobody else did. */
static bool ever(const struct run *r, const struct m_job *j)
{
	struct mirror alone = r->m;

	for (int i = 0; i < M_JOBS; i++) {
		alone.jobs[i].state = M_NONE;
		alone.jobs[i].claims = false;
	}
	return m_possible(&r->m, j) && m_tenant_ok(&alone, j);
}

/* Nobody new: those told go and come back, those who run end; at last nobody is left. */
static void drain(struct run *r)
{
	int left = 1;

	r->draining = true;
	for (int i = 0; i < M_OWNERS; i++) {
		struct plan_delta d = { .kind = PLAN_QUOTA_USER, .name = m_users[i] };
		r->m.has_user[i] = false;
		apply(r, &d);
	}
	memset(r->disturbed, true, sizeof r->disturbed);
	for (int n = 0; n < DRAIN_STEPS && left && !r->broken; n++) {
		struct m_job *j = any(r, is_going);
		r->now_ms += 1000 + m_roll(&r->seed, 20000);
		release(r, j && m_roll(&r->seed, 3) ? j : any(r, is_running));
		step(r);
		left = 0;
		for (int i = 0; i < M_JOBS; i++) {
			const struct m_job *w = &r->m.jobs[i];
			left += w->state == M_RUNNING ||
				(w->state == M_WAITING && ever(r, w));
		}
	}
	if (left)
		breach(r, "the yard never becomes empty");
}

static const char *history(uint64_t seed, struct run *r)
{
	*r = (struct run){
		.p = m_create(), .twin = m_create(), .seed = seed, .next_id = 1
	};
	for (int i = 0; i < M_NODES; i++) {
		struct plan_delta d = { .kind = PLAN_NODE, .node = &r->m.nodes[i] };
		m_make_node(&r->m, i, &r->seed);
		r->m.nodes[i].up = true;
		apply(r, &d);
	}
	r->ruled = seed % 2;
	r->now_ms = 1;
	if (r->ruled)
		change_policy(r);
	for (int i = 0; i < STEPS && !r->broken; i++) {
		for (int k = m_roll(&r->seed, 3); k >= 0; k--)
			move(r);
		r->now_ms += m_roll(&r->seed, 20000);
		step(r);
	}
	if (!r->broken)
		drain(r);
	plan_destroy(r->p);
	plan_destroy(r->twin);
	return r->broken;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

struct seen {
	int64_t started, told[4], by;
	int told_count;
};

static void see(void *arg, const struct plan_decision *d)
{
	struct seen *s = arg;

	if (d->verb == PLAN_START) {
		s->started = d->job;
		return;
	}
	s->by = d->by;
	if (s->told_count < 4)
		s->told[s->told_count++] = d->job;
}

#define NODE_GPUS 4

static void put(struct plan *p, int64_t id, int gpus, bool preemptible, int priority)
{
	struct gang_role role = { .count = 1 };
	struct plan_job job = { .id = id,
				.user = "ada",
				.group = "ada",
				.priority = priority,
				.preemptible = preemptible,
				.gang.roles = &role,
				.gang.role_count = 1 };
	struct plan_delta d = { .kind = PLAN_WAIT, .job = &job };

	resources_set_device(&role.each, "gpu", gpus);
	plan_apply(p, &d);
}

static struct seen at(struct plan *p, int64_t now_ms)
{
	struct seen s = { 0 };

	plan_step(p, now_ms, 0, see, &s);
	return s;
}

static void tell(struct plan *p, enum plan_delta_kind kind, int64_t id, int64_t ms)
{
	struct plan_delta d = { .kind = kind, .id = id, .since_ms = ms };

	plan_apply(p, &d);
}

/* The order of the losses, on one node that is full. */
static void least_loss(void)
{
	struct node n = { .name = "one", .up = true };
	struct plan_delta d = { .kind = PLAN_NODE, .node = &n };
	struct plan *p = plan_create();
	AUTO_BUF struct buf words = { 0 };
	struct seen s;

	resources_set_device(&n.capacity, "gpu", NODE_GPUS);
	plan_apply(p, &d);
	put(p, 1, 1, true, 0);
	put(p, 10, 1, false, 0);
	at(p, 0);
	put(p, 2, 1, true, 0);
	at(p, 1000);
	put(p, 3, 1, true, 0);
	at(p, 2000);
	tell(p, PLAN_CHECKPOINT, 1, 61000);
	put(p, 4, 1, false, -3);
	s = at(p, 61500);
	OK(s.told_count == 1 && s.told[0] == 1 && s.by == 4,
	   "the least is lost: what a checkpoint keeps does not count");
	OK(plan_why(p, 4, NULL, &words) == PLAN_REASON_PREEMPTING &&
		   strncmp(buf_str(&words),
			   "job 1 gives way to it; it starts when that is gone", 50) == 0,
	   "the one who comes says so");
	put(p, 5, 1, false, 100);
	s = at(p, 61500);
	OK(s.told_count == 1 && s.told[0] == 2 && s.by == 5, "each has its own");
	put(p, 6, 1, false, 0);
	s = at(p, 61500);
	OK(!s.told_count && plan_next_ms(p) == 62000, "nobody is told before its minute");
	s = at(p, 62000);
	OK(s.told_count == 1 && s.told[0] == 3 && s.by == 6, "but right after it");
	put(p, 7, 1, false, 100);
	tell(p, PLAN_RELEASE, 1, 0);
	s = at(p, 63000);
	OK(s.started == 4, "the one for whom it was made takes the room, whoever waits");
	tell(p, PLAN_LEAVE, 7, 0);
	tell(p, PLAN_LEAVE, 5, 0);
	put(p, 8, 1, true, 0);
	s = at(p, 64000);
	OK(!s.started && !s.told_count,
	   "one who was told goes, though nobody waits for it");
	tell(p, PLAN_RELEASE, 2, 0);
	s = at(p, 65000);
	OK(s.started == 8, "and its room is anybody's then");
	plan_destroy(p);
}

int main(void)
{
	uint64_t one = number("YARD_TEST_SEED", 0), seed = one ? one : 1;
	uint64_t end = one ? one + 1 : 1 + number("YARD_TEST_SEEDS", SEEDS);
	const char *broken = NULL;
	struct run *r = mem_alloc(1, sizeof *r);
	int64_t starts = 0, preemptions = 0, multiple = 0, back = 0, kept_out = 0;
	int64_t reclaimed = 0;

	least_loss();
	if (!one)
		broken = history(PARKED_LATE, r);
	OK(!broken,
	   "who is stopped by a claim of the same step takes back what was lent");
	for (; seed < end && !broken; seed++) {
		broken = history(seed, r);
		starts += r->starts;
		preemptions += r->preemptions;
		multiple += r->multiple;
		back += r->came_back;
		kept_out += r->kept_out;
		reclaimed += r->reclaimed;
	}
	OK(!broken, "%" PRIu64 " histories of %d steps keep every law",
	   end - (one ? one : 1), STEPS);
	if (broken)
		printf("# seed %" PRIu64 " at job %" PRId64 ": %s; YARD_TEST_SEED\n",
		       seed - 1, r->next_id, broken);
	OK(one || (preemptions > 1000 && multiple > 100 && back > 500 &&
		   kept_out > 1000 && reclaimed > 50),
	   "and reach the corners (%" PRId64 " starts, %" PRId64 " told, %" PRId64
	   " times several for one, %" PRId64 " came back, %" PRId64 " heads, %" PRId64
	   " taken back)",
	   starts, preemptions, multiple, back, kept_out, reclaimed);
	free(r);
	return END();
}
