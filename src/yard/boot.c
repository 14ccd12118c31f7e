// SPDX-License-Identifier: Apache-2.0
/* Boot: fold what the store has, tell the plan what is taken, ask the engine what runs,
 * repeat every effect that the crash may have swallowed. */
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"
#include "yard/shelf.h"

struct folding {
	struct yard *y;
	struct err err;
};

void yard_note_user(struct yard *y, const char *name, int slot)
{
	struct user *u = mem_alloc(1, sizeof *u);

	strncpy(u->name, name, sizeof u->name - 1);
	u->slot = slot;
	free(map_puts(y->users, name, u));
	if (slot >= y->user_slots)
		y->user_slots = slot + 1;
}

void yard_note_quota(struct yard *y, const char *scope, const char *name,
		     const struct quota *q)
{
	struct quota_entry *entry = mem_alloc(1, sizeof *entry);
	AUTO_FREE char *key = str_printf("%s/%s", scope, name);

	strncpy(entry->scope, scope, sizeof entry->scope - 1);
	strncpy(entry->name, name, sizeof entry->name - 1);
	entry->quota = *q;
	free(map_puts(y->quotas, key, entry));
	yard_plan_quota(y, scope, name, q);
}

static void fold(void *arg, const struct event *e)
{
	struct folding *f = arg;
	struct live *l = e->job ? yard_find(f->y, e->job) : NULL;

	if (f->err.code != ERR_NONE)
		return;
	if (e->kind == EV_QUOTA) {
		yard_note_quota(f->y, e->scope, e->name, &e->quota);
		return;
	}
	if (e->kind == EV_USER) {
		yard_note_user(f->y, e->name, e->slot);
		return;
	}
	if (e->kind == EV_SUBMITTED && !l) {
		yard_adopt_job(f->y, job_create(e, NULL));
		return;
	}
	if (!l || !job_legal(l->job, e)) {
		err_set(&f->err, ERR_CORRUPT,
			"the store's event %lld (%s of job %lld) does not follow",
			(long long)e->seq, event_kind_word(e->kind), (long long)e->job);
		return;
	}
	job_apply(l->job, e);
}

static bool holds_resources(const struct job *j)
{
	return j->state == JOB_STARTING || j->state == JOB_RUNNING ||
	       j->state == JOB_STOPPING || j->state == JOB_COLLECTING;
}

static void redo(struct yard *y)
{
	struct live *l;

	for (size_t it = 0; (l = map_next(y->live, &it));)
		if (holds_resources(l->job))
			yard_plan_held(y, l->job);
	for (size_t it = 0; (l = map_next(y->live, &it));) {
		uint32_t effects = job_at_boot(l->job);

		if (YARD_PLANT == PLANT_BOOT)
			effects &= ~(uint32_t)FX_COLLECT;
		yard_follow_up(y, l, effects);
		yard_act(y, l, effects, -1);
	}
}

int yard_boot(struct yard *y, struct err *err)
{
	struct folding f = { .y = y };
	struct store_counters counters;
	struct engine_sink sink;

	if (yard_read_docs(y, err) < 0 ||
	    store_boot(y->config.store, fold, &f, &counters, err) < 0)
		return -1;
	if (f.err.code != ERR_NONE) {
		if (err)
			*err = f.err;
		return -1;
	}
	y->next_seq = counters.next_seq;
	y->next_job = counters.next_job;
	y->committed_seq = counters.next_seq - 1;
	yard_sink(y, &sink);
	y->engine = y->config.make_engine(y->config.make_engine_arg, &sink, err);
	if (!y->engine)
		return -1;
	y->engine->ops->begin(y->engine);
	yard_array_count(y);
	if (yard_learn_boot(y, err) < 0)
		return -1;
	redo(y);
	y->booting = false;
	if (yard_resume_forgetting(y, err) < 0)
		return -1;
	yard_array_resume(y);
	y->step_asked = true;
	yard_kick(y);
	return 0;
}

struct yard *yard_create(const struct yard_config *c, struct err *err)
{
	struct yard *y = mem_alloc(1, sizeof *y);

	y->config = *c;
	y->world = c->world;
	yard_outside(y, &c->depot->outside);
	y->plan = plan_create();
	yard_hope_init(y);
	y->live = map_create();
	y->keys = map_create();
	y->per_owner = map_create();
	if (!y->config.max_jobs_per_user)
		y->config.max_jobs_per_user = 10000;
	if (!y->config.max_priority)
		y->config.max_priority = 100;
	y->users = map_create();
	y->quotas = map_create();
	y->tenants = map_create();
	y->batch = store_batch_create();
	y->booting = true;
	y->shelf = shelf_create(y);
	if (yard_told_begin(y, err) == 0 && yard_boot(y, err) == 0)
		return y;
	yard_destroy(y);
	return NULL;
}

static void drop_pendings(struct pendings *p)
{
	for (size_t i = 0; i < p->count; i++) {
		if (p->items[i].event.kind != EVENT_KIND_COUNT)
			event_fini(&p->items[i].event);
		yard_free_docs(p->items[i].docs, p->items[i].doc_count);
		yard_free_forgets(p->items[i].forgets, p->items[i].forget_count);
	}
	free(p->items);
}

static void free_values(struct map *m)
{
	void *v;

	for (size_t it = 0; (v = map_next(m, &it));)
		free(v);
	map_destroy(m);
}

void yard_destroy(struct yard *y)
{
	struct live *l;

	if (!y)
		return;
	/* A depot that outlives it has nobody to ask. */
	y->config.depot->outside = (struct depot_outside){ 0 };
	if (y->engine)
		y->engine->ops->destroy(y->engine);
	for (size_t it = 0; (l = map_next(y->live, &it));)
		yard_drop_job(y, l);
	shelf_destroy(y->shelf);
	while (y->errands)
		yard_errand_end(y->errands);
	while (y->refusals) {
		struct refusal *r = y->refusals;
		y->refusals = r->next;
		free(r);
	}
	while (y->watches)
		yard_watch_remove(y->watches);
	drop_pendings(&y->waiting);
	drop_pendings(&y->committing);
	store_batch_destroy(y->batch);
	world_timer_destroy(y->retry);
	yard_keep_fini(y);
	map_destroy(y->live);
	map_destroy(y->keys);
	map_destroy(y->per_owner);
	free_values(y->users);
	free_values(y->quotas);
	yard_told_end(y);
	yard_hope_fini(y);
	plan_destroy(y->plan);
	free(y->nodes);
	yard_share_fini(y);
	world_timer_destroy(y->awake);
	free(y->dirty);
	free(y);
}
