// SPDX-License-Identifier: Apache-2.0
/* memory.c - a store on a disk that is a struct, for simulations.
 *
 * A commit is durable after one random delay and told after another, so a crash falls
 * before, between or after; one that was not durable yet when its store is destroyed is
 * there or not by chance, as after a power cut.  The disk checks what SQLite's keys
 * check, so that a bug shows here too.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/impl.h"

struct store_disk {
	struct record **records; /* by seq */
	size_t record_count, record_cap;
	struct store_row **rows; /* by id */
	size_t row_count, row_cap;
	struct store_doc **docs; /* by kind and name */
	size_t doc_count, doc_cap;
	int64_t *gone; /* deleted jobs whose files may be there, by id */
	size_t gone_count, gone_cap;
	struct map *keys;    /* "owner\nkey" -> the SUBMITTED record */
	struct map *members; /* "array.index" -> its id, as a pointer */
	struct store_disk_faults faults;
};

struct memory_store {
	struct store base;
	struct world *world;
	struct store_disk *disk;
	struct world_timer *timer;
	struct store_batch *batch; /* under way; NULL once durable or failed */
	store_done done;           /* NULL: no commit is under way */
	void *done_arg;
	struct err failure; /* ERR_NONE: durable */
};

struct store_disk *store_disk_create(void)
{
	struct store_disk *d = mem_alloc(1, sizeof *d);

	d->keys = map_create();
	d->members = map_create();
	d->faults.delay_most_ms = 5;
	return d;
}

void store_disk_destroy(struct store_disk *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->record_count; i++)
		free(d->records[i]);
	for (size_t i = 0; i < d->row_count; i++)
		free(d->rows[i]);
	for (size_t i = 0; i < d->doc_count; i++)
		free(d->docs[i]);
	free(d->records);
	free(d->rows);
	free(d->docs);
	free(d->gone);
	map_destroy(d->keys);
	map_destroy(d->members);
	free(d);
}

void store_disk_set_faults(struct store_disk *d, const struct store_disk_faults *f)
{
	d->faults = *f;
}

size_t store_disk_events(const struct store_disk *d)
{
	return d->record_count;
}

/* An owner's name has no newline, so two pairs never make one text. */
static char *key_text(const char *owner, const char *key)
{
	return str_printf("%s\n%s", owner, key);
}

