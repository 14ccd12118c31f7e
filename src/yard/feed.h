// SPDX-License-Identifier: Apache-2.0
/* feed.h - what the yard tells the plan and asks it: jobs, nodes, groups, past use; for
 * the yard's own files only. */
#pragma once

#include "base/map.h"
#include "plan/plan.h"
#include "plan/why.h"
#include "yard/yard.h"

/* place.c */
void yard_plan_wait(struct yard *y, const struct job *j);
void yard_plan_held(struct yard *y, const struct job *j);
void yard_plan_id(struct yard *y, enum plan_delta_kind kind, int64_t id);
void yard_plan_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q);
void yard_plan_node(struct yard *y, const struct node *n);
int yard_plan_possible(struct yard *y, const struct spec *s, const char *user,
		       const char *group, struct err *err);
void yard_plan_step(struct yard *y);

/* What a spec asks of the plan; valid during the call. */
void yard_with_plan_job(struct yard *y, const struct spec *s, const char *user,
			const char *group,
			void (*call)(void *arg, const struct plan_job *job), void *arg);

/* hope.c: how long jobs run and when they start */
void yard_hope_init(struct yard *y);
void yard_hope_fini(struct yard *y);
int yard_learn_boot(struct yard *y, struct err *err); /* from what ended last */
void yard_learn(struct yard *y, const struct job *j); /* it has ended */
void yard_fill_guess(const struct yard *y, const struct spec *s, struct plan_job *out);
void yard_estimate(struct yard *y, int64_t job, struct plan_when *out); /* and keeps it */
void yard_hope_fresh(struct yard *y);                                   /* after a step */
void yard_hope_over(struct yard *y, const struct job *j, enum event_kind kind);

/* told.c: what the plan is told and asked, written down when the settings say so */
int yard_told_begin(struct yard *y, struct err *err);
void yard_told_end(struct yard *y);
void yard_tell(struct yard *y, const struct plan_delta *d);
void yard_ask_step(struct yard *y, int64_t now_ms,
		   void (*decide)(void *arg, const struct plan_decision *d), void *arg);

/* share.c */
void yard_node_reported(struct yard *y, const struct node *n);
/* False: the document is of another kind. */
bool yard_share_doc(struct yard *y, const char *kind, const char *name, const char *body);
void yard_share_fini(struct yard *y);

/* used.c: at boot, of jobs that ended; the second frees the map */
void yard_used_note(struct map *past, const struct job *j, int64_t now_ms);
void yard_used_tell(struct yard *y, struct map *past);
