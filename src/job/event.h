// SPDX-License-Identifier: Apache-2.0
/* event.h - the facts a job is made of.
 *
 * A job is the fold of its events, in the order of seq.  Events are appended once,
 * never changed, never removed while the job is kept.  One struct for all kinds;
 * the comment at each kind names the fields it uses beside seq, time_ms and job.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "job/exit.h"
#include "job/node.h"
#include "job/placement.h"
#include "job/principal.h"
#include "job/spec.h"

enum event_kind {
	EV_SUBMITTED, /* spec, by, group, uid, key (idempotency, may be NULL), digest (of the body, with key); array, index, count: of which array it is which member of how many */
	EV_READY,     /* dependencies are fulfilled */
	EV_PLACED,    /* attempt, places[place_count]: one a task, by rank */
	EV_STARTED,   /* attempt, task */
	EV_EXITED,    /* attempt, task, exit */
	EV_STOP, /* stop, by, text: asked to stop, and why; way: for which job it gives way */
	EV_GRACE_OVER, /* what still runs is killed; by: who wanted that at once, or NULL */
	EV_COLLECTED, /* attempt; text: what could not be kept, or NULL */
	EV_RETRY,     /* attempt, until_ms, text (why): another attempt after the pause */
	EV_REQUEUED,  /* the pause is over */
	EV_ENDED,     /* outcome, text (one sentence) */
	EV_QUOTA,     /* job 0: by, scope ("user" or "group"), name, quota */
	EV_USER, /* job 0: name, uid (-1: none), slot: which range of host uids is theirs */
	EV_AUDIT, /* job 0: by, scope (what was done: "user.add"), name (to what), text (more, or NULL) */
	EV_PRIORITY, /* by, priority: from now on */
	EV_MEMBER, /* of an array: index, member (its job), outcome, count: one of its members has ended */
	EV_EXTENDED, /* attempt, until_ms, text: its checkpoints still grow, its grace lasts until then */
	EV_PROGRESS, /* attempt, text: what is being brought for it, or from it, and how far */
	EVENT_KIND_COUNT
};

enum stop_kind {
	STOP_NONE,
	STOP_USER, /* by says who */
	STOP_TIME_LIMIT,
	STOP_POLICY,     /* the completion policy is fulfilled: the rest is ended */
	STOP_PREEMPTED,  /* gives way, comes back */
	STOP_DEPENDENCY, /* what it waited for did not succeed */
	STOP_ARRAY,      /* its array was stopped; text says why */
	STOP_KIND_COUNT
};

enum outcome {
	OUTCOME_NONE,
	OUTCOME_SUCCEEDED,
	OUTCOME_FAILED,
	OUTCOME_STOPPED,
	OUTCOME_COUNT
};

struct event {
	int64_t seq, time_ms, job;
	enum event_kind kind;
	int attempt, task, slot, priority;
	int64_t array, member, index; /* array, member: jobs; 0: none */
	int64_t count;                /* of any event of an array: members made so far */
	int64_t way;                  /* a job; 0: none */
	enum stop_kind stop;
	enum outcome outcome;
	int64_t until_ms, uid;
	struct task_exit exit;
	struct quota quota;
	char *by, *group, *key, *digest, *text, *scope, *name;
	struct spec *spec;
	struct placement *places;
	size_t place_count;
};

void event_fini(struct event *e); /* frees what it owns */
/* The body: all but seq, time_ms, job and kind, as JSON; and back. */
void event_encode(const struct event *e, struct buf *out);
int event_decode(enum event_kind kind, const char *body, size_t len, struct event *out,
		 struct err *err);

const char *event_kind_word(enum event_kind kind); /* "submitted", ...: stable */
int event_kind_from_word(const char *word, enum event_kind *out);
const char *stop_kind_word(enum stop_kind kind);
const char *outcome_word(enum outcome o);
