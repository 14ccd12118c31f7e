// SPDX-License-Identifier: Apache-2.0
#include "yard/stats.h"

#include "yard/internal.h"

const int64_t yard_commit_bounds_ms[YARD_COMMIT_BUCKETS] = { 1,   2,   5,   10,   20,  50,
							     100, 200, 500, 1000, 5000 };

void yard_count_event(struct yard *y, const struct event *e)
{
	if (e->kind == EV_SUBMITTED)
		y->stats.submitted++;
	if (e->kind == EV_ENDED)
		y->stats.ended[e->outcome]++;
}

void yard_count_commit(struct yard *y, int64_t took_ms)
{
	size_t i = 0;

	while (i < YARD_COMMIT_BUCKETS && took_ms > yard_commit_bounds_ms[i])
		i++;
	y->stats.commits[i]++;
	y->stats.commit_sum_ms += took_ms;
	y->commits++;
}

uint64_t yard_commits(const struct yard *y)
{
	return y->commits;
}

void yard_stats(const struct yard *y, struct yard_stats *out)
{
	int64_t now = world_now_ms(y->world), oldest = now;
	const struct live *l;

	*out = y->stats;
	for (size_t it = 0; (l = map_next(y->live, &it));) {
		out->jobs[l->job->state]++;
		if (l->job->state == JOB_QUEUED && l->job->queued_ms < oldest)
			oldest = l->job->queued_ms;
	}
	out->waiting = plan_waiting(y->plan);
	out->oldest_wait_ms = now - oldest;
}

size_t yard_queue(const struct yard *y, size_t position, int64_t *out, size_t max)
{
	return plan_queue(y->plan, position, out, max);
}

size_t yard_queue_length(const struct yard *y)
{
	return plan_waiting(y->plan);
}
