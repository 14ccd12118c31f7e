// SPDX-License-Identifier: Apache-2.0
/* native.h - our own rules: the plan of production on a virtual clock; inside this room.
 *
 * A job asks for its devices on as few nodes as can hold them.  It ends after its time on
 * devices, or at its limit.  Jobs that were told to give way stop at once, keep what they
 * did, and do `restart_cost_ms` of it again when they come back.
 */
#pragma once

#include "plan/learn.h"
#include "plan/plan.h"
#include "sim/heap.h"
#include "sim/sim.h"

struct mirror;

/* How a policy of the table feeds the plan. */
struct native_policy {
	struct plan_policy plan;
	enum tenant_order order;
	bool by_duration; /* the priority is how short it is: needs known durations */
	bool all_preemptible;
	bool one_queue; /* all jobs are of one group, however many the trace has */
};

enum native_state { NATIVE_COMING, NATIVE_WAITING, NATIVE_RUNNING, NATIVE_OVER };

struct native_job {
	enum native_state state;
	int64_t left_ms;             /* of its work */
	int64_t start_ms, end_ms;    /* of this run */
	int64_t first_ms, served_ms; /* first start, -1: none; ran before this run */
	int64_t promise_ms;          /* could start then, had nobody passed it; -1 */
	int preemptions;
	bool rejected;
	const struct gang *gang;
};

struct native {
	const struct sim_setup *setup;
	struct native_policy policy;
	struct plan *plan;
	struct plan_hash *hash;
	struct learn *learn;
	struct mirror *mirror;
	struct native_job *jobs; /* as the trace's; a job's id is its place + 1 */
	struct map *gangs;       /* by what is asked for */
	struct heap ends;
	size_t arrived, over;
	int64_t now_ms, head;
	int64_t *victims;
	size_t victim_count, victim_cap;
	int64_t decisions, steps, lost_ms, head_delay_ms, heads_delayed;
	struct native_timer *timer;
	struct native_watch *watch;
};

const struct native_policy *native_policy_find(const char *name);
extern const struct sim_choice native_choices[];

/* The gang of a job, made once for all that ask the same. */
const struct gang *native_gang(struct native *x, const struct sim_job *j);
void native_gangs_free(struct native *x);

/* How long calls into the plan take. */
struct native_timer *native_timer_create(int64_t (*clock_ns)(void));
void native_timer_begin(struct native_timer *t);
void native_timer_end(struct native_timer *t, bool step);
void native_timer_report(const struct native_timer *t, int64_t decisions,
			 struct sim_result *out);
void native_timer_destroy(struct native_timer *t);

/* Use, queue and fragmentation over time, few enough to draw. */
struct native_watch *native_watch_create(const struct sim_cluster *c);
void native_watch_move(struct native_watch *w, const struct native *x, int64_t to_ms);
void native_watch_report(const struct native_watch *w, struct sim_result *out);
void native_watch_destroy(struct native_watch *w);
