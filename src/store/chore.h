// SPDX-License-Identifier: Apache-2.0
/* chore.h - a piece of work off the loop that may outlive the store that ordered it.
 *
 * A store that is destroyed waits for its chores (or, where no thread has taken one yet,
 * does or drops it); the chore's done() then finds the store gone and only frees it.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "store/store.h"
#include "world/world.h"

enum chore_phase { CHORE_QUEUED, CHORE_TAKEN, CHORE_FINISHED };

struct sqlite_store;

struct chore {
	struct sqlite_store *store; /* NULL: destroyed; never while it is TAKEN */
	struct chore **list, *next; /* the store's list of those that are not done */
	void (*run)(struct chore *t);
	pthread_mutex_t lock; /* of phase */
	pthread_cond_t finished;
	enum chore_phase phase;
	atomic_bool cancelled;
	/* Its input, then its result. */
	struct store_batch *batch; /* commit */
	char *path;                /* of the database */
	char *target;              /* backup */
	store_done done;
	void *arg;
	struct err err; /* code ERR_NONE: it worked */
};

/* run() off the loop, then done(t) on it. */
struct chore *chore_create(struct sqlite_store *s, struct chore **list,
			   void (*run)(struct chore *t));
void chore_start(struct chore *t, struct world_lane *l, world_cb done);
/* At the beginning of its done(): false when the store is gone. */
bool chore_done(struct chore *t);
void chore_destroy(struct chore *t);
/* The store goes: waits until nobody runs it.  run: do it yet if nobody has begun. */
void chore_leave(struct chore *t, bool run);
