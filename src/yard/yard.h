// SPDX-License-Identifier: Apache-2.0
/* yard.h - THE SHELL: take the next event, append it, step, carry out the effects, wait.
 *
 * Nothing but the yard changes a job's state, and only it appends to the store.  A
 * caller's done() comes after the commit that holds its event, never before, never
 * from inside the call; on failure nothing was changed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "depot/depot.h"
#include "engine/engine.h"
#include "job/job.h"
#include "job/principal.h"
#include "store/store.h"
#include "world/world.h"
#include "yard/change.h"
#include "yard/config.h"

struct yard;

/* Boots: folds live jobs, finds what runs, repeats what must be repeated. */
struct yard *yard_create(const struct yard_config *c, struct err *err);
void yard_destroy(struct yard *y); /* tasks go on */

/* Takes the checked spec.  key NULL: none.  digest: of the request body (hex). */
void yard_submit(struct yard *y, const struct principal *who, struct spec *spec,
		 const char *key, const char *digest, yard_done done, void *arg);
/* Stopping what is stopping or ended is fine. */
void yard_stop(struct yard *y, const struct principal *who, int64_t job, const char *text,
	       yard_done done, void *arg);
void yard_set_quota(struct yard *y, const struct principal *who, const char *scope,
		    const char *name, const struct quota *q, yard_done done, void *arg);
/* -1: no quota is set for that user or group. */
int yard_quota(const struct yard *y, const char *scope, const char *name,
	       struct quota *out);
/* Every quota that was set, in the order in which they first were. */
void yard_each_quota(const struct yard *y,
		     void (*each)(void *arg, const char *scope, const char *name,
				  const struct quota *q),
		     void *arg);
/* As in yard_config, from now on. */
void yard_set_limits(struct yard *y, int64_t max_jobs_per_user, int64_t max_priority,
		     int64_t log_limit_bytes);
size_t yard_jobs_of(const struct yard *y, const char *owner); /* live ones */

/* Reading.  A live job is borrowed until control returns to the loop.  It shows every event
 * recorded so far, up to one commit (about a millisecond) ahead of the disk; watches and
 * answers never run ahead. */
const struct job *yard_live(const struct yard *y, int64_t job); /* NULL: not live */
size_t yard_live_count(const struct yard *y);
bool yard_uses_code(const struct yard *y, const char *hash); /* whether a live job does */
/* Live or ended (folded from the store); the caller destroys it. */
struct job *yard_load(struct yard *y, int64_t job, struct err *err);
struct store *yard_store(struct yard *y); /* for lists and history: read only */
/* who (NULL: one who sees all) is told the numbers of no jobs they may not see. */
void yard_why(struct yard *y, const struct job *j, const struct principal *who,
	      struct buf *words);
int yard_position(const struct yard *y, int64_t job); /* 1 is the head; 0: not waiting */
char *yard_attempt_folder(struct yard *y, int64_t job, int task,
			  int attempt); /* caller frees */
/* In the task's present attempt, whatever which->attempt says. */
int yard_exec(struct yard *y, const struct task_ref *which, const char *const *argv,
	      bool tty, struct world_stream **out, struct err *err);
int yard_usage(struct yard *y, int64_t job, int task, struct engine_usage *out,
	       struct err *err);

struct yard_node {
	struct node node;
	struct resources used;
	int tasks;
};
size_t yard_nodes(const struct yard *y, struct yard_node *out,
		  size_t max); /* gives the count */

/* Committed events, in order, from now on.  The callback may add and remove watches. */
struct yard_watch;
struct yard_watch *
yard_watch_add(struct yard *y, void (*each)(void *arg, const struct event *e), void *arg);
void yard_watch_remove(struct yard_watch *w); /* NULL is fine */
int64_t yard_last_seq(const struct yard *y);  /* of the last committed event */
