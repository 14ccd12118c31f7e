// SPDX-License-Identifier: Apache-2.0
/* sqlite_conn.c - one connection: its settings, statements and the words for its errors. */
#include <assert.h>
#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/schema.h"
#include "store/sqlite_impl.h"

#define BUSY_MS        10000
#define LOG_BYTES_KEPT (8 << 20) /* of the log's file, after a burst made it longer */

#define ROW_COLUMNS                                                                           \
	"id, state, outcome, name, owner, \"group\", reason, priority, attempt, task_count, " \
	"exit_code, submitted_ms, started_ms, ended_ms, array, \"index\", members, "          \
	"members_ended, members_failed, members_running"
#define EVENT_COLUMNS "seq, time_ms, job, kind, body"

/* A walk along the one index that is named, newest first: ?1 before, ?2 (and ?3) what is
 * looked for.  Members of arrays are in the index of their array only. */
#define LIST(index, condition)                                                           \
	"SELECT " ROW_COLUMNS " FROM jobs INDEXED BY " index " WHERE " condition         \
	" AND id < ?1 ORDER BY id DESC"

static const char *const texts[SQL_COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_PUT_EVENT] =
		"INSERT INTO events (" EVENT_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5)",
	[SQL_PUT_KEY] =
		"INSERT INTO keys (owner, key, job, digest) VALUES (?1, ?2, ?3, ?4)",
	[SQL_PUT_QUOTA] = "INSERT INTO quotas (scope, name, seq) VALUES (?1, ?2, ?3)"
			  " ON CONFLICT DO UPDATE SET seq = ?3",
	[SQL_PUT_USER] = "INSERT INTO users (name, seq) VALUES (?1, ?2)"
			 " ON CONFLICT DO UPDATE SET seq = ?2",
	[SQL_PUT_DOC] = "INSERT INTO docs (kind, name, body) VALUES (?1, ?2, ?3)"
			" ON CONFLICT DO UPDATE SET body = ?3",
	[SQL_REMOVE_DOC] = "DELETE FROM docs WHERE kind = ?1 AND name = ?2",
	/* Only what changes in a live job: no index is touched. */
	[SQL_ROW_LIVE] =
		"UPDATE jobs SET state = ?2, reason = ?4, attempt = ?5, exit_code = ?6,"
		" started_ms = ?7, ended_ms = ?8, priority = ?9, members_ended = ?17,"
		" members_failed = ?18, members_running = ?19 WHERE id = ?1 AND live = 1",
	[SQL_ROW_ENDED] =
		"UPDATE jobs SET state = ?2, outcome = ?3, reason = ?4, attempt = ?5,"
		" exit_code = ?6, started_ms = ?7, ended_ms = ?8, priority = ?9,"
		" members_ended = ?17, members_failed = ?18, members_running = ?19, live = 0"
		" WHERE id = ?1",
	[SQL_ROW_NEW] =
		"INSERT INTO jobs (id, state, outcome, reason, attempt, exit_code,"
		" started_ms, ended_ms, priority, live, name, owner, \"group\","
		" task_count, submitted_ms, array, members_ended, members_failed,"
		" members_running, \"index\", members)"
		" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15,"
		" ?16, ?17, ?18, ?19, ?20, ?21)",
	[SQL_PUT_LABEL] = "INSERT OR IGNORE INTO labels (label, job)"
			  " VALUES (?2 || '=' || ?3, ?1)",
	[SQL_FORGET_EVENTS] = "DELETE FROM events WHERE job = ?1",
	[SQL_FORGET_ROW] = "DELETE FROM jobs WHERE id = ?1",
	[SQL_FORGET_KEY] = "DELETE FROM keys WHERE owner = ?2 AND key = ?3 AND job = ?1",
	[SQL_FORGET_LABELS] = "DELETE FROM labels WHERE job = ?1",
	[SQL_PUT_GONE] = "INSERT OR IGNORE INTO gone (job) VALUES (?1)",
	/* The highest number ever given stays, so that it is not given again. */
	[SQL_CLEAR_GONE] = "DELETE FROM gone WHERE job = ?1 AND (job < (SELECT max(job)"
			   " FROM gone) OR job < (SELECT max(id) FROM jobs))",
	[SQL_MAX_SEQ] = "SELECT max(seq) FROM events",
	[SQL_MAX_JOB] = "SELECT max(coalesce((SELECT max(id) FROM jobs), 0),"
			" coalesce((SELECT max(job) FROM gone), 0))",
	[SQL_BOOT_SETTINGS] = "SELECT " EVENT_COLUMNS " FROM events WHERE seq IN"
			      " (SELECT seq FROM quotas UNION ALL SELECT seq FROM users)"
			      " ORDER BY seq",
	/* The inner list is of numbers only: bodies are not carried through a sort. */
	[SQL_BOOT_LIVE] = "SELECT " EVENT_COLUMNS " FROM events WHERE seq IN"
			  " (SELECT e.seq FROM jobs j INDEXED BY jobs_live"
			  " CROSS JOIN events e INDEXED BY events_job ON e.job = j.id"
			  " WHERE j.live = 1) ORDER BY seq",
	[SQL_GONE] = "SELECT job FROM gone ORDER BY job",
	[SQL_DOCS] = "SELECT kind, name, body FROM docs ORDER BY kind, name",
	[SQL_AUDIT] = "SELECT " EVENT_COLUMNS " FROM events INDEXED BY events_job"
		      " WHERE job = 0 AND seq < ?1 AND kind IN ('audit', 'quota')"
		      " ORDER BY seq DESC LIMIT ?2",
	[SQL_EVENTS_ALL] = "SELECT " EVENT_COLUMNS " FROM events WHERE seq >= ?2"
			   " ORDER BY seq LIMIT ?3",
	[SQL_EVENTS_JOB] = "SELECT " EVENT_COLUMNS " FROM events INDEXED BY events_job"
			   " WHERE job = ?1 AND seq >= ?2 ORDER BY seq LIMIT ?3",
	[SQL_FIND_KEY] = "SELECT job, digest FROM keys WHERE owner = ?1 AND key = ?2",
	[SQL_FIND_NAME] = "SELECT max(id) FROM jobs INDEXED BY jobs_owner_name"
			  " WHERE array = 0 AND owner = ?1 AND name = ?2",
	[SQL_FIND_MEMBER] = "SELECT id FROM jobs INDEXED BY jobs_member"
			    " WHERE array > 0 AND array = ?1 AND \"index\" = ?2",
	[SQL_ROW] = "SELECT " ROW_COLUMNS " FROM jobs WHERE id = ?1",
	[SQL_LIST] = LIST("jobs_top", "array = 0"),
	[SQL_LIST_LIVE] = LIST("jobs_live", "live = 1 AND array = 0"),
	[SQL_LIST_LIVE_OWNER] =
		LIST("jobs_live_owner", "live = 1 AND array = 0 AND owner = ?2"),
	[SQL_LIST_LIVE_GROUP] =
		LIST("jobs_live_group", "live = 1 AND array = 0 AND \"group\" = ?2"),
	[SQL_LIST_ENDED] = LIST("jobs_ended", "live = 0 AND array = 0"),
	[SQL_LIST_OWNER] = LIST("jobs_owner", "array = 0 AND owner = ?2"),
	[SQL_LIST_OWNER_NAME] =
		LIST("jobs_owner_name", "array = 0 AND owner = ?2 AND name = ?3"),
	[SQL_LIST_NAME] = LIST("jobs_name", "array = 0 AND name = ?2"),
	[SQL_LIST_GROUP] = LIST("jobs_group", "array = 0 AND \"group\" = ?2"),
	[SQL_LIST_OUTCOME] =
		LIST("jobs_outcome", "live = 0 AND array = 0 AND outcome = ?2"),
	[SQL_LIST_ARRAY] = LIST("jobs_array", "array > 0 AND array = ?2"),
	[SQL_LIST_LABEL] =
		"SELECT " ROW_COLUMNS " FROM labels CROSS JOIN jobs ON id = job"
		" WHERE label = ?2 AND job < ?1 ORDER BY job DESC",
};

