// SPDX-License-Identifier: Apache-2.0
/* What the yard expects: how long jobs will run, learned from those that ended, and when
 * they will start.  The first estimate of a job that anybody was told, or that the yard
 * made for itself, is kept until the job starts and then compared with what came. */
#include "base/mem.h"
#include "plan/learn.h"
#include "store/list.h"
#include "yard/internal.h"
#include "yard/why.h"

#define LEARNED_AT_BOOT 1000 /* of the last jobs that ended */
#define HOPES_MAX       4096
#define FEW             4
#define FRESH_EVERY_MS  INT64_C(1000)

struct hope {
	int64_t told_ms;
	struct plan_when when;
};

void yard_hope_init(struct yard *y)
{
	y->learn = learn_create();
	y->hopes = map_create();
}

void yard_hope_fini(struct yard *y)
{
	struct hope *h;

	for (size_t it = 0; (h = map_next(y->hopes, &it));)
		free(h);
	map_destroy(y->hopes);
	learn_destroy(y->learn);
}

static void who_of(const struct spec *s, const char *user, const char *group,
		   struct buf *print, struct learn_who *out)
{
	struct resources total = spec_total(s);

	*out = (struct learn_who){ .user = user, .group = group };
	for (size_t i = 0; i < DEVICE_KINDS_MAX && total.devices[i].count > 0; i++)
		out->device_milli += device_milli(&total.devices[i]);
	if (s->role_count)
		learn_fingerprint((const char *const *)s->roles[0].argv, print);
	out->command = buf_str(print);
}

void yard_fill_guess(const struct yard *y, const struct spec *s, struct plan_job *out)
{
	AUTO_BUF struct buf print = { 0 };
	struct learn_who who;
	struct guess g;

	who_of(s, out->user, out->group, &print, &who);
	learn_guess(y->learn, &who, &g);
	out->guess_ms = g.likely_ms;
	out->guess_low_ms = g.low_ms;
	out->guess_high_ms = g.high_ms;
}

/* Its last attempt ran as long as such a job does: nobody cut it short, and every task
 * began and was seen to the end.  At its time limit is no sooner than it would have been. */
static bool ran_its_time(const struct job *j)
{
	if (!j->started_ms || (j->stop != STOP_NONE && j->stop != STOP_POLICY &&
			       j->stop != STOP_TIME_LIMIT))
		return false;
	for (size_t i = 0; i < j->task_count; i++) {
		enum exit_kind how = j->tasks[i].exit.kind;
		if (how == EXIT_UNSTARTED || how == EXIT_LOST)
			return false;
	}
	return true;
}

void yard_learn(struct yard *y, const struct job *j)
{
	AUTO_BUF struct buf print = { 0 };
	struct learn_who who;

	/* Arrays hold nothing themselves; who never had a place tells nothing. */
	if (job_is_array(j) || !j->placed_ms || j->ended_ms < j->placed_ms ||
	    !ran_its_time(j))
		return;
	who_of(j->spec, j->owner, j->group, &print, &who);
	learn_note(y->learn, &who, j->ended_ms - j->placed_ms);
}

struct found {
	int64_t ids[LEARNED_AT_BOOT];
	size_t count;
};

static void note_id(void *arg, const struct store_row *row)
{
	struct found *f = arg;

	if (f->count < LEARNED_AT_BOOT && row->started_ms && !row->members)
		f->ids[f->count++] = row->id;
}

int yard_learn_boot(struct yard *y, struct err *err)
{
	struct store_query q = { .live = 0, .outcome = -1, .limit = LEARNED_AT_BOOT };
	AUTO_FREE struct found *f = mem_alloc(1, sizeof *f);
	struct map *past;
	int64_t next;

	if (store_list(y->config.store, &q, note_id, f, &next, err) < 0)
		return -1;
	past = map_create();
	while (f->count) {
		struct job *j = yard_load(y, f->ids[--f->count], NULL);
		if (j) {
			yard_learn(y, j);
			yard_used_note(past, j, world_now_ms(y->world));
		}
		job_destroy(j);
	}
	yard_used_tell(y, past);
	return 0;
}

/* Jobs that came before anything was known of their like. */
static void guess_now(void *arg, int64_t job, struct guess *out)
{
	const struct yard *y = arg;
	const struct job *j = yard_live(y, job);
	AUTO_BUF struct buf print = { 0 };
	struct learn_who who;

	if (!j)
		return;
	who_of(j->spec, j->owner, j->group, &print, &who);
	learn_guess(y->learn, &who, out);
}

void yard_estimate(struct yard *y, int64_t job, struct plan_when *out)
{
	int64_t now = world_now_ms(y->world);
	struct hope *h;

	plan_estimate(y->plan, job, now, &(struct plan_hints){ guess_now, y }, out);
	if (out->sure > 0 && out->sure < 100)
		out->sure = learn_sure(y->learn, out->sure);
	if (out->guessed) /* from a handful of jobs little can be learned */
		out->sure = (int)(out->sure * learn_seen(y->learn) /
				  (learn_seen(y->learn) + FEW));
	if (out->likely_ms == INT64_MAX || !yard_find(y, job) || map_get(y->hopes, job) ||
	    map_count(y->hopes) == HOPES_MAX)
		return;
	h = mem_alloc(1, sizeof *h);
	*h = (struct hope){ now, *out };
	map_put(y->hopes, job, h);
}

/* Now and then the yard asks itself, so that there is a score though nobody asks. */
void yard_hope_fresh(struct yard *y)
{
	int64_t now = world_mono_ms(y->world);
	struct plan_when when;

	if (!y->fresh_job || now < y->fresh_at_ms)
		return;
	if (plan_position(y->plan, y->fresh_job)) {
		yard_estimate(y, y->fresh_job, &when);
		y->fresh_at_ms = now + FRESH_EVERY_MS;
	}
	y->fresh_job = 0;
}

void yard_hope_over(struct yard *y, const struct job *j, enum event_kind kind)
{
	struct hope *h = map_get(y->hopes, j->id);

	if (!h || (kind != EV_PLACED && kind != EV_ENDED))
		return;
	if (kind == EV_PLACED)
		learn_scored(
			y->learn, j->placed_ms - h->told_ms,
			h->when.soonest_ms - h->told_ms, h->when.likely_ms - h->told_ms,
			h->when.latest_ms == INT64_MAX ? INT64_MAX
						       : h->when.latest_ms - h->told_ms);
	map_del(y->hopes, j->id);
	free(h);
}

void yard_score(const struct yard *y, struct learn_score *out)
{
	learn_score(y->learn, out);
}
