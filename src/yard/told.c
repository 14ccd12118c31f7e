// SPDX-License-Identifier: Apache-2.0
/* Everything the plan is told and asked goes through here, so that it can be written down:
 * `yard simulate --replay` tells another plan the same and compares what it decides. */
#include "base/mem.h"
#include "plan/journal.h"
#include "yard/internal.h"
#include "yard/tape.h"

#define JOURNAL_BYTES_MAX (INT64_C(1) << 30)

struct told {
	struct tape *tape;
	struct plan_hash *hash;
	struct buf lines; /* of one call */
	int64_t now_ms;
	bool decided; /* in this step */
	void (*decide)(void *arg, const struct plan_decision *d);
	void *arg;
};

int yard_told_begin(struct yard *y, struct err *err)
{
	struct tape *tape;

	if (!y->config.plan_journal)
		return 0;
	tape = tape_open(y->world, y->config.plan_journal, JOURNAL_BYTES_MAX, err);
	if (!tape)
		return -1;
	y->told = mem_alloc(1, sizeof *y->told);
	y->told->tape = tape;
	y->told->hash = plan_hash_create();
	return 0;
}

void yard_told_end(struct yard *y)
{
	if (!y->told)
		return;
	tape_close(y->told->tape);
	plan_hash_destroy(y->told->hash);
	buf_fini(&y->told->lines);
	free(TAKE(y->told));
}

void yard_tell(struct yard *y, const struct plan_delta *d)
{
	struct told *t = y->told;

	if (t && !tape_over(t->tape)) {
		buf_clear(&t->lines);
		journal_delta(d, &t->lines);
		tape_add(t->tape, &t->lines);
	}
	plan_apply(y->plan, d);
}

static void decided(void *arg, const struct plan_decision *d)
{
	struct told *t = arg;

	plan_hash_add(t->hash, t->now_ms, d);
	t->decided = true;
	t->decide(t->arg, d);
}

void yard_ask_step(struct yard *y, int64_t now_ms,
		   void (*decide)(void *arg, const struct plan_decision *d), void *arg)
{
	struct told *t = y->told;

	if (!t || tape_over(t->tape)) {
		plan_step(y->plan, now_ms, 0, decide, arg);
		return;
	}
	t->now_ms = now_ms;
	t->decide = decide;
	t->arg = arg;
	t->decided = false;
	plan_step(y->plan, now_ms, 0, decided, t);
	buf_clear(&t->lines);
	journal_step(now_ms, &t->lines);
	if (t->decided)
		journal_hash(t->hash, &t->lines);
	tape_add(t->tape, &t->lines);
}
