// SPDX-License-Identifier: Apache-2.0
/* store.c - what every store shares: batches, records, rows; and the way to each. */
#include "store/store.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/impl.h"

void store_row_of(const struct job *j, struct store_row *out)
{
	*out = (struct store_row){
		.id = j->id,
		.name = j->spec->name ? j->spec->name : "",
		.owner = j->owner,
		.group = j->group ? j->group : "",
		.reason = j->reason ? j->reason : "",
		.state = j->state,
		.outcome = j->outcome,
		.priority = j->priority,
		.labels = &j->spec->labels,
		.attempt = j->attempt,
		.task_count = (int)j->task_count,
		.exit_code = j->state == JOB_ENDED ? job_exit_code(j) : 0,
		.submitted_ms = j->submitted_ms,
		.started_ms = j->started_ms,
		.ended_ms = j->ended_ms,
		.array = j->array,
		.index = j->index,
		.members = j->spec->array.count,
		.members_ended = j->members.ended,
		.members_failed = j->members.failed,
		.members_running = j->members.running,
	};
}

/* Strings of a one-block copy are laid one behind the other after the struct. */
static size_t text_size(const char *s)
{
	return s ? strlen(s) + 1 : 1;
}

static const char *lay(char **at, const char *s)
{
	const char *laid = *at;
	size_t size = text_size(s);

	memcpy(*at, s ? s : "", size);
	*at += size;
	return laid;
}

struct record *record_dup(const struct record *r)
{
	size_t more = r->body_len + 1 + text_size(r->by) + text_size(r->key) +
		      text_size(r->digest) + text_size(r->scope) + text_size(r->name);
	struct record *copy = mem_alloc(1, sizeof *copy + more);
	char *at = (char *)(copy + 1);

	*copy = *r;
	copy->by = lay(&at, r->by);
	copy->key = lay(&at, r->key);
	copy->digest = lay(&at, r->digest);
	copy->scope = lay(&at, r->scope);
	copy->name = lay(&at, r->name);
	if (r->body_len)
		memcpy(at, r->body, r->body_len);
	copy->body = at;
	return copy;
}

struct record *record_create(const struct event *e)
{
	AUTO_BUF struct buf body = { 0 };

	event_encode(e, &body);
	return record_dup(&(struct record){
		.seq = e->seq,
		.time_ms = e->time_ms,
		.job = e->job,
		.kind = e->kind,
		.body = buf_str(&body),
		.body_len = body.len,
		.by = e->by,
		.key = e->key,
		.digest = e->digest,
		.scope = e->scope,
		.name = e->name,
	});
}

bool record_has_key(const struct record *r)
{
	return r->kind == EV_SUBMITTED && *r->key;
}

int record_give(const struct record *r, void (*each)(void *arg, const struct event *e),
		void *arg, struct err *err)
{
	struct event e = { 0 };

	if (event_decode(r->kind, r->body, r->body_len, &e, err) < 0)
		return err_wrap(err, "event %lld of job %lld", (long long)r->seq,
				(long long)r->job);
	e.seq = r->seq;
	e.time_ms = r->time_ms;
	e.job = r->job;
	each(arg, &e);
	event_fini(&e);
	return 0;
}

static size_t labels_size(const struct pairs *labels)
{
	size_t size = sizeof *labels;

	for (size_t i = 0; i < labels->count; i++)
		size += sizeof(struct pair) + text_size(labels->items[i].key) +
			text_size(labels->items[i].value);
	return size;
}

/* At a place that is aligned for anything; gives the first byte behind. */
static char *lay_labels(char *at, const struct pairs *labels, const struct pairs **out)
{
	struct pairs *copy = (struct pairs *)(void *)at;
	struct pair *items = (struct pair *)(void *)(copy + 1);

	at = (char *)(items + labels->count);
	*copy = (struct pairs){ .items = items, .count = labels->count };
	for (size_t i = 0; i < labels->count; i++) {
		items[i].key = (char *)(uintptr_t)lay(&at, labels->items[i].key);
		items[i].value = (char *)(uintptr_t)lay(&at, labels->items[i].value);
	}
	*out = copy;
	return at;
}

