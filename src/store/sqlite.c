// SPDX-License-Identifier: Apache-2.0
/* sqlite.c - the store on SQLite: opening, commits, the log's upkeep, the end.
 *
 * WAL mode with synchronous=FULL: a commit is one append and one sync of the log.  The
 * loop reads by a connection of its own; a thread of the store's own writes by another,
 * one commit at a time, so that no slow work of others is before it.  Copying the log
 * into the database (checkpoint) goes on beside the commits on a third connection that
 * lives only so long.  If commits come so thick that it never catches up, the log would
 * grow for ever: past LOG_FACTOR times the usual length a commit first does it itself.
 */
#include <assert.h>
#include <sqlite3.h>
#include <string.h>

#include "base/mem.h"
#include "store/sqlite_impl.h"

#define READER_CACHE_KIB 512
#define WRITER_CACHE_KIB 1024
#define READER_BUSY_MS                                                                   \
	1000 /* only another program's lock can make it wait; it holds up the loop */
#define CHECKPOINT_FRAMES 1000 /* about 4 MiB */
#define LOG_FACTOR        8

/* ---- the log's upkeep ---- */

static int on_log(void *arg, sqlite3 *db, const char *name, int frames)
{
	struct sqlite_store *s = arg;

	(void)db, (void)name;
	atomic_store(&s->wal_frames, frames);
	return SQLITE_OK;
}

static void checkpoint_run(struct chore *t)
{
	struct conn c;

	/* A failure is no loss: all is in the log, and the next one tries again. */
	if (conn_open(&c, t->path, READER_CACHE_KIB, &t->err) < 0)
		return;
	sqlite3_wal_checkpoint_v2(c.db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	conn_close(&c);
}

static void checkpoint_done(void *arg)
{
	struct chore *t = arg;

	if (chore_done(t))
		t->store->checkpoint = NULL;
	chore_destroy(t);
}

/* So long that the next commit is to shorten it: see the head of this file. */
static bool too_long(const struct sqlite_store *s, int frames)
{
	return frames - s->shortened_at >= LOG_FACTOR * s->checkpoint_frames;
}

/* Again only after as many new frames: under load it would else never pause.  And not
 * when the next commit does it: the two would be in each other's way. */
static void keep_log_short(struct sqlite_store *s)
{
	int frames = atomic_load(&s->wal_frames);

	if (frames < s->checkpoint_began)
		s->checkpoint_began = 0; /* the log was begun anew */
	if (s->checkpoint || too_long(s, frames) ||
	    frames - s->checkpoint_began < s->checkpoint_frames)
		return;
	s->checkpoint_began = frames;
	s->checkpoint = chore_create(s, &s->chores, checkpoint_run);
	s->checkpoint->path = mem_strdup(s->path);
	chore_start(s->checkpoint, s->upkeep, checkpoint_done);
}

/* Inside a commit, before it begins.  A long reader (a backup) may keep it from its end;
 * it then waits for as much again.  Busy is a checkpoint beside it: the next commit tries. */
static void shorten_log(struct sqlite_store *s)
{
	int frames = atomic_load(&s->wal_frames), rc;

	if (frames < s->shortened_at)
		s->shortened_at = 0;
	if (!too_long(s, frames))
		return;
	rc = sqlite3_wal_checkpoint_v2(s->writer.db, NULL, SQLITE_CHECKPOINT_PASSIVE,
				       NULL, NULL);
	if (rc == SQLITE_OK)
		s->shortened_at = frames;
}

/* ---- commits ---- */

static void put_text(sqlite3_stmt *st, int at, const char *s)
{
	sqlite3_bind_text(st, at, s, -1, SQLITE_STATIC);
}

static int put_simple(struct conn *c, enum sql which, struct err *err)
{
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	rc = conn_do(c, st, err);
	conn_unuse(c, which, st);
	return rc;
}

static int put_key(struct conn *c, const struct record *r, struct err *err)
{
	sqlite3_stmt *st = conn_use(c, SQL_PUT_KEY, err);
	int rc;

	if (!st)
		return -1;
	put_text(st, 1, r->by);
	put_text(st, 2, r->key);
	sqlite3_bind_int64(st, 3, r->job);
	put_text(st, 4, r->digest);
	rc = conn_do(c, st, err);
	conn_unuse(c, SQL_PUT_KEY, st);
	return rc;
}

/* The last word on a quota or user is this event. */
static int put_setting(struct conn *c, const struct record *r, struct err *err)
{
	enum sql which = r->kind == EV_QUOTA ? SQL_PUT_QUOTA : SQL_PUT_USER;
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc, at = 1;

	if (!st)
		return -1;
	if (r->kind == EV_QUOTA)
		put_text(st, at++, r->scope);
	put_text(st, at++, r->name);
	sqlite3_bind_int64(st, at, r->seq);
	rc = conn_do(c, st, err);
	conn_unuse(c, which, st);
	return rc;
}

static int put_record(struct conn *c, const struct record *r, struct err *err)
{
	sqlite3_stmt *st = conn_use(c, SQL_PUT_EVENT, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, r->seq);
	sqlite3_bind_int64(st, 2, r->time_ms);
	sqlite3_bind_int64(st, 3, r->job);
	put_text(st, 4, event_kind_word(r->kind));
	sqlite3_bind_text64(st, 5, r->body, r->body_len, SQLITE_STATIC, SQLITE_UTF8);
	rc = conn_do(c, st, err);
	conn_unuse(c, SQL_PUT_EVENT, st);
	if (rc == 0 && record_has_key(r))
		return put_key(c, r, err);
	if (rc == 0 && (r->kind == EV_QUOTA || r->kind == EV_USER))
		return put_setting(c, r, err);
	return rc;
}

static int put_row_by(struct conn *c, enum sql which, const struct store_row *row,
		      struct err *err)
{
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, row->id);
	put_text(st, 2, job_state_word(row->state));
	if (which != SQL_ROW_LIVE)
		put_text(st, 3, outcome_word(row->outcome));
	put_text(st, 4, row->reason);
	sqlite3_bind_int(st, 5, row->attempt);
	sqlite3_bind_int(st, 6, row->exit_code);
	sqlite3_bind_int64(st, 7, row->started_ms);
	sqlite3_bind_int64(st, 8, row->ended_ms);
	sqlite3_bind_int(st, 9, row->priority);
	sqlite3_bind_int64(st, 17, row->members_ended);
	sqlite3_bind_int64(st, 18, row->members_failed);
	sqlite3_bind_int64(st, 19, row->members_running);
	if (which == SQL_ROW_NEW) {
		sqlite3_bind_int(st, 10, row->state != JOB_ENDED);
		put_text(st, 11, row->name);
		put_text(st, 12, row->owner);
		put_text(st, 13, row->group);
		sqlite3_bind_int(st, 14, row->task_count);
		sqlite3_bind_int64(st, 15, row->submitted_ms);
		sqlite3_bind_int64(st, 16, row->array);
		sqlite3_bind_int64(st, 20, row->index);
		sqlite3_bind_int64(st, 21, row->members);
	}
	rc = conn_do(c, st, err);
	conn_unuse(c, which, st);
	return rc;
}

