// SPDX-License-Identifier: Apache-2.0
/* muri_yard.c - our order when lengths are known: the fullest cluster of the best jobs.
 *
 * SRSF takes jobs one by one and passes over what no longer fits, which leaves GPUs idle
 * when a few narrow jobs stand in the way of a wide one.  Here the set that runs is chosen
 * as a whole: each job is worth a little less than 1 / (seconds left), and of all sets
 * that fit the one of greatest worth runs.
 *
 * Two corrections, the same for every trace:
 *  - while the queue is short a wide job counts for more, as it is the one that will find
 *    no room later; with a long queue that would only keep the short waiting;
 *  - a job that is longer than all the work there is spread over all GPUs decides when the
 *    last one ends: it goes first.  That shortens the makespan and costs nobody much.
 */
#include <string.h>

#include "base/mem.h"
#include "sim/muri_fill.h"

static const struct muri_taste taste = {
	.shorter = 0.95,
	.wider = 0.15,
	.long_queue = 20,
	.critical = 1.3,
	.critical_cut = 0.05,
};

struct yard {
	double *left_s, *worth; /* by job */
	int *next;              /* the queue while it is built */
};

static void *yard_create(const struct muri_trace *t)
{
	struct yard *y = mem_alloc(1, sizeof *y);

	y->left_s = mem_alloc(t->count, sizeof *y->left_s);
	y->worth = mem_alloc(t->count, sizeof *y->worth);
	y->next = mem_alloc(t->count, sizeof *y->next);
	return y;
}

static void yard_destroy(void *state)
{
	struct yard *y = state;

	free(y->left_s);
	free(y->worth);
	free(y->next);
	free(y);
}

/* Wide ones first: then whatever adds up fits.  The rest behind, by time left. */
static void arrange(struct muri_replay *r, const struct muri_shelf *s,
		    const int take[MURI_SIZES])
{
	struct yard *y = r->state;
	int seen[MURI_SIZES] = { 0 };
	size_t n = 0;

	for (int size = MURI_SIZES - 1; size >= 0; size--)
		for (int i = 0; i < take[size]; i++)
			y->next[n++] = s->jobs[size][i];
	for (size_t i = 0; i < r->count; i++) {
		int size = muri_size(r, r->queue[i]);
		if (seen[size]++ >= take[size])
			y->next[n++] = r->queue[i];
	}
	memcpy(r->queue, y->next, n * sizeof *y->next);
}

static void yard_order(struct muri_replay *r)
{
	struct yard *y = r->state;
	struct muri_shelf shelf;
	double worth[MURI_SIZES][MURI_GPUS + 1] = { 0 };
	int take[MURI_SIZES];

	muri_lefts(r, y->left_s);
	muri_weigh(r, &taste, y->left_s, y->worth);
	muri_shelve(r, 1, &shelf);
	for (int size = 0; size < MURI_SIZES; size++)
		for (int n = 0; n < shelf.count[size]; n++)
			worth[size][n + 1] =
				worth[size][n] + y->worth[shelf.jobs[size][n]];
	muri_choose(worth, take);
	arrange(r, &shelf, take);
}

const struct muri_policy muri_yard = {
	.name = "yard",
	.create = yard_create,
	.destroy = yard_destroy,
	.order = yard_order,
};
