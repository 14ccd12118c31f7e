// SPDX-License-Identifier: Apache-2.0
/* The checkpoint and stop contract: whose checkpoints grow is not killed before the longest
 * grace is over, and an attempt goes on from where the depot says. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "model.h"
#include "yard/keep.h"

#define LATE_MS 30000 /* a disk that is full or slow, a commit that is tried again */

static struct stopping *find_stop(struct run *r, int64_t job)
{
	for (size_t i = r->stop_count; i-- > 0;)
		if (r->stops[i % STOPS_MAX].job == job)
			return &r->stops[i % STOPS_MAX];
	return NULL;
}

static void note_stop(struct run *r, int64_t job)
{
	struct stopping *s = &r->stops[r->stop_count++ % STOPS_MAX];

	*s = (struct stopping){ job, world_mono_ms(r->world), r->crashes };
}

/* The stop was stamped before it was shown: the wall clock may have jumped in between.  Then
 * the two clocks tell of very different times, and nothing can be said of this stop. */
static bool clocks_agree(struct run *r, const struct stopping *s, const struct event *e,
			 const struct job *j)
{
	int64_t real_ms = world_mono_ms(r->world) - s->at_ms;
	int64_t drift_ms = e->time_ms - j->stop_ms - real_ms;

	return s->at_ms > r->jumped_ms && drift_ms <= LATE_MS && drift_ms >= -LATE_MS;
}

/* What is shown is shown after the commit, so the real time was no longer than this. */
static void check_over(struct run *r, const struct event *e, const struct job *j)
{
	const struct stopping *s = find_stop(r, e->job);
	int64_t had_ms = s ? world_mono_ms(r->world) - s->at_ms : 0;
	bool sure = s && s->crashes == r->crashes && clocks_agree(r, s, e, j);

	if (!sure || e->by)
		return;
	if (had_ms + LATE_MS < j->spec->grace_ms)
		broke(r, "job %lld was killed within its grace", (long long)j->id);
	if (!yard_has_checkpoints(j) || !depot_sim_grows(j->id))
		return;
	r->longest++;
	if (e->time_ms - j->stop_ms < j->spec->grace_max_ms &&
	    had_ms < j->spec->grace_max_ms)
		broke(r,
		      "job %lld was killed after %lld ms though its checkpoints grow and "
		      "its longest grace is %lld ms",
		      (long long)j->id, (long long)(e->time_ms - j->stop_ms),
		      (long long)j->spec->grace_max_ms);
}

static void check_extension(struct run *r, const struct event *e, const struct job *j)
{
	const struct stopping *s = find_stop(r, e->job);

	r->extensions++;
	if (!yard_has_checkpoints(j))
		broke(r, "job %lld has no checkpoints that could grow", (long long)j->id);
	if (s && clocks_agree(r, s, e, j) &&
	    e->until_ms > j->stop_ms + j->spec->grace_max_ms + LATE_MS)
		broke(r, "the grace of job %lld was put off beyond its longest",
		      (long long)j->id);
}

void check_grace(struct run *r, const struct event *e)
{
	const struct job *j = e->job ? yard_live(r->yard, e->job) : NULL;
	struct stopping *s = j ? find_stop(r, e->job) : NULL;

	if (!j)
		return;
	if (e->kind == EV_STOP && !s)
		note_stop(r, e->job);
	if (e->kind == EV_PLACED && s)
		s->job = 0; /* that was another attempt's */
	if (e->kind == EV_EXTENDED)
		check_extension(r, e, j);
	if (e->kind == EV_GRACE_OVER)
		check_over(r, e, j);
}

/* Every task of an attempt that began was told the checkpoint that the depot found. */
void check_resume(struct run *r, const struct job *j)
{
	char name[32];

	for (int a = 1; a <= j->attempt; a++) {
		struct task_ref ref = { .job = j->id, .task = 0, .attempt = a };
		const char *told = engine_sim_resume(r->machine, &ref);
		AUTO_FREE char *want = NULL;

		if (engine_sim_starts(r->machine, &ref) < 1)
			continue;
		depot_sim_resume(j->id, a, name);
		if (yard_has_checkpoints(j) && name[0])
			want = str_printf("/ml/output/checkpoints/%s", name);
		r->resumes += want != NULL;
		if (!str_eq(told ? told : "", want ? want : ""))
			broke(r, "attempt %d of job %lld goes on from '%s', not '%s'", a,
			      (long long)j->id, told ? told : "", want ? want : "");
	}
}