struct store_row *row_dup(const struct store_row *row)
{
	static const struct pairs none = { 0 };
	const struct pairs *labels = row->labels ? row->labels : &none;
	size_t more = text_size(row->name) + text_size(row->owner) +
		      text_size(row->group) + text_size(row->reason) +
		      labels_size(labels);
	struct store_row *copy = mem_alloc(1, sizeof *copy + more);
	char *at = (char *)(copy + 1);

	*copy = *row;
	at = lay_labels(at, labels, &copy->labels);
	copy->name = lay(&at, row->name);
	copy->owner = lay(&at, row->owner);
	copy->group = lay(&at, row->group);
	copy->reason = lay(&at, row->reason);
	return copy;
}

struct store_doc *doc_dup(const struct store_doc *d)
{
	size_t more = text_size(d->kind) + text_size(d->name) + text_size(d->body);
	struct store_doc *copy = mem_alloc(1, sizeof *copy + more);
	char *at = (char *)(copy + 1);

	copy->kind = lay(&at, d->kind);
	copy->name = lay(&at, d->name);
	copy->body = d->body ? lay(&at, d->body) : NULL;
	return copy;
}

static bool has_label(const struct store_row *row, const char *label)
{
	for (size_t i = 0; i < row->labels->count; i++) {
		const struct pair *p = &row->labels->items[i];
		size_t n = strlen(p->key);

		if (strncmp(label, p->key, n) == 0 && label[n] == '=' &&
		    str_eq(label + n + 1, p->value))
			return true;
	}
	return false;
}

static bool may_see(const struct principal *p, const struct store_row *row)
{
	return str_eq(p->name, row->owner) || principal_in(p, row->group);
}

/* A row without labels was found by the one that is asked for. */
bool row_matches(const struct store_row *row, const struct store_query *q)
{
	if (row->array != q->array || (q->before > 0 && row->id >= q->before))
		return false;
	if (q->live >= 0 && (q->live > 0) != (row->state != JOB_ENDED))
		return false;
	if (q->outcome >= 0 && (enum outcome)q->outcome != row->outcome)
		return false;
	if (q->state != JOB_NEW && q->state != row->state)
		return false;
	if (q->label && !q->array && row->labels && !has_label(row, q->label))
		return false;
	return (!q->owner || str_eq(q->owner, row->owner)) &&
	       (!q->group || str_eq(q->group, row->group)) &&
	       (!q->name || str_eq(q->name, row->name)) &&
	       (!q->see || may_see(q->see, row)) &&
	       (!q->search || strcasestr(row->name, q->search));
}

bool sieve_row(struct sieve *s, const struct store_row *row)
{
	bool matches = row_matches(row, s->q);

	if (matches && s->given == s->q->limit) {
		s->next = s->last;
		return false;
	}
	if (matches) {
		s->each(s->arg, row);
		s->given++;
		s->last = row->id;
	}
	if (++s->looked < STORE_SCAN_MAX)
		return true;
	s->next = row->id;
	return false;
}

struct store_batch *store_batch_create(void)
{
	return mem_alloc(1, sizeof(struct store_batch));
}

void store_batch_destroy(struct store_batch *b)
{
	if (!b)
		return;
	for (size_t i = 0; i < b->record_count; i++)
		free(b->records[i]);
	for (size_t i = 0; i < b->row_count; i++)
		free(b->rows[i]);
	for (size_t i = 0; i < b->doc_count; i++)
		free(b->docs[i]);
	free(b->records);
	free(b->rows);
	for (size_t i = 0; i < b->forget_count; i++)
		free(b->forgets[i]);
	free(b->docs);
	free(b->forgets);
	free(b);
}

void store_batch_event(struct store_batch *b, const struct event *e)
{
	mem_grow(&b->records, &b->record_cap, b->record_count, sizeof(struct record *));
	b->records[b->record_count++] = record_create(e);
}

void store_batch_row(struct store_batch *b, const struct store_row *row)
{
	mem_grow(&b->rows, &b->row_cap, b->row_count, sizeof(struct store_row *));
	b->rows[b->row_count++] = row_dup(row);
}

