// SPDX-License-Identifier: Apache-2.0
/* sqlite_read.c - reads, on the loop thread: each is short, by an index, and in WAL mode
 * waits for no writer. */
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "store/sqlite_impl.h"

static struct conn *reader(struct store *s)
{
	return &((struct sqlite_store *)s)->reader;
}

static const char *text(sqlite3_stmt *st, int column)
{
	const char *s = (const char *)sqlite3_column_text(st, column);

	return s ? s : "";
}

static int give_event(sqlite3_stmt *st, void (*each)(void *arg, const struct event *e),
		      void *arg, struct err *err)
{
	struct record r = {
		.seq = sqlite3_column_int64(st, 0),
		.time_ms = sqlite3_column_int64(st, 1),
		.job = sqlite3_column_int64(st, 2),
		.body = text(st, 4),
		.body_len = (size_t)sqlite3_column_bytes(st, 4),
	};

	if (event_kind_from_word(text(st, 3), &r.kind) < 0)
		return err_set(err, ERR_CORRUPT, "event %lld is of an unknown kind '%s'",
			       (long long)r.seq, text(st, 3));
	return record_give(&r, each, arg, err);
}

/* Steps the bound statement to its end. */
static int give_events(struct conn *c, sqlite3_stmt *st,
		       void (*each)(void *arg, const struct event *e), void *arg,
		       struct err *err)
{
	int rc;

	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		if (give_event(st, each, arg, err) < 0)
			return -1;
	}
	return rc == SQLITE_DONE ? 0 : conn_fail(c, rc, err);
}

static int boot_part(struct conn *c, enum sql which,
		     void (*each)(void *arg, const struct event *e), void *arg,
		     struct err *err)
{
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	rc = give_events(c, st, each, arg, err);
	conn_unuse(c, which, st);
	return rc;
}

static int maximum(struct conn *c, enum sql which, int64_t *out, struct err *err)
{
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*out = sqlite3_column_int64(st, 0);
	else
		conn_fail(c, rc, err);
	conn_unuse(c, which, st);
	return rc == SQLITE_ROW ? 0 : -1;
}

int sqlite_boot(struct store *s, void (*each)(void *arg, const struct event *e),
		void *arg, struct store_counters *out, struct err *err)
{
	struct conn *c = reader(s);
	int64_t seq = 0, job = 0;

	if (maximum(c, SQL_MAX_SEQ, &seq, err) < 0 ||
	    maximum(c, SQL_MAX_JOB, &job, err) < 0 ||
	    boot_part(c, SQL_BOOT_SETTINGS, each, arg, err) < 0 ||
	    boot_part(c, SQL_BOOT_LIVE, each, arg, err) < 0)
		return -1;
	*out = (struct store_counters){ .next_seq = seq + 1, .next_job = job + 1 };
	return 0;
}

int sqlite_gone(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
		struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_GONE, err);
	int rc;

	if (!st)
		return -1;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		each(arg, sqlite3_column_int64(st, 0));
	rc = rc == SQLITE_DONE ? 0 : conn_fail(c, rc, err);
	conn_unuse(c, SQL_GONE, st);
	return rc;
}

int sqlite_docs(struct store *s, store_doc_each each, void *arg, struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_DOCS, err);
	int rc;

	if (!st)
		return -1;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW)
		each(arg, text(st, 0), text(st, 1), text(st, 2));
	rc = rc == SQLITE_DONE ? 0 : conn_fail(c, rc, err);
	conn_unuse(c, SQL_DOCS, st);
	return rc;
}

int sqlite_audit(struct store *s, int64_t before, int limit,
		 void (*each)(void *arg, const struct event *e), void *arg,
		 struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_AUDIT, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, before);
	sqlite3_bind_int(st, 2, limit);
	rc = give_events(c, st, each, arg, err);
	conn_unuse(c, SQL_AUDIT, st);
	return rc;
}

int sqlite_events(struct store *s, const struct span *span,
		  void (*each)(void *arg, const struct event *e), void *arg,
		  struct err *err)
{
	struct conn *c = reader(s);
	enum sql which = span->job ? SQL_EVENTS_JOB : SQL_EVENTS_ALL;
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	if (span->job)
		sqlite3_bind_int64(st, 1, span->job);
	sqlite3_bind_int64(st, 2, span->from_seq);
	sqlite3_bind_int(st, 3, span->limit);
	rc = give_events(c, st, each, arg, err);
	conn_unuse(c, which, st);
	return rc;
}