/* A statement about one job, which may have two texts more. */
static int put_of(struct conn *c, enum sql which, int64_t job, const char *const more[2],
		  struct err *err)
{
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	sqlite3_bind_int64(st, 1, job);
	for (int i = 0; more && i < 2; i++)
		put_text(st, 2 + i, more[i]);
	rc = conn_do(c, st, err);
	conn_unuse(c, which, st);
	return rc;
}

/* Of a member the array's labels are enough. */
static int put_labels(struct conn *c, const struct store_row *row, struct err *err)
{
	const struct pairs *labels = row->array ? NULL : row->labels;

	for (size_t i = 0; labels && i < labels->count; i++) {
		const char *const pair[] = { labels->items[i].key,
					     labels->items[i].value };
		if (put_of(c, SQL_PUT_LABEL, row->id, pair, err) < 0)
			return -1;
	}
	return 0;
}

static int forget(struct conn *c, const struct store_forget *f, struct err *err)
{
	const char *const key[] = { f->owner, f->key };

	if (f->files_gone)
		return put_of(c, SQL_CLEAR_GONE, f->job, NULL, err);
	if (put_of(c, SQL_PUT_GONE, f->job, NULL, err) < 0 ||
	    put_of(c, SQL_FORGET_EVENTS, f->job, NULL, err) < 0 ||
	    put_of(c, SQL_FORGET_LABELS, f->job, NULL, err) < 0 ||
	    put_of(c, SQL_FORGET_ROW, f->job, NULL, err) < 0)
		return -1;
	return *f->key ? put_of(c, SQL_FORGET_KEY, f->job, key, err) : 0;
}

static int put_row(struct conn *c, const struct store_row *row, struct err *err)
{
	enum sql known = row->state == JOB_ENDED ? SQL_ROW_ENDED : SQL_ROW_LIVE;

	if (put_row_by(c, known, row, err) < 0)
		return -1;
	if (sqlite3_changes(c->db))
		return 0;
	return put_row_by(c, SQL_ROW_NEW, row, err) < 0 ? -1 : put_labels(c, row, err);
}

static int put_doc(struct conn *c, const struct store_doc *d, struct err *err)
{
	enum sql which = d->body ? SQL_PUT_DOC : SQL_REMOVE_DOC;
	sqlite3_stmt *st = conn_use(c, which, err);
	int rc;

	if (!st)
		return -1;
	put_text(st, 1, d->kind);
	put_text(st, 2, d->name);
	if (d->body)
		put_text(st, 3, d->body);
	rc = conn_do(c, st, err);
	conn_unuse(c, which, st);
	return rc;
}

