// SPDX-License-Identifier: Apache-2.0
/* muri_blind.c - our order when lengths are unknown: what probably ends cheapest first. */
#include "base/mem.h"
#include "sim/muri_guess.h"

struct blind {
	struct muri_guess *guess;
	double *cost; /* by job */
};

static void *blind_create(const struct muri_trace *t)
{
	struct blind *b = mem_alloc(1, sizeof *b);

	b->guess = muri_guess_create(t);
	b->cost = mem_alloc(t->count, sizeof *b->cost);
	return b;
}

static void blind_destroy(void *state)
{
	struct blind *b = state;

	muri_guess_destroy(b->guess);
	free(b->cost);
	free(b);
}

static void blind_order(struct muri_replay *r)
{
	struct blind *b = r->state;

	muri_guess_costs(b->guess, r, b->cost);
	muri_sort(r->queue, r->count, b->cost);
}

static double blind_wake(const struct muri_replay *r)
{
	const struct blind *b = r->state;

	return muri_guess_wake(b->guess, r);
}

const struct muri_policy muri_blind = {
	.name = "yard-blind",
	.create = blind_create,
	.destroy = blind_destroy,
	.order = blind_order,
	.wake = blind_wake,
};
