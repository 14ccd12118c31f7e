// SPDX-License-Identifier: Apache-2.0
#include "job/life.h"

#include "base/str.h"

#define GO(state, fx)                                                                    \
	{                                                                                \
		.legal = true, .next = (state), .effects = (fx)                          \
	}

/* clang-format off */
static const struct life_step table[JOB_STATE_COUNT][JOB_STEP_COUNT] = {
	[JOB_NEW] = {
		[STEP_SUBMIT]      = GO(JOB_HELD,       FX_HOLD),
	},
	[JOB_HELD] = {
		[STEP_READY]       = GO(JOB_QUEUED,     FX_QUEUE),
		[STEP_OPEN]        = GO(JOB_OPEN,       FX_MEMBERS),
		[STEP_STOP]        = GO(JOB_SETTLING,   FX_SETTLE),
	},
	[JOB_QUEUED] = {
		[STEP_PLACE]       = GO(JOB_STARTING,   FX_LAUNCH),
		[STEP_STOP]        = GO(JOB_SETTLING,   FX_UNQUEUE | FX_SETTLE),
	},
	[JOB_STARTING] = {
		[STEP_STARTED]     = GO(JOB_STARTING,   FX_WATCH_LIMIT),
		[STEP_ALL_STARTED] = GO(JOB_RUNNING,    FX_WATCH_LIMIT),
		[STEP_DECIDED]     = GO(JOB_STOPPING,   FX_TERM),
		[STEP_STOP]        = GO(JOB_STOPPING,   FX_TERM),
		[STEP_ALL_EXITED]  = GO(JOB_COLLECTING, FX_COLLECT),
	},
	[JOB_RUNNING] = {
		[STEP_DECIDED]     = GO(JOB_STOPPING,   FX_TERM),
		[STEP_STOP]        = GO(JOB_STOPPING,   FX_TERM),
		[STEP_ALL_EXITED]  = GO(JOB_COLLECTING, FX_COLLECT),
	},
	[JOB_STOPPING] = {
		/* A start that was under way when the stop came still reports. */
		[STEP_STARTED]     = GO(JOB_STOPPING,   FX_TERM),
		[STEP_ALL_STARTED] = GO(JOB_STOPPING,   FX_TERM),
		/* A second stop (a person's, after the policy's) changes the verdict only. */
		[STEP_STOP]        = GO(JOB_STOPPING,   0),
		[STEP_GRACE_OVER]  = GO(JOB_STOPPING,   FX_KILL),
		[STEP_ALL_EXITED]  = GO(JOB_COLLECTING, FX_COLLECT),
	},
	[JOB_COLLECTING] = {
		[STEP_STOP]        = GO(JOB_COLLECTING, 0),
		[STEP_COLLECTED]   = GO(JOB_SETTLING,   FX_RELEASE | FX_SETTLE),
	},
	[JOB_SETTLING] = {
		[STEP_RETRY]       = GO(JOB_BACKOFF,    FX_PAUSE),
		[STEP_END]         = GO(JOB_ENDED,      FX_FORGET),
	},
	[JOB_BACKOFF] = {
		[STEP_REQUEUE]     = GO(JOB_QUEUED,     FX_QUEUE),
		[STEP_STOP]        = GO(JOB_SETTLING,   FX_SETTLE),
	},
	[JOB_OPEN] = {
		[STEP_MEMBER]      = GO(JOB_OPEN,       FX_MEMBERS),
		[STEP_DECIDED]     = GO(JOB_DRAINING,   FX_DRAIN),
		[STEP_STOP]        = GO(JOB_DRAINING,   FX_DRAIN),
		[STEP_ALL_MEMBERS] = GO(JOB_SETTLING,   FX_SETTLE),
	},
	[JOB_DRAINING] = {
		[STEP_MEMBER]      = GO(JOB_DRAINING,   0),
		/* A person's, after the policy's: changes the verdict only. */
		[STEP_STOP]        = GO(JOB_DRAINING,   0),
		[STEP_ALL_MEMBERS] = GO(JOB_SETTLING,   FX_SETTLE),
	},
};

static const uint32_t at_boot[JOB_STATE_COUNT] = {
	[JOB_HELD]       = FX_HOLD,
	[JOB_QUEUED]     = FX_QUEUE,
	[JOB_STARTING]   = FX_LAUNCH | FX_WATCH_LIMIT,
	[JOB_RUNNING]    = FX_ADOPT | FX_WATCH_LIMIT,
	[JOB_STOPPING]   = FX_ADOPT | FX_TERM,
	[JOB_COLLECTING] = FX_COLLECT,
	[JOB_SETTLING]   = FX_SETTLE,
	[JOB_BACKOFF]    = FX_PAUSE,
	[JOB_OPEN]       = FX_MEMBERS,
	[JOB_DRAINING]   = FX_DRAIN,
};

static const struct task_life task_table[TASK_STATE_COUNT][TASK_STEP_COUNT] = {
	[TASK_IDLE]     = { [TASK_PLACE] = { true, TASK_STARTING }, [TASK_RESET] = { true, TASK_IDLE } },
	[TASK_STARTING] = { [TASK_START] = { true, TASK_RUNNING },  [TASK_EXIT]  = { true, TASK_OVER } },
	[TASK_RUNNING]  = { [TASK_EXIT]  = { true, TASK_OVER } },
	[TASK_OVER]     = { [TASK_RESET] = { true, TASK_IDLE } },
};

static const char *const state_words[JOB_STATE_COUNT] = {
	[JOB_NEW] = "new", [JOB_HELD] = "held", [JOB_QUEUED] = "queued",
	[JOB_STARTING] = "starting", [JOB_RUNNING] = "running", [JOB_STOPPING] = "stopping",
	[JOB_COLLECTING] = "collecting", [JOB_SETTLING] = "settling",
	[JOB_BACKOFF] = "backoff", [JOB_OPEN] = "open", [JOB_DRAINING] = "draining",
	[JOB_ENDED] = "ended",
};

static const char *const task_words[TASK_STATE_COUNT] = {
	[TASK_IDLE] = "idle", [TASK_STARTING] = "starting",
	[TASK_RUNNING] = "running", [TASK_OVER] = "over",
};
/* clang-format on */

struct life_step life_step(enum job_state state, enum job_step step)
{
	return table[state][step];
}

uint32_t life_at_boot(enum job_state state)
{
	return at_boot[state];
}

struct task_life life_task(enum task_state state, enum task_step step)
{
	return task_table[state][step];
}

const char *job_state_word(enum job_state s)
{
	return state_words[s];
}

int job_state_from_word(const char *word, enum job_state *out)
{
	for (enum job_state s = 0; s < JOB_STATE_COUNT; s++) {
		if (str_eq(word, state_words[s])) {
			*out = s;
			return 0;
		}
	}
	return -1;
}

const char *task_state_word(enum task_state s)
{
	return task_words[s];
}
