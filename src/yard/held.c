// SPDX-License-Identifier: Apache-2.0
/* Jobs that wait for other jobs: `after` one ended, `after-ok` only if it succeeded. */
#include "base/mem.h"
#include "base/str.h"
#include "yard/internal.h"

enum met { MET_NOT_YET, MET_YES, MET_NEVER };

static void take_outcome(void *arg, const struct store_row *row)
{
	*(enum outcome *)arg = row->outcome;
}

static void remember(struct live *on, int64_t job)
{
	for (size_t i = 0; i < on->dependant_count; i++)
		if (on->dependants[i] == job)
			return;
	mem_grow(&on->dependants, &on->dependant_cap, on->dependant_count,
		 sizeof *on->dependants);
	on->dependants[on->dependant_count++] = job;
}

static enum met look_at(struct yard *y, const struct dependency *d, int64_t waiter)
{
	struct live *on = yard_find(y, d->job);
	enum outcome outcome = OUTCOME_NONE;

	if (on && on->job->state != JOB_ENDED) {
		remember(on, waiter);
		return MET_NOT_YET;
	}
	if (!d->ok)
		return MET_YES;
	if (on)
		outcome = on->job->outcome;
	else
		store_row(y->config.store, d->job, take_outcome, &outcome, NULL);
	return outcome == OUTCOME_SUCCEEDED ? MET_YES : MET_NEVER;
}

void yard_check_held(struct yard *y, struct live *l)
{
	const struct spec *s = l->job->spec;
	bool all = true;

	for (size_t i = 0; i < s->after_count; i++) {
		enum met met = look_at(y, &s->after[i], l->job->id);
		if (met == MET_NEVER) {
			struct event e = { .job = l->job->id,
					   .kind = EV_STOP,
					   .stop = STOP_DEPENDENCY };
			e.text = str_printf(
				"job %lld, which it waits for by after-ok, did not succeed",
				(long long)s->after[i].job);
			yard_record(y, &e, NULL, NULL);
			return;
		}
		all &= met == MET_YES;
	}
	if (!all)
		return;
	struct event e = { .job = l->job->id, .kind = EV_READY };
	yard_record(y, &e, NULL, NULL);
}
