// SPDX-License-Identifier: Apache-2.0
#include "job/job.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

bool job_is_array(const struct job *j)
{
	return j->spec->array.count > 0;
}

/* An array that waits for nobody has its members at once, others stand in the queue. */
static void ready(struct job *j, int64_t now_ms)
{
	if (job_is_array(j)) {
		j->state = life_step(j->state, STEP_OPEN).next;
		j->started_ms = now_ms;
	} else {
		j->state = life_step(j->state, STEP_READY).next;
		j->queued_ms = j->age_ms = now_ms;
	}
}

static void add_task(struct job *j, size_t rank, int role)
{
	j->tasks[rank] = (struct task){ .role = role, .index = j->tallies[role].count++ };
}

/* All that the spec asks for, in the order of their roles. */
static void number_all(struct job *j)
{
	size_t rank = 0;

	memset(j->tallies, 0, j->spec->role_count * sizeof *j->tallies);
	for (size_t r = 0; r < j->spec->role_count; r++)
		for (int i = 0; i < j->spec->roles[r].count; i++)
			add_task(j, rank++, (int)r);
	j->task_count = rank;
}

/* Those that were placed: the places say of which roles when they are fewer. */
static void number_placed(struct job *j, const struct event *e)
{
	number_all(j);
	if (e->place_count == j->task_count)
		return;
	memset(j->tallies, 0, j->spec->role_count * sizeof *j->tallies);
	for (size_t i = 0; i < e->place_count; i++)
		add_task(j, i, e->places[i].role);
	j->task_count = e->place_count;
}

static void make_tasks(struct job *j)
{
	if (job_is_array(j))
		return; /* its members have them */
	j->tasks = mem_alloc((size_t)spec_task_count(j->spec), sizeof *j->tasks);
	j->tallies = mem_alloc(j->spec->role_count, sizeof *j->tallies);
	number_all(j);
}

/* One place a task, or fewer: of each role from its least to its count, in order. */
static bool places_legal(const struct job *j, const struct event *e)
{
	size_t at = 0;

	if (e->place_count == (size_t)spec_task_count(j->spec))
		return true;
	for (size_t r = 0; r < j->spec->role_count; r++) {
		const struct role *role = &j->spec->roles[r];
		int have = 0;
		for (; at < e->place_count && e->places[at].role == (int)r; at++)
			have++;
		if (have > role->count ||
		    have < (role->least ? role->least : role->count))
			return false;
	}
	return at == e->place_count;
}

void job_set_tasks(struct job *j, size_t count)
{
	if (count < j->task_count)
		j->task_count = count;
}

struct job *job_create(const struct event *e, struct spec *spec)
{
	struct job *j = mem_alloc(1, sizeof *j);

	j->id = e->job;
	j->last_seq = e->seq;
	j->spec = spec ? spec : spec_copy(e->spec, NULL);
	j->owner = mem_strdup(e->by);
	j->group = mem_strdup(e->group);
	j->key = mem_strdup(e->key);
	j->digest = mem_strdup(e->digest);
	j->owner_uid = e->uid;
	j->priority = j->spec->priority;
	j->submitted_ms = e->time_ms;
	j->first_failed = -1;
	j->state = life_step(JOB_NEW, STEP_SUBMIT).next;
	j->array = e->array;
	j->index = e->index;
	j->array_count = e->array ? e->count : 0;
	make_tasks(j);
	if (j->spec->after_count == 0)
		ready(j, e->time_ms);
	return j;
}

void job_destroy(struct job *j)
{
	if (!j)
		return;
	spec_destroy(j->spec);
	free(j->owner);
	free(j->group);
	free(j->key);
	free(j->digest);
	free(j->stop_by);
	free(j->stop_text);
	free(j->reason);
	free(j->progress);
	free(j->tasks);
	free(j->tallies);
	free(j);
}

static const struct {
	bool is_step;
	enum job_step step;
} step_of[EVENT_KIND_COUNT] = {
	[EV_READY] = { true, STEP_READY },
	[EV_PLACED] = { true, STEP_PLACE },
	[EV_STOP] = { true, STEP_STOP },
	[EV_GRACE_OVER] = { true, STEP_GRACE_OVER },
	[EV_COLLECTED] = { true, STEP_COLLECTED },
	[EV_RETRY] = { true, STEP_RETRY },
	[EV_REQUEUED] = { true, STEP_REQUEUE },
	[EV_ENDED] = { true, STEP_END },
	[EV_MEMBER] = { true, STEP_MEMBER },
};