int conn_fail(struct conn *c, int rc, struct err *err)
{
	const char *said = c->db ? sqlite3_errmsg(c->db) : sqlite3_errstr(rc);
	int system =
		c->db && (rc & 0xff) == SQLITE_IOERR ? sqlite3_system_errno(c->db) : 0;

	switch (rc & 0xff) {
	case SQLITE_FULL:
		return err_set(err, ERR_IO, "the disk of %s is full", c->path);
	case SQLITE_CORRUPT:
		return err_set(
			err, ERR_CORRUPT,
			"the database %s is damaged (%s): put a backup in its place with "
			"yardd --restore FILE",
			c->path, said);
	case SQLITE_NOTADB:
		return err_set(err, ERR_CORRUPT, "%s is not a database", c->path);
	case SQLITE_CONSTRAINT:
		return err_set(err, ERR_CONFLICT,
			       "what is to be stored is there already: %s", said);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(err, ERR_BUSY,
			       "the database %s is in use by another program", c->path);
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return err_set(err, ERR_IO, "cannot open %s for writing: %s", c->path,
			       said);
	default:
		return err_set(err, ERR_IO, "database %s: %s%s%s", c->path, said,
			       system ? ": " : "", system ? strerror(system) : "");
	}
}

int conn_exec(struct conn *c, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : conn_fail(c, rc, err);
}

