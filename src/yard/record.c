// SPDX-License-Identifier: Apache-2.0
/* Recording: an event is folded in at once and its memory-only effects follow at once,
 * so that the next command sees them; answers, watchers and effects on the outside wait
 * until the batch it stands in is on disk.  A crash before that loses both together. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "store/docs.h"
#include "store/forget.h"
#include "world/log.h"
#include "yard/internal.h"

#define STORE_RETRY_MS 1000

struct live *yard_find(const struct yard *y, int64_t job)
{
	return map_get(y->live, job);
}

static struct pending *push(struct pendings *p)
{
	mem_grow(&p->items, &p->cap, p->count, sizeof *p->items);
	p->items[p->count] = (struct pending){ .event.kind = EVENT_KIND_COUNT };
	return &p->items[p->count++];
}

void yard_answer(struct yard *y, int64_t job, bool again, yard_done done, void *arg)
{
	struct pending *p = push(&y->waiting);

	p->job = job;
	p->again = again;
	p->done = done;
	p->arg = arg;
	yard_kick(y);
}

/* A refusal changes nothing, so it need not wait for the disk; but it is never said
 * from inside the caller's own call. */
static void say_refusals(void *arg)
{
	struct yard *y = arg;
	struct refusal *r;

	while ((r = y->refusals)) {
		y->refusals = r->next;
		r->done(r->arg, 0, false, &r->err);
		free(r);
	}
}

void yard_refuse(struct yard *y, const struct err *err, yard_done done, void *arg)
{
	struct refusal *r = mem_alloc(1, sizeof *r);

	*r = (struct refusal){ .err = *err, .done = done, .arg = arg };
	if (y->refusals)
		y->last_refusal->next = r;
	else
		y->refusals = r;
	y->last_refusal = r;
	world_later(y->world, say_refusals, y);
}

static void key_name(const struct job *j, struct buf *out)
{
	buf_printf(out, "%s\n%s", j->owner, j->key);
}

static void count_owner(struct yard *y, const char *owner, int more)
{
	intptr_t count = (intptr_t)map_gets(y->per_owner, owner) + more;

	if (count > 0)
		map_puts(y->per_owner, owner, (void *)count);
	else
		map_dels(y->per_owner, owner);
}

struct live *yard_adopt_job(struct yard *y, struct job *j)
{
	struct live *l = mem_alloc(1, sizeof *l);

	l->yard = y;
	l->job = j;
	map_put(y->live, j->id, l);
	count_owner(y, j->owner, 1);
	yard_array_join(y, j);
	if (j->key) {
		AUTO_BUF struct buf name = { 0 };
		key_name(j, &name);
		map_puts(y->keys, buf_str(&name), l);
	}
	return l;
}

void yard_drop_job(struct yard *y, struct live *l)
{
	map_del(y->live, l->job->id);
	count_owner(y, l->job->owner, -1);
	if (l->job->key) {
		AUTO_BUF struct buf name = { 0 };
		key_name(l->job, &name);
		map_dels(y->keys, buf_str(&name));
	}
	yard_keep_forget(l);
	world_timer_destroy(l->timer);
	free(l->dependants);
	free(l->members);
	job_destroy(l->job);
	free(l);
}

void yard_follow_up(struct yard *y, struct live *l, uint32_t effects)
{
	struct event next = { .job = l->job->id };

	if (effects & FX_HOLD)
		yard_check_held(y, l);
	if (effects & FX_QUEUE)
		yard_plan_wait(y, l->job);
	if (effects & FX_UNQUEUE)
		yard_plan_id(y, PLAN_LEAVE, l->job->id);
	if (effects & FX_RELEASE &&
	    !(YARD_PLANT == PLANT_SLOT && l->job->stop == STOP_USER))
		yard_plan_id(y, PLAN_RELEASE, l->job->id);
	if (effects & (FX_QUEUE | FX_RELEASE | FX_UNQUEUE))
		y->step_asked = true;
	if (effects & FX_MEMBERS)
		yard_array_fill(y, l);
	if (effects & FX_DRAIN)
		yard_array_drain(y, l);
	if (effects & FX_SETTLE) {
		job_settle(l->job, world_now_ms(y->world), &next);
		yard_record(y, &next, NULL, NULL);
	}
	if (effects & FX_COLLECT && !yard_has_outputs(l->job)) {
		next = (struct event){ .job = l->job->id,
				       .kind = EV_COLLECTED,
				       .attempt = l->job->attempt };
		yard_record(y, &next, NULL, NULL);
	}
}

/* Those that waited for a job look again once it has ended. */
static void tell_dependants(struct yard *y, struct live *l)
{
	for (size_t i = 0; i < l->dependant_count; i++) {
		struct live *d = yard_find(y, l->dependants[i]);
		if (d && d->job->state == JOB_HELD)
			yard_check_held(y, d);
	}
}

static void append(struct yard *y, struct event *e)
{
	e->seq = y->next_seq++;
	if (!e->time_ms)
		e->time_ms = world_now_ms(y->world);
	store_batch_event(y->batch, e);
	yard_kick(y);
}

