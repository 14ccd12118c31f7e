// SPDX-License-Identifier: Apache-2.0
#include "plan/length.h"

#include "plan/model.h"

#define FACTOR     2
#define LEAST_MS   1000 /* lengths below that are all alike */
#define LENGTH_MAX (INT64_MAX / 4)

/* What it is expected to take; 0: no telling. */
static int64_t length_of(const struct entry *e)
{
	const struct tenant *t = e->group->tenant;
	int64_t ms = 0;

	if (!t->has_rule || !t->plan->policy.fair || e->aged)
		return 0;
	switch (t->rule.order) {
	case TENANT_FIFO:
		return 0;
	case TENANT_SERVED:
		ms = e->served_ms > t->plan->policy.min_run_ms
			     ? e->served_ms
			     : t->plan->policy.min_run_ms;
		break;
	case TENANT_SHORT:
		ms = e->limit_ms;
		if (e->guess_ms > 0 && (ms <= 0 || e->guess_ms < ms))
			ms = e->guess_ms;
		if (ms <= 0)
			return 0;
		/* Who gave way after a long time is not taken for a short one. */
		ms = e->served_ms > ms ? e->served_ms : ms;
		break;
	}
	return ms < LEAST_MS ? LEAST_MS : ms < LENGTH_MAX ? ms : LENGTH_MAX;
}

bool length_outranks(const struct entry *a, const struct entry *b, int64_t now_ms,
		     int64_t *when_ms)
{
	int64_t need;

	*when_ms = INT64_MAX;
	if (!a->preemptible || !b->preemptible || a->priority != b->priority ||
	    a->group != b->group)
		return false;
	need = length_of(a);
	if (!need)
		return false;
	if (b->bucket || b->claim)
		return length_of(b) / FACTOR >= need;
	/* It has run so long in all when the clock says that. */
	*when_ms = b->since_ms + FACTOR * need - b->served_ms;
	return *when_ms <= now_ms;
}
