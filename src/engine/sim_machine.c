// SPDX-License-Identifier: Apache-2.0
#include "engine/sim_machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "engine/agenda.h"
#include "engine/sim_spots.h"

#define SPAWN_MS_MAX  4  /* from start() to the mark */
#define BEGIN_MS_MAX  20 /* from the mark to the task's first instruction */
#define REPORT_MS_MAX 3
#define TERM_MS_MAX   60
#define KILL_MS_MAX   5
#define LATE_MS_MAX   2000 /* of a lie */

/*        start()          mark           exec          end
 *   NEW ────────> SPAWNING ────> MARKED ─────> RUNNING ────> OVER
 *    ^───────────────┘ the daemon died: nothing was left behind; or its shim was on its
 *                       way already, and goes on unless adopt() fences it
 * A machine that loses power, or a shim that vanishes, goes from MARKED and RUNNING to
 * OVER with EXIT_LOST.  Nothing leaves OVER, so a second start can only be refused.
 */
enum sim_state { SIM_NEW, SIM_SPAWNING, SIM_MARKED, SIM_RUNNING, SIM_OVER };
enum sim_stop { STOP_NOT, STOP_TERM, STOP_KILL };

struct sim_task {
	struct task_ref ref;
	enum sim_state state;
	enum sim_stop stop;
	int starts;
	uint64_t end_seq; /* of the happening that ends it; others came too late */
	int64_t begun_ms, told_ms; /* when it began; when started() is told */
	int epoch; /* of the daemon that asked for it last: others hear nothing */
	bool ignores_term;
	bool on_its_way; /* the daemon that spawned it died; the shim did not */
	struct task_exit exit;
	int64_t run_ms; /* what its job asks for by SIM_RUN; -1: drawn */
	char *resume;   /* what it goes on from, or NULL */
	struct resources limits;
	struct placement place;
	struct stay_there there;
};

/* SPAWN and TELL_*: done by the daemon of that epoch or by nobody. */
enum what { SPAWN, BEGIN, END, TELL_STARTED, TELL_EXITED };

struct engine_sim_machine {
	struct world *world;
	uint64_t random;
	struct node *nodes;
	size_t node_count;
	struct spots *spots;
	struct engine_sim_faults faults;
	struct sim_sink up;
	bool attached;
	int epoch;
	int64_t now_ms; /* of the happening under way */
	struct agenda agenda;
	struct map *by_ref;
	struct sim_task **tasks; /* all there ever were */
	size_t task_count, task_cap, running;
	void **graves;
	size_t grave_count, grave_cap;
	char *violation;
};

