// SPDX-License-Identifier: Apache-2.0
/* plan.h - who runs where: nodes × queue × tenants → placements, preemptions, and a
 * reason for everyone who waits.
 *
 * Pure: no clock, no I/O, no randomness, no floats; the same deltas in the same order
 * give the same decisions.  The yard tells what happened by plan_apply() and asks for
 * decisions by plan_step().  A decision is a proposal: plan holds its resources as
 * taken from that moment; the yard records it and confirms nothing further; when it
 * cannot (the job was stopped meanwhile) it sends PLAN_RELEASE.
 *
 * Laws: no device, share, port or slot is given twice; a gang is placed whole (each role
 * between its least and its count) or not at all; the order of job/policy.h decides who is
 * the head of a queue; a job is placed before the head of any queue only if that cannot
 * make that head's earliest start later (time limits are believed; running jobs without
 * one are assumed to end after all that have one, in the order of their ids; a candidate
 * without one is assumed never to end); no quota, borrowing or lending limit is exceeded
 * and no guarantee is kept from a job that is within it; nobody is preempted for a job
 * that does not start then; nobody waits past the age bound behind one who came later.
 *
 * Deltas mean "make it so": repeating one, or naming a job that is not there, changes
 * nothing.  What is decided depends only on nodes, tenants, policy, past use, what was
 * asked for, who waits and who holds what since when: a plan rebuilt from these decides
 * as the old one would have.  A step costs by the number of different requests that may fit, not by the
 * number of jobs that wait.
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"
#include "job/gang.h"
#include "job/policy.h"
#include "job/tenant.h"

struct plan_job {
	int64_t id; /* submit order is id order */
	int priority;
	const char *user, *group; /* copied */
	int64_t limit_ms;         /* time limit, 0: none */
	struct gang gang;         /* copied */
	int64_t submit_ms;        /* since when it waits: its age counts from here */
	int64_t guess_ms; /* how long it will run, learned (learn.h); 0: nothing known */
	int64_t guess_low_ms, guess_high_ms; /* of ten like it one is sooner, one later */
	int64_t served_ms;                   /* how long it ran before it was preempted */
	bool preemptible; /* gives way to one that is not, and comes back */
};

enum plan_delta_kind {
	PLAN_NODE, /* node: added or changed; up=false: gone (its tasks stay until released) */
	PLAN_WAIT,  /* job: joins the queue, or goes where its new priority puts it; with
		     * its id and places: others were told to give way to it there */
	PLAN_LEAVE, /* id: leaves the queue without running */
	PLAN_HELD, /* job, places, since_ms, id: runs already (boot): takes its resources;
		     * with id it was told to give way to that job */
	PLAN_RELEASE, /* id, since_ms: gave back then everything it was given (0: at the time
		       * of the last step); that it ran till then counts as past use */
	PLAN_CHECKPOINT, /* id, since_ms: what it did until then is kept */
	PLAN_QUOTA_USER, /* name, quota; NULL quota: no limit */
	PLAN_QUOTA_GROUP,
	PLAN_TENANT, /* name, tenant: a group's place in the tree; NULL tenant: the default */
	PLAN_POLICY, /* policy */
	PLAN_USED, /* name (a group), used, since_ms: all that its jobs used in that hour that
		    * have ended; told at boot, and then known from PLAN_RELEASE */
	PLAN_ASKED, /* job: somebody asks for such a gang: it counts to what is typical */
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
	const struct tenant_rule *tenant;
	const struct plan_policy *policy;
	const struct use *used;
};

enum plan_verb {
	PLAN_START,
	PLAN_PREEMPT, /* told to give way to `by`: notice, grace, then PLAN_RELEASE; its
		       * resources are by's from now on; places: by's nodes and roles */
};

struct plan_decision {
	enum plan_verb verb;
	int64_t job, by;
	const struct placement *places; /* by rank; valid until the next call */
	size_t place_count;             /* fewer than asked for when a role has a least */
};

struct plan;

struct plan *plan_create(void);
void plan_destroy(struct plan *p);
void plan_apply(struct plan *p, const struct plan_delta *d);
/* Calls decide() once for each decision, in order; at most `most` of them (0: all).
 * decide() may not call into this plan. */
void plan_step(struct plan *p, int64_t now_ms, size_t most,
	       void (*decide)(void *arg, const struct plan_decision *d), void *arg);
/* When a step would decide otherwise though no delta came (a job has waited long enough,
 * a window opens); INT64_MAX: never. */
int64_t plan_next_ms(const struct plan *p);

int plan_position(const struct plan *p, int64_t job); /* 1 is the first; 0: not waiting */
size_t plan_waiting(const struct plan *p);
/* Who waits from that position on (1 is the first), in order; gives how many were written. */
size_t plan_queue(const struct plan *p, size_t position, int64_t *out, size_t max);
/* What is taken on a node now; -1: no such node. */
int plan_node_used(const struct plan *p, const char *node, struct resources *used,
		   int *tasks);
