// SPDX-License-Identifier: Apache-2.0
/* why_view.h - four sentences: the cause, who is ahead, when it starts, what would now. */
#pragma once

#include "base/buf.h"
#include "base/doc.h"

struct why_page {
	int64_t now_ms;
	size_t width; /* of the terminal; 0: no lines are broken */
	bool colours;
};

/* "14:20", "Tue 14:20", "12 Dec 14:20": as short as is clear, by the clock on the wall. */
void why_clock(int64_t ms, int64_t now_ms, struct buf *out);
/* "in 12 min", "in 3 h", "in 2 days" */
void why_until(int64_t ms, int64_t now_ms, struct buf *out);

/* An answer of /jobs/:job/why of one that waits, or of a dry run. */
void why_lay_out(const struct doc_node *map, const struct why_page *page,
		 struct buf *out);