/* The machine draws from its own sequence: another draw in the daemon changes nothing here. */
static uint64_t draw(struct engine_sim_machine *m)
{
	uint64_t z = (m->random += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

static int64_t upto(struct engine_sim_machine *m, int64_t max)
{
	return max <= 0 ? 0 : (int64_t)(draw(m) % ((uint64_t)max + 1));
}

static bool chance(struct engine_sim_machine *m, int percent)
{
	return (int)(draw(m) % 100) < percent;
}

static uint64_t schedule(struct engine_sim_machine *m, enum what what, struct sim_task *t,
			 int64_t at_ms)
{
	struct happening h = { at_ms, 0, (int)what, m->epoch, t };

	return agenda_add(&m->agenda, h);
}

static void ref_key(const struct task_ref *ref, char out[64])
{
	snprintf(out, 64, "%" PRId64 ".%d.%d", ref->job, ref->task, ref->attempt);
}

static struct sim_task *find(const struct engine_sim_machine *m,
			     const struct task_ref *ref)
{
	char key[64];

	ref_key(ref, key);
	return map_gets(m->by_ref, key);
}

static struct sim_task *task_add(struct engine_sim_machine *m, const struct task_ref *ref)
{
	struct sim_task *t = mem_alloc(1, sizeof *t);
	char key[64];

	ref_key(ref, key);
	map_puts(m->by_ref, key, t);
	mem_grow(&m->tasks, &m->task_cap, m->task_count, sizeof *m->tasks);
	m->tasks[m->task_count++] = t;
	t->ref = *ref;
	return t;
}

/* Another story of old, true once and of no use now. */
static void tell_of_old(struct engine_sim_machine *m)
{
	struct sim_task *t = m->tasks[upto(m, (int64_t)m->task_count - 1)];

	if (t->state != SIM_OVER || t->exit.kind == EXIT_LOST)
		return;
	schedule(m, t->starts && chance(m, 50) ? TELL_STARTED : TELL_EXITED, t,
		 m->now_ms + upto(m, LATE_MS_MAX));
}

static void tell_started(struct engine_sim_machine *m, struct sim_task *t)
{
	int lie = m->faults.lie_percent;

	if (!m->attached || t->epoch != m->epoch)
		return;
	t->told_ms = m->now_ms + upto(m, REPORT_MS_MAX);
	if (chance(m, lie))
		schedule(m, TELL_STARTED, t,
			 t->told_ms + upto(m, LATE_MS_MAX)); /* twice */
	if (chance(m, lie)) /* late: perhaps behind its own exit */
		schedule(m, TELL_STARTED, t, t->told_ms + upto(m, LATE_MS_MAX));
	else
		schedule(m, TELL_STARTED, t, t->told_ms);
	if (chance(m, lie))
		tell_of_old(m);
}

static void tell_exited(struct engine_sim_machine *m, struct sim_task *t)
{
	int64_t at_ms = m->now_ms + upto(m, REPORT_MS_MAX);

	if (!m->attached || t->epoch != m->epoch)
		return;
	if (at_ms < t->told_ms)
		at_ms = t->told_ms;
	schedule(m, TELL_EXITED, t, at_ms);
	if (chance(m, m->faults.lie_percent))
		schedule(m, TELL_EXITED, t, at_ms + upto(m, LATE_MS_MAX));
	if (chance(m, m->faults.lie_percent))
		tell_of_old(m);
}

static void violate(struct engine_sim_machine *m, const struct sim_task *t,
		    const char *what)
{
	if (!m->violation)
		m->violation = str_printf("job %" PRId64 " task %d attempt %d: %s",
					  t->ref.job, t->ref.task, t->ref.attempt, what);
}

static void check_attempts(struct engine_sim_machine *m, const struct sim_task *t)
{
	for (struct task_ref r = t->ref; r.attempt-- > 0;) {
		const struct sim_task *o = find(m, &r);
		if (o && o->state == SIM_RUNNING)
			violate(m, t, "was started while another attempt of it runs");
	}
}

static void check_begin(struct engine_sim_machine *m, struct sim_task *t)
{
	const char *wrong;

	if (t->starts > 1)
		violate(m, t, "was started twice");
	check_attempts(m, t);
	t->there.place = &t->place;
	t->there.limits = &t->limits;
	wrong = spots_enter(m->spots, &t->there);
	if (wrong)
		violate(m, t, wrong);
}

static void draw_exit(struct engine_sim_machine *m, struct sim_task *t)
{
	struct task_exit *x = &t->exit;

	*x = (struct task_exit){ .kind = EXIT_CODE,
				 .limit_bytes = t->limits.memory_bytes };
	x->peak_bytes = upto(m, t->limits.memory_bytes);
	if (!chance(m, m->faults.fail_percent))
		return;
	switch (upto(m, 2)) {
	case 0:
		x->code = 1 + (int)upto(m, 126);
		break;
	case 1:
		x->kind = EXIT_SIGNAL;
		x->signal = 11;
		break;
	case 2:
		x->kind = EXIT_OOM;
		x->signal = 9;
		x->peak_bytes = x->limit_bytes;
		break;
	}
}

static void end_now(struct engine_sim_machine *m, struct sim_task *t)
{
	if (t->state == SIM_RUNNING) {
		m->running--;
		spots_leave(&t->there);
		t->exit.cpu_ms = m->now_ms - t->begun_ms;
	}
	t->state = SIM_OVER;
}

static void end_unstarted(struct engine_sim_machine *m, struct sim_task *t,
			  const char *why)
{
	t->exit = (struct task_exit){ .kind = EXIT_UNSTARTED };
	snprintf(t->exit.text, sizeof t->exit.text, "%s", why);
	end_now(m, t);
	tell_exited(m, t);
}

static void end_lost(struct engine_sim_machine *m, struct sim_task *t, const char *why)
{
	t->exit = (struct task_exit){ .kind = EXIT_LOST };
	snprintf(t->exit.text, sizeof t->exit.text, "%s", why);
	end_now(m, t);
}

/* A stop that reached a running task. */
static void feel_stop(struct engine_sim_machine *m, struct sim_task *t)
{
	bool kill = t->stop == STOP_KILL;

	if (t->stop == STOP_NOT || (!kill && t->ignores_term))
		return;
	/* Half of those that are asked politely clean up and leave with a code of their own. */
	if (kill || chance(m, 50))
		t->exit = (struct task_exit){ .kind = EXIT_STOPPED,
					      .signal = kill ? 9 : 15 };
	t->end_seq = schedule(m, END, t,
			      m->now_ms + upto(m, kill ? KILL_MS_MAX : TERM_MS_MAX));
}

static void spawn(struct engine_sim_machine *m, struct sim_task *t)
{
	if (t->state != SIM_SPAWNING)
		return;
	if (chance(m, m->faults.start_fail_percent)) {
		end_unstarted(m, t, "the simulated machine could not start it");
		return;
	}
	t->state = SIM_MARKED;
	schedule(m, BEGIN, t, m->now_ms + upto(m, BEGIN_MS_MAX));
}

static void begin(struct engine_sim_machine *m, struct sim_task *t)
{
	if (t->state != SIM_MARKED)
		return;
	if (t->stop == STOP_KILL) {
		end_unstarted(m, t, "stopped before it was started");
		return;
	}
	t->state = SIM_RUNNING;
	t->starts++;
	t->begun_ms = m->now_ms;
	t->ignores_term = chance(m, m->faults.ignore_term_percent);
	check_begin(m, t);
	m->running++;
	draw_exit(m, t);
	tell_started(m, t);
	t->end_seq = schedule(
		m, END, t,
		m->now_ms + (t->run_ms >= 0 ? t->run_ms : upto(m, m->faults.run_ms_max)));
	feel_stop(m, t);
}

static void happen(struct engine_sim_machine *m, const struct happening *h)
{
	struct sim_task *t = h->about;
	bool here = m->attached && h->epoch == m->epoch;

	switch ((enum what)h->what) {
	case SPAWN:
		if (here || t->on_its_way)
			spawn(m, t);
		break;
	case BEGIN:
		begin(m, t);
		break;
	case END:
		if (t->state != SIM_RUNNING || t->end_seq != h->seq)
			break;
		end_now(m, t);
		tell_exited(m, t);
		break;
	case TELL_STARTED:
		if (here)
			m->up.started(m->up.arg, &t->ref);
		break;
	case TELL_EXITED:
		if (here)
			m->up.exited(m->up.arg, &t->ref, &t->exit);
		break;
	}
}

bool sim_machine_next(const struct engine_sim_machine *m, int64_t *at_ms)
{
	const struct happening *first = agenda_first(&m->agenda);

	if (first)
		*at_ms = first->at_ms;
	return first != NULL;
}

void sim_machine_run(struct engine_sim_machine *m)
{
	int64_t now_ms = world_mono_ms(m->world);
	const struct happening *first;

	while ((first = agenda_first(&m->agenda)) && first->at_ms <= now_ms) {
		struct happening h = agenda_take(&m->agenda);

		if (h.at_ms > m->now_ms)
			m->now_ms = h.at_ms;
		happen(m, &h);
	}
	m->now_ms = now_ms;
}

/* The daemon asks for the story of what it may have missed. */
static void retell(struct engine_sim_machine *m, struct sim_task *t)
{
	if (t->state == SIM_RUNNING)
		tell_started(m, t);
	if (t->state == SIM_OVER)
		tell_exited(m, t);
}

/* How long it says that it runs, in the variable SIM_RUN. */
static int64_t run_time(const struct bundle *b)
{
	const char *text = pairs_get(&b->env, "SIM_RUN");
	int64_t ms;

	return text && units_duration(text, &ms) == 0 ? ms : -1;
}

void sim_machine_start(struct engine_sim_machine *m, const struct bundle *b)
{
	struct sim_task *t = find(m, &b->ref);

	sim_machine_run(m);
	if (!t)
		t = task_add(m, &b->ref);
	t->epoch = m->epoch;
	if (t->state != SIM_NEW) {
		retell(m, t);
		return;
	}
	t->limits = b->limits;
	t->place = b->place;
	t->run_ms = run_time(b);
	free(t->resume);
	t->resume = mem_strdup(pairs_get(&b->env, "YARD_RESUME_FROM"));
	t->state = SIM_SPAWNING;
	schedule(m, SPAWN, t, m->now_ms + upto(m, SPAWN_MS_MAX));
}

void sim_machine_adopt(struct engine_sim_machine *m, const struct task_ref *ref)
{
	struct sim_task *t = find(m, ref);

	sim_machine_run(m);
	if (!t)
		t = task_add(m, ref);
	t->epoch = m->epoch;
	if (t->state == SIM_NEW || t->state == SIM_SPAWNING)
		end_unstarted(m, t, "it was never begun");
	else
		retell(m, t);
}

void sim_machine_stop(struct engine_sim_machine *m, const struct task_ref *ref, bool kill)
{
	struct sim_task *t = find(m, ref);

	sim_machine_run(m);
	/* A daemon that has neither started nor adopted it cannot know where it is. */
	if (!t || t->epoch != m->epoch)
		return;
	if (kill || t->stop == STOP_NOT)
		t->stop = kill ? STOP_KILL : STOP_TERM;
	if (t->state == SIM_SPAWNING)
		end_unstarted(m, t, "stopped before it was started");
	else if (t->state == SIM_RUNNING)
		feel_stop(m, t);
}

bool sim_machine_usage(struct engine_sim_machine *m, const struct task_ref *ref,
		       struct engine_usage *out)
{
	const struct sim_task *t = find(m, ref);

	sim_machine_run(m);
	if (!t || t->state != SIM_RUNNING)
		return false;
	*out = (struct engine_usage){ .time_ms = world_now_ms(m->world),
				      .cpu_ms = m->now_ms - t->begun_ms,
				      .memory_bytes = t->limits.memory_bytes / 2,
				      .memory_peak_bytes = t->exit.peak_bytes,
				      .pids = 1 };
	return true;
}

void sim_machine_attach(struct engine_sim_machine *m, const struct sim_sink *up)
{
	sim_machine_run(m);
	m->up = *up;
	m->attached = true;
}

void *sim_machine_detach(struct engine_sim_machine *m)
{
	bool was = m->attached;

	sim_machine_run(m);
	m->attached = false;
	m->epoch++;
	for (size_t i = 0; i < m->task_count; i++) {
		struct sim_task *t = m->tasks[i];

		if (t->state != SIM_SPAWNING)
			continue;
		t->on_its_way = chance(m, 50);
		if (!t->on_its_way)
			t->state =
				SIM_NEW; /* no mark was left: it may be started again */
	}
	return was ? m->up.arg : NULL;
}

void sim_machine_bury(struct engine_sim_machine *m, void *freed_with_the_machine)
{
	mem_grow(&m->graves, &m->grave_cap, m->grave_count, sizeof *m->graves);
	m->graves[m->grave_count++] = freed_with_the_machine;
}

void sim_machine_crash(struct engine_sim_machine *m, bool power)
{
	sim_machine_run(m);
	for (size_t i = 0; i < m->task_count; i++) {
		struct sim_task *t = m->tasks[i];

		if (power && t->state == SIM_SPAWNING)
			t->state = SIM_NEW;
		if (t->state != SIM_MARKED && t->state != SIM_RUNNING)
			continue;
		if (power)
			end_lost(m, t, "the machine was rebooted");
		else if (chance(m, m->faults.lost_percent))
			end_lost(m, t, "its shim is gone");
	}
}

struct world *sim_machine_world(struct engine_sim_machine *m)
{
	return m->world;
}

size_t sim_machine_nodes(const struct engine_sim_machine *m, const struct node **nodes)
{
	*nodes = m->nodes;
	return m->node_count;
}

struct engine_sim_machine *engine_sim_machine_create(struct world *w,
						     const struct node *nodes,
						     size_t node_count,
						     const struct engine_sim_faults *f)
{
	struct engine_sim_machine *m = mem_alloc(1, sizeof *m);

	m->world = w;
	m->random = world_random(w);
	m->nodes = mem_dup(nodes, node_count * sizeof *nodes);
	m->node_count = node_count;
	m->faults = *f;
	m->by_ref = map_create();
	m->spots = spots_create(m->nodes, node_count);
	m->now_ms = world_mono_ms(w);
	return m;
}

void engine_sim_machine_destroy(struct engine_sim_machine *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->task_count; i++) {
		free(m->tasks[i]->resume);
		free(m->tasks[i]);
	}
	for (size_t i = 0; i < m->grave_count; i++)
		free(m->graves[i]);
	map_destroy(m->by_ref);
	free(m->tasks);
	free(m->graves);
	agenda_fini(&m->agenda);
	free(m->nodes);
	spots_destroy(m->spots);
	free(m->violation);
	free(m);
}

int engine_sim_starts(const struct engine_sim_machine *m, const struct task_ref *ref)
{
	const struct sim_task *t = find(m, ref);

	return t ? t->starts : 0;
}

int engine_sim_running(const struct engine_sim_machine *m)
{
	return (int)m->running;
}

const char *engine_sim_resume(const struct engine_sim_machine *m,
			      const struct task_ref *ref)
{
	const struct sim_task *t = find(m, ref);

	return t ? t->resume : NULL;
}

bool engine_sim_truth(const struct engine_sim_machine *m, const struct task_ref *ref,
		      struct task_exit *out)
{
	const struct sim_task *t = find(m, ref);

	if (!t || t->state != SIM_OVER)
		return false;
	*out = t->exit;
	return true;
}

const char *engine_sim_violation(const struct engine_sim_machine *m)
{
	return m->violation;
}
