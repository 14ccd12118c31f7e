// SPDX-License-Identifier: Apache-2.0
/* What is changed of a job that is there: its priority; and that it is there at all.
 *
 * A job is deleted by one batch: its events, row and key go, and an audit event tells of
 * it.  From then on nobody sees it.  Its files are removed after that; the store keeps its
 * number until they are, so that what a crash left is removed at the next boot.  Members
 * go with their array, a bounded number a batch: each batch forgets the array too, which
 * is harmless, and whoever removes the array's own files looks for further members.  Only
 * the first batch has the audit event: the others finish what it tells of. */
#include "yard/edit.h"

#include "base/mem.h"
#include "base/str.h"
#include "store/forget.h"
#include "store/list.h"
#include "who/who.h"
#include "world/log.h"
#include "yard/internal.h"

#define FORGET_BATCH 200 /* members of one batch */

struct subject {
	const struct principal *who;
	bool may, is_array;
	int64_t array;
};

static void look_at_row(void *arg, const struct store_row *row)
{
	struct subject *s = arg;

	s->may = !s->who || who_may_touch(s->who, row->owner, row->group);
	s->array = row->array;
	s->is_array = row->members > 0;
}

static int no_job(int64_t job, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "there is no job %lld", (long long)job);
}

/* ---- priority ---- */

static int check_priority(struct yard *y, const struct principal *who, int64_t job,
			  int priority, struct err *err)
{
	const struct live *l = yard_find(y, job);
	struct subject s = { .who = who };

	if (l)
		s.may = who_may_touch(who, l->job->owner, l->job->group);
	else
		store_row(y->config.store, job, look_at_row, &s, NULL);
	if (!s.may)
		return no_job(job, err);
	if (!l || l->job->state == JOB_ENDED)
		return err_set(err, ERR_CONFLICT,
			       "job %lld has ended: its priority stands", (long long)job);
	if (priority < -SPEC_PRIORITY_MAX || priority > SPEC_PRIORITY_MAX)
		return err_set(err, ERR_INVALID,
			       "priority: %d is not a number from -%d to %d", priority,
			       SPEC_PRIORITY_MAX, SPEC_PRIORITY_MAX);
	return yard_check_priority(y, who, priority, err);
}

