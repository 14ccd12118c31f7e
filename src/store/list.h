// SPDX-License-Identifier: Apache-2.0
/* list.h - jobs by page: newest first, filtered, and only those somebody may see.
 *
 * A page is found by walking indexes: owner, group, name, label, outcome and state are
 * walked to directly, the rest is looked at row by row, at most STORE_SCAN_MAX of them.
 */
#pragma once

#include "job/principal.h"
#include "store/store.h"

#define STORE_SCAN_MAX 5000 /* rows one list looks at: the loop waits for it */

struct store_query {
	const char *owner, *group, *name; /* NULL: any */
	const char *search;               /* in the name, small or capital; NULL: any */
	const char *label; /* "key=value"; NULL: any; members have none of their own */
	const struct principal *see; /* theirs and their groups'; NULL: all */
	int64_t array;               /* its members; 0: what is a member of none */
	int live;                    /* 1: live only, 0: ended only, -1: both */
	int outcome;                 /* -1: any */
	enum job_state state;        /* JOB_NEW: any */
	int64_t before;              /* only ids below; 0: from the newest */
	int limit;                   /* 1..STORE_LIMIT_MAX; others are brought into it */
};

/* Newest first.  *next: what to give as `before` for the rest; 0: that was all.  A search
 * for what is rare may give a short or empty page and a next: it has looked far enough. */
int store_list(struct store *s, const struct store_query *q,
	       void (*each)(void *arg, const struct store_row *row), void *arg,
	       int64_t *next, struct err *err);
