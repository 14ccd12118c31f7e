// SPDX-License-Identifier: Apache-2.0
/* job.h - a job as the fold of its events. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job/event.h"
#include "job/life.h"

struct task {
	int role, index; /* index inside the role */
	enum task_state state;
	struct placement place;
	struct task_exit exit; /* when TASK_OVER */
	int64_t started_ms, ended_ms;
};

/* How the tasks of a role ended, before any stop was asked. */
struct role_tally {
	int count; /* of tasks there are */
	int ok, failed;
};

#define MEMBERS_NAMED 8

/* How the members of an array fare. */
struct members {
	int64_t made; /* so far, in the order of their numbers */
	int64_t ended, failed, stopped;
	int64_t running; /* kept by the yard: no event of the parent tells it */
	int64_t not_ok[MEMBERS_NAMED]; /* the first that did not succeed, by number */
};

#define WAYS_NAMED 4

/* How often it gave way, and what that cost it. */
struct ways {
	int count;
	int64_t lost_ms;          /* that it had run since its last start */
	int64_t last[WAYS_NAMED]; /* for whom; the latest first */
};

struct job {
	int64_t id, last_seq;
	struct spec *spec;
	char *owner, *group, *key, *digest;
	int64_t owner_uid;
	enum job_state state;
	int priority;       /* the spec's until somebody changed it */
	int attempt;        /* 0 before the first PLACED, then 1, 2, ... */
	int failures;       /* attempts that count against retry.max */
	struct task *tasks; /* by rank: roles in order, tasks of a role in order */
	size_t task_count;  /* of the last attempt: fewer than the spec's when a role has
			     * a least and there was no room for more; before any, all */
	size_t starting_count, over_count; /* of tasks in these states */
	struct role_tally *tallies;        /* by role, of this attempt */
	enum stop_kind stop; /* of this attempt; STOP_USER once asked stays */
	char *stop_by, *stop_text;
	int64_t way;            /* of STOP_PREEMPTED: the job it gives way to */
	struct ways ways;       /* of earlier attempts */
	bool killed;            /* grace was over, */
	bool killed_now;        /* because somebody wanted it to be */
	int64_t grace_until_ms; /* put off: its checkpoints grew; 0: as its spec says */
	/* When the attempt before was cut off in the middle, the first task of it: what was
	 * being written then is not whole.  0: all left by themselves; -1: nobody knows when. */
	int64_t cut_ms;
	int64_t age_ms; /* since when it waits, with what it ran before it gave way */
	int64_t submitted_ms, queued_ms, placed_ms, started_ms, stop_ms, retry_at_ms,
		ended_ms;
	enum outcome decided; /* by the completion policy, as soon as it is fulfilled */
	int first_failed;     /* rank of the attempt's first failed task, -1: none */
	enum outcome outcome;
	char *reason;   /* one sentence: why it ended, or why it is tried again */
	char *progress; /* what is being brought for it or from it now; NULL: nothing */
	int64_t array, index,
		array_count;    /* a member's: which one of how many; array 0: none */
	struct members members; /* an array's */
};

bool job_is_array(const struct job *j); /* the parent of members */

/* Takes spec; with NULL it copies the event's. */
struct job *job_create(const struct event *submitted, struct spec *spec);
void job_destroy(struct job *j);

/* Whether the event may happen now: right state, right attempt, right task. */
bool job_legal(const struct job *j, const struct event *e);
/* Folds a legal event in; gives the effects to carry out once it is on disk. */
uint32_t job_apply(struct job *j, const struct event *e);
/* Effects to repeat after a restart, for the state the fold arrived at. */
uint32_t job_at_boot(const struct job *j);
/* Once every task is over: another attempt would follow. */
bool job_would_retry(const struct job *j);
/* In SETTLING: fills kind, outcome or until_ms, and text of the RETRY or ENDED event. */
void job_settle(const struct job *j, int64_t now_ms, struct event *out);

/* Of one that is shown: it has so many tasks, if that is fewer. */
void job_set_tasks(struct job *j, size_t count);
int job_rank(const struct job *j, const char *role, int index); /* -1: no such task */
int job_exit_code(const struct job *j); /* of an ended job, as `yard run` returns it */