static enum job_step step_for(const struct job *j, const struct event *e)
{
	if (e->kind == EV_READY && job_is_array(j))
		return STEP_OPEN;
	return step_of[e->kind].step;
}

/* Reports of a task count only for the attempt that is under way. */
static bool task_legal(const struct job *j, const struct event *e)
{
	enum task_step step = e->kind == EV_STARTED ? TASK_START : TASK_EXIT;

	if (e->attempt != j->attempt || e->task < 0 || (size_t)e->task >= j->task_count)
		return false;
	if (j->state != JOB_STARTING && j->state != JOB_RUNNING &&
	    j->state != JOB_STOPPING)
		return false;
	return life_task(j->tasks[e->task].state, step).legal;
}

bool job_legal(const struct job *j, const struct event *e)
{
	if (e->job != j->id)
		return false;
	if (e->kind == EV_STARTED || e->kind == EV_EXITED)
		return task_legal(j, e);
	if (e->kind == EV_PRIORITY)
		return j->state != JOB_ENDED;
	if (e->kind == EV_EXTENDED)
		return j->state == JOB_STOPPING && !j->killed && e->attempt == j->attempt;
	if (e->kind == EV_PROGRESS)
		return (j->state == JOB_STARTING || j->state == JOB_COLLECTING) &&
		       e->attempt == j->attempt;
	if (!step_of[e->kind].is_step || !life_step(j->state, step_for(j, e)).legal)
		return false;
	if (e->kind == EV_MEMBER)
		return e->index >= 0 && e->index < j->spec->array.count &&
		       e->outcome != OUTCOME_NONE && j->members.ended < e->count;
	if (e->kind == EV_STOP && e->stop == STOP_PREEMPTED)
		return j->state == JOB_STARTING || j->state == JOB_RUNNING;
	if (e->kind == EV_PLACED)
		return e->attempt == j->attempt + 1 && places_legal(j, e);
	if (e->kind == EV_COLLECTED)
		return e->attempt == j->attempt;
	return true;
}

static uint32_t go(struct job *j, enum job_step step)
{
	struct life_step s = life_step(j->state, step);

	if (!s.legal)
		return 0;
	j->state = s.next;
	return s.effects;
}

static void reset_attempt(struct job *j, const struct event *e)
{
	j->attempt = e->attempt;
	j->placed_ms = e->time_ms;
	j->started_ms = 0;
	j->stop = STOP_NONE;
	j->way = 0;
	j->killed = j->killed_now = false;
	j->grace_until_ms = 0;
	j->decided = OUTCOME_NONE;
	j->first_failed = -1;
	number_placed(j, e);
	j->starting_count = j->task_count;
	j->over_count = 0;
	for (size_t i = 0; i < j->task_count; i++) {
		struct task *t = &j->tasks[i];
		t->place = e->places[i];
		t->state = life_task(TASK_IDLE, TASK_PLACE).next;
	}
}

static uint32_t apply_started(struct job *j, const struct event *e)
{
	struct task *t = &j->tasks[e->task];

	t->state = life_task(t->state, TASK_START).next;
	t->started_ms = e->time_ms;
	if (!j->started_ms)
		j->started_ms = e->time_ms;
	if (--j->starting_count == 0)
		return go(j, STEP_ALL_STARTED);
	return go(j, STEP_STARTED);
}

/* What the completion policy says once a task of this role has ended. */
static enum outcome role_verdict(const struct job *j, int role)
{
	const struct role *r = &j->spec->roles[role];
	const struct role_tally *t = &j->tallies[role];

	if (t->failed >= (r->fail_after == SPEC_ALL ? t->count : r->fail_after))
		return OUTCOME_FAILED;
	if (r->succeed_after != SPEC_ALL && t->ok >= r->succeed_after)
		return OUTCOME_SUCCEEDED;
	return OUTCOME_NONE;
}

/* Left by itself with 0 though it was told to go. */
static bool done_in_grace(const struct task *t, const struct task_exit *x)
{
	return t->started_ms &&
	       (exit_ok(x) || (x->kind == EXIT_STOPPED && !x->code && !x->signal));
}

/* What ends after a stop was asked says nothing about the work; but of one that gives way
 * success does: that task is done, whatever it was told. */
static void judge(struct job *j, const struct event *e)
{
	const struct task *t = &j->tasks[e->task];
	int role = t->role;
	bool ok = exit_ok(&e->exit);

	if (j->stop == STOP_PREEMPTED && done_in_grace(t, &e->exit))
		ok = true;
	else if (j->stop != STOP_NONE)
		return;
	j->tallies[role].ok += ok;
	j->tallies[role].failed += !ok;
	if (!ok && j->first_failed < 0)
		j->first_failed = e->task;
	if (j->decided == OUTCOME_NONE)
		j->decided = role_verdict(j, role);
}

