// SPDX-License-Identifier: Apache-2.0
#include "job/grace.h"

static int64_t sooner(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

void grace_begin(struct grace *g, int64_t until_ms, int64_t max_ms)
{
	*g = (struct grace){ .until_ms = sooner(until_ms, max_ms), .max_ms = max_ms };
}

/* One look before the time in which writing counts, to compare with. */
int64_t grace_first(const struct grace *g, int64_t now_ms)
{
	return later(now_ms, g->until_ms - GRACE_QUIET_MS - GRACE_LOOK_MS);
}

struct grace_step grace_seen(struct grace *g, uint64_t print, int64_t now_ms)
{
	if (!g->looks)
		g->first_ms = now_ms;
	else if (print != g->print)
		g->grew_ms = now_ms;
	g->print = print;
	g->looks++;
	if (now_ms >= g->max_ms)
		return (struct grace_step){ GRACE_OVER, now_ms };
	if (now_ms < g->until_ms)
		return (struct grace_step){ GRACE_LOOK,
					    sooner(now_ms + GRACE_LOOK_MS, g->until_ms) };
	if (now_ms < g->first_ms + GRACE_LOOK_MS)
		return (struct grace_step){
			GRACE_LOOK, sooner(g->first_ms + GRACE_LOOK_MS, g->max_ms)
		};
	if (!g->grew_ms || now_ms - g->grew_ms > GRACE_QUIET_MS)
		return (struct grace_step){ GRACE_OVER, now_ms };
	g->until_ms = sooner(now_ms + GRACE_STEP_MS, g->max_ms);
	return (struct grace_step){ GRACE_EXTEND, g->until_ms };
}