void yard_mark_dirty(struct yard *y, struct live *l)
{
	if (l->dirty)
		return;
	l->dirty = true;
	mem_grow(&y->dirty, &y->dirty_cap, y->dirty_count, sizeof(struct live *));
	y->dirty[y->dirty_count++] = l;
}

static void enqueue(struct yard *y, struct event *e, uint32_t effects, yard_done done,
		    void *arg)
{
	struct pending *p;

	if (YARD_PLANT == PLANT_ANSWER && done && e->kind == EV_SUBMITTED) {
		done(arg, e->job, false, NULL);
		done = NULL;
	}
	p = push(&y->waiting);
	p->event = *e;
	p->effects = effects;
	p->job = e->job;
	p->done = done;
	p->arg = arg;
	*e = (struct event){ 0 };
}

/* What an array's members, or a member's array, have to know of an event. */
static void tell_family(struct yard *y, struct live *l, enum event_kind kind)
{
	if (kind == EV_PRIORITY)
		yard_array_priority(y, l);
	if (kind == EV_ENDED && l->job->array)
		yard_array_left(y, l->job);
}

void yard_record(struct yard *y, struct event *e, yard_done done, void *arg)
{
	struct live *l = e->job ? yard_find(y, e->job) : NULL;
	enum event_kind kind = e->kind;
	uint32_t effects = 0;

	if (l && job_is_array(l->job))
		e->count = l->job->members.made;
	if (e->job && (!l || !job_legal(l->job, e))) {
		/* A late or repeated report: the truth is recorded already. */
		event_fini(e);
		return;
	}
	append(y, e);
	if (l) {
		enum job_state before = l->job->state;

		yard_mark_dirty(y, l);
		effects = job_apply(l->job, e);
		yard_hope_over(y, l->job, kind);
		/* What the timer meant is over; the new state's effects set it again. */
		if (l->timer && l->job->state != before)
			world_timer_stop(l->timer);
		if (l->job->array)
			yard_array_moved(y, l->job, before);
	}
	enqueue(y, e, effects, done, arg);
	if (!l)
		return;
	yard_follow_up(y, l, effects);
	tell_family(y, l, kind);
	if (kind == EV_ENDED) {
		yard_learn(y, l->job);
		tell_dependants(y, l);
	}
}

void yard_record_submit(struct yard *y, struct event *e, struct spec *spec,
			yard_done done, void *arg)
{
	struct live *l;
	uint32_t effects;

	e->job = y->next_job++;
	e->spec = spec;
	append(y, e);
	e->spec = NULL;
	l = yard_adopt_job(y, job_create(e, spec));
	yard_mark_dirty(y, l);
	effects = life_at_boot(l->job->state);
	enqueue(y, e, effects, done, arg);
	yard_follow_up(y, l, effects);
}

static void batch_docs(struct yard *y, const struct yard_doc *docs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		store_batch_doc(y->batch, docs[i].kind, docs[i].name, docs[i].body);
}

void yard_record_docs(struct yard *y, struct event *e, struct yard_doc *docs,
		      size_t count, yard_done done, void *arg)
{
	struct pending *p;

	append(y, e);
	batch_docs(y, docs, count);
	enqueue(y, e, 0, done, arg);
	p = &y->waiting.items[y->waiting.count - 1];
	p->docs = docs;
	p->doc_count = count;
}

static void batch_forgets(struct yard *y, const struct forget *forgets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		store_batch_forget(y->batch, forgets[i].job, forgets[i].owner,
				   forgets[i].key);
}

void yard_record_forget(struct yard *y, struct event *e, struct forget *forgets,
			size_t count, yard_done done, void *arg)
{
	struct pending *p;

	if (e) {
		append(y, e);
		enqueue(y, e, 0, done, arg);
	} else {
		yard_answer(y, 0, false, done, arg);
	}
	batch_forgets(y, forgets, count);
	p = &y->waiting.items[y->waiting.count - 1];
	p->forgets = forgets;
	p->forget_count = count;
}

static void tell_watches(struct yard *y, const struct event *e)
{
	for (struct yard_watch *w = y->watches; w; w = y->watch_next) {
		y->watch_next = w->next;
		w->each(w->arg, e);
	}
	y->watch_next = NULL;
}

/* Everything that had to wait for the disk, in the order it was recorded. */
static void release_committed(struct yard *y)
{
	struct pendings done = y->committing;

	y->committing = (struct pendings){ 0 };
	for (size_t i = 0; i < done.count; i++) {
		struct pending *p = &done.items[i];
		bool is_event = p->event.kind != EVENT_KIND_COUNT;
		struct live *l = is_event && p->job ? yard_find(y, p->job) : NULL;

		y->deletions += p->forget_count > 0;
		if (is_event) {
			y->committed_seq = p->event.seq;
			yard_count_event(y, &p->event);
			tell_watches(y, &p->event);
		}
		if (p->done)
			p->done(p->arg, p->job, p->again, NULL);
		/* A start that comes after the stop concerns that task alone. */
		if (l && p->effects)
			yard_act(y, l, p->effects,
				 p->event.kind == EV_STARTED ? p->event.task : -1);
		if (l && p->event.kind == EV_ENDED)
			yard_drop_job(y, l);
		if (is_event)
			event_fini(&p->event);
		yard_free_docs(p->docs, p->doc_count);
		yard_forgotten(y, p->forgets, p->forget_count);
		yard_free_forgets(p->forgets, p->forget_count);
	}
	free(done.items);
}

