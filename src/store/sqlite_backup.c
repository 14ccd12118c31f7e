// SPDX-License-Identifier: Apache-2.0
/* sqlite_backup.c - a copy while the store is in use, and a copy put in its place.
 *
 * Both write beside the target first and give it its name when it is whole and on disk,
 * so that a file with the name is always a good one.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/sqlite_impl.h"

#define PAGES_A_STEP 256
#define CACHE_KIB    1024

int sync_folder(const char *path, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(path);
	const char *folder = dirname(copy);
	AUTO_FD int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, "sync folder %s", folder);
	return 0;
}

static int sync_file(const char *path, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(err, "sync %s", path) : 0;
}

/* The read transaction that is open on `from` makes every step see the same moment. */
static int copy_pages(struct conn *from, struct conn *to, atomic_bool *cancelled,
		      struct err *err)
{
	sqlite3_backup *b = sqlite3_backup_init(to->db, "main", from->db, "main");
	int rc = SQLITE_OK;

	if (!b)
		return conn_fail(to, sqlite3_extended_errcode(to->db), err);
	while (rc == SQLITE_OK && !atomic_load(cancelled))
		rc = sqlite3_backup_step(b, PAGES_A_STEP);
	sqlite3_backup_finish(b);
	if (rc == SQLITE_DONE)
		return 0;
	return rc == SQLITE_OK ? err_set(err, ERR_CONFLICT, "the store was closed")
			       : conn_fail(to, rc, err);
}

static int copy_database(struct chore *t, const char *partial)
{
	struct conn from = { 0 }, to = { 0 };
	int64_t ignored;
	int rc;

	rc = conn_open(&from, t->path, CACHE_KIB, &t->err) < 0 ||
	     conn_open(&to, partial, CACHE_KIB, &t->err) < 0 ||
	     conn_exec(&from, "BEGIN", &t->err) < 0 ||
	     conn_number(&from, "SELECT count(*) FROM sqlite_schema", &ignored, &t->err) <
		     0 ||
	     copy_pages(&from, &to, &t->cancelled, &t->err) < 0;
	conn_close(&to);
	conn_close(&from);
	return rc ? -1 : 0;
}

static void backup_run(struct chore *t)
{
	AUTO_FREE char *partial = str_printf("%s.partial", t->target);
	AUTO_FD int fd = open(partial, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_sys(&t->err, "make %s", partial);
		return;
	}
	/* link() does not replace, which rename() would. */
	if (copy_database(t, partial) == 0 && sync_file(partial, &t->err) == 0) {
		if (link(partial, t->target) < 0)
			err_sys(&t->err, "make %s", t->target);
		else
			sync_folder(t->target, &t->err);
	}
	unlink(partial);
}

static void backup_done(void *arg)
{
	struct chore *t = arg;

	if (chore_done(t))
		t->done(t->arg, t->err.code == ERR_NONE ? NULL : &t->err);
	chore_destroy(t);
}

void sqlite_backup(struct store *store, const char *path, store_done done, void *arg)
{
	struct sqlite_store *s = (struct sqlite_store *)store;
	struct chore *t = chore_create(s, &s->chores, backup_run);

	t->path = mem_strdup(s->path);
	t->target = mem_strdup(path);
	t->done = done;
	t->arg = arg;
	chore_start(t, s->upkeep, backup_done);
}

/* ---- restore ---- */

static int copy_file(const char *from, const char *to, struct err *err)
{
	AUTO_FD int in = open(from, O_RDONLY | O_CLOEXEC);
	AUTO_FD int out = -1;
	AUTO_FREE char *block = mem_alloc(1, 1 << 16);
	ssize_t n;

	if (in < 0)
		return err_sys(err, "open %s", from);
	out = open(to, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	if (out < 0)
		return err_sys(err, "make %s", to);
	while ((n = read(in, block, 1 << 16)) > 0) {
		if (write(out, block, (size_t)n) != n)
			return err_sys(err, "write %s", to);
	}
	if (n < 0)
		return err_sys(err, "read %s", from);
	return fsync(out) < 0 ? err_sys(err, "sync %s", to) : 0;
}

/* SQLite's words for damage have several lines; the last says where. */
static int damaged(struct conn *c, const char *words, struct err *err)
{
	const char *last = strrchr(words, '\n');

	return err_set(err, ERR_CORRUPT, "%s is damaged: %s", c->path,
		       last ? last + 1 : words);
}

static int check_copy(struct conn *c, struct err *err)
{
	sqlite3_stmt *st = NULL;
	int version = 0, rc = 0;

	if (schema_check(c, &version, err) < 0)
		return -1;
	if (version < 1)
		return err_set(err, ERR_INVALID, "%s is an empty file", c->path);
	if (sqlite3_prepare_v2(c->db, "PRAGMA quick_check(1)", -1, &st, NULL) !=
		    SQLITE_OK ||
	    sqlite3_step(st) != SQLITE_ROW)
		rc = conn_fail(c, sqlite3_extended_errcode(c->db), err);
	else if (strcmp((const char *)sqlite3_column_text(st, 0), "ok") != 0)
		rc = damaged(c, (const char *)sqlite3_column_text(st, 0), err);
	sqlite3_finalize(st);
	if (rc < 0)
		return rc;
	/* It is brought up to date here, not at the daemon's next start. */
	return schema_upgrade(c, err) < 0 ? -1 : conn_try_all(c, err);
}

/* A log left beside the old database would be played into the new one: what it holds is
 * first brought into the old database, or, when that is damaged, put aside.  Leaving WAL
 * mode does that, and only succeeds for who is alone with the database. */
static int settle_old(const char *path, struct err *err)
{
	AUTO_FREE char *log = str_printf("%s-wal", path);
	AUTO_FREE char *aside = str_printf("%s-wal.damaged", path);
	AUTO_FREE char *index = str_printf("%s-shm", path);
	struct conn c = { 0 };
	struct err why = { 0 };

	if (access(path, F_OK) == 0 && conn_open(&c, path, CACHE_KIB, &why) == 0) {
		sqlite3_busy_timeout(c.db, 0);
		conn_exec(&c, "PRAGMA journal_mode = DELETE", &why);
		conn_close(&c);
	}
	if (why.code == ERR_BUSY)
		return err_set(err, ERR_BUSY, "a daemon is using %s: stop it first",
			       path);
	if (rename(log, aside) < 0 && errno != ENOENT)
		return err_sys(err, "put %s aside", log);
	if (unlink(index) < 0 && errno != ENOENT)
		return err_sys(err, "remove %s", index);
	return sync_folder(path, err);
}

int store_sqlite_restore(const char *backup, const char *path, struct err *err)
{
	AUTO_FREE char *copy = str_printf("%s.restore", path);
	struct conn c = { 0 };
	int rc = copy_file(backup, copy, err);

	if (rc == 0)
		rc = conn_open(&c, copy, CACHE_KIB, err);
	c.path = backup; /* what the words are about */
	if (rc == 0)
		rc = check_copy(&c, err);
	conn_close(&c);
	if (rc < 0)
		err_wrap(err, "cannot restore");
	else
		rc = sync_file(copy, err) < 0 || settle_old(path, err) < 0 ? -1 : 0;
	if (rc == 0 && rename(copy, path) < 0)
		rc = err_sys(err, "put %s in place", path);
	if (rc < 0)
		unlink(copy);
	return rc < 0 ? -1 : sync_folder(path, err);
}
