// SPDX-License-Identifier: Apache-2.0
#include "yard/why.h"

#include "who/who.h"
#include "yard/internal.h"

struct asker {
	const struct yard *yard;
	const struct principal *who; /* NULL: one who may see all */
};

static bool sees(void *arg, int64_t job)
{
	const struct asker *a = arg;
	const struct job *j = yard_live(a->yard, job);

	return !a->who || (j && who_may_see(a->who, j->owner, j->group));
}

static void find_ahead(struct yard *y, int64_t id, const struct plan_eyes *eyes,
		       struct yard_reason *out)
{
	int64_t ids[4 * YARD_AHEAD_MAX];
	size_t most = sizeof ids / sizeof *ids;

	out->ahead = plan_ahead(y->plan, id, ids, most);
	for (size_t i = 0; i < out->ahead && i < most; i++) {
		if (out->job_count < YARD_AHEAD_MAX && eyes->see(eyes->arg, ids[i]))
			out->jobs[out->job_count++] = ids[i];
	}
}

/* Of the estimate the asker is told only of whom they may know. */
static void blind(struct plan_when *w, const struct plan_eyes *eyes)
{
	size_t kept = 0;

	for (size_t i = 0; i < w->after_count; i++) {
		if (eyes->see(eyes->arg, w->after[i].job))
			w->after[kept++] = w->after[i];
	}
	w->after_count = kept;
}

/* All but the offers. */
static void look(struct yard *y, int64_t id, const struct plan_eyes *eyes,
		 struct yard_reason *out)
{
	out->kind = plan_cause(y->plan, id, eyes, &out->cause);
	if (out->kind == PLAN_REASON_NONE)
		return;
	out->position = plan_position(y->plan, id);
	out->waiting = plan_waiting(y->plan);
	find_ahead(y, id, eyes, out);
	yard_estimate(y, id, &out->when);
	blind(&out->when, eyes);
	if (out->kind == PLAN_REASON_CAPACITY)
		out->freed = plan_freed(y->plan, id);
	if (out->freed && !eyes->see(eyes->arg, out->freed))
		out->freed = 0;
}

struct offering {
	struct yard *yard;
	struct yard_reason *out;
	int64_t id;
};

static void offer(void *arg, const struct plan_job *job)
{
	struct offering *o = arg;
	struct plan_job asked = *job;

	asked.id = o->id;
	o->out->offer_count = plan_offers(o->yard->plan, &asked,
					  world_now_ms(o->yard->world), o->out->offers);
}

void yard_reason(struct yard *y, const struct job *j, const struct principal *who,
		 struct yard_reason *out)
{
	const struct plan_eyes eyes = { sees, &(struct asker){ y, who } };
	struct offering o = { y, out, j->id };

	*out = (struct yard_reason){ 0 };
	if (j->state != JOB_QUEUED)
		return;
	look(y, j->id, &eyes, out);
	yard_with_plan_job(y, j->spec, j->owner, j->group, offer, &o);
}

void yard_cause(struct yard *y, const struct job *j, const struct principal *who,
		struct buf *words)
{
	const struct plan_eyes eyes = { sees, &(struct asker){ y, who } };

	if (j->state == JOB_QUEUED)
		plan_cause(y->plan, j->id, &eyes, words);
	else
		yard_why(y, j, who, words);
}

struct trial {
	struct yard *yard;
	const struct plan_eyes *eyes;
	struct yard_reason *out;
};

static void look_at(void *arg, struct plan *p, int64_t id)
{
	struct trial *t = arg;

	(void)p;
	look(t->yard, id, t->eyes, t->out);
}

static void try_it(void *arg, const struct plan_job *job)
{
	struct trial *t = arg;
	struct offering o = { t->yard, t->out, 0 };

	plan_try(t->yard->plan, job, look_at, t);
	if (t->out->kind != PLAN_REASON_NEW)
		offer(&o, job);
}

int yard_try(struct yard *y, const struct principal *who, const struct spec *spec,
	     struct yard_reason *out, struct err *err)
{
	const struct plan_eyes eyes = { sees, &(struct asker){ y, who } };
	struct trial t = { y, &eyes, out };

	*out = (struct yard_reason){ 0 };
	if (yard_check_submit(y, who, spec, err) < 0)
		return -1;
	yard_with_plan_job(y, spec, who->name, yard_group_of(who, spec), try_it, &t);
	return 0;
}

void yard_reason_fini(struct yard_reason *r)
{
	buf_fini(&r->cause);
	plan_offers_free(r->offers, r->offer_count);
	r->offer_count = 0;
}