static void flush(struct yard *y);

static void try_store_again(void *arg)
{
	flush(arg);
}

/* What no waiting mends: the store contradicts what the yard knows of it. */
static bool is_fatal(const struct err *err)
{
	return err->code == ERR_CONFLICT || err->code == ERR_CORRUPT ||
	       err->code == ERR_UNSUPPORTED;
}

/* The store would not take the batch (a full disk).  What was recorded stays recorded in
 * memory and is offered again; who waits for an answer is told the truth: not known yet. */
static void on_trouble(struct yard *y, const struct err *err)
{
	struct err told;

	if (y->trouble.code == ERR_NONE)
		world_log(y->world, LEVEL_ERROR, "the store does not take events: %s",
			  err->text);
	y->trouble = *err;
	err_set(&told, ERR_BUSY,
		"the yard cannot write to its store (%s); it is not known yet whether this is "
		"recorded: mend that and try again with the same key",
		err->text);
	for (size_t i = 0; i < y->committing.count; i++) {
		struct pending *p = &y->committing.items[i];
		if (p->done)
			p->done(p->arg, 0, false, &told);
		p->done = NULL;
	}
	if (is_fatal(err) && y->config.on_fatal) {
		y->config.on_fatal(y->config.on_fatal_arg, err);
		return;
	}
	if (!y->retry)
		y->retry = world_timer_create(y->world, try_store_again, y);
	world_timer_at(y->retry, world_mono_ms(y->world) + STORE_RETRY_MS);
}

/* Everything recorded and not on disk, as one batch again. */
static void rebuild_batch(struct yard *y)
{
	for (size_t i = 0; i < y->waiting.count; i++)
		*push(&y->committing) = y->waiting.items[i];
	y->waiting.count = 0;
	store_batch_destroy(y->batch);
	y->batch = store_batch_create();
	for (size_t i = 0; i < y->committing.count; i++) {
		const struct pending *p = &y->committing.items[i];
		struct event *e = &y->committing.items[i].event;
		struct live *l = e->job ? yard_find(y, e->job) : NULL;

		batch_forgets(y, p->forgets, p->forget_count);
		if (e->kind == EVENT_KIND_COUNT)
			continue;
		if (e->kind == EV_SUBMITTED && l)
			e->spec = l->job->spec;
		store_batch_event(y->batch, e);
		if (e->kind == EV_SUBMITTED)
			e->spec = NULL;
		if (YARD_PLANT != PLANT_DOCS)
			batch_docs(y, p->docs, p->doc_count);
		if (l)
			yard_mark_dirty(y, l);
	}
}

static void on_commit(void *arg, const struct err *err)
{
	struct yard *y = arg;

	y->commit_under_way = false;
	yard_count_commit(y, world_mono_ms(y->world) - y->commit_began_ms);
	if (err) {
		on_trouble(y, err);
		return;
	}
	if (y->trouble.code != ERR_NONE) {
		world_log(y->world, LEVEL_INFO, "the store takes events again");
		y->trouble = (struct err){ 0 };
	}
	release_committed(y);
	flush(y);
}

static void commit(struct yard *y)
{
	struct store_batch *b = y->batch;

	for (size_t i = 0; i < y->dirty_count; i++) {
		struct store_row row;
		store_row_of(y->dirty[i]->job, &row);
		store_batch_row(b, &row);
		y->dirty[i]->dirty = false;
	}
	y->dirty_count = 0;
	y->batch = store_batch_create();
	y->commit_under_way = true;
	y->commit_began_ms = world_mono_ms(y->world);
	store_commit(y->config.store, b, on_commit, y);
}

static void flush(struct yard *y)
{
	if (y->commit_under_way)
		return;
	if (y->trouble.code != ERR_NONE) {
		rebuild_batch(y);
		commit(y);
		return;
	}
	if (y->step_asked) {
		y->step_asked = false;
		yard_plan_step(y);
	}
	if (!y->waiting.count)
		return;
	struct pendings empty = y->committing;
	y->committing = y->waiting;
	y->waiting = empty;
	if (store_batch_count(y->batch)) {
		commit(y);
		return;
	}
	release_committed(y);
}

static void flush_later(void *arg)
{
	struct yard *y = arg;

	y->flush_asked = false;
	if (y->trouble.code == ERR_NONE)
		flush(y);
}

void yard_kick(struct yard *y)
{
	if (y->flush_asked || y->booting)
		return;
	y->flush_asked = true;
	world_later(y->world, flush_later, y);
}