static uint32_t apply_exited(struct job *j, const struct event *e)
{
	struct task *t = &j->tasks[e->task];

	j->starting_count -= t->state == TASK_STARTING;
	j->over_count++;
	t->state = life_task(t->state, TASK_EXIT).next;
	t->exit = e->exit;
	/* The daemon may have been away: then the event is later than what it tells. */
	t->ended_ms = e->time_ms;
	if (e->exit.ended_ms >= t->started_ms && e->exit.ended_ms > 0 &&
	    e->exit.ended_ms < e->time_ms)
		t->ended_ms = e->exit.ended_ms;
	judge(j, e);
	if (j->over_count == j->task_count)
		return go(j, STEP_ALL_EXITED);
	if (j->decided == OUTCOME_NONE || j->stop != STOP_NONE)
		return 0;
	j->stop = STOP_POLICY;
	j->stop_ms = e->time_ms;
	return go(j, STEP_DECIDED);
}

/* Nobody is left whose end is awaited. */
static bool members_over(const struct job *j)
{
	const struct members *m = &j->members;

	return m->ended == j->spec->array.count ||
	       (j->state == JOB_DRAINING && m->ended == m->made);
}

static uint32_t drain(struct job *j, enum job_step step)
{
	uint32_t effects = go(j, step);

	return members_over(j) ? go(j, STEP_ALL_MEMBERS) : effects;
}

/* Keeps the first few that did not succeed, by number. */
static void name_member(struct members *m, int64_t index)
{
	int64_t at = m->failed + m->stopped;

	if (at >= MEMBERS_NAMED)
		return;
	for (; at > 0 && m->not_ok[at - 1] > index; at--)
		m->not_ok[at] = m->not_ok[at - 1];
	m->not_ok[at] = index;
}

static uint32_t apply_member(struct job *j, const struct event *e)
{
	struct members *m = &j->members;
	int most = j->spec->array.stop_after;

	if (e->outcome != OUTCOME_SUCCEEDED)
		name_member(m, e->index);
	m->ended++;
	m->failed += e->outcome == OUTCOME_FAILED;
	m->stopped += e->outcome == OUTCOME_STOPPED;
	if (members_over(j))
		return go(j, STEP_ALL_MEMBERS);
	if (j->state != JOB_OPEN || !most || m->failed < most)
		return go(j, STEP_MEMBER);
	j->stop = STOP_POLICY;
	j->stop_ms = e->time_ms;
	return drain(j, STEP_DECIDED);
}

/* What is not to be tried again, whatever it was stopped for before. */
static bool is_last_word(enum stop_kind stop)
{
	return stop == STOP_USER || stop == STOP_ARRAY;
}

static void note_stop(struct job *j, const struct event *e)
{
	/* The work is done: a stop that comes now only keeps it from being tried again. */
	if (j->state == JOB_COLLECTING && !job_would_retry(j))
		return;
	/* A person's word stands; and what has begun to stop keeps its first moment. */
	if (j->stop == STOP_USER)
		return;
	if (j->stop == STOP_NONE || is_last_word(e->stop)) {
		if (j->stop == STOP_NONE)
			j->stop_ms = e->time_ms;
		j->stop = e->stop;
		j->way = e->way;
		free(j->stop_by);
		free(j->stop_text);
		j->stop_by = mem_strdup(e->by);
		j->stop_text = mem_strdup(e->text);
	}
}

/* A job that ran ended when its last task did. */
static int64_t last_end(const struct job *j, int64_t otherwise_ms)
{
	int64_t last = 0;

	for (size_t i = 0; i < j->task_count; i++) {
		if (j->tasks[i].state != TASK_OVER)
			return otherwise_ms;
		if (j->tasks[i].ended_ms > last)
			last = j->tasks[i].ended_ms;
	}
	return j->task_count ? last : otherwise_ms;
}

/* What it had run is lost to it, as far as the yard knows. */
static void note_way(struct job *j)
{
	struct ways *w = &j->ways;

	memmove(&w->last[1], &w->last[0], sizeof w->last - sizeof w->last[0]);
	w->last[0] = j->way;
	w->count++;
	if (j->started_ms)
		w->lost_ms += last_end(j, j->stop_ms) - j->started_ms;
}

