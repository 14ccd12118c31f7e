// SPDX-License-Identifier: Apache-2.0
#include "plan/pace.h"

#define HINTS_MOST 512 /* run times looked up for one estimate */

struct span pace_span(const struct entry *e, const struct plan_hints *hints, int *asked)
{
	struct span s = { e->guess_low_ms, e->guess_ms, e->guess_high_ms, e->limit_ms };
	struct guess g = { 0 };

	if (s.likely_ms <= 0 && hints && *asked < HINTS_MOST) {
		++*asked;
		hints->guess(hints->arg, e->id, &g);
		s = (struct span){ g.low_ms, g.likely_ms, g.high_ms, e->limit_ms };
	}
	if (s.low_ms <= 0)
		s.low_ms = s.likely_ms / 4;
	if (s.high_ms <= 0)
		s.high_ms = s.likely_ms * 4;
	return s;
}

static int64_t capped(int64_t ms, int64_t limit_ms)
{
	return limit_ms > 0 && ms > limit_ms ? limit_ms : ms;
}

int64_t pace_length(const struct span *s, enum pace pace)
{
	if (s->likely_ms > 0)
		return capped(pace == PACE_SHORT    ? s->low_ms
			      : pace == PACE_LIKELY ? s->likely_ms
						    : s->high_ms,
			      s->limit_ms);
	return s->limit_ms > 0 ? s->limit_ms : FOREVER;
}

/* What is left of one that has run longer than foretold is judged by the next mark, and
 * past the last by how long it ran (see learn_left). */
static int64_t overdue(const struct span *s, enum pace pace, int64_t ran_ms)
{
	int64_t mark = pace_length(s, PACE_LONG);

	if (pace == PACE_SHORT && pace_length(s, PACE_LIKELY) > ran_ms)
		mark = pace_length(s, PACE_LIKELY);
	if (mark > ran_ms)
		return (mark - ran_ms) / (pace == PACE_SHORT ? 5 : 2);
	return pace == PACE_SHORT    ? ran_ms / 9
	       : pace == PACE_LIKELY ? ran_ms
				     : 3 * ran_ms;
}

int64_t pace_end(const struct span *s, enum pace pace, int64_t since_ms, int64_t now_ms)
{
	int64_t ran = now_ms > since_ms ? now_ms - since_ms : 0,
		whole = pace_length(s, pace), left;

	if (whole == FOREVER)
		return FOREVER;
	left = whole > ran ? whole - ran : s->likely_ms > 0 ? overdue(s, pace, ran) : 0;
	if (s->limit_ms > 0 && left > s->limit_ms - ran)
		left = s->limit_ms > ran ? s->limit_ms - ran : 0;
	return now_ms + left;
}
