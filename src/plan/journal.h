// SPDX-License-Identifier: Apache-2.0
/* journal.h - what a plan was told and what it decided, as lines of text; and the hash
 * that shows that two plans decided alike.
 *
 * One JSON object a line.  A line that cannot be read is an error that names it.
 */
#pragma once

#include "base/doc.h"
#include "plan/plan.h"

#define PLAN_HASH_BYTES 32

struct plan_hash; /* of the stream of decisions, in order: BLAKE2b */

struct plan_hash *plan_hash_create(void);
void plan_hash_add(struct plan_hash *h, int64_t now_ms, const struct plan_decision *d);
void plan_hash_show(const struct plan_hash *h, char out[2 * PLAN_HASH_BYTES + 1]);
void plan_hash_destroy(struct plan_hash *h);

void journal_delta(const struct plan_delta *d, struct buf *out);
void journal_step(int64_t now_ms, struct buf *out);
void journal_hash(const struct plan_hash *h,
		  struct buf *out); /* of all decisions so far */

/* Reads one line and does what it says to the plan.  A hash line is compared: 1 when it
 * differs.  -1 with err. */
struct journal_reader;
struct journal_reader *journal_open(struct plan *p);
int journal_line(struct journal_reader *r, const char *line, size_t len, struct err *err);
const struct plan_hash *journal_replayed(const struct journal_reader *r);
void journal_close(struct journal_reader *r);