void store_batch_doc(struct store_batch *b, const char *kind, const char *name,
		     const char *body)
{
	const struct store_doc d = { kind, name, body };

	mem_grow(&b->docs, &b->doc_cap, b->doc_count, sizeof(struct store_doc *));
	b->docs[b->doc_count++] = doc_dup(&d);
}

static void add_forget(struct store_batch *b, const struct store_forget *f)
{
	size_t more = text_size(f->owner) + text_size(f->key);
	struct store_forget *copy = mem_alloc(1, sizeof *copy + more);
	char *at = (char *)(copy + 1);

	*copy = *f;
	copy->owner = lay(&at, f->owner);
	copy->key = lay(&at, f->key);
	mem_grow(&b->forgets, &b->forget_cap, b->forget_count,
		 sizeof(struct store_forget *));
	b->forgets[b->forget_count++] = copy;
}

void store_batch_forget(struct store_batch *b, int64_t job, const char *owner,
			const char *key)
{
	add_forget(b, &(struct store_forget){ .job = job, .owner = owner, .key = key });
}

void store_batch_files_gone(struct store_batch *b, int64_t job)
{
	add_forget(b, &(struct store_forget){ .job = job, .files_gone = true });
}

size_t store_batch_count(const struct store_batch *b)
{
	return b->record_count + b->forget_count;
}

static int within_limit(int asked)
{
	if (asked < 1)
		return 1;
	return asked > STORE_LIMIT_MAX ? STORE_LIMIT_MAX : asked;
}

void store_commit(struct store *s, struct store_batch *b, store_done done, void *arg)
{
	s->ops->commit(s, b, done, arg);
}

int store_boot(struct store *s, void (*each)(void *arg, const struct event *e), void *arg,
	       struct store_counters *out, struct err *err)
{
	return s->ops->boot(s, each, arg, out, err);
}

int store_docs(struct store *s, store_doc_each each, void *arg, struct err *err)
{
	return s->ops->docs(s, each, arg, err);
}

int store_audit(struct store *s, int64_t before, int limit,
		void (*each)(void *arg, const struct event *e), void *arg,
		struct err *err)
{
	return s->ops->audit(s, before > 0 ? before : INT64_MAX, within_limit(limit),
			     each, arg, err);
}

int store_events(struct store *s, int64_t job, int64_t from_seq, int limit,
		 void (*each)(void *arg, const struct event *e), void *arg,
		 struct err *err)
{
	struct span span = { job, from_seq, within_limit(limit) };

	return s->ops->events(s, &span, each, arg, err);
}

int store_list(struct store *s, const struct store_query *q,
	       void (*each)(void *arg, const struct store_row *row), void *arg,
	       int64_t *next, struct err *err)
{
	struct store_query bounded = *q;
	struct sieve sieve = { .q = &bounded, .each = each, .arg = arg };

	bounded.limit = within_limit(q->limit);
	if (s->ops->list(s, &bounded, &sieve, err) < 0)
		return -1;
	*next = sieve.next;
	return 0;
}

int store_gone(struct store *s, void (*each)(void *arg, int64_t job), void *arg,
	       struct err *err)
{
	return s->ops->gone(s, each, arg, err);
}

int store_find_key(struct store *s, const char *owner, const char *key, int64_t *job,
		   char digest[65], struct err *err)
{
	return s->ops->find_key(s, owner, key, job, digest, err);
}

int store_find_name(struct store *s, const char *owner, const char *name, int64_t *job,
		    struct err *err)
{
	return s->ops->find_name(s, owner, name, job, err);
}

int store_find_member(struct store *s, int64_t array, int64_t index, int64_t *job,
		      struct err *err)
{
	return s->ops->find_member(s, array, index, job, err);
}

int store_row(struct store *s, int64_t job,
	      void (*each)(void *arg, const struct store_row *row), void *arg,
	      struct err *err)
{
	return s->ops->row(s, job, each, arg, err);
}

void store_backup(struct store *s, const char *path, store_done done, void *arg)
{
	s->ops->backup(s, path, done, arg);
}

void store_destroy(struct store *s)
{
	if (s)
		s->ops->destroy(s);
}
