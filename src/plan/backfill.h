// SPDX-License-Identifier: Apache-2.0
/* backfill.h - when can the head start, and who does not make that later. */
#pragma once

#include "plan/queue.h"

#define FOREVER INT64_MAX

/* When the head can start at the latest, and what is free beside it. */
struct reservation {
	const struct entry *head; /* NULL: not worked out yet */
	int64_t at_ms;            /* FOREVER: hangs on jobs without a limit */
	bool any;                 /* spare is known */
	int64_t last;             /* the job whose end makes room, 0: none known */
	struct view *after;       /* free then, the head in its place */
	struct view *spare;       /* free now and then */
};

void backfill_reserve(const struct plan *p, const struct entry *head,
		      struct reservation *r);
/* May e, which fits now by `picks`, start beside the head?  May find other picks. */
bool backfill_ok(const struct plan *p, const struct entry *e, int64_t now_ms,
		 struct reservation *r, struct picks *picks);
bool backfill_in_time(const struct entry *e, int64_t now_ms, const struct reservation *r);
bool backfill_quota_ok(const struct entry *e, const struct entry *head);
void backfill_fini(struct reservation *r);
