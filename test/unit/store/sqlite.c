// SPDX-License-Identifier: Apache-2.0
#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "laws.h"
#include "store/schema.h"
#include "store/sqlite_impl.h"
#include "world/world_sim.h"

static char folder[] = "/tmp/yard-store-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static struct store *open_sqlite(struct bench *b)
{
	struct err err = { 0 };
	struct store *s = store_sqlite_open(b->w, b->arg, &err);

	if (!s)
		OK(false, "open: %s", err.text);
	return s;
}

static void test_laws(struct world *w, const char *name)
{
	AUTO_FREE char *path = str_printf("%s/%s", folder, name);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path };
	struct stat st;
	AUTO_FREE char *log = str_printf("%s-wal", path);

	b.s = b.open(&b);
	store_laws(&b);
	store_destroy(b.s);
	OK(stat(log, &st) < 0, "a store closed in order leaves no log behind");
	world_destroy(w);
}

/* Runs SQL on a database as another program would. */
static void raw(const char *path, const char *sql)
{
	sqlite3 *db;
	char *why = NULL;

	sqlite3_open(path, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, &why) != SQLITE_OK)
		OK(false, "%s: %s", sql, why);
	sqlite3_free(why);
	sqlite3_close(db);
}

static int64_t raw_number(const char *path, const char *sql)
{
	sqlite3_stmt *st;
	sqlite3 *db;
	int64_t n = -1;

	sqlite3_open(path, &db);
	if (sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	sqlite3_close(db);
	return n;
}

#define OLD_COLUMNS                                                                      \
	"id, live, state, outcome, name, owner, \"group\", reason, priority, attempt,"   \
	" task_count, exit_code, submitted_ms, started_ms, ended_ms"

/* A database as version n left it, with a live and an ended job in it. */
static void make_old(const char *path, int version)
{
	raw(path, "PRAGMA journal_mode = WAL");
	for (int i = 0; i < version; i++) {
		AUTO_FREE char *sql = str_printf(
			"%s PRAGMA application_id = %d; PRAGMA user_version = %d;",
			schema_steps[i], SCHEMA_APPLICATION_ID, i + 1);
		raw(path, sql);
	}
	raw(path,
	    "INSERT INTO events VALUES (1, 5, 1, 'submitted', '{\"by\":\"ann\",\"uid\":1}'),"
	    "(2, 6, 2, 'submitted', '{\"by\":\"ann\",\"uid\":1}'), (3, 7, 2, 'ended', '{}');"
	    "INSERT INTO jobs (" OLD_COLUMNS
	    ") VALUES (1, 1, 'queued', 'none', 'a', 'ann', 'g', '', 0, 0, 1, 0, 5, 0, 0),"
	    "(2, 0, 'ended', 'failed', 'b', 'ann', 'g', 'why', 0, 1, 1, 7, 5, 6, 7);");
}

static void test_migrations(struct world *w)
{
	for (int version = 1; version <= schema_version; version++) {
		AUTO_FREE char *path = str_printf("%s/old-%d", folder, version);
		struct bench b = { .w = w, .open = open_sqlite, .arg = path };
		struct store_counters n;
		struct seen s = { 0 }, l = { 0 };
		int64_t next;

		make_old(path, version);
		b.s = b.open(&b);
		OK(b.s && store_boot(b.s, see_event, &s, &n, NULL) == 0 && s.count == 1 &&
			   n.next_seq == 4,
		   "a database of version %d opens with all that was in it", version);
		OK(store_list(b.s,
			      &(struct store_query){ .live = 0,
						     .outcome = OUTCOME_FAILED,
						     .limit = 9,
						     .group = "g" },
			      see_row, &l, &next, NULL) == 0 &&
			   l.count == 1 && next == 0,
		   "and lists as a new one does");
		store_destroy(b.s);
		IS_INT(raw_number(path, "PRAGMA user_version"), schema_version,
		       "it is of this version now");
		seen_fini(&s);
		seen_fini(&l);
	}
}

static void test_refusals(struct world *w)
{
	AUTO_FREE char *newer = str_printf("%s/newer", folder);
	AUTO_FREE char *other = str_printf("%s/other", folder);
	AUTO_FREE char *text = str_printf("%s/text", folder);
	AUTO_FREE char *absent = str_printf("%s/no/where", folder);
	struct err err = { 0 };
	FILE *f = fopen(text, "w");

	make_old(newer, 1);
	raw(newer, "PRAGMA user_version = 99");
	OK(!store_sqlite_open(w, newer, &err) && err.code == ERR_UNSUPPORTED &&
		   strstr(err.text, "99"),
	   "a newer database: %s", err.text);
	IS_INT(raw_number(newer, "PRAGMA user_version"), 99, "is left as it is");
	raw(other, "CREATE TABLE phones (number)");
	OK(!store_sqlite_open(w, other, &err) && err.code == ERR_INVALID,
	   "another program's: %s", err.text);
	IS_INT(raw_number(other, "SELECT count(*) FROM sqlite_schema"), 1,
	       "is left as it is");
	for (int i = 0; i < 1000; i++)
		fputs("this is no database at all\n", f);
	fclose(f);
	OK(!store_sqlite_open(w, text, &err) && err.code == ERR_CORRUPT, "a text: %s",
	   err.text);
	OK(!store_sqlite_open(w, absent, &err) && err.code == ERR_IO, "no folder: %s",
	   err.text);
}

static void overwrite(const char *path, long at, size_t len)
{
	FILE *f = fopen(path, "r+");

	fseek(f, at, SEEK_SET);
	for (size_t i = 0; i < len; i++)
		fputc(0xa5, f);
	fclose(f);
}

static void fill(struct bench *b, int first, int count)
{
	struct store_batch *batch = store_batch_create();

	for (int i = first; i < first + count; i++) {
		struct store_row row = a_row(i, "ann", JOB_ENDED);
		add_job(b, batch, &row, NULL);
	}
	if (commit(b, batch) != ERR_NONE)
		OK(false, "fill");
}

static void test_damage(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/damaged", folder);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path, .seq = 1 };
	struct err err = { 0 };
	struct seen s = { 0 };
	int rc = 0;

	b.s = b.open(&b);
	fill(&b, 1, 500);
	store_destroy(b.s);
	overwrite(path, 4096, 300000);
	b.s = store_sqlite_open(w, path, &err);
	if (b.s)
		rc = store_events(b.s, 0, 0, 1000, see_event, &s, &err);
	OK((!b.s || rc < 0) && err.code == ERR_CORRUPT && strstr(err.text, "--restore"),
	   "damage is told with what to do: %s", err.text);
	store_destroy(b.s);
	seen_fini(&s);
}

static void test_backup(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/origin", folder);
	AUTO_FREE char *copy = str_printf("%s/copy", folder);
	AUTO_FREE char *partial = str_printf("%s.partial", copy);
	AUTO_FREE char *place = str_printf("%s/place", folder);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path, .seq = 1 };
	struct told t = { 0 }, again = { 0 };
	struct err err = { 0 };
	struct stat st;
	int64_t events;

	b.s = b.open(&b);
	for (int i = 0; i < 20; i++)
		fill(&b, 1 + 200 * i, 200);
	store_backup(b.s, copy, on_told, &t);
	for (int i = 20; i < 30; i++)
		fill(&b, 1 + 200 * i, 200); /* goes on meanwhile */
	OK(spin_until(w, &t.yes) && t.err.code == ERR_NONE,
	   "a backup is made while jobs are stored: %s", t.err.text);
	OK(stat(copy, &st) == 0 && (st.st_mode & 0777) == 0600 && stat(partial, &st) < 0,
	   "it is its owner's only, and nothing else is left");
	store_backup(b.s, copy, on_told, &again);
	OK(spin_until(w, &again.yes) && again.err.code == ERR_IO,
	   "a file that is there is not replaced: %s", again.err.text);
	OK(store_sqlite_restore(copy, path, &err) < 0 && err.code == ERR_BUSY,
	   "not under a running daemon: %s", err.text);
	store_destroy(b.s);
	events = raw_number(copy, "SELECT count(*) FROM events");
	OK(events >= 4000 && events % 200 == 0, "the copy is of one moment (%lld)",
	   (long long)events);
	IS_INT(raw_number(copy, "SELECT count(*) FROM jobs"), events,
	       "rows and events agree");

	OK(store_sqlite_restore(copy, path, &err) == 0, "it is put in place: %s",
	   err.text);
	b.s = b.open(&b);
	IS_INT(raw_number(path, "SELECT count(*) FROM events"), events,
	       "and is what opens");
	store_destroy(b.s);
	OK(store_sqlite_restore(copy, place, &err) == 0 &&
		   raw_number(place, "SELECT count(*) FROM events") == events,
	   "also where no database was");
}

