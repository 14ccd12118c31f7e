// SPDX-License-Identifier: Apache-2.0
/* store.h - durable truth: events, and the rows that lists are read from.
 *
 * Only the yard writes.  A batch is on disk whole or not at all; done() is called on
 * the loop thread, in the order of the commits, only after it is durable, and never from
 * inside store_commit().  Reads are of batches that are durable (done() may not have been
 * called yet).  sqlite.c is the real one; memory.c can lose power between any two calls.
 * A callback of a read must not write to the store nor destroy it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/event.h"
#include "job/job.h"
#include "world/world.h"

struct store;

/* One line of a list; what it points to is borrowed during the callback. */
struct store_row {
	int64_t id;
	const char *name, *owner, *group, *reason; /* reason may be "" */
	enum job_state state;
	enum outcome outcome;
	int priority, attempt, task_count,
		exit_code; /* exit_code as `yard run` returns it */
	int64_t submitted_ms, started_ms, ended_ms; /* 0: not yet */
	int64_t array;                              /* whose member it is; 0: of none */
	int64_t index;                              /* of a member: which one */
	/* An array's; members 0: it is none. */
	int64_t members, members_ended, members_failed, members_running;
	const struct pairs *labels; /* NULL: none; of a row that is read: not known */
};

#define STORE_LIMIT_MAX 1000 /* rows or events of one read */

/* Fills the row of a job as it is after its last event. */
void store_row_of(const struct job *j, struct store_row *out);

struct store_batch;
struct store_batch *store_batch_create(void);
void store_batch_destroy(struct store_batch *b);
/* Copies (encodes) both.  A job's row is the last one added for it; a job is live, and
 * its events are given at boot, while it has a row whose state is not JOB_ENDED. */
void store_batch_event(struct store_batch *b, const struct event *e);
void store_batch_row(struct store_batch *b, const struct store_row *row);
size_t store_batch_count(const struct store_batch *b); /* events, deletions */

typedef void (*store_done)(void *arg, const struct err *err); /* err NULL: durable */

/* Takes the batch.  One at a time: the next only after done().  A failed commit (disk
 * full; ERR_CONFLICT: a seq or an owner's key that is there already) leaves the store as
 * it was before the batch, and usable. */
void store_commit(struct store *s, struct store_batch *b, store_done done, void *arg);

struct store_counters {
	int64_t next_seq, next_job;
};

/* At boot: every EV_QUOTA and EV_USER still in force (the last one of its name), then every
 * event of every live job; each of the two by seq. */
int store_boot(struct store *s, void (*each)(void *arg, const struct event *e), void *arg,
	       struct store_counters *out, struct err *err);

/* Events of one job from seq on, or of all jobs and none (job 0), at most limit, by seq. */
int store_events(struct store *s, int64_t job, int64_t from_seq, int limit,
		 void (*each)(void *arg, const struct event *e), void *arg,
		 struct err *err);
/* ERR_NOT_FOUND when there is none.  By key: of that owner; by name: the newest. */
int store_find_key(struct store *s, const char *owner, const char *key, int64_t *job,
		   char digest[65], struct err *err);
int store_find_name(struct store *s, const char *owner, const char *name, int64_t *job,
		    struct err *err);
int store_find_member(struct store *s, int64_t array, int64_t index, int64_t *job,
		      struct err *err);
int store_row(struct store *s, int64_t job,
	      void (*each)(void *arg, const struct store_row *row), void *arg,
	      struct err *err);

/* A consistent copy while the store is in use; path must not exist yet. */
void store_backup(struct store *s, const char *path, store_done done, void *arg);
/* Waits for a commit or backup under way; its done() does not come any more.  NULL is fine. */
void store_destroy(struct store *s);

/* Makes the database, or brings an older one up to date; refuses a newer one, another
 * program's, or a damaged one, in words. */
struct store *store_sqlite_open(struct world *w, const char *path, struct err *err);
/* Puts a backup in place of (or as) the database at path; checks it first; no daemon may run. */
int store_sqlite_restore(const char *backup, const char *path, struct err *err);

/* The memory store: its disk outlives it, so that a test can crash and boot again. */
struct store_disk;
struct store_disk *store_disk_create(void);
void store_disk_destroy(struct store_disk *d);
/* Destroying a store with a commit under way is a power cut: it is there or it is not. */
struct store *store_memory_open(struct world *w, struct store_disk *d);

struct store_disk_faults {
	int fail_percent; /* of commits: disk full */
	int64_t delay_most_ms; /* of a commit, twice: until durable, then until done(); at first 5 */
};
void store_disk_set_faults(struct store_disk *d, const struct store_disk_faults *f);
size_t
store_disk_events(const struct store_disk *d); /* how many are durable: for checks */
