// SPDX-License-Identifier: Apache-2.0
/* Power cuts under the SQLite store: every event that was acknowledged is there after. */
#include "powercut_vfs.h"

#include <ftw.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench.h"
#include "store/docs.h"
#include "store/schema.h"
#include "store/sqlite_impl.h"
#include "world/world_sim.h"

#define CUTS 400

/* In memory where there is such a place: the real disk's syncs are only slow here. */
static char in_memory[] = "/dev/shm/yard-power-XXXXXX",
	    on_disk[] = "/tmp/yard-power-XXXXXX";
static const char *folder;

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static struct store *open_store(struct bench *b)
{
	struct err err = { 0 };
	struct store *s = store_sqlite_open(b->w, b->arg, &err);

	if (!s && !power.off && !power.ignores_sync)
		printf("# open: %s\n", err.text);
	if (s)
		((struct sqlite_store *)s)->checkpoint_frames =
			12; /* so that cuts fall into one */
	return s;
}

/* What a client was told so far. */
struct promise {
	int64_t events, jobs; /* acknowledged: all seq and ids up to these */
	int64_t tried_events, tried_jobs;
};

static void load(struct bench *b, struct promise *p, int batches)
{
	for (int i = 0; i < batches && !power.off; i++) {
		struct store_batch *batch = store_batch_create();
		int jobs = 1 + (int)(world_random(b->w) % 4);
		for (int k = 0; k < jobs; k++) {
			AUTO_FREE char *key =
				str_printf("k%lld", (long long)p->tried_jobs + 1);
			struct store_row row = a_row(++p->tried_jobs, "ann", JOB_QUEUED);
			add_job(b, batch, &row, key);
			if (row.id > 3) { /* an older one ends */
				struct event e = an_event(b, row.id - 3, EV_ENDED);
				row = a_row(row.id - 3, "ann", JOB_ENDED);
				row.outcome = OUTCOME_SUCCEEDED;
				store_batch_event(batch, &e);
				store_batch_row(batch, &row);
			}
		}
		p->tried_events = b->seq - 1;
		/* A document that tells up to where the events must be. */
		AUTO_FREE char *told = str_printf("%lld", (long long)p->tried_events);
		store_batch_doc(batch, "last", "event", told);
		store_batch_doc(batch, "event", told, "");
		if (commit(b, batch) != ERR_NONE)
			return;
		p->events = p->tried_events;
		p->jobs = p->tried_jobs;
	}
}

static void count_event(void *arg, const struct event *e)
{
	int64_t *next = arg;

	*next = e->seq == *next ? *next + 1 : -1000000; /* a gap is never made good */
}

struct docs_seen {
	int64_t last, most; /* as the one document says; of those one a batch */
};

static void see_doc(void *arg, const char *kind, const char *name, const char *body)
{
	struct docs_seen *d = arg;

	if (str_eq(kind, "last"))
		d->last = atoll(body);
	else if (atoll(name) > d->most)
		d->most = atoll(name);
}

/* 0: the promise is kept; else what is wrong. */
static const char *broken(struct bench *b, const struct promise *p)
{
	int64_t next = 1, before = -1, job = 0;
	struct store_counters n = { 0 };
	struct seen *s = mem_alloc(1, sizeof *s);
	char digest[65];
	int rc;

	while (next != before && next > 0) {
		before = next;
		if (store_events(b->s, 0, next, STORE_LIMIT_MAX, count_event, &next,
				 NULL) < 0) {
			free(s);
			return "events cannot be read";
		}
	}
	rc = store_boot(b->s, see_event, s, &n, NULL);
	seen_fini(s);
	free(s);
	if (rc < 0)
		return "it does not boot";
	if (next <= p->events)
		return "an acknowledged event is gone";
	if (next != p->events + 1 && next != p->tried_events + 1)
		return "a batch is there in part";
	struct docs_seen d = { 0 };
	if (store_docs(b->s, see_doc, &d, NULL) < 0 || d.last != d.most)
		return "documents of one batch do not agree";
	if (d.last && d.last != next - 1)
		return "documents and events do not agree";
	if (n.next_seq != next ||
	    n.next_job != (next == p->events + 1 ? p->jobs : p->tried_jobs) + 1)
		return "rows and events do not agree";
	for (int64_t id = 1; id <= p->jobs; id++) {
		AUTO_FREE char *key = str_printf("k%lld", (long long)id);
		if (store_find_key(b->s, "ann", key, &job, digest, NULL) < 0 || job != id)
			return "an acknowledged key is gone";
	}
	b->seq = next;
	return NULL;
}

/* A database of version 1 with two jobs in it: the first cut may fall into its upgrade. */
static void begin_old(struct bench *b, struct promise *p)
{
	AUTO_FREE char *sql = str_printf(
		"PRAGMA journal_mode = WAL; BEGIN; %s PRAGMA application_id = %d;"
		"PRAGMA user_version = 1;"
		"INSERT INTO events VALUES (1, 5, 1, 'submitted', '{\"by\":\"ann\"}'),"
		" (2, 6, 2, 'submitted', '{\"by\":\"ann\"}');"
		"INSERT INTO jobs SELECT job, 1, 'queued', 'none', 'a', 'ann', 'g', '', 0, 0, 1,"
		" 0, 5, 0, 0 FROM events;"
		"INSERT INTO keys SELECT 'ann', 'k' || job, job, '' FROM events; COMMIT",
		schema_steps[0], SCHEMA_APPLICATION_ID);
	sqlite3 *db;

	sqlite3_open(b->arg, &db);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		printf("# an old database: %s\n", sqlite3_errmsg(db));
	sqlite3_close(db);
	power.calls = 0;
	b->seq = 3;
	*p = (struct promise){ 2, 2, 2, 2 };
}

