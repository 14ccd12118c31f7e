// SPDX-License-Identifier: Apache-2.0
#include "yard/keep.h"

#include <inttypes.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "yard/internal.h"
#include "yard/share.h"

/* Of one job not more often than the second; the first soon after its start. */
#define ROUND_MS      10000
#define LOOK_EVERY_MS 30000

bool yard_has_checkpoints(const struct job *j)
{
	for (size_t i = 0; i < j->spec->output_count; i++)
		if (str_eq(j->spec->outputs[i].name, DEPOT_CHECKPOINTS))
			return true;
	return false;
}

/* What was borrowed is taken back with the notice that the group's rule gives. */
static int64_t grace_of(const struct yard *y, const struct job *j)
{
	struct tenant_rule rule;
	int64_t grace = j->spec->grace_ms;

	if (j->stop == STOP_PREEMPTED && !j->spec->preemptible &&
	    yard_tenant(y, j->group, &rule) && rule.notice_ms > grace)
		return rule.notice_ms;
	return grace;
}

int64_t yard_grace_end(const struct yard *y, const struct job *j)
{
	return j->grace_until_ms ? j->grace_until_ms : j->stop_ms + grace_of(y, j);
}

static int64_t within(int64_t v, int64_t most)
{
	return v < 0 ? 0 : v > most ? most : v;
}

static void grace_over(struct yard *y, struct live *l)
{
	struct event e = { .job = l->job->id, .kind = EV_GRACE_OVER };

	yard_record(y, &e, NULL, NULL);
}

/* Wall-clock moments become durations at once: a clock that jumps later moves nothing, and
 * one that jumped while nobody looked gives nobody more than there is to give. */
void yard_grace_begin(struct yard *y, struct live *l)
{
	const struct job *j = l->job;
	int64_t now = world_mono_ms(y->world), wall = world_now_ms(y->world);
	int64_t grace = grace_of(y, j), most = j->spec->grace_max_ms, until;

	if (l->keep.attempt == j->attempt)
		return;
	if (most < grace || !yard_has_checkpoints(j))
		most = grace;
	/* Told just now it has all of it; after a restart what is left by the wall clock, the
	 * only one that both daemons know. */
	until = now + (y->booting ? within(yard_grace_end(y, j) - wall, most) : grace);
	l->keep.attempt = j->attempt;
	grace_begin(&l->keep.grace, until,
		    now + (y->booting ? within(j->stop_ms + most - wall, most) : most));
	yard_set_timer(y, l,
		       most > grace ? grace_first(&l->keep.grace, now)
				    : l->keep.grace.until_ms);
}

/* "3 files, 1.2 GiB" */
static char *extended_words(const struct depot_sight *s, int64_t more_ms)
{
	char size[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX];

	return str_printf(
		"its checkpoints still grow (%" PRId64 " file%s, %s): it has %s "
		"more",
		s->files, s->files == 1 ? "" : "s", units_show_bytes(s->bytes, size),
		units_show_duration(more_ms, more));
}

static void put_off(struct yard *y, struct live *l, const struct depot_sight *s)
{
	int64_t now = world_mono_ms(y->world);
	int64_t more = l->keep.grace.until_ms - now;
	struct event e = { .job = l->job->id,
			   .kind = EV_EXTENDED,
			   .attempt = l->job->attempt,
			   .until_ms = world_now_ms(y->world) + more,
			   .text = extended_words(s, more) };

	yard_record(y, &e, NULL, NULL);
	yard_set_timer(y, l, grace_first(&l->keep.grace, now));
}

static void looked(void *arg, const struct depot_sight *s, const struct err *err)
{
	struct errand errand = *(struct errand *)arg;
	struct yard *y = errand.yard;
	struct live *l = yard_find(y, errand.job);
	int64_t now = world_mono_ms(y->world);
	struct grace_step step;

	yard_errand_end(arg);
	if (!l)
		return;
	l->keep.looking = false;
	if (l->job->state != JOB_STOPPING || l->job->killed)
		return;
	if (l->job->attempt != errand.attempt) { /* of an earlier one, and very late */
		yard_grace_due(y, l);
		return;
	}
	if (err) { /* says nothing: neither that they grow nor that they do not */
		yard_set_timer(y, l, now + GRACE_LOOK_MS);
		return;
	}
	step = grace_seen(&l->keep.grace, s->print, now);
	if (YARD_PLANT == PLANT_GRACE && step.verdict == GRACE_EXTEND)
		step.verdict = GRACE_OVER;
	switch (step.verdict) {
	case GRACE_LOOK:
		yard_set_timer(y, l, step.at_ms);
		break;
	case GRACE_EXTEND:
		put_off(y, l, s);
		break;
	case GRACE_OVER:
		grace_over(y, l);
		break;
	}
}

