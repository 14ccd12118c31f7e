// SPDX-License-Identifier: Apache-2.0
/* plan.h - who runs where: nodes × queue × quotas → placements, with a reason for
 * everyone who waits.
 *
 * Pure: no clock, no I/O, no randomness, no floats; the same deltas in the same order
 * give the same decisions.  The yard tells what happened by plan_apply() and asks for
 * decisions by plan_step().  A decision is a proposal: plan holds its resources as
 * taken from that moment; the yard records it (PLACED) and confirms nothing further;
 * when it cannot (the job was stopped meanwhile) it sends PLAN_RELEASE.
 *
 * Laws: no device, port or slot is given twice; a gang is placed whole or not at all;
 * (priority, submit order) decides who is the head; a job that is not the head is
 * placed only if that cannot make the head's earliest start later (time limits are
 * believed; running jobs without one are assumed to end after all that have one, in the
 * order of their ids; a candidate without one is assumed never to end); no quota is
 * exceeded, nor is the head's eaten by another job of its owner; a job over its own
 * quota, or that no node could hold, is not the head and does not block others.
 *
 * Deltas mean "make it so": repeating one, or naming a job that is not there, changes
 * nothing.  What is decided depends only on nodes, quotas, who waits and who holds what
 * since when: a plan rebuilt by PLAN_NODE, PLAN_QUOTA_*, PLAN_HELD and PLAN_WAIT decides
 * as the old one would have.  A step costs by the number of different requests that may
 * fit, not by the number of jobs that wait.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/node.h"
#include "job/placement.h"
#include "job/resources.h"

struct plan_role {
	int count;
	struct resources each;
	/* A placement's ports are those of any number, out of the node's range and used by no
	 * other task there, then the fixed ones (on the task's own address, so never in the
	 * way of another's).  PLAN_HELD takes them in any order. */
	int any_ports; /* counts unrolled; with fixed_count at most PORTS_MAX */
	int fixed_ports[PORTS_MAX];
	int fixed_count;
};

struct plan_job {
	int64_t id; /* submit order is id order */
	int priority;
	const char *user, *group;      /* copied */
	int64_t limit_ms;              /* time limit, 0: none */
	const struct plan_role *roles; /* copied; ranks run through the roles in order */
	size_t role_count;
};

enum plan_delta_kind {
	PLAN_NODE, /* node: added or changed; up=false: gone (its tasks stay until released) */
	PLAN_WAIT,  /* job: joins the queue, or goes where its new priority puts it */
	PLAN_LEAVE, /* id: leaves the queue without running */
	PLAN_HELD,  /* job, places, since_ms: runs already (boot): takes its resources */
	PLAN_RELEASE,    /* id: gives back everything it was given */
	PLAN_QUOTA_USER, /* name, quota; NULL quota: no limit */
	PLAN_QUOTA_GROUP,
};

struct plan_delta {
	enum plan_delta_kind kind;
	const struct node *node;
	const struct plan_job *job;
	const struct placement *places; /* one a task */
	size_t place_count;
	int64_t since_ms;
	int64_t id;
	const char *name;
	const struct quota *quota;
};

struct plan_decision {
	int64_t job;
	const struct placement *places; /* by rank; valid until the next call */
	size_t place_count;
};

enum plan_reason_kind {
	PLAN_REASON_NONE,     /* not waiting */
	PLAN_REASON_NEW,      /* no pass has looked at it yet */
	PLAN_REASON_CAPACITY, /* not enough free of something */
	PLAN_REASON_ORDER,    /* would fit, but would delay the head */
	PLAN_REASON_USER_QUOTA,
	PLAN_REASON_GROUP_QUOTA,
	PLAN_REASON_NEVER, /* no node could ever hold it (a node left) */
};

struct plan;

struct plan *plan_create(void);
void plan_destroy(struct plan *p);
void plan_apply(struct plan *p, const struct plan_delta *d);
/* Calls decide() once for each job placed now, in order; at most `most` of them (0: all).
 * decide() may not call into this plan. */
void plan_step(struct plan *p, int64_t now_ms, size_t most,
	       void (*decide)(void *arg, const struct plan_decision *d), void *arg);
struct plan_eyes { /* of which jobs one may know; NULL: of all.  Of others no number is told */
	bool (*see)(void *arg, int64_t job);
	void *arg;
};
/* Why a job waits, in plain words without a final stop, and where it is in the queue:
 * "waits for 2 gpu on one node; node-a has 1 of 4 gpu free, held by job 7 (3 gpu); job 12
 * is ahead; number 3 of 9 in the queue".  True at the moment of asking. */
enum plan_reason_kind plan_why(const struct plan *p, int64_t job,
			       const struct plan_eyes *eyes, struct buf *words);
int plan_position(const struct plan *p, int64_t job); /* 1 is the head; 0: not waiting */
size_t plan_waiting(const struct plan *p);
/* Who waits from that position on (1 is the head), in order; gives how many were written. */
size_t plan_queue(const struct plan *p, size_t position, int64_t *out, size_t max);
/* 0, or ERR_QUOTA/ERR_INVALID in words with the nearest that fits: nothing could ever run it. */
int plan_possible(const struct plan *p, const struct plan_job *job, struct err *err);
/* What is taken on a node now; -1: no such node. */
int plan_node_used(const struct plan *p, const char *node, struct resources *used,
		   int *tasks);
