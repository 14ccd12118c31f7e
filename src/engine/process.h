// SPDX-License-Identifier: Apache-2.0
/* process.h - the process engine's inside: one struct attempt per attempt it was told of.
 *
 *             start()                     bundle sent           SHIM_STARTED
 *   (unknown) ───────> LOOKING ─> QUEUED ────────────> STARTING ────────────> RUNNING
 *     adopt() ───────>    │  ^                             │                     │
 *                         │  └──── the socket to the shim ended ─────────────────┤
 *                         v                                       SHIM_EXITED    │
 *                       OVER <───────────────────────────────────────────────────┘
 *
 * LOOKING reads the attempt's folder (shim/probe.h), which alone decides: a live shim
 * is RUNNING, an exit file or a mark without a shim is OVER, nothing at all is QUEUED
 * when we hold a bundle.  It repeats while a shim is just coming or going.
 */
#pragma once

#include <sys/types.h>

#include "base/map.h"
#include "engine/convert.h"
#include "engine/engine.h"
#include "engine/link.h"
#include "engine/node.h"
#include "engine/spawn.h"

#define SAMPLE_EVERY_MS 5000

enum attempt_state {
	ATTEMPT_LOOKING,
	ATTEMPT_QUEUED,
	ATTEMPT_STARTING,
	ATTEMPT_RUNNING,
	ATTEMPT_OVER
};
enum attempt_stop { ATTEMPT_STOP_NONE, ATTEMPT_STOP_TERM, ATTEMPT_STOP_KILL };

struct attempt_queue {
	struct attempt *first, *last;
	int count;
};

struct process {
	struct engine base;
	struct world *world;
	struct engine_sink sink;
	struct machine machine;
	char *state_dir, *cache, *home;
	int starting_max;
	struct map *by_ref;          /* attempts that are not forgotten */
	struct attempt *attempts;    /* all */
	struct attempt_queue looks;  /* start() was called; its folder is not made yet */
	struct attempt_queue starts; /* QUEUED */
	int starting;                /* attempts in STARTING */
	struct world_timer
		*pump; /* goes on with the queue in the next turn of the loop */
	struct spawn_pool *shims;
	struct world_timer *sampler; /* set while something runs: an idle yard sleeps */
	int64_t sampler_ms;          /* when it fires */
};

struct attempt {
	struct process *p;
	struct task_ref ref;
	char *folder;
	enum attempt_state state;
	struct bundle *bundle; /* until it was sent */
	bool spawned; /* by this engine: what leaves no trace was never started */
	bool fresh;   /* we made the folder: no earlier daemon told anybody of it */
	bool told_started, forgotten;
	struct link *link;    /* the shim's own socket, or a connection that watches it */
	struct link *control; /* requests; made when first needed */
	pid_t pid;            /* of our child, until it is reaped; 0: none */
	int pidfd;
	struct world_watch *reaper;
	int status;        /* how our child ended, by waitpid() */
	char refused[160]; /* what it said when it would not begin */
	enum attempt_stop stop, stop_sent;
	char *notice;       /* what it is told with ATTEMPT_STOP_TERM */
	int64_t kill_by_ms; /* a shim that has not ended everything by then is killed itself */
	bool shim_killed; /* it was */
	struct world_timer *timer;
	int tries;             /* of LOOKING, for its pause */
	int64_t busy_since_ms; /* a shim without a mark holds the lock; 0: none */
	struct task_exit exit; /* OVER */
	struct engine_usage usage;
	int64_t usage_ms;    /* mono time of it; 0: none yet */
	bool usage_asked;    /* the answer is on its way */
	struct sweep *sweep; /* under way: its end is told then; or NULL */
	int64_t sample_at_ms, sample_every_ms;
	int sample_quiet; /* how often the pause is doubled, because it does nothing */
	struct attempt *prev, *next;             /* of p->attempts */
	struct attempt_queue *queue;             /* that it is in; NULL: none */
	struct attempt *queue_prev, *queue_next; /* of it */
};

struct attempt *attempt_create(struct process *p, const struct task_ref *ref,
			       const char *folder);
void attempt_destroy(struct attempt *a); /* what runs goes on */
void attempt_begin(struct attempt *a);   /* makes its folder, and looks */
void attempt_look(struct attempt *a);    /* into LOOKING, and on from there */
/* QUEUED → STARTING, or OVER when the task cannot be told. */
void attempt_send(struct attempt *a, const struct spawn_shim *shim);
void attempt_unstarted(struct attempt *a, const char *why); /* → OVER */
void attempt_stop(struct attempt *a, const char *notice);   /* NULL: kill */
/* The last sample; asks for another when it is not fresh.  ERR_BUSY: there is none yet. */
int attempt_usage(struct attempt *a, struct engine_usage *out, struct err *err);

/* When it is time, asks for one more of the series.  When it is time again; INT64_MAX: it
 * does not run. */
int64_t attempt_sample(struct attempt *a);

void process_sample(struct process *p); /* something runs: samples are due by and by */
void process_enqueue(struct process *p, struct attempt_queue *q, struct attempt *a);
void process_unqueue(struct attempt *a); /* out of whichever it is in */
/* Makes the folder and those above it.  1: made; 0: was there; -1. */
int process_folder(const char *folder, struct err *err);
/* In the next turn of the loop starts who waits and makes shims. */
void process_pump(struct process *p);