/* One life of a database with several cuts; the first calls of it included. */
static const char *one_history(uint64_t seed, bool lying_disk, int *commits)
{
	AUTO_FREE char *path =
		str_printf("%s/%s-%llu", folder, lying_disk ? "lying" : "true",
			   (unsigned long long)seed);
	struct bench b = {
		.w = world_sim_create(seed), .open = open_store, .arg = path, .seq = 1
	};
	struct promise p = { 0 };
	const char *wrong = NULL;

	power_reset(seed);
	power.ignores_sync = lying_disk;
	if (seed % 4 == 0)
		begin_old(&b, &p);
	for (int life = 0; life < 4 && !wrong; life++) {
		long within = life % 2 ? 1200 : p.jobs ? 60 : 160;
		power.cut_at = 1 + (long)(world_random(b.w) % (uint64_t)within);
		b.s = b.open(&b);
		if (b.s) {
			load(&b, &p, 60);
			power.off =
				true; /* a daemon that did not reach the cut loses power now */
			store_destroy(b.s);
		}
		world_sim_settle(b.w, 100000);
		power_settle();
		b.s = b.open(&b);
		wrong = b.s ? broken(&b, &p) : "it does not open";
		if (wrong)
			break;
		p.events = p.tried_events = b.seq - 1;
		{
			struct store_counters n;
			struct seen *s = mem_alloc(1, sizeof *s);
			store_boot(b.s, see_event, s, &n, NULL);
			p.jobs = p.tried_jobs = n.next_job - 1;
			seen_fini(s);
			free(s);
		}
		load(&b, &p, 1); /* and it can be written to */
		if (p.events != p.tried_events)
			wrong = "it cannot be written to";
		store_destroy(b.s);
		b.s = NULL;
		world_sim_settle(b.w, 100000);
	}
	*commits += (int)p.events;
	store_destroy(b.s);
	world_sim_settle(b.w, 100000);
	world_destroy(b.w);
	return wrong;
}

static void test_cuts(void)
{
	int bad = 0, events = 0;

	for (uint64_t seed = 1; seed <= CUTS / 4; seed++) {
		const char *wrong = one_history(seed, false, &events);
		if (wrong && ++bad < 5)
			printf("# seed %llu: %s\n", (unsigned long long)seed, wrong);
	}
	IS_INT(bad, 0,
	       "after each of %d power cuts every acknowledged event is there (%d events)",
	       CUTS, events);
	OK(events > CUTS * 10, "enough was acknowledged to mean something");
}

/* The same on a disk that says it has synced and has not: the test must see it. */
static void test_can_fail(void)
{
	int bad = 0, events = 0;

	for (uint64_t seed = 1; seed <= 20; seed++)
		bad += one_history(seed, true, &events) != NULL;
	OK(bad >= 10, "a disk that lies about syncs is found out (%d of 20)", bad);
}

static void test_disk_full(void)
{
	AUTO_FREE char *path = str_printf("%s/full", folder);
	struct bench b = {
		.w = world_sim_create(77), .open = open_store, .arg = path, .seq = 1
	};
	struct err err = { 0 };
	int failures = 0, wrong = 0;
	int64_t jobs = 0;

	power_reset(77);
	b.s = b.open(&b);
	for (int round = 0; round < 60; round++) {
		int64_t seq = b.seq;
		struct store_batch *batch = store_batch_create();
		struct store_row row = a_row(jobs + 1, "ann", JOB_QUEUED);
		struct told t = { 0 };
		struct seen s = { 0 };
		bool there;

		add_job(&b, batch, &row, NULL);
		power.full_after =
			round % 3 == 1 ? (long)(world_random(b.w) % 20000) : -1;
		store_commit(b.s, batch, on_told, &t);
		spin_until(b.w, &t.yes);
		power.full_after = -1;
		there = store_row(b.s, row.id, see_row, &s, NULL) == 0;
		seen_fini(&s);
		wrong += there != (t.err.code == ERR_NONE);
		if (t.err.code == ERR_NONE) {
			jobs++;
			continue;
		}
		failures++;
		err = t.err;
		wrong += count_events(&b, row.id) != 0;
		b.seq = seq;
	}
	OK(failures >= 5 && err.code == ERR_IO && strstr(err.text, "full"),
	   "a full disk fails a commit (%d): %s", failures, err.text);
	IS_INT(wrong, 0, "whole: nothing of it is there, all others are");
	IS_INT(count_events(&b, 0), jobs,
	       "and the store goes on when there is room again");
	store_destroy(b.s);
	world_destroy(b.w);
}

int main(void)
{
	folder = mkdtemp(in_memory);
	if (!folder)
		folder = mkdtemp(on_disk);
	if (!OK(folder != NULL, "a folder"))
		return END();
	power_install();
	test_cuts();
	test_can_fail();
	test_disk_full();
	power_reset(0);
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return END();
}