int conn_number(struct conn *c, const char *sql, int64_t *out, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc = sqlite3_prepare_v2(c->db, sql, -1, &st, NULL);

	if (rc == SQLITE_OK) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			*out = sqlite3_column_int64(st, 0);
	}
	if (rc != SQLITE_ROW)
		conn_fail(c, rc, err);
	sqlite3_finalize(st);
	return rc == SQLITE_ROW ? 0 : -1;
}

int conn_open(struct conn *c, const char *path, int cache_kib, struct err *err)
{
	AUTO_FREE char *settings =
		str_printf("PRAGMA cache_size = -%d; PRAGMA synchronous = FULL;"
			   "PRAGMA wal_autocheckpoint = 0; PRAGMA temp_store = MEMORY;"
			   "PRAGMA journal_size_limit = %d;",
			   cache_kib, LOG_BYTES_KEPT);
	int rc;

	*c = (struct conn){ .path = path };
	rc = sqlite3_open_v2(path, &c->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				     SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
			     NULL);
	if (rc == SQLITE_OK) {
		/* A file from elsewhere may be restored: nothing in it is to be run. */
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
		/* The default keeps 120 KiB a connection ready for many small statements. */
		sqlite3_db_config(c->db, SQLITE_DBCONFIG_LOOKASIDE, NULL, 128, 64);
		sqlite3_busy_timeout(c->db, BUSY_MS);
		if (conn_exec(c, settings, err) == 0)
			return 0;
	} else {
		conn_fail(c, rc, err);
	}
	conn_close(c);
	return -1;
}

void conn_close(struct conn *c)
{
	int rc;

	for (int i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(TAKE(c->statements[i]));
	rc = sqlite3_close(TAKE(c->db));
	assert(rc == SQLITE_OK && "a statement outlives its connection");
	(void)rc;
}

/* A callback of a read may read in the same way: then the kept statement is in use. */
sqlite3_stmt *conn_use(struct conn *c, enum sql which, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int rc;

	if (c->statements[which] && !sqlite3_stmt_busy(c->statements[which]))
		return c->statements[which];
	rc = sqlite3_prepare_v3(c->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT, &st,
				NULL);
	if (rc != SQLITE_OK)
		conn_fail(c, rc, err);
	else if (!c->statements[which])
		c->statements[which] = st;
	return st;
}

void conn_unuse(struct conn *c, enum sql which, sqlite3_stmt *st)
{
	if (st != c->statements[which]) {
		sqlite3_finalize(st);
		return;
	}
	sqlite3_reset(st);
	sqlite3_clear_bindings(st);
}

int conn_do(struct conn *c, sqlite3_stmt *st, struct err *err)
{
	int rc = sqlite3_step(st);

	return rc == SQLITE_DONE ? 0 : conn_fail(c, rc, err);
}

int conn_try_all(struct conn *c, struct err *err)
{
	for (enum sql i = 0; i < SQL_COUNT; i++) {
		sqlite3_stmt *st = conn_use(c, i, err);
		if (!st)
			return -1;
		conn_unuse(c, i, st);
	}
	return 0;
}

int schema_check(struct conn *c, int *version, struct err *err)
{
	int64_t application = 0, found = 0, things = 0;

	if (conn_number(c, "PRAGMA application_id", &application, err) < 0 ||
	    conn_number(c, "PRAGMA user_version", &found, err) < 0 ||
	    conn_number(c, "SELECT count(*) FROM sqlite_schema", &things, err) < 0)
		return -1;
	*version = (int)found;
	if (!application && !found && !things)
		return 0;
	if (application != SCHEMA_APPLICATION_ID || found < 1)
		return err_set(err, ERR_INVALID, "%s is another program's database",
			       c->path);
	if (found > schema_version)
		return err_set(
			err, ERR_UNSUPPORTED,
			"the database %s is of a newer version of yardd (its schema is %d, "
			"this program knows up to %d): use that version, or a backup from "
			"before the upgrade",
			c->path, (int)found, schema_version);
	return 0;
}

int schema_upgrade(struct conn *c, struct err *err)
{
	int version;

	if (schema_check(c, &version, err) < 0)
		return -1;
	for (; version < schema_version; version++) {
		AUTO_FREE char *step = str_printf(
			"BEGIN IMMEDIATE; PRAGMA application_id = %d; %s PRAGMA user_version = %d;"
			"COMMIT",
			SCHEMA_APPLICATION_ID, schema_steps[version], version + 1);
		if (conn_exec(c, step, err) < 0) {
			conn_exec(c, "ROLLBACK", NULL);
			return err_wrap(err, "bring the database to version %d",
					version + 1);
		}
	}
	return 0;
}
