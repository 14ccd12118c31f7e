// SPDX-License-Identifier: Apache-2.0
/* Checkpoints: a stop that waits while they grow, one that does not, and a plan that knows
 * who loses least. */
#include "rig.h"

#include "yard/edit.h"
#include "yard/share.h"

static struct rig g;
static int extended, killed;

static void saw(void *arg, const struct event *e)
{
	(void)arg;
	extended += e->kind == EV_EXTENDED;
	killed += e->kind == EV_GRACE_OVER;
}

static void begin(int ignore_term_percent)
{
	struct engine_sim_faults f = { .run_ms_max = 1 << 30,
				       .ignore_term_percent = ignore_term_percent };
	struct plan_policy policy = plan_policy_default;

	extended = killed = 0;
	up(&g, &f);
	policy.min_run_ms = 0;
	yard_set_policy(g.yard, &policy);
	yard_watch_add(g.yard, saw, NULL);
}

static struct spec *with(const char *output, int64_t cpu_milli)
{
	struct spec *s = spec("train", cpu_milli);
	struct problems p = { 0 };

	spec_add_output(s, output, NULL);
	s->grace_ms = 1000;
	s->grace_max_ms = 60000;
	spec_check(s, &p);
	problems_fini(&p);
	return s;
}

static enum job_state state(int64_t job)
{
	const struct job *j = yard_live(g.yard, job);

	return j ? j->state : JOB_ENDED;
}

/* Those of every third job grow for ever: depot_sim.c. */
static int64_t run_growing(const char *output)
{
	int64_t id;

	do
		id = submit(&g, with(output, 1000 / 8));
	while (!depot_sim_grows(id));
	pass(&g, 30000);
	return id;
}

static void stop(int64_t job, bool now)
{
	struct answer a = { 0 };

	if (now)
		yard_kill(g.yard, &g.alice, job, "now", done, &a);
	else
		yard_stop(g.yard, &g.alice, job, NULL, done, &a);
	for (int i = 0; i < 100 && !a.came; i++)
		pass(&g, 1);
	OK(a.came && a.err.code == ERR_NONE, "the stop is taken");
}

static void waits(void)
{
	int64_t id;

	begin(100);
	id = run_growing("checkpoints");
	OK(state(id) == JOB_RUNNING, "a job runs");
	stop(id, false);
	pass(&g, 45000);
	OK(state(id) == JOB_STOPPING && extended > 0 && !killed,
	   "while its checkpoints grow its grace is put off (%d times)", extended);
	pass(&g, 45000);
	OK(state(id) == JOB_ENDED && killed == 1, "but not beyond its longest");
	down(&g);
}

static void does_not_wait(void)
{
	int64_t id;

	begin(100);
	id = run_growing("model");
	stop(id, false);
	pass(&g, 5000);
	OK(killed == 1 && !extended, "without such an output the grace is the grace");
	id = run_growing("checkpoints");
	stop(id, false);
	pass(&g, 45000);
	OK(extended > 0 && killed == 1, "with one it is put off");
	stop(id, true);
	pass(&g, 30000);
	OK(state(id) == JOB_ENDED && killed == 2, "until somebody says now");
	id = run_growing("checkpoints");
	stop(id, true);
	pass(&g, 30000);
	OK(state(id) == JOB_ENDED && killed == 3,
	   "who says so first need not say it twice");
	stop(id, true);
	OK(killed == 3, "and of what has ended nothing is left to kill");
	down(&g);
}

/* Until what was killed is gone, its grace may be over, too: that is nothing new. */
static void kills_once(void)
{
	begin(100);
	for (int grace_ms = 0; grace_ms < 10; grace_ms++) {
		struct spec *s = spec("train", 1000 / 8);
		s->grace_ms = s->grace_max_ms = grace_ms;
		int64_t id = submit(&g, s);
		pass(&g, 30000);
		stop(id, true);
		pass(&g, 30000);
		OK(state(id) == JOB_ENDED, "it is killed and has ended");
	}
	OK(killed == 10, "each was killed once, however short its grace (%d)", killed);
	down(&g);
}

static void kill_array(void)
{
	struct spec *s;
	struct problems p = { 0 };
	int64_t id;

	begin(100);
	s = with("checkpoints", 500);
	s->array.count = 8;
	spec_check(s, &p);
	problems_fini(&p);
	id = submit(&g, s);
	pass(&g, 30000);
	OK(state(id) == JOB_OPEN, "an array runs");
	stop(id, true);
	pass(&g, 30000);
	OK(state(id) == JOB_ENDED && killed > 0, "its members are killed with it (%d)",
	   killed);
	down(&g);
}

/* Which of two preemptible jobs gives way: the older, or the younger. */
static bool older_goes(const char *output)
{
	struct spec *s;
	int64_t first, second;
	bool gone;

	begin(0);
	s = with(output, 1000);
	s->preemptible = true;
	first = submit(
		&g, s); /* of odd ones the last checkpoint is a second old: depot_sim.c */
	pass(&g, 120000);
	s = with(output, 1000);
	s->preemptible = true;
	second = submit(&g, s);
	pass(&g, 60000);
	OK(first % 2 == 1 && second % 2 == 0 && state(first) == JOB_RUNNING &&
		   state(second) == JOB_RUNNING,
	   "two preemptible jobs run");
	submit(&g, spec("urgent", 1000));
	pass(&g, 25000);
	gone = state(first) != JOB_RUNNING;
	OK(gone != (state(second) != JOB_RUNNING), "one of them gives way");
	down(&g);
	return gone;
}

int main(void)
{
	waits();
	does_not_wait();
	kills_once();
	kill_array();
	OK(!older_goes("model"), "as far as the yard knows who began last loses least");
	OK(older_goes("checkpoints"), "but who has just saved loses less");
	return END();
}
