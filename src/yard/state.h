// SPDX-License-Identifier: Apache-2.0
/* state.h - what the yard holds in memory: all of it can be had again from the store. */
#pragma once

#include "base/map.h"
#include "plan/plan.h"
#include "yard/keep.h"
#include "yard/stats.h"
#include "yard/yard.h"

/* A job that has not ended, and what only this process knows of it. */
struct live {
	struct yard *yard;
	struct job *job;
	struct world_timer *timer; /* time limit, grace or pause: the state says which */
	int64_t *dependants;       /* jobs that wait for this one */
	size_t dependant_count, dependant_cap;
	int64_t *members; /* of an array: those alive, by number */
	size_t member_count, member_cap;
	bool launched; /* this attempt's tasks are the engine's: exits will come from there */
	bool maybe_begun; /* an earlier process may have given this attempt to the engine */
	bool collecting;
	bool dirty; /* its row is not in the batch yet */
	struct keep keep;
};

struct forget {
	int64_t job;
	char *owner, *key; /* of its idempotency key, or NULL */
};

/* What waits for a commit: an event with its effects, a caller's answer, or both. */
struct pending {
	struct event event; /* kind EVENT_KIND_COUNT: just an answer */
	uint32_t effects;
	struct yard_doc
		*docs; /* of EV_AUDIT: in one batch with it, however often tried */
	size_t doc_count;
	struct forget
		*forgets; /* jobs deleted with it; the one that was named comes last */
	size_t forget_count;
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
	int64_t array; /* of a deleted one: whose further members go then; 0: none's */
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
	int64_t seq; /* of the event that gave it; durable once that is committed */
};

struct quota_entry {
	char scope[8], name[NAME_MAX_BYTES];
	struct quota quota;
};

struct yard {
	struct yard_config config;
	struct world *world;
	struct plan *plan;
	struct told *told; /* NULL: nothing is written down */
	struct learn *learn;
	struct map *hopes;   /* id → what was told of its start: hope.c */
	int64_t fresh_job;   /* the last that joined the queue; 0: it was looked at */
	int64_t fresh_at_ms; /* not before then */
	struct engine *engine;
	struct shelf *shelf;
	struct map *live;      /* id → struct live */
	struct map *keys;      /* "owner\nkey" → struct live */
	struct map *per_owner; /* owner → how many live jobs, as a pointer */
	struct map *users;     /* name → struct user */
	struct map *quotas;    /* "scope/name" → struct quota_entry */
	int user_slots;
	struct node *nodes; /* as the plan knows them: both in one */
	size_t node_count, node_cap;
	struct known_node *known; /* as each says: share.c */
	size_t known_count, known_cap;
	struct map *tenants;       /* group → its rule */
	struct world_timer *awake; /* when time alone changes what is decided */
	int64_t next_seq, next_job, committed_seq;
	uint64_t commits;          /* those that failed too */
	uint64_t deletions;        /* commits that forgot jobs */
	struct store_batch *batch; /* recorded, not given to the store yet */
	struct live **dirty;       /* jobs in the batch */
	size_t dirty_count, dirty_cap;
	struct pendings waiting, committing;
	bool commit_under_way, flush_asked, step_asked, booting;
	struct err trouble; /* the store's last failure; code NONE: it is well */
	struct world_timer *retry;
	struct yard_stats stats; /* what is counted; see stats.c */
	int64_t commit_began_ms;
	struct keeper keeper;
	struct errand *errands;
	struct refusal *refusals, *last_refusal;
	struct yard_watch *watches;
	struct yard_watch *watch_next; /* the walk that is under way */
};
