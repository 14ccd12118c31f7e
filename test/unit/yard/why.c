// SPDX-License-Identifier: Apache-2.0
/* Why jobs wait, as the yard tells it: what is learned, what is scored, what strangers are
 * not told. */
#include "yard/why.h"

#include "base/str.h"
#include "rig.h"
#include "world/log.h"

/* Run times are learned from what ended, by this daemon and by the one before. */
static void learns(struct rig *g)
{
	struct yard_reason r;
	struct learn_score score;

	for (int i = 0; i < 12; i++) {
		submit(g, spec("early", 100));
		pass(g, 4000);
	}
	for (int i = 0; i < 5; i++)
		submit(g, spec("holder", 2000));
	int64_t last = submit(g, spec("last", 2000));
	yard_reason(g->yard, yard_live(g->yard, last), NULL, &r);
	OK(r.kind == PLAN_REASON_CAPACITY && r.when.likely_ms != INT64_MAX &&
		   r.when.likely_ms < world_now_ms(g->world) + 120000 && r.when.guessed &&
		   r.when.sure > 0 && r.when.sure < 100,
	   "after a dozen jobs the yard knows how long the next waits (%lld ms)",
	   (long long)(r.when.likely_ms - world_now_ms(g->world)));
	OK(r.position > 1 && (size_t)r.position == r.waiting && r.ahead == r.waiting - 1,
	   "and where it stands");
	yard_reason_fini(&r);
	pass(g, 60000);
	yard_score(g->yard, &score);
	OK(score.told >= 1, "what was told is scored when the job starts");
}

/* Whom people stopped, and who never began, say nothing of how long a job runs. */
static void learns_no_stops(struct rig *g)
{
	struct yard_reason r;

	for (int i = 0; i < 12; i++) {
		struct answer a = { 0 };
		int64_t id = submit(g, spec("cut", 100));
		pass(g, 1000);
		yard_stop(g->yard, &g->alice, id, NULL, done, &a);
		pass(g, 60000);
		if (!a.came || yard_live(g->yard, id))
			OK(false, "job %lld is stopped", (long long)id);
	}
	submit(g, spec("holder", 2000));
	pass(g, 1000);
	int64_t last = submit(g, spec("last", 2000));
	yard_reason(g->yard, yard_live(g->yard, last), NULL, &r);
	OK(r.kind == PLAN_REASON_CAPACITY && r.when.likely_ms == INT64_MAX,
	   "from jobs that people stopped no run time is learned");
	yard_reason_fini(&r);
}

static void strangers(struct rig *g)
{
	struct principal bo = g->alice;
	struct yard_reason r;

	strcpy(bo.name, "bo");
	strcpy(bo.group, "other");
	int64_t first = submit(g, spec("first", 1500)),
		second = submit(g, spec("second", 2000)),
		third = submit(g, spec("third", 2000));
	yard_reason(g->yard, yard_live(g->yard, third), &g->alice, &r);
	OK(r.ahead == 1 && r.job_count == 1 && r.jobs[0] == second,
	   "who is ahead is named to whom may see it");
	OK(strstr(buf_str(&r.cause), "job 1 ") || strstr(buf_str(&r.cause), "holds"),
	   "and who holds what it waits for: %s", buf_str(&r.cause));
	yard_reason_fini(&r);
	yard_reason(g->yard, yard_live(g->yard, third), &bo, &r);
	OK(r.ahead == 1 && r.job_count == 0, "a stranger learns that one is, not which");
	OK(!r.freed && r.when.after_count == 0 &&
		   strstr(buf_str(&r.cause), "somebody's job"),
	   "nor whose end it waits for: %s", buf_str(&r.cause));
	yard_reason_fini(&r);
	yard_reason(g->yard, yard_live(g->yard, first), NULL, &r);
	OK(r.kind == PLAN_REASON_NONE && !r.offer_count, "one that runs does not wait");
	yard_reason_fini(&r);
}

static void tries(struct rig *g)
{
	AUTO_SPEC struct spec *big = spec("big", 1500), *small = spec("small", 300);
	size_t before = yard_live_count(g->yard);
	struct yard_reason r;
	struct err err = { 0 };

	OK(yard_try(g->yard, &g->alice, big, &r, &err) == 0 &&
		   r.kind == PLAN_REASON_CAPACITY && r.position == 3,
	   "a dry run says what it would wait for and where: %s", buf_str(&r.cause));
	yard_reason_fini(&r);
	small->time_limit_ms = 1000;
	OK(yard_try(g->yard, &g->alice, small, &r, &err) == 0 &&
		   (r.kind == PLAN_REASON_NEW || r.kind == PLAN_REASON_ORDER),
	   "or that it would fit");
	yard_reason_fini(&r);
	OK(yard_live_count(g->yard) == before, "and makes nothing");
}

int main(void)
{
	struct engine_sim_faults quick = { .run_ms_max = 2000 },
				 slow = { .run_ms_max = 50000000 };
	struct rig g;

	world_log_level(LOG_LEVEL_COUNT);
	up(&g, &quick);
	learns(&g);
	down(&g);
	up(&g, &slow);
	strangers(&g);
	tries(&g);
	down(&g);
	up(&g, &slow);
	learns_no_stops(&g);
	down(&g);
	return END();
}
