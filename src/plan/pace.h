// SPDX-License-Identifier: Apache-2.0
/* pace.h - how long jobs run, when they are quick, as usual, and slow. */
#pragma once

#include "plan/model.h"
#include "plan/why.h"

enum pace { PACE_SHORT, PACE_LIKELY, PACE_LONG, PACE_COUNT };

struct span { /* how long a job runs, of which something is known or nothing */
	int64_t low_ms, likely_ms, high_ms; /* likely 0: nothing */
	int64_t limit_ms;
};

/* `asked` counts the hints that were asked for: so many at most for one estimate. */
struct span pace_span(const struct entry *e, const struct plan_hints *hints, int *asked);
int64_t pace_length(const struct span *s, enum pace pace); /* FOREVER: no telling */
/* When one that runs since then ends. */
int64_t pace_end(const struct span *s, enum pace pace, int64_t since_ms, int64_t now_ms);
