// SPDX-License-Identifier: Apache-2.0
/* lists.h - what is true of every store's lists, and of jobs that are forgotten. */
#pragma once

#include "bench.h"

/* ---- lists, against a filter that anybody can read ---- */

enum { LISTED = 400 };

static const char *const owners[] = { "ann", "bob", "eve" };
static const char *const names[] = { "trAin", "evAl", "serve", "" };
static const char *const groups[] = { "default", "vision", "speech" };

static void see_nested(void *arg, const struct store_row *row)
{
	struct bench *b = arg;
	struct seen s = { 0 };
	struct store_query q = {
		.live = -1, .outcome = -1, .limit = 1, .before = row->id
	};
	int64_t next;

	/* A read inside a read of the same kind. */
	if (store_list(b->s, &q, see_row, &s, &next, NULL) < 0 ||
	    (row->id > 1 && s.count != 1))
		OK(false, "a list inside a list");
	seen_fini(&s);
}

/* Slow and obvious.  Gives whether something follows. */
static bool expect(const struct store_row *rows, const struct store_query *q,
		   struct buf *out)
{
	int left = q->limit;

	for (int i = LISTED; i-- > 0;) {
		const struct store_row *r = &rows[i];
		const struct pair *label = r->labels ? &r->labels->items[0] : NULL;
		if ((q->before && r->id >= q->before) || r->array != q->array ||
		    (q->owner && strcmp(q->owner, r->owner)) ||
		    (q->group && strcmp(q->group, r->group)) ||
		    (q->name && strcmp(q->name, r->name)) ||
		    (q->search && !strstr(r->name, "Al")) ||
		    (q->label && !q->array &&
		     (!label || label->value[0] != q->label[2])) ||
		    (q->see && strcmp(r->owner, "ann") && strcmp(r->group, "vision") &&
		     strcmp(r->group, "speech")) ||
		    (q->live == 1 && r->state == JOB_ENDED) ||
		    (q->live == 0 && r->state != JOB_ENDED) ||
		    (q->state && r->state != q->state) ||
		    (q->outcome >= 0 && (int)r->outcome != q->outcome))
			continue;
		if (left-- == 0)
			return true;
		buf_printf(out, "%lld ", (long long)r->id);
	}
	return false;
}

static struct pair pairs_of_labels[] = { { (char[]){ "k" }, (char[]){ "a" } },
					 { (char[]){ "k" }, (char[]){ "b" } } };
static const struct pairs labels[] = { { .items = &pairs_of_labels[0], .count = 1 },
				       { .items = &pairs_of_labels[1], .count = 1 } };

static struct store_row random_row(int64_t id, uint64_t r)
{
	struct store_row row =
		a_row(id, owners[r % 3], r / 8 % 4 ? JOB_ENDED : JOB_RUNNING);

	row.name = names[r / 64 % 4];
	row.group = groups[r / 512 % 3];
	if (row.state == JOB_ENDED)
		row.outcome = (enum outcome)(1 + r / 4096 % 3);
	else if (r / 16384 % 2)
		row.state = JOB_QUEUED;
	row.array = r / 65536 % 8 ? 0 : 1 + (int64_t)(r / 524288 % 2);
	row.index = row.array ? id : 0;
	if (!row.array && r / (1 << 20) % 4)
		row.labels = &labels[r / (1 << 23) % 2];
	return row;
}

static struct store_query random_query(uint64_t r, const struct principal *see)
{
	return (struct store_query){
		.owner = r % 3 ? NULL : owners[r / 2 % 3],
		.name = r / 8 % 4 ? NULL : names[r / 32 % 4],
		.group = r / 128 % 4 ? NULL : groups[r / 512 % 3],
		.live = (int)(r / 2048 % 3) - 1,
		.outcome = r / 8192 % 4 ? -1 : (int)(r / 32768 % 4),
		.before =
			r / (1 << 18) % 2 ? 1000 + (int64_t)(r / (1 << 19) % LISTED) : 0,
		.limit = 1 + (int)(r / (1ll << 28) % 30),
		.see = r / (1ll << 33) % 2 ? see : NULL,
		.search = r / (1ll << 34) % 4 ? NULL : "aL",
		.label = r / (1ll << 36) % 4 ? NULL
					     : (r / (1ll << 38) % 2 ? "k=a" : "k=b"),
		.array = r / (1ll << 39) % 4 ? 0 : 1 + (int64_t)(r / (1ll << 41) % 2),
		.state = r / (1ll << 42) % 4 ? JOB_NEW : JOB_QUEUED,
	};
}