static void test_restore_refusals(void)
{
	AUTO_FREE char *good = str_printf("%s/copy", folder);
	AUTO_FREE char *bad = str_printf("%s/bad", folder);
	AUTO_FREE char *lacking = str_printf("%s/lacking", folder);
	AUTO_FREE char *foreign = str_printf("%s/other", folder);
	AUTO_FREE char *newer = str_printf("%s/newer", folder);
	AUTO_FREE char *empty = str_printf("%s/empty", folder);
	AUTO_FREE char *path = str_printf("%s/place", folder);
	AUTO_FREE char *left = str_printf("%s/place.restore", folder);
	int64_t before = raw_number(path, "SELECT count(*) FROM events");
	struct err err = { 0 };

	OK(store_sqlite_restore(good, bad, &err) == 0, "a copy to spoil");
	overwrite(bad, 40960, 20000);
	OK(store_sqlite_restore(bad, path, &err) < 0 && err.code == ERR_CORRUPT,
	   "damaged: %s", err.text);
	OK(store_sqlite_restore(good, lacking, &err) == 0, "a copy to take a table from");
	raw(lacking, "DROP TABLE keys");
	OK(store_sqlite_restore(lacking, path, &err) < 0 && strstr(err.text, "keys"),
	   "without a table: %s", err.text);
	OK(store_sqlite_restore(foreign, path, &err) < 0 && err.code == ERR_INVALID,
	   "foreign: %s", err.text);
	OK(store_sqlite_restore(newer, path, &err) < 0 && err.code == ERR_UNSUPPORTED,
	   "newer: %s", err.text);
	fclose(fopen(empty, "w"));
	OK(store_sqlite_restore(empty, path, &err) < 0 && err.code == ERR_INVALID,
	   "empty: %s", err.text);
	OK(store_sqlite_restore("/nonexistent/file", path, &err) < 0 &&
		   err.code == ERR_NOT_FOUND,
	   "absent: %s", err.text);
	IS_INT(raw_number(path, "SELECT count(*) FROM events"), before,
	       "each leaves the database as it was");
	OK(access(left, F_OK) < 0, "and nothing beside it");
}