void yard_set_priority(struct yard *y, const struct principal *who, int64_t job,
		       int priority, yard_done done, void *arg)
{
	struct event e = { .job = job, .kind = EV_PRIORITY, .priority = priority };
	struct err err = { 0 };

	if (check_priority(y, who, job, priority, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	if (yard_find(y, job)->job->priority == priority) {
		yard_answer(y, job, true, done, arg);
		return;
	}
	e.by = mem_strdup(who->name);
	yard_record(y, &e, done, arg);
}

/* ---- deleting ---- */

bool yard_is_forgotten(const struct yard *y, int64_t job)
{
	const struct pendings *lists[] = { &y->waiting, &y->committing };

	for (size_t k = 0; k < COUNT_OF(lists); k++)
		for (size_t i = 0; i < lists[k]->count; i++)
			for (size_t f = 0; f < lists[k]->items[i].forget_count; f++)
				if (lists[k]->items[i].forgets[f].job == job)
					return true;
	return false;
}

uint64_t yard_deletions(const struct yard *y)
{
	return y->deletions;
}

void yard_free_forgets(struct forget *forgets, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(forgets[i].owner);
		free(forgets[i].key);
	}
	free(forgets);
}

/* Whether it is, or is a member of, what is to be deleted.  asked: those that are not. */
static bool goes_with(struct yard *y, int64_t on, const struct subject *s, int64_t job,
		      struct map *asked)
{
	struct subject found = { 0 };

	if (on == job)
		return true;
	if (!s->is_array || on < job || yard_find(y, on) || map_get(asked, on))
		return false;
	store_row(y->config.store, on, look_at_row, &found, NULL);
	map_put(asked, on, y);
	return found.array == job;
}

/* A held job looks at what it waits for once more when the last of it has ended. */
static int check_dependants(struct yard *y, const struct subject *s, int64_t job,
			    struct err *err)
{
	struct map *asked = map_create();
	int64_t waits = 0;
	const struct live *l;

	for (size_t it = 0; !waits && (l = map_next(y->live, &it));) {
		const struct spec *spec = l->job->spec;
		if (l->job->state != JOB_HELD)
			continue;
		for (size_t i = 0; !waits && i < spec->after_count; i++)
			if (goes_with(y, spec->after[i].job, s, job, asked))
				waits = l->job->id;
	}
	map_destroy(asked);
	return waits ? err_set(err, ERR_CONFLICT,
			       "job %lld waits for it; stop that one first",
			       (long long)waits)
		     : 0;
}

static int check_delete(struct yard *y, const struct principal *who, int64_t job,
			struct err *err)
{
	const struct live *l = yard_find(y, job);
	struct subject s = { .who = who };

	if (l)
		s.may = who_may_touch(who, l->job->owner, l->job->group);
	else
		store_row(y->config.store, job, look_at_row, &s, NULL);
	if (!s.may || yard_is_forgotten(y, job))
		return no_job(job, err);
	if (l && l->job->state == JOB_ENDED)
		return err_set(err, ERR_BUSY,
			       "job %lld is just ending; ask again in a moment",
			       (long long)job);
	if (l)
		return err_set(
			err, ERR_CONFLICT,
			"job %lld is %s: stop it first, by `yard stop %lld` or `yard "
			"rm --stop %lld`",
			(long long)job, job_state_word(l->job->state), (long long)job,
			(long long)job);
	if (s.array)
		return err_set(err, ERR_CONFLICT,
			       "job %lld is a member of array %lld and goes with it",
			       (long long)job, (long long)s.array);
	if (y->trouble.code != ERR_NONE)
		return err_set(err, ERR_BUSY, "the yard cannot write to its disk now: %s",
			       y->trouble.text);
	return check_dependants(y, &s, job, err);
}

struct gathering {
	struct forget *items;
	size_t count, cap;
};

static void gather(struct gathering *g, int64_t job)
{
	mem_grow(&g->items, &g->cap, g->count, sizeof *g->items);
	g->items[g->count++] = (struct forget){ .job = job };
}

static void gather_member(void *arg, const struct store_row *row)
{
	gather(arg, row->id);
}

/* Its key is in its first event. */
static void take_key(void *arg, const struct event *e)
{
	struct forget *f = arg;

	if (e->kind != EV_SUBMITTED || !e->key)
		return;
	f->owner = mem_strdup(e->by);
	f->key = mem_strdup(e->key);
}

/* The job itself, which comes last, and as many of its members as one batch may have. */
static void gather_batch(struct yard *y, int64_t job, struct gathering *g)
{
	struct store_query q = {
		.array = job, .live = -1, .outcome = -1, .limit = FORGET_BATCH
	};
	int64_t next;

	store_list(y->config.store, &q, gather_member, g, &next, NULL);
	gather(g, job);
	store_events(y->config.store, job, 0, 1, take_key, &g->items[g->count - 1], NULL);
}

static void go_on_forgetting(struct yard *y, int64_t job);

static void removed(void *arg, const struct err *err)
{
	struct errand errand = *(struct errand *)arg;
	struct yard *y = errand.yard;

	yard_errand_end(arg);
	if (err)
		world_log(y->world, LEVEL_WARN,
			  "files of the deleted job %lld stay until the next start: %s",
			  (long long)errand.job, err->text);
	else /* with whatever is committed next: to remove what is not there costs nothing */
		store_batch_files_gone(y->batch, errand.job);
	if (errand.array)
		go_on_forgetting(y, errand.array);
}

static void remove_files(struct yard *y, int64_t job, int64_t array)
{
	struct errand *e = yard_errand_begin(y, job, 0);

	e->array = array;
	y->config.depot->ops->remove(y->config.depot, job, removed, e);
}

/* Further members first: the number of their array is what leads to them after a crash. */
static void go_on_forgetting(struct yard *y, int64_t job)
{
	struct gathering g = { 0 };

	gather_batch(y, job, &g);
	if (g.count > 1) {
		yard_record_forget(y, NULL, g.items, g.count, NULL, NULL);
		return;
	}
	yard_free_forgets(g.items, g.count);
	remove_files(y, job, 0);
}

void yard_forgotten(struct yard *y, const struct forget *forgets, size_t count)
{
	int64_t array = count ? forgets[count - 1].job : 0;

	/* The next batch once the files of this one are removed: they do not pile up. */
	for (size_t i = 0; i + 1 < count; i++)
		remove_files(y, forgets[i].job, i + 2 == count ? array : 0);
	if (count == 1)
		go_on_forgetting(y, array);
}

static void gather_gone(void *arg, int64_t job)
{
	gather(arg, job);
}

int yard_resume_forgetting(struct yard *y, struct err *err)
{
	struct gathering g = { 0 };
	int rc = store_gone(y->config.store, gather_gone, &g, err);

	for (size_t i = 0; rc == 0 && i < g.count; i++)
		go_on_forgetting(y, g.items[i].job);
	free(g.items);
	return rc;
}

void yard_delete(struct yard *y, const struct principal *who, int64_t job, yard_done done,
		 void *arg)
{
	struct event e = { .kind = EV_AUDIT };
	struct gathering g = { 0 };
	struct err err = { 0 };

	if (check_delete(y, who, job, &err) < 0) {
		yard_refuse(y, &err, done, arg);
		return;
	}
	gather_batch(y, job, &g);
	e.by = mem_strdup(who->name);
	e.scope = mem_strdup("job.delete");
	e.name = str_printf("%lld", (long long)job);
	if (g.count > 1)
		e.text = mem_strdup("with its members");
	yard_record_forget(y, &e, g.items, g.count, done, arg);
}
