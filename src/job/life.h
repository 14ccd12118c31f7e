// SPDX-License-Identifier: Apache-2.0
/* life.h - the life of a job and of a task: two tables, nothing else.
 *
 *   NEW ─submit─> HELD ─ready─> QUEUED ─placed─> STARTING ─all started─> RUNNING
 *                                  ^                  \                    /
 *                         requeued |                   stop, or the policy is fulfilled
 *                                  |                              v
 *                               BACKOFF               STOPPING ─grace over─> (kill)
 *                                  ^                              v  all exited
 *                             retry \                         COLLECTING
 *                                    \                            v  collected: all is given back
 *                                     `───────────────────── SETTLING ─ended─> ENDED
 *
 * The parent of an array has no tasks; in place of queue and run it has members:
 *
 *   HELD ─open─> OPEN ─stop, or too many failed─> DRAINING
 *                   \                               /
 *                    the last member has ended ────┴─> SETTLING ─ended─> ENDED
 *
 * A step is legal or it is not; an illegal one changes nothing.  Effects mean "make
 * it so": repeating one is harmless, and life_at_boot() says which to repeat after
 * a crash.  Some steps are derived: the fold of a stored event makes them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum job_state {
	JOB_NEW,
	JOB_HELD,
	JOB_QUEUED,
	JOB_STARTING,
	JOB_RUNNING,
	JOB_STOPPING,
	JOB_COLLECTING,
	JOB_SETTLING,
	JOB_BACKOFF,
	JOB_OPEN,     /* an array: its members are made, a window at a time */
	JOB_DRAINING, /* an array: no more are made, those alive are stopped */
	JOB_ENDED,
	JOB_STATE_COUNT
};

enum job_step {
	STEP_SUBMIT,
	STEP_READY,
	STEP_PLACE,
	STEP_STARTED,     /* a task started, others have not yet */
	STEP_ALL_STARTED, /* derived: the last task started */
	STEP_DECIDED, /* derived: the completion policy is fulfilled, tasks still run */
	STEP_STOP,
	STEP_GRACE_OVER,
	STEP_ALL_EXITED, /* derived: the last task ended */
	STEP_COLLECTED,
	STEP_RETRY,
	STEP_REQUEUE,
	STEP_END,
	STEP_OPEN,        /* an array's READY */
	STEP_MEMBER,      /* a member has ended, not the last one */
	STEP_ALL_MEMBERS, /* derived: the last member has ended */
	JOB_STEP_COUNT
};

/* HOLD, QUEUE, UNQUEUE, RELEASE, SETTLE, MEMBERS and DRAIN touch memory only, or record
 * further events, and are carried out when the event is recorded; the others touch the outside and wait until it is on disk. */
enum effect {
	FX_HOLD = 1,  /* watch the dependencies */
	FX_QUEUE = 2, /* tell plan: it waits */
	FX_LAUNCH =
		4, /* takes what PLACED gave; prepare and start every task that is not over */
	FX_WATCH_LIMIT = 8, /* time limit timer */
	FX_TERM = 16,       /* ask every task to end; grace timer */
	FX_KILL = 32,       /* end every task now */
	FX_COLLECT = 64,    /* keep the outputs */
	FX_SETTLE = 128,    /* decide: retry or end */
	FX_RELEASE = 256,   /* give back what PLACED took */
	FX_PAUSE = 512,     /* back-off timer */
	FX_UNQUEUE = 1024,  /* tell plan: it waits no more */
	FX_FORGET = 2048,   /* ended: tell waiters and dependants, drop run-time files */
	FX_ADOPT = 4096,    /* at boot: find every task that is not over, begin none */
	FX_MEMBERS = 8192,  /* make members until the window is full */
	FX_DRAIN = 16384,   /* stop every member that is alive */
};

struct life_step {
	bool legal;
	enum job_state next;
	uint32_t effects;
};

struct life_step life_step(enum job_state state, enum job_step step);
uint32_t life_at_boot(enum job_state state);

enum task_state { TASK_IDLE, TASK_STARTING, TASK_RUNNING, TASK_OVER, TASK_STATE_COUNT };
enum task_step { TASK_PLACE, TASK_START, TASK_EXIT, TASK_RESET, TASK_STEP_COUNT };

struct task_life {
	bool legal;
	enum task_state next;
};

struct task_life life_task(enum task_state state, enum task_step step);

const char *job_state_word(enum job_state s); /* "queued", ...: stable, in the API */
int job_state_from_word(const char *word, enum job_state *out);
const char *
task_state_word(enum task_state s); /* "idle", "starting", "running", "over" */
