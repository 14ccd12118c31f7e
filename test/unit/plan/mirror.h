// SPDX-License-Identifier: Apache-2.0
/* mirror.h - an independent, slow and obvious account of a yard, to hold the plan to its
 * laws: plain arrays, no classes, no caches, everything worked out anew each time.
 * Jobs here have one role, so that "does it fit" has an exact answer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/plan.h"
#include "plan/why.h"

#define M_NODES  4
#define M_JOBS   64
#define M_TASKS  6
#define M_OWNERS 4
#define M_GROUPS M_OWNERS
#define M_HOURS  48
#define M_NEVER  INT64_MAX

enum m_state { M_NONE, M_WAITING, M_RUNNING };

struct m_job {
	enum m_state state;
	struct plan_job job;
	struct gang_role role;
	int user, group;
	int64_t since_ms;
	struct placement places[M_TASKS];
	/* Preemption (test/unit/plan/preempt.c): told to go for that job, and what it did till
	 * then is kept; others give way to it, and it is to run there. */
	int64_t gives_way, kept_ms;
	bool claims;
	struct placement pins[M_TASKS];
	size_t pin_count;
};

struct mirror {
	struct node nodes[M_NODES];
	struct m_job jobs[M_JOBS];
	struct quota user_quota[M_OWNERS], group_quota[M_OWNERS];
	bool has_user[M_OWNERS], has_group[M_OWNERS];
	/* mirror_order.c */
	bool has_policy; /* else: one queue, see m_create() */
	struct plan_policy policy;
	int64_t now_ms; /* of the last step */
	struct tenant_rule rules[M_GROUPS];
	bool has_rule[M_GROUPS];
	int above[M_GROUPS];                 /* parents + 1 */
	struct use hours[M_GROUPS][M_HOURS]; /* past use */
};

extern const char *const m_users[M_OWNERS], *const m_groups[M_OWNERS];

uint64_t m_random(uint64_t *seed);
int m_roll(uint64_t *seed, int below);
void m_make_node(struct mirror *m, int at, uint64_t *seed);
void m_make_job(struct m_job *j, int64_t id, uint64_t *seed);
struct m_job *m_find(struct mirror *m, int64_t id);
/* A law that the decision breaks, or NULL; books it as running. */
const char *m_decide(struct mirror *m, const struct plan_decision *d, int64_t now_ms);

bool m_ahead(const struct m_job *a, const struct m_job *b); /* in one queue */
/* By policy and rules: whose turn it is, who stands where in the tree, what that allows. */
bool m_before(const struct mirror *m, const struct m_job *a, const struct m_job *b);
bool m_below(const struct mirror *m, int group, int above); /* or itself */
void m_find_parents(struct mirror *m);                      /* after a rule changed */
int m_parent(const struct mirror *m, int group);            /* -1: the root */
bool m_tenant_ok(const struct mirror *m, const struct m_job *j);
bool m_within(const struct mirror *m, const struct m_job *j);
bool m_aged(const struct mirror *m, const struct m_job *j);
/* The first of each group (when fair) that waits though no quota stops it and it could run,
 * in order; of those before one, as long as that one is looked at (else NULL). */
size_t m_heads(struct mirror *m, const struct m_job *before, struct m_job *out[M_GROUPS]);
int64_t m_lasts(const struct mirror *m, const struct m_job *j); /* as believed; 0: ? */
void m_ran(struct mirror *m, const struct m_job *j);            /* until now: past use */
bool m_quota_ok(const struct mirror *m, const struct m_job *j, bool group);
bool m_fits(const struct mirror *m, const struct m_job *j); /* beside what runs */
/* What is free on a node beside all who run but those whose index is marked. */
void m_free_on(const struct mirror *m, int node, const bool *ended, struct resources *out,
	       int *ports, int *tasks);
bool m_possible(const struct mirror *m, const struct m_job *j);
struct m_job *
m_head(struct mirror
	       *m); /* the first that a quota does not stop, could run, does not fit */
/* When running jobs end at their limits, those without one last in the order of ids and
 * `stays` not at all: the (time, id) at which j fits. */
struct m_when {
	int64_t ms, id;
};
struct m_when m_earliest(const struct mirror *m, const struct m_job *j,
			 const struct m_job *stays);
int m_position(const struct mirror *m, const struct m_job *j);
/* A plan with one queue in the order of (priority, submit): not fair, no age bound. */
extern bool m_knows; /* what is typical: then scores place single tasks */
struct plan *m_create(void);
/* A new plan that is told all of this as at boot. */
struct plan *m_rebuild(const struct mirror *m);
