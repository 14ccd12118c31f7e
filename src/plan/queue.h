// SPDX-License-Identifier: Apache-2.0
/* queue.h - who waits, kept by likeness; whose turn it is: order.h.
 *
 * A step looks at one of a kind:
 *   shape   what is asked of the nodes; if one job of a shape does not fit, none does
 *   bucket  jobs of one shape, owner, time limit (and guess, to 1/8 of its size): they
 *           differ only in age, priority and number, so only the first of a bucket is
 *           ever a candidate
 * A shape is in one of the plan's trees, by its first job of all:
 *   OPEN     something changed: to be tried by the next step
 *   BLOCKED  did not fit; opened again when something is given back
 *   BACK     fits, but would delay a head, or there is a window or a promise in its way;
 *            opened again when anything changed
 *   NEVER    does not fit on empty nodes; opened again when a node changes
 *   IDLE     (no tree) all its buckets are parked at an owner's quota, or none waits
 */
#pragma once

#include "fleet/fleet.h"
#include "plan/owner.h"

struct bucket {
	char *key;
	struct shape *shape;
	struct owner *user, *group;
	int64_t limit_ms, guess_ms, served_ms;
	bool preemptible;
	bool behind; /* when last tried, in that pass: it fits, but would delay a head */
	uint64_t pass;
	bool kept;   /* when last tried: promises to others were all that stopped it */
	bool within; /* its first job is within a guarantee, */
	uint64_t within_version;
	struct tree jobs;
	struct owner *parked; /* NULL: it stands in shape->ready */
	struct tree_node at;
};

struct entry { /* a job, waiting or running */
	int64_t id, limit_ms, end_ms;
	int64_t since_ms; /* when it was started; of one that waits: submitted */
	int64_t submit_ms, served_ms; /* see plan_job */
	bool preemptible;
	int64_t guess_ms, guess_low_ms, guess_high_ms; /* 0: nothing known */
	int priority;
	bool aged; /* waits past the age bound */
	struct shape *shape;
	struct owner *user, *group;
	struct bucket *bucket;   /* NULL: runs, or claims */
	struct claim *claim;     /* it waits for others to give way; see preempt.h */
	int64_t kept_ms;         /* what it did until then is kept */
	struct claim *gives_way; /* it runs, and was told to go for that one */
	struct tree_node in_way; /* among the victims there, or those who might be */
	struct tree_node at;     /* in plan.queue or plan.running */
	struct tree_node in_bucket;
	struct tree_node in_line; /* of its group, while it waits and is not aged */
	struct grants grants;
};

/* plan.c: known by its number, and in no queue yet (any more). */
struct entry *entry_create(struct plan *p, const struct plan_job *job);
void entry_destroy(struct plan *p, struct entry *e);

void queue_join(struct plan *p, struct entry *e);
void queue_leave(struct plan *p, struct entry *e);
void queue_move(struct plan *p, struct shape *s, enum shape_state state);
void queue_move_all(struct plan *p, enum shape_state from, enum shape_state to);
void queue_unpark(struct plan *p, struct owner *o);
bool queue_quota_ok(struct plan *p, struct bucket *b); /* else parks it */
struct owner *queue_quota_owner(const struct bucket *b, enum quota_short *what,
				int *limit);
struct entry *bucket_first(const struct bucket *b);
const struct entry *queue_peek_head(const struct plan *p); /* the first of all heads */
int64_t queue_guess(const struct entry *e); /* rounded up to 1/8 of its size */
/* What it holds counts for its user, its group and all above: more or less. */
void queue_charge(struct entry *e, int sign);
void queue_discharge(struct plan *p,
		     struct entry *e); /* and who waits for that may try */
/* It runs since then: takes its place among those that run, and is charged. */
void queue_runs(struct plan *p, struct entry *e, int64_t since_ms);
void queue_believe(struct plan *p, struct entry *e); /* of that: when it ends */
