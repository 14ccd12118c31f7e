// SPDX-License-Identifier: Apache-2.0
/* sqlite_impl.h - what the files of the SQLite store share.  <sqlite3.h> is for its .c
 * files only. */
#pragma once

#include <stdatomic.h>

#include "store/chore.h"
#include "store/impl.h"
#include "store/sqlite_sql.h"

struct sqlite3;
struct sqlite3_stmt;

/* A connection with the statements it has used so far.  One thread at a time. */
struct conn {
	struct sqlite3 *db;
	const char *path; /* borrowed: for messages */
	struct sqlite3_stmt *statements[SQL_COUNT];
};

int conn_open(struct conn *c, const char *path, int cache_kib, struct err *err);
void conn_close(struct conn *c); /* of a zeroed one too */
int conn_exec(struct conn *c, const char *sql, struct err *err);
int conn_number(struct conn *c, const char *sql, int64_t *out, struct err *err);
/* Says in words why the last call failed; rc is what it returned.  -1. */
int conn_fail(struct conn *c, int rc, struct err *err);
/* A statement to bind and step, given back after.  NULL: err says why. */
struct sqlite3_stmt *conn_use(struct conn *c, enum sql which, struct err *err);
void conn_unuse(struct conn *c, enum sql which, struct sqlite3_stmt *st);
/* Whether the database has all that any statement names. */
int conn_try_all(struct conn *c, struct err *err);
/* Steps a statement that gives no rows. */
int conn_do(struct conn *c, struct sqlite3_stmt *st, struct err *err);

/* A database of this program and of a version it knows; *version 0: a new, empty one. */
int schema_check(struct conn *c, int *version, struct err *err);
int schema_upgrade(struct conn *c, struct err *err);

struct sqlite_store {
	struct store base;
	struct world *world;
	struct world_lane *commits, *upkeep; /* nothing slow is before a commit */
	char *path;
	struct conn reader;                /* the loop's */
	struct conn writer;                /* of the commit under way, one at a time */
	struct chore *chores;              /* all that are not done yet */
	struct chore *commit, *checkpoint; /* of them, or NULL */
	/* The log, in frames (pages): its length after the last commit; above which growth
	 * it is copied beside the commits; its length when that was begun last; and when a
	 * commit last did it (the writer's). */
	atomic_int wal_frames;
	int checkpoint_frames, checkpoint_began, shortened_at;
};

int sync_folder(const char *path, struct err *err); /* the folder that path is in */

void sqlite_backup(struct store *s, const char *path, store_done done, void *arg);

int sqlite_boot(struct store *s, void (*each)(void *arg, const struct event *e),
		void *arg, struct store_counters *out, struct err *err);
int sqlite_docs(struct store *s, store_doc_each each, void *arg, struct err *err);
int sqlite_audit(struct store *s, int64_t before, int limit,
		 void (*each)(void *arg, const struct event *e), void *arg,
		 struct err *err);
int sqlite_events(struct store *s, const struct span *span,
		  void (*each)(void *arg, const struct event *e), void *arg,
		  struct err *err);
int sqlite_gone(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
		struct err *err);
int sqlite_list(struct store *s, const struct store_query *q, struct sieve *sieve,
		struct err *err);
/* The row the statement stands on; its texts are the statement's.  labels are not read. */
int row_take(struct sqlite3_stmt *st, struct store_row *out, struct err *err);
int sqlite_find_key(struct store *s, const char *owner, const char *key, int64_t *job,
		    char digest[65], struct err *err);
int sqlite_find_name(struct store *s, const char *owner, const char *name, int64_t *job,
		     struct err *err);
int sqlite_find_member(struct store *s, int64_t array, int64_t index, int64_t *job,
		       struct err *err);
int sqlite_row(struct store *s, int64_t job,
	       void (*each)(void *arg, const struct store_row *row), void *arg,
	       struct err *err);