static void law_lists(struct bench *b)
{
	static const struct principal ann = { .name = "ann",
					      .groups = { "default", "vision", "speech" },
					      .group_count = 3 };
	struct store_row *rows = mem_alloc(LISTED, sizeof *rows);
	struct store_batch *batch = store_batch_create();
	int64_t next;
	int wrong = 0;

	for (int i = 0; i < LISTED; i++) {
		rows[i] = random_row(1000 + i, world_random(b->w));
		store_batch_row(batch, &rows[i]);
	}
	OK(commit(b, batch) == ERR_NONE, "%d jobs to list", LISTED);
	for (int i = 0; i < 2000; i++) {
		struct store_query q = random_query(world_random(b->w), &ann);
		AUTO_BUF struct buf want = { 0 };
		struct seen s = { 0 };
		/* Older rows of other laws come last; stay above them. */
		bool more = expect(rows, &q, &want);
		store_list(b->s, &q, see_row, &s, &next, NULL);
		wrong += strncmp(buf_str(&s.ids), buf_str(&want), want.len) != 0 ||
			 (s.ids.len > want.len && atoll(s.ids.data + want.len) >= 1000) ||
			 (more && (next < 1000 || s.ids.len != want.len));
		seen_fini(&s);
	}
	IS_INT(wrong, 0,
	       "two thousand random lists are what a plain filter gives, newest first");
	OK(store_list(b->s,
		      &(struct store_query){ .live = -1, .outcome = -1, .limit = 1000 },
		      see_nested, b, &next, NULL) == 0,
	   "a read may read");
	free(rows);
}

/* What is rare is found page by page, each of which looks at so many and no more. */
static void law_scan(struct bench *b)
{
	struct store_query q = { .live = -1,
				 .outcome = -1,
				 .limit = 10,
				 .owner = "scan",
				 .search = "needle" };
	int64_t next = 0;
	int pages = 0, found = 0;

	for (int64_t id = 20000; id < 20000 + 2 * STORE_SCAN_MAX + 50;) {
		struct store_batch *batch = store_batch_create();
		for (int i = 0; i < 5000 && id < 20000 + 2 * STORE_SCAN_MAX + 50; i++) {
			struct store_row row = a_row(id++, "scan", JOB_RUNNING);
			row.name = id % 5000 == 0 ? "a NEEDLE here" : "hay";
			store_batch_row(batch, &row);
		}
		if (commit(b, batch) != ERR_NONE)
			OK(false, "a haystack");
	}
	do {
		struct seen s = { 0 };
		store_list(b->s, &q, see_row, &s, &next, NULL);
		found += s.count;
		pages++;
		q.before = next;
		seen_fini(&s);
	} while (next && pages < 100);
	OK(found == 2 && pages >= 3 && pages < 10,
	   "a rare name is found in a haystack, in %d pages", pages);
}

static void see_gone(void *arg, int64_t job)
{
	buf_printf(arg, "%lld ", (long long)job);
}

static void forget_one(struct bench *b, int64_t job, const char *key)
{
	struct store_batch *batch = store_batch_create();
	struct event e = an_event(b, 0, EV_AUDIT);

	store_batch_event(batch, &e);
	store_batch_forget(batch, job, "zoe", key);
	OK(commit(b, batch) == ERR_NONE, "job %lld is forgotten", (long long)job);
}

static void law_forget(struct bench *b)
{
	struct store_batch *batch = store_batch_create();
	struct store_row first = a_row(900000, "zoe", JOB_ENDED),
			 last = a_row(900001, "zoe", JOB_ENDED);
	struct store_query q = { .live = -1, .outcome = -1, .limit = 9, .label = "k=a" };
	AUTO_BUF struct buf gone = { 0 };
	struct store_counters n;
	struct seen s = { 0 };
	char digest[65];
	int64_t job, next;

	first.labels = last.labels = &labels[0];
	add_job(b, batch, &first, "zoe-1");
	add_job(b, batch, &last, NULL);
	OK(commit(b, batch) == ERR_NONE, "two jobs to forget");
	forget_one(b, 900001, NULL);
	OK(count_events(b, 900001) == 0 && store_row(b->s, 900001, see_row, &s, NULL) < 0,
	   "its events and its row are not there");
	OK(count_events(b, 900000) == 1 &&
		   store_find_key(b->s, "zoe", "zoe-1", &job, digest, NULL) == 0,
	   "others are");
	forget_one(b, 900000, "zoe-1");
	OK(store_find_key(b->s, "zoe", "zoe-1", &job, digest, NULL) < 0,
	   "with the job goes its key");
	store_list(b->s, &q, see_row, &s, &next, NULL);
	OK(!strstr(buf_str(&s.ids), "90000"), "and its label");
	seen_fini(&s);
	reopen(b);
	store_gone(b->s, see_gone, &gone, NULL);
	IS(buf_str(&gone), "900000 900001 ",
	   "until their files are gone both are told of");
	for (int i = 0; i < 2; i++) {
		batch = store_batch_create();
		store_batch_files_gone(batch, 900000 + i);
		commit(b, batch);
	}
	buf_clear(&gone);
	store_gone(b->s, see_gone, &gone, NULL);
	IS(buf_str(&gone), "900001 ", "then no more; the highest is remembered");
	OK(store_boot(b->s, see_event, &s, &n, NULL) == 0 && n.next_job == 900002,
	   "so that no number is given twice");
	seen_fini(&s);
	forget_one(b, 900000, NULL);
}