/* It said itself that it was done, or took its notice and left. */
static bool left_by_itself(const struct task_exit *x)
{
	return exit_ok(x) || x->kind == EXIT_UNSTARTED ||
	       (x->kind == EXIT_STOPPED && !x->signal);
}

/* One that never began wrote nothing: what was so before is so still. */
static int64_t first_cut(const struct job *j)
{
	int64_t first = 0;
	bool began = false;

	for (size_t i = 0; i < j->task_count; i++) {
		const struct task *t = &j->tasks[i];

		if (t->exit.kind == EXIT_LOST)
			return -1;
		began |= t->exit.kind != EXIT_UNSTARTED;
		if (!left_by_itself(&t->exit) && (!first || t->ended_ms < first))
			first = t->ended_ms;
	}
	return began ? first : j->cut_ms;
}

static void set_reason(struct job *j, const char *text)
{
	free(j->reason);
	j->reason = mem_strdup(text);
}

/* Whatever else happens to a job, what was brought is there or was given up. */
static void set_progress(struct job *j, const char *text)
{
	free(j->progress);
	j->progress = mem_strdup(text);
}

static void note(struct job *j, const struct event *e)
{
	switch (e->kind) {
	case EV_PLACED:
		reset_attempt(j, e);
		break;
	case EV_STOP:
		note_stop(j, e);
		break;
	case EV_GRACE_OVER:
		j->killed = true;
		j->killed_now = e->by != NULL;
		break;
	case EV_RETRY:
		j->failures += j->stop != STOP_PREEMPTED;
		if (j->stop == STOP_PREEMPTED)
			note_way(j);
		j->retry_at_ms = e->until_ms;
		j->cut_ms = first_cut(j);
		j->stop = STOP_NONE;
		set_reason(j, e->text);
		for (size_t i = 0; i < j->task_count; i++)
			j->tasks[i].state = life_task(j->tasks[i].state, TASK_RESET).next;
		break;
	case EV_REQUEUED:
		if (!j->way)
			j->age_ms = e->time_ms;
		j->queued_ms = e->time_ms;
		break;
	case EV_READY:
		j->queued_ms = j->age_ms = e->time_ms;
		if (job_is_array(j))
			j->started_ms = e->time_ms;
		break;
	case EV_ENDED:
		j->outcome = e->outcome;
		j->ended_ms = last_end(j, e->time_ms);
		set_reason(j, e->text);
		break;
	case EV_SUBMITTED:
	case EV_STARTED:
	case EV_EXITED:
	case EV_COLLECTED:
	case EV_QUOTA:
	case EV_USER:
	case EV_AUDIT:
	case EV_PROGRESS:
	case EV_EXTENDED: /* neither are these steps of its life */
	case EV_PRIORITY: /* see apply_priority() */
	case EV_MEMBER:   /* see apply_member() */
	case EVENT_KIND_COUNT:
		break;
	}
}

/* One that waits gets its new place in the queue; another keeps it for later. */
static uint32_t apply_priority(struct job *j, const struct event *e)
{
	j->priority = e->priority;
	return j->state == JOB_QUEUED ? FX_QUEUE : 0;
}

uint32_t job_apply(struct job *j, const struct event *e)
{
	j->last_seq = e->seq;
	if (job_is_array(j) && e->count > j->members.made)
		j->members.made = e->count;
	if (e->kind == EV_MEMBER)
		return apply_member(j, e);
	if (e->kind == EV_PRIORITY)
		return apply_priority(j, e);
	if (e->kind == EV_EXTENDED) {
		j->grace_until_ms = e->until_ms;
		return 0;
	}
	set_progress(j, e->kind == EV_PROGRESS ? e->text : NULL);
	if (e->kind == EV_PROGRESS)
		return 0;
	if (e->kind == EV_STARTED)
		return apply_started(j, e);
	if (e->kind == EV_EXITED)
		return apply_exited(j, e);
	note(j, e);
	if (e->kind == EV_STOP && j->state == JOB_OPEN)
		return drain(j, STEP_STOP);
	return go(j, step_for(j, e));
}

uint32_t job_at_boot(const struct job *j)
{
	uint32_t fx = life_at_boot(j->state);

	if (j->state == JOB_STOPPING && j->killed)
		fx = (fx & ~(uint32_t)FX_TERM) | FX_KILL;
	return fx;
}

int job_rank(const struct job *j, const char *role, int index)
{
	for (size_t i = 0; i < j->task_count; i++)
		if (j->tasks[i].index == index &&
		    str_eq(j->spec->roles[j->tasks[i].role].name, role))
			return (int)i;
	return -1;
}