static int put_batch(struct conn *c, const struct store_batch *b, struct err *err)
{
	for (size_t i = 0; i < b->record_count; i++) {
		if (put_record(c, b->records[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < b->row_count; i++) {
		if (put_row(c, b->rows[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < b->doc_count; i++) {
		if (put_doc(c, b->docs[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < b->forget_count; i++) {
		if (forget(c, b->forgets[i], err) < 0)
			return -1;
	}
	return 0;
}

static void commit_run(struct chore *t)
{
	struct sqlite_store *s = t->store;
	struct conn *c = &s->writer;

	shorten_log(s);
	if (put_simple(c, SQL_BEGIN, &t->err) == 0 &&
	    put_batch(c, t->batch, &t->err) == 0 &&
	    put_simple(c, SQL_COMMIT, &t->err) == 0)
		return;
	/* Some errors have rolled back already. */
	if (!sqlite3_get_autocommit(c->db))
		put_simple(c, SQL_ROLLBACK, NULL);
}

static void commit_done(void *arg)
{
	struct chore *t = arg;

	if (chore_done(t)) {
		t->store->commit = NULL;
		keep_log_short(t->store);
		t->done(t->arg, t->err.code == ERR_NONE ? NULL : &t->err);
	}
	chore_destroy(t);
}

static void sqlite_commit(struct store *store, struct store_batch *b, store_done done,
			  void *arg)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	struct chore *t = chore_create(s, &s->chores, commit_run);

	assert(!s->commit && "one commit at a time");
	t->batch = b;
	t->done = done;
	t->arg = arg;
	s->commit = t;
	chore_start(t, s->commits, commit_done);
}

/* ---- opening and the end ---- */

static void sqlite_destroy(struct store *store)
{
	struct sqlite_store *s = (struct sqlite_store *)store;

	for (struct chore *t = s->chores, *next; t; t = next) {
		next = t->next;
		chore_leave(t, t == s->commit);
	}
	world_lane_destroy(s->commits);
	world_lane_destroy(s->upkeep);
	conn_close(&s->reader);
	conn_close(&s->writer); /* the last one to close empties the log */
	free(s->path);
	free(s);
}

static const struct store_ops ops = {
	.commit = sqlite_commit,
	.boot = sqlite_boot,
	.docs = sqlite_docs,
	.gone = sqlite_gone,
	.audit = sqlite_audit,
	.events = sqlite_events,
	.list = sqlite_list,
	.find_key = sqlite_find_key,
	.find_name = sqlite_find_name,
	.find_member = sqlite_find_member,
	.row = sqlite_row,
	.backup = sqlite_backup,
	.destroy = sqlite_destroy,
};

static int open_writer(struct sqlite_store *s, struct err *err)
{
	sqlite3_stmt *st = NULL;
	bool wal;
	int version;

	/* Looked at first: nothing of a database that is refused is changed. */
	if (conn_open(&s->writer, s->path, WRITER_CACHE_KIB, err) < 0 ||
	    schema_check(&s->writer, &version, err) < 0)
		return -1;
	wal = sqlite3_prepare_v2(s->writer.db, "PRAGMA journal_mode = WAL", -1, &st,
				 NULL) == SQLITE_OK &&
	      sqlite3_step(st) == SQLITE_ROW &&
	      strcmp((const char *)sqlite3_column_text(st, 0), "wal") == 0;
	sqlite3_finalize(st);
	if (!wal)
		return err_set(
			err, ERR_UNSUPPORTED,
			"the file system of %s cannot hold a database with a write-ahead "
			"log (%s); put the state folder on a local disk",
			s->path, sqlite3_errmsg(s->writer.db));
	sqlite3_wal_hook(s->writer.db, on_log, s);
	if (schema_upgrade(&s->writer, err) < 0)
		return -1;
	return sync_folder(s->path, err);
}

struct store *store_sqlite_open(struct world *w, const char *path, struct err *err)
{
	struct sqlite_store *s = mem_alloc(1, sizeof *s);

	s->base.ops = &ops;
	s->world = w;
	s->path = mem_strdup(path);
	s->commits = world_lane_create(w, 1);
	s->upkeep = world_lane_create(w, 1);
	s->checkpoint_frames = CHECKPOINT_FRAMES;
	if (open_writer(s, err) < 0 ||
	    conn_open(&s->reader, s->path, READER_CACHE_KIB, err) < 0) {
		sqlite_destroy(&s->base);
		return NULL;
	}
	sqlite3_busy_timeout(s->reader.db, READER_BUSY_MS);
	return &s->base;
}