static int outcome_from_word(const char *word, enum outcome *out)
{
	for (enum outcome o = 0; o < OUTCOME_COUNT; o++) {
		if (str_eq(word, outcome_word(o))) {
			*out = o;
			return 0;
		}
	}
	return -1;
}

int row_take(sqlite3_stmt *st, struct store_row *out, struct err *err)
{
	*out = (struct store_row){
		.id = sqlite3_column_int64(st, 0),
		.name = text(st, 3),
		.owner = text(st, 4),
		.group = text(st, 5),
		.reason = text(st, 6),
		.priority = sqlite3_column_int(st, 7),
		.attempt = sqlite3_column_int(st, 8),
		.task_count = sqlite3_column_int(st, 9),
		.exit_code = sqlite3_column_int(st, 10),
		.submitted_ms = sqlite3_column_int64(st, 11),
		.started_ms = sqlite3_column_int64(st, 12),
		.ended_ms = sqlite3_column_int64(st, 13),
		.array = sqlite3_column_int64(st, 14),
		.index = sqlite3_column_int64(st, 15),
		.members = sqlite3_column_int64(st, 16),
		.members_ended = sqlite3_column_int64(st, 17),
		.members_failed = sqlite3_column_int64(st, 18),
		.members_running = sqlite3_column_int64(st, 19),
	};

	if (job_state_from_word(text(st, 1), &out->state) < 0 ||
	    outcome_from_word(text(st, 2), &out->outcome) < 0)
		return err_set(err, ERR_CORRUPT,
			       "job %lld has the unknown state '%s' (%s)",
			       (long long)out->id, text(st, 1), text(st, 2));
	return 0;
}

int sqlite_find_key(struct store *s, const char *owner, const char *key, int64_t *job,
		    char digest[65], struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_FIND_KEY, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, owner, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, key, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW) {
		*job = sqlite3_column_int64(st, 0);
		snprintf(digest, 65, "%s", text(st, 1));
	} else if (rc == SQLITE_DONE) {
		err_set(err, ERR_NOT_FOUND, "%s has no job with the key '%s'", owner,
			key);
	} else {
		conn_fail(c, rc, err);
	}
	conn_unuse(c, SQL_FIND_KEY, st);
	return rc == SQLITE_ROW ? 0 : -1;
}

int sqlite_find_name(struct store *s, const char *owner, const char *name, int64_t *job,
		     struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_FIND_NAME, err);
	int64_t found = 0;
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_text(st, 1, owner, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_STATIC);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		found = sqlite3_column_int64(st, 0); /* NULL, that is 0, of no rows */
	if (rc != SQLITE_ROW)
		conn_fail(c, rc, err);
	else if (!found)
		err_set(err, ERR_NOT_FOUND, "%s has no job named '%s'", owner, name);
	conn_unuse(c, SQL_FIND_NAME, st);
	if (rc != SQLITE_ROW || !found)
		return -1;
	*job = found;
	return 0;
}

int sqlite_find_member(struct store *s, int64_t array, int64_t index, int64_t *job,
		       struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_FIND_MEMBER, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, array);
	sqlite3_bind_int64(st, 2, index);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*job = sqlite3_column_int64(st, 0);
	else if (rc == SQLITE_DONE)
		err_set(err, ERR_NOT_FOUND, "array %lld has no member %lld",
			(long long)array, (long long)index);
	else
		conn_fail(c, rc, err);
	conn_unuse(c, SQL_FIND_MEMBER, st);
	return rc == SQLITE_ROW ? 0 : -1;
}

int sqlite_row(struct store *s, int64_t job,
	       void (*each)(void *arg, const struct store_row *row), void *arg,
	       struct err *err)
{
	struct conn *c = reader(s);
	sqlite3_stmt *st = conn_use(c, SQL_ROW, err);
	struct store_row row;
	int rc, failed;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, job);
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		failed = row_take(st, &row, err);
	else if (rc == SQLITE_DONE)
		failed = err_set(err, ERR_NOT_FOUND, "there is no job %lld",
				 (long long)job);
	else
		failed = conn_fail(c, rc, err);
	if (!failed)
		each(arg, &row);
	conn_unuse(c, SQL_ROW, st);
	return failed;
}
