// SPDX-License-Identifier: Apache-2.0
/* The laws of the life tables, walked through every history. */
#include "tap.h"

#include "job/life.h"

#define DEPTH 12

struct walk {
	int leaks, twice_queued, ends;
	int made_after_drain; /* members made although the array is being stopped */
	bool seen[JOB_STATE_COUNT];
};

/* What a history holds: a placement between LAUNCH and RELEASE, a place in the queue
 * between QUEUE and PLACE or UNQUEUE. */
static void walk(struct walk *w, enum job_state st, int held, int queued, int depth)
{
	bool drained = st == JOB_DRAINING || st == JOB_SETTLING || st == JOB_ENDED;

	w->seen[st] = true;
	if (st == JOB_ENDED) {
		w->ends++;
		w->leaks += held != 0 || queued != 0;
		return;
	}
	for (enum job_step step = 0; depth && step < JOB_STEP_COUNT; step++) {
		struct life_step s = life_step(st, step);
		int now_held = held, now_queued = queued;

		if (!s.legal || (s.next == st && !s.effects))
			continue;
		now_held += !!(s.effects & FX_LAUNCH) - !!(s.effects & FX_RELEASE);
		now_queued += !!(s.effects & FX_QUEUE) - !!(s.effects & FX_UNQUEUE) -
			      (step == STEP_PLACE);
		w->leaks += now_held < 0 || now_held > 1;
		w->made_after_drain += drained && s.effects & FX_MEMBERS;
		w->twice_queued += now_queued < 0 || now_queued > 1;
		walk(w, s.next, now_held, now_queued, depth - 1);
	}
}

static bool reaches_end(enum job_state from)
{
	bool reached[JOB_STATE_COUNT] = { [JOB_NEW] = false };
	bool more = true;

	reached[from] = true;
	while (more) {
		more = false;
		for (enum job_state st = 0; st < JOB_STATE_COUNT; st++) {
			for (enum job_step step = 0; step < JOB_STEP_COUNT; step++) {
				struct life_step s = life_step(st, step);
				if (reached[st] && s.legal && !reached[s.next])
					more = reached[s.next] = true;
			}
		}
	}
	return reached[JOB_ENDED];
}

static void job_laws(void)
{
	struct walk w = { 0 };
	int dead_ends = 0, silent = 0, unseen = 0, deaf = 0, after_end = 0;

	walk(&w, JOB_NEW, 0, 0, DEPTH);
	for (enum job_state st = 0; st < JOB_STATE_COUNT; st++) {
		dead_ends += st != JOB_ENDED && !reaches_end(st);
		silent += st != JOB_NEW && st != JOB_ENDED && !life_at_boot(st);
		unseen += !w.seen[st];
		/* SETTLING is decided in the same breath: nothing can come between. */
		deaf += st != JOB_NEW && st != JOB_ENDED && st != JOB_SETTLING &&
			!life_step(st, STEP_STOP).legal;
	}
	for (enum job_step step = 0; step < JOB_STEP_COUNT; step++)
		after_end += life_step(JOB_ENDED, step).legal;
	OK(w.ends > 1000, "the walk ends %d times", w.ends);
	OK(w.leaks == 0, "every history gives back what it was given, once");
	OK(w.twice_queued == 0,
	   "nobody stands in the queue twice, nobody leaves it twice");
	OK(w.made_after_drain == 0, "an array that is stopped makes no more members");
	OK(life_step(JOB_OPEN, STEP_MEMBER).effects == FX_MEMBERS &&
		   life_at_boot(JOB_OPEN) == FX_MEMBERS &&
		   life_at_boot(JOB_DRAINING) == FX_DRAIN,
	   "one that is open makes the next as one ends, also after a boot");
	OK(dead_ends == 0, "from every state there is a way to the end");
	OK(unseen == 0, "every state is reached");
	OK(silent == 0,
	   "every state but the first and the last says what to redo at boot");
	OK(deaf == 0, "whatever a job does, it can be asked to stop");
	OK(after_end == 0, "nothing happens after the end");
	OK(life_at_boot(JOB_ENDED) == 0, "an ended job has nothing to redo");
}

static void boot_laws(void)
{
	OK(!(life_at_boot(JOB_RUNNING) & FX_LAUNCH) &&
		   !(life_at_boot(JOB_STOPPING) & FX_LAUNCH),
	   "what had started is looked for at boot, never started again");
	OK(life_at_boot(JOB_STOPPING) & FX_TERM, "a stop that was under way is repeated");
	for (enum job_state st = 0; st < JOB_STATE_COUNT; st++)
		OK(!(life_at_boot(st) & (FX_RELEASE | FX_UNQUEUE)),
		   "%s: boot gives nothing back that it has not taken",
		   job_state_word(st));
}

static void task_laws(void)
{
	int bad = 0;

	for (enum task_state st = 0; st < TASK_STATE_COUNT; st++) {
		struct task_life s = life_task(st, TASK_EXIT);
		bad += (st == TASK_STARTING || st == TASK_RUNNING) !=
		       (s.legal && s.next == TASK_OVER);
		bad += life_task(st, TASK_PLACE).legal != (st == TASK_IDLE);
		bad += life_task(st, TASK_START).legal != (st == TASK_STARTING);
	}
	OK(bad == 0, "a task exits once, from where it may be running, and starts once");
}

static void words(void)
{
	enum job_state back;
	int bad = 0;

	for (enum job_state st = 0; st < JOB_STATE_COUNT; st++)
		bad += job_state_from_word(job_state_word(st), &back) < 0 || back != st;
	OK(bad == 0, "every state has a word of its own");
	OK(job_state_from_word("sleeping", &back) < 0, "an unknown word is no state");
}

int main(void)
{
	job_laws();
	boot_laws();
	task_laws();
	words();
	return END();
}