void yard_grace_due(struct yard *y, struct live *l)
{
	const struct grace *g = &l->keep.grace;
	int64_t now = world_mono_ms(y->world);

	/* Killed by somebody who did not want to wait; or its stop is not on disk yet, and what
	 * is kept here is an earlier attempt's. */
	if (l->job->killed || l->keep.attempt != l->job->attempt)
		return;
	if (now >= g->max_ms || !yard_has_checkpoints(l->job)) {
		grace_over(y, l);
		return;
	}
	/* A look that hangs holds nothing up beyond the longest grace. */
	yard_set_timer(y, l, g->max_ms);
	if (l->keep.looking)
		return;
	l->keep.looking = true;
	y->config.depot->ops->look(y->config.depot, l->job, looked,
				   yard_errand_begin(y, l->job->id, l->job->attempt));
}

/* What the plan knows. */

static void told(void *arg, const struct depot_sight *s, const struct err *err)
{
	struct errand errand = *(struct errand *)arg;
	struct yard *y = errand.yard;
	struct live *l = yard_find(y, errand.job);
	int64_t now = world_now_ms(y->world);
	struct plan_delta d = { .kind = PLAN_CHECKPOINT, .id = errand.job };

	yard_errand_end(arg);
	if (!l)
		return;
	l->keep.looking = false;
	if (l->job->state == JOB_STOPPING && l->keep.attempt == l->job->attempt) {
		yard_grace_due(y, l); /* it waited for this look to be over */
		return;
	}
	if (err || l->job->attempt != errand.attempt || s->complete_ms <= l->keep.kept_ms)
		return;
	l->keep.kept_ms = d.since_ms = s->complete_ms < now ? s->complete_ms : now;
	yard_tell(y, &d);
}

static void leave(struct live *l)
{
	struct keep *k = &l->keep;

	if (!k->watched)
		return;
	if (k->prev)
		k->prev->keep.next = k->next;
	else
		l->yard->keeper.first = k->next;
	if (k->next)
		k->next->keep.prev = k->prev;
	k->watched = false;
	k->prev = k->next = NULL;
}

static void on_round(void *arg)
{
	struct yard *y = arg;
	int64_t now = world_mono_ms(y->world);

	for (struct live *l = y->keeper.first, *next; l; l = next) {
		const struct job *j = l->job;

		next = l->keep.next;
		if (j->state != JOB_RUNNING && j->state != JOB_STARTING) {
			leave(l);
			continue;
		}
		if (l->keep.looking ||
		    (l->keep.looked_ms && now - l->keep.looked_ms < LOOK_EVERY_MS))
			continue;
		l->keep.looking = true;
		l->keep.looked_ms = now;
		y->config.depot->ops->look(y->config.depot, j, told,
					   yard_errand_begin(y, j->id, j->attempt));
	}
	if (y->keeper.first)
		world_timer_at(y->keeper.timer, now + ROUND_MS);
}

void yard_keep_watch(struct yard *y, struct live *l)
{
	struct keeper *keeper = &y->keeper;

	if (!l->job->spec->preemptible || !yard_has_checkpoints(l->job))
		return;
	l->keep.looked_ms = l->keep.kept_ms = 0;
	if (l->keep.watched)
		return;
	l->keep.watched = true;
	l->keep.next = keeper->first;
	if (keeper->first)
		keeper->first->keep.prev = l;
	keeper->first = l;
	if (!keeper->timer)
		keeper->timer = world_timer_create(y->world, on_round, y);
	if (!world_timer_is_set(keeper->timer))
		world_timer_at(keeper->timer, world_mono_ms(y->world) + ROUND_MS);
}

void yard_keep_forget(struct live *l)
{
	leave(l);
}

void yard_keep_fini(struct yard *y)
{
	world_timer_destroy(y->keeper.timer);
}
