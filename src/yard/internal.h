// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the yard's own files share.
 *
 *   record.c   an event: append, fold, what follows in memory; commit; answer and act
 *   effects.c  what is done outside once an event is on disk
 *   boot.c     fold what the store has, find what runs, repeat what must be repeated
 *   held.c     jobs that wait for other jobs
 *   submit.c   what callers may ask for
 *   place.c    the plan's deltas and decisions
 *   query.c    what callers may read
 */
#pragma once

#include "base/map.h"
#include "plan/plan.h"
#include "yard/yard.h"

/* Bugs that the simulation must find (test/sim builds the yard once with each). */
#define PLANT_BOOT   1 /* an effect is not redone at boot */
#define PLANT_ANSWER 2 /* an answer comes before the commit */
#define PLANT_SLOT   3 /* a slot is not given back */
#ifndef YARD_PLANT
#define YARD_PLANT 0
#endif

/* A job that has not ended, and what only this process knows of it. */
struct live {
	struct yard *yard;
	struct job *job;
	struct world_timer *timer; /* time limit, grace or pause: the state says which */
	int64_t *dependants;       /* jobs that wait for this one */
	size_t dependant_count, dependant_cap;
	bool launched; /* this attempt's tasks are the engine's: exits will come from there */
	bool maybe_begun; /* an earlier process may have given this attempt to the engine */
	bool collecting;
	bool dirty; /* its row is not in the batch yet */
};

/* What waits for a commit: an event with its effects, a caller's answer, or both. */
struct pending {
	struct event event; /* kind EVENT_KIND_COUNT: just an answer */
	uint32_t effects;
	yard_done done;
	void *arg;
	int64_t job;
	bool again;
};

struct pendings {
	struct pending *items;
	size_t count, cap;
};

/* A depot call under way; freed by its answer or with the yard. */
struct errand {
	struct yard *yard;
	int64_t job;
	int attempt;
	struct errand *prev, *next;
};

struct refusal {
	struct err err;
	yard_done done;
	void *arg;
	struct refusal *next;
};

struct user {
	char name[NAME_MAX_BYTES];
	int slot;
};

struct quota_entry {
	char scope[8], name[NAME_MAX_BYTES];
	struct quota quota;
};

struct yard {
	struct yard_config config;
	struct world *world;
	struct plan *plan;
	struct engine *engine;
	struct map *live;   /* id → struct live */
	struct map *keys;   /* "owner\nkey" → struct live */
	struct map *per_owner; /* owner → how many live jobs, as a pointer */
	struct map *users;  /* name → struct user */
	struct map *quotas; /* "scope/name" → struct quota_entry */
	int user_slots;
	struct node *nodes;
	size_t node_count, node_cap;

	int64_t next_seq, next_job, committed_seq;
	struct store_batch *batch; /* recorded, not given to the store yet */
	struct live **dirty;       /* jobs in the batch */
	size_t dirty_count, dirty_cap;
	struct pendings waiting, committing;
	bool commit_under_way, flush_asked, step_asked, booting;
	struct err trouble; /* the store's last failure; code NONE: it is well */
	struct world_timer *retry;

	struct errand *errands;
	struct refusal *refusals, *last_refusal;
	struct yard_watch *watches;
	struct yard_watch *watch_next; /* the walk that is under way */
};

struct yard_watch {
	struct yard *yard;
	void (*each)(void *arg, const struct event *e);
	void *arg;
	struct yard_watch *prev, *next;
};

/* record.c: takes what the event owns.  The answer, if any, comes after the commit. */
void yard_record(struct yard *y, struct event *e, yard_done done, void *arg);
void yard_record_submit(struct yard *y, struct event *e, struct spec *spec,
			yard_done done, void *arg);
void yard_answer(struct yard *y, int64_t job, bool again, yard_done done, void *arg);
void yard_refuse(struct yard *y, const struct err *err, yard_done done, void *arg);
void yard_kick(struct yard *y); /* a flush comes soon */
void yard_follow_up(struct yard *y, struct live *l,
		    uint32_t effects); /* those in memory */
struct live *yard_find(const struct yard *y, int64_t job);
struct live *yard_adopt_job(struct yard *y, struct job *j);
void yard_drop_job(struct yard *y, struct live *l);

/* effects.c */
/* task: the only one that FX_TERM concerns; -1: all. */
void yard_act(struct yard *y, struct live *l, uint32_t effects, int task);
bool yard_has_outputs(const struct job *j);
void yard_errand_end(struct errand *e);
int64_t yard_uid_base(const struct yard *y, const char *owner); /* -1: private mode */

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

/* boot.c */
int yard_boot(struct yard *y, struct err *err);

/* held.c: dependencies of a held job, looked at when it is held and when one ends */
void yard_check_held(struct yard *y, struct live *l);

void yard_sink(struct yard *y,
	       struct engine_sink *out); /* effects.c: the engine's reports */
void yard_note_user(struct yard *y, const char *name, int slot);
void yard_note_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q);