/* A backup of an older version is good; triggers in a file from elsewhere do nothing. */
static void test_restore_old(struct world *w)
{
	AUTO_FREE char *old = str_printf("%s/old-backup", folder);
	AUTO_FREE char *path = str_printf("%s/from-old", folder);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path, .seq = 4 };
	struct err err = { 0 };

	make_old(old, 1);
	raw(old,
	    "CREATE TRIGGER evil AFTER INSERT ON events BEGIN DELETE FROM events; END");
	OK(store_sqlite_restore(old, path, &err) == 0, "an older backup is restored: %s",
	   err.text);
	IS_INT(raw_number(path, "PRAGMA user_version"), schema_version,
	       "and brought up to date");
	b.s = b.open(&b);
	fill(&b, 3, 1);
	IS_INT(count_events(&b, 0), 4, "no trigger in it runs");
	store_destroy(b.s);
}

static void copy_of(const char *from, const char *to)
{
	FILE *in = fopen(from, "r"), *out = fopen(to, "w");
	int c;

	while ((c = fgetc(in)) != EOF)
		fputc(c, out);
	fclose(in);
	fclose(out);
}

static long long raw_size(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (long long)st.st_size : -1;
}

/* A killed daemon leaves a log; restoring over it must not mix the two. */
static void test_restore_over_log(struct world *w)
{
	AUTO_FREE char *copy = str_printf("%s/copy", folder);
	AUTO_FREE char *path = str_printf("%s/killed", folder);
	AUTO_FREE char *dead = str_printf("%s/killed-now", folder);
	AUTO_FREE char *log = str_printf("%s-wal", path);
	AUTO_FREE char *dead_log = str_printf("%s-wal", dead);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path, .seq = 1 };
	struct err err = { 0 };

	b.s = b.open(&b);
	fill(&b, 1, 50);
	/* As kill -9 leaves it: the files with their log, and nobody to close them. */
	copy_of(path, dead);
	copy_of(log, dead_log);
	OK(raw_size(dead_log) > 0, "a database with a log beside it");
	OK(store_sqlite_restore(copy, dead, &err) == 0, "is restored over: %s", err.text);
	store_destroy(b.s);
	OK(raw_number(dead, "SELECT count(*) FROM events") ==
		   raw_number(copy, "SELECT count(*) FROM events"),
	   "and nothing of the old log is in it");
}

/* Sustained commits: the log is copied beside them and does not grow for ever. */
static void test_log_length(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/long", folder);
	AUTO_FREE char *log = str_printf("%s-wal", path);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path, .seq = 1 };

	b.s = b.open(&b);
	((struct sqlite_store *)b.s)->checkpoint_frames = 100;
	for (int i = 0; i < 150; i++)
		fill(&b, 1 + i * 100, 100);
	OK(raw_size(log) > 0 && raw_size(log) < 20 * 100 * 4200,
	   "the log stays short (%lld bytes)", raw_size(log));
	IS_INT(raw_number(path, "SELECT count(*) FROM events"), 15000,
	       "and nothing is lost by it");
	store_destroy(b.s);
}

static void test_settings(struct world *w)
{
	AUTO_FREE char *path = str_printf("%s/settings", folder);
	struct bench b = { .w = w, .open = open_sqlite, .arg = path };
	struct conn *c;
	int64_t n = -1;

	b.s = b.open(&b);
	c = &((struct sqlite_store *)b.s)->writer;
	OK(conn_number(c, "PRAGMA synchronous", &n, NULL) == 0 && n == 2,
	   "every commit is synced");
	OK(conn_number(c, "SELECT journal_mode = 'wal' FROM pragma_journal_mode", &n,
		       NULL) == 0 &&
		   n == 1,
	   "by a write-ahead log");
	OK(raw_number(path, "PRAGMA application_id") == SCHEMA_APPLICATION_ID,
	   "the file says whose it is");
	store_destroy(b.s);
}

int main(void)
{
	struct world *w;

	if (!OK(mkdtemp(folder) != NULL, "a folder"))
		return END();
	test_laws(world_uv_create(NULL), "real");
	test_laws(world_sim_create(5), "simulated");
	w = world_uv_create(NULL);
	test_migrations(w);
	test_refusals(w);
	test_damage(w);
	test_backup(w);
	test_restore_refusals();
	test_restore_old(w);
	test_restore_over_log(w);
	test_log_length(w);
	test_settings(w);
	world_destroy(w);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}