/* Where seq is or would be. */
static size_t record_at(const struct store_disk *d, int64_t seq)
{
	size_t low = 0, high = d->record_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (d->records[mid]->seq < seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static size_t row_at(const struct store_disk *d, int64_t id)
{
	size_t low = 0, high = d->row_count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (d->rows[mid]->id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct store_row *find_row(const struct store_disk *d, int64_t id)
{
	size_t at = row_at(d, id);

	return at < d->row_count && d->rows[at]->id == id ? d->rows[at] : NULL;
}

static bool is_live(const struct store_disk *d, int64_t job)
{
	const struct store_row *row = find_row(d, job);

	return row && row->state != JOB_ENDED;
}

static int put_record(struct store_disk *d, struct record *r, struct err *err)
{
	size_t at = record_at(d, r->seq);

	if (at < d->record_count && d->records[at]->seq == r->seq)
		return err_set(err, ERR_CONFLICT, "event %lld is there already",
			       (long long)r->seq);
	if (record_has_key(r)) {
		AUTO_FREE char *key = key_text(r->by, r->key);
		if (map_gets(d->keys, key))
			return err_set(err, ERR_CONFLICT,
				       "key '%s' of %s is used already", r->key, r->by);
		map_puts(d->keys, key, r);
	}
	mem_grow(&d->records, &d->record_cap, d->record_count, sizeof(struct record *));
	memmove(d->records + at + 1, d->records + at,
		(d->record_count++ - at) * sizeof(struct record *));
	d->records[at] = r;
	return 0;
}

static void take_record(struct store_disk *d, const struct record *r)
{
	size_t at = record_at(d, r->seq);

	if (record_has_key(r)) {
		AUTO_FREE char *key = key_text(r->by, r->key);
		map_dels(d->keys, key);
	}
	memmove(d->records + at, d->records + at + 1,
		(--d->record_count - at) * sizeof(struct record *));
}

static void put_row(struct store_disk *d, struct store_row *row)
{
	size_t at = row_at(d, row->id);

	if (at < d->row_count && d->rows[at]->id == row->id) {
		free(d->rows[at]);
		d->rows[at] = row;
		return;
	}
	mem_grow(&d->rows, &d->row_cap, d->row_count, sizeof(struct store_row *));
	memmove(d->rows + at + 1, d->rows + at,
		(d->row_count++ - at) * sizeof(struct store_row *));
	d->rows[at] = row;
}

static int compare_docs(const struct store_doc *a, const struct store_doc *b)
{
	int by_kind = strcmp(a->kind, b->kind);

	return by_kind ? by_kind : strcmp(a->name, b->name);
}

/* Takes it. */
static void put_doc(struct store_disk *d, struct store_doc *doc)
{
	size_t at = 0;

	while (at < d->doc_count && compare_docs(d->docs[at], doc) < 0)
		at++;
	if (at < d->doc_count && compare_docs(d->docs[at], doc) == 0) {
		free(d->docs[at]);
		memmove(d->docs + at, d->docs + at + 1,
			(--d->doc_count - at) * sizeof(struct store_doc *));
	}
	if (!doc->body) {
		free(doc);
		return;
	}
	mem_grow(&d->docs, &d->doc_cap, d->doc_count, sizeof(struct store_doc *));
	memmove(d->docs + at + 1, d->docs + at,
		(d->doc_count++ - at) * sizeof(struct store_doc *));
	d->docs[at] = doc;
}

static char *member_text(int64_t array, int64_t index)
{
	return str_printf("%lld.%lld", (long long)array, (long long)index);
}

/* A number of an array is one job's, as SQLite's unique index has it. */
static int put_members(struct store_disk *d, const struct store_batch *b, struct err *err)
{
	for (size_t i = 0; i < b->row_count; i++) {
		const struct store_row *row = b->rows[i];
		AUTO_FREE char *key = NULL;
		intptr_t other;

		if (!row->array)
			continue;
		key = member_text(row->array, row->index);
		other = (intptr_t)map_gets(d->members, key);
		if (other && other != row->id)
			return err_set(err, ERR_CONFLICT, "member %s is job %lld already",
				       key, (long long)other);
		map_puts(d->members, key, (void *)(intptr_t)row->id);
	}
	return 0;
}

static void put_gone(struct store_disk *d, int64_t job)
{
	size_t at = 0;

	while (at < d->gone_count && d->gone[at] < job)
		at++;
	if (at < d->gone_count && d->gone[at] == job)
		return;
	mem_grow(&d->gone, &d->gone_cap, d->gone_count, sizeof *d->gone);
	memmove(d->gone + at + 1, d->gone + at, (d->gone_count++ - at) * sizeof *d->gone);
	d->gone[at] = job;
}

/* The highest number ever given stays, so that it is not given again. */
static void clear_gone(struct store_disk *d, int64_t job)
{
	int64_t highest = d->row_count ? d->rows[d->row_count - 1]->id : 0;
	size_t at = 0;

	while (at < d->gone_count && d->gone[at] != job)
		at++;
	if (at == d->gone_count || (at + 1 == d->gone_count && job > highest))
		return;
	memmove(d->gone + at, d->gone + at + 1, (--d->gone_count - at) * sizeof *d->gone);
}

static void forget(struct store_disk *d, const struct store_forget *f)
{
	size_t at = row_at(d, f->job), kept = 0;

	if (f->files_gone) {
		clear_gone(d, f->job);
		return;
	}
	put_gone(d, f->job);
	if (at < d->row_count && d->rows[at]->id == f->job) {
		AUTO_FREE char *key = member_text(d->rows[at]->array, d->rows[at]->index);
		map_dels(d->members, key);
		free(d->rows[at]);
		memmove(d->rows + at, d->rows + at + 1,
			(--d->row_count - at) * sizeof(struct store_row *));
	}
	for (size_t i = 0; i < d->record_count; i++) {
		struct record *r = d->records[i];

		if (r->job != f->job) {
			d->records[kept++] = r;
			continue;
		}
		if (record_has_key(r)) {
			AUTO_FREE char *key = key_text(r->by, r->key);
			map_dels(d->keys, key);
		}
		free(r);
	}
	d->record_count = kept;
}

/* All of it or nothing. */
static int disk_apply(struct store_disk *d, struct store_batch *b, struct err *err)
{
	if (put_members(d, b, err) < 0)
		return -1; /* a contradiction: nobody goes on from here */
	for (size_t i = 0; i < b->record_count; i++) {
		if (put_record(d, b->records[i], err) < 0) {
			while (i-- > 0)
				take_record(d, b->records[i]);
			return -1;
		}
	}
	for (size_t i = 0; i < b->row_count; i++)
		put_row(d, b->rows[i]);
	for (size_t i = 0; i < b->doc_count; i++)
		put_doc(d, b->docs[i]);
	b->record_count = b->row_count = b->doc_count = 0; /* the disk's now */
	for (size_t i = 0; i < b->forget_count; i++)
		forget(d, b->forgets[i]);
	return 0;
}

static int64_t soon(struct memory_store *m)
{
	uint64_t most = (uint64_t)m->disk->faults.delay_most_ms;

	return world_mono_ms(m->world) + (int64_t)(world_random(m->world) % (most + 1));
}

static void make_durable(struct memory_store *m)
{
	m->failure.code = ERR_NONE;
	if ((int)(world_random(m->world) % 100) < m->disk->faults.fail_percent)
		err_set(&m->failure, ERR_IO, "the disk is full");
	else
		disk_apply(m->disk, m->batch, &m->failure);
	store_batch_destroy(TAKE(m->batch));
}

static void on_timer(void *arg)
{
	struct memory_store *m = arg;
	struct err failure = m->failure; /* done() may begin the next commit */
	store_done done = m->done;

	if (m->batch) {
		make_durable(m);
		world_timer_at(m->timer, soon(m));
		return;
	}
	m->done = NULL;
	done(m->done_arg, failure.code == ERR_NONE ? NULL : &failure);
}

static void memory_commit(struct store *s, struct store_batch *b, store_done done,
			  void *arg)
{
	struct memory_store *m = (struct memory_store *)s;

	assert(!m->done && "one commit at a time");
	m->batch = b;
	m->done = done;
	m->done_arg = arg;
	world_timer_at(m->timer, soon(m));
}

static bool in_force(const struct store_disk *d, size_t at)
{
	const struct record *r = d->records[at];

	if (r->kind != EV_QUOTA && r->kind != EV_USER)
		return false;
	for (size_t i = at + 1; i < d->record_count; i++) {
		const struct record *later = d->records[i];
		if (later->kind == r->kind && str_eq(later->scope, r->scope) &&
		    str_eq(later->name, r->name))
			return false;
	}
	return true;
}

static int memory_boot(struct store *s, void (*each)(void *arg, const struct event *e),
		       void *arg, struct store_counters *out, struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	*out = (struct store_counters){ 1, 1 };
	if (d->record_count)
		out->next_seq = d->records[d->record_count - 1]->seq + 1;
	if (d->row_count)
		out->next_job = d->rows[d->row_count - 1]->id + 1;
	if (d->gone_count && d->gone[d->gone_count - 1] >= out->next_job)
		out->next_job = d->gone[d->gone_count - 1] + 1;
	for (size_t i = 0; i < d->record_count; i++) {
		if (in_force(d, i) && record_give(d->records[i], each, arg, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < d->record_count; i++) {
		if (is_live(d, d->records[i]->job) &&
		    record_give(d->records[i], each, arg, err) < 0)
			return -1;
	}
	return 0;
}

static int memory_docs(struct store *s, store_doc_each each, void *arg, struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	(void)err;
	for (size_t i = 0; i < d->doc_count; i++)
		each(arg, d->docs[i]->kind, d->docs[i]->name, d->docs[i]->body);
	return 0;
}

static int memory_audit(struct store *s, int64_t before, int limit,
			void (*each)(void *arg, const struct event *e), void *arg,
			struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	for (size_t i = record_at(d, before); i-- > 0 && limit > 0;) {
		if (d->records[i]->kind != EV_AUDIT && d->records[i]->kind != EV_QUOTA)
			continue;
		if (record_give(d->records[i], each, arg, err) < 0)
			return -1;
		limit--;
	}
	return 0;
}

static int memory_events(struct store *s, const struct span *span,
			 void (*each)(void *arg, const struct event *e), void *arg,
			 struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;
	int left = span->limit;

	for (size_t i = record_at(d, span->from_seq); i < d->record_count && left > 0;
	     i++) {
		if (span->job && d->records[i]->job != span->job)
			continue;
		if (record_give(d->records[i], each, arg, err) < 0)
			return -1;
		left--;
	}
	return 0;
}

static int memory_list(struct store *s, const struct store_query *q, struct sieve *sieve,
		       struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	(void)err;
	for (size_t i = row_at(d, q->before > 0 ? q->before : INT64_MAX); i-- > 0;)
		if (!sieve_row(sieve, d->rows[i]))
			return 0;
	return 0;
}

static int memory_gone(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
		       struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	(void)err;
	for (size_t i = 0; i < d->gone_count; i++)
		each(arg, d->gone[i]);
	return 0;
}

static int memory_find_key(struct store *s, const char *owner, const char *key,
			   int64_t *job, char digest[65], struct err *err)
{
	AUTO_FREE char *text = key_text(owner, key);
	const struct record *r = map_gets(((struct memory_store *)s)->disk->keys, text);

	if (!r)
		return err_set(err, ERR_NOT_FOUND, "%s has no job with the key '%s'",
			       owner, key);
	*job = r->job;
	snprintf(digest, 65, "%s", r->digest);
	return 0;
}

static int memory_find_name(struct store *s, const char *owner, const char *name,
			    int64_t *job, struct err *err)
{
	const struct store_disk *d = ((struct memory_store *)s)->disk;

	for (size_t i = d->row_count; i-- > 0;) {
		if (!d->rows[i]->array && str_eq(d->rows[i]->name, name) &&
		    str_eq(d->rows[i]->owner, owner)) {
			*job = d->rows[i]->id;
			return 0;
		}
	}
	return err_set(err, ERR_NOT_FOUND, "%s has no job named '%s'", owner, name);
}

static int memory_find_member(struct store *s, int64_t array, int64_t index, int64_t *job,
			      struct err *err)
{
	AUTO_FREE char *key = member_text(array, index);
	intptr_t id = (intptr_t)map_gets(((struct memory_store *)s)->disk->members, key);

	if (!id)
		return err_set(err, ERR_NOT_FOUND, "array %lld has no member %lld",
			       (long long)array, (long long)index);
	*job = id;
	return 0;
}

static int memory_row(struct store *s, int64_t job,
		      void (*each)(void *arg, const struct store_row *row), void *arg,
		      struct err *err)
{
	const struct store_row *row = find_row(((struct memory_store *)s)->disk, job);

	if (!row)
		return err_set(err, ERR_NOT_FOUND, "there is no job %lld",
			       (long long)job);
	each(arg, row);
	return 0;
}

struct refusal {
	store_done done;
	void *arg;
};

static void refuse(void *arg)
{
	struct refusal r = *(struct refusal *)arg;
	struct err err;

	free(arg);
	err_set(&err, ERR_UNSUPPORTED, "a store in memory has no backup");
	r.done(r.arg, &err);
}

static void memory_backup(struct store *s, const char *path, store_done done, void *arg)
{
	struct refusal *r = mem_alloc(1, sizeof *r);

	(void)path;
	*r = (struct refusal){ done, arg };
	world_later(((struct memory_store *)s)->world, refuse, r);
}

static void memory_destroy(struct store *s)
{
	struct memory_store *m = (struct memory_store *)s;

	if (m->batch && world_random(m->world) % 2)
		make_durable(m);
	store_batch_destroy(m->batch);
	world_timer_destroy(m->timer);
	free(m);
}

static const struct store_ops ops = {
	.commit = memory_commit,
	.boot = memory_boot,
	.docs = memory_docs,
	.gone = memory_gone,
	.audit = memory_audit,
	.events = memory_events,
	.list = memory_list,
	.find_key = memory_find_key,
	.find_name = memory_find_name,
	.find_member = memory_find_member,
	.row = memory_row,
	.backup = memory_backup,
	.destroy = memory_destroy,
};

struct store *store_memory_open(struct world *w, struct store_disk *d)
{
	struct memory_store *m = mem_alloc(1, sizeof *m);

	m->base.ops = &ops;
	m->world = w;
	m->disk = d;
	m->timer = world_timer_create(w, on_timer, m);
	return &m->base;
}
