// SPDX-License-Identifier: Apache-2.0
/* muri_share.c - our order when up to four jobs of one size may share their GPUs.
 *
 * As in muri_yard.c the set of greatest worth runs, but a place may hold a group: its
 * worth is that of its jobs, each times how fast it is in the group.  For each number of
 * places of a size the shortest jobs get one each; then each further job, the shorter
 * first, joins the group that gains most by it, if one gains.  Fast jobs lose by a slow
 * mate, so short jobs stay alone unless the mate uses what they leave idle.
 *
 * Worth falls less steeply with the time left than without sharing: where jobs overlap,
 * what is done in all counts for more than who is first.
 */
#include "sim/muri_share.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sim/muri_fill.h"
#include "sim/muri_guess.h"

/* Guesses are rough, so they count for little: what is done in all counts for more, and
 * nothing is critical by a guess. */
static const struct muri_taste blind_taste = {
	.shorter = 0.13,
	.wider = 0.75,
	.long_queue = 100,
	.critical = INFINITY,
};

static const struct muri_taste taste = {
	.shorter = 0.4,
	.wider = 0.6,
	.long_queue = 40,
	.critical = 1.1,
	.critical_cut = 0.02,
};

enum {
	DEEP = 12,      /* so many jobs are looked at for each place */
	FINE = 8,       /* up to so many places every number is tried, ... */
	STEP = 4,       /* ... then each of these */
	MEMO = 1 << 16, /* paces remembered */
	KIND_BITS = 12,
	KINDS = (1 << KIND_BITS) -
		1 /* of size, pace and phases; more are not remembered */
};

struct group {
	int jobs[MURI_GROUP_MAX];
	int count;
	uint64_t
		key; /* the kinds of its jobs in order, KIND_BITS each; 0: not remembered */
	double load;   /* worth of its jobs, times what an iteration takes each alone */
	double pace_s; /* seconds an iteration */
	double worth;  /* load / pace_s */
};

struct share {
	struct muri_guess *guess; /* NULL: lengths are known */
	double *left_s, *worth;   /* by job */
	int *next;
	bool *taken;
	int *kind; /* from 1; 0: not remembered */
	struct {
		uint64_t key; /* of the group */
		double pace_s;
	} memo[MEMO];
};

static bool same_kind(const struct muri_job *a, const struct muri_job *b)
{
	for (int i = 0; i < MURI_PHASES; i++)
		if (a->phase_s[i] != b->phase_s[i])
			return false;
	return a->gpus == b->gpus && a->iteration_s == b->iteration_s;
}

static void find_kinds(const struct muri_trace *t, int *kind)
{
	AUTO_FREE const struct muri_job **kinds = mem_alloc(KINDS, sizeof *kinds);
	int count = 0;

	for (size_t i = 0; i < t->count; i++) {
		int k = 0;

		while (k < count && !same_kind(kinds[k], &t->jobs[i]))
			k++;
		if (k == KINDS)
			continue;
		kinds[k] = &t->jobs[i];
		count += k == count;
		kind[i] = k + 1;
	}
}

static void *share_create(const struct muri_trace *t)
{
	struct share *s = mem_alloc(1, sizeof *s);

	s->left_s = mem_alloc(t->count, sizeof *s->left_s);
	s->worth = mem_alloc(t->count, sizeof *s->worth);
	s->next = mem_alloc(t->count, sizeof *s->next);
	s->taken = mem_alloc(t->count, sizeof *s->taken);
	s->kind = mem_alloc(t->count, sizeof *s->kind);
	find_kinds(t, s->kind);
	return s;
}

static void *share_blind_create(const struct muri_trace *t)
{
	struct share *s = share_create(t);

	s->guess = muri_guess_create(t);
	return s;
}

static void share_destroy(void *state)
{
	struct share *s = state;

	if (s->guess)
		muri_guess_destroy(s->guess);
	free(s->left_s);
	free(s->worth);
	free(s->next);
	free(s->taken);
	free(s->kind);
	free(s);
}

/* The key of a group that one more of this kind joins: the same in whatever order. */
static uint64_t key_with(uint64_t key, int kind)
{
	int shift = 0;

	if (key == 0 || kind == 0)
		return 0;
	while ((key >> shift & KINDS) > (uint64_t)kind)
		shift += KIND_BITS;
	uint64_t low = key & ((UINT64_C(1) << shift) - 1);
	return (key >> shift << KIND_BITS | (uint64_t)kind) << shift | low;
}

/* The pace of a group when a job joins it. */
static double pace_with(struct muri_replay *r, const struct group *g, int job)
{
	struct share *s = r->state;
	const struct muri_job *jobs[MURI_GROUP_MAX];
	uint64_t key = key_with(g->key, s->kind[job]);
	size_t slot = (size_t)(key * 0x9E3779B97F4A7C15u >> 48) % MEMO;

	if (key && s->memo[slot].key == key)
		return s->memo[slot].pace_s;
	for (int i = 0; i < g->count; i++)
		jobs[i] = &r->trace->jobs[g->jobs[i]];
	jobs[g->count] = &r->trace->jobs[job];
	s->memo[slot].key = key;
	s->memo[slot].pace_s = muri_pace(jobs, g->count + 1);
	return s->memo[slot].pace_s;
}

static struct group group_of(const struct muri_replay *r, int job)
{
	const struct share *s = r->state;
	double alone_s = r->trace->jobs[job].iteration_s;

	return (struct group){
		.jobs = { job },
		.count = 1,
		.key = (uint64_t)s->kind[job],
		.load = alone_s * s->worth[job],
		.pace_s = alone_s,
		.worth = s->worth[job],
	};
}

/* Puts a job where it adds most; nowhere, if it would only slow others down. */
static void join(struct muri_replay *r, struct group *groups, int count, int job)
{
	const struct share *s = r->state;
	double load = r->trace->jobs[job].iteration_s * s->worth[job];
	double best_gain = 0, best_pace_s = 0;
	struct group *best = NULL;

	for (struct group *g = groups; g < groups + count; g++) {
		if (g->count == MURI_GROUP_MAX)
			continue;
		double pace_s = pace_with(r, g, job);
		double gain = (g->load + load) / pace_s - g->worth;
		if (gain > best_gain) {
			best = g;
			best_gain = gain;
			best_pace_s = pace_s;
		}
	}
	if (!best)
		return;
	best->key = key_with(best->key, s->kind[job]);
	best->jobs[best->count++] = job;
	best->load += load;
	best->pace_s = best_pace_s;
	best->worth = best->load / best_pace_s;
}

/* The best groups for so many places of a size; gives what they are worth. */
static double pack(struct muri_replay *r, const struct muri_shelf *shelf, int size,
		   int places, struct group *groups)
{
	double sum = 0;

	for (int i = 0; i < places; i++)
		groups[i] = group_of(r, shelf->jobs[size][i]);
	for (int i = places; i < shelf->count[size] && i < places * DEEP; i++)
		join(r, groups, places, shelf->jobs[size][i]);
	for (int i = 0; i < places; i++)
		sum += groups[i].worth;
	return sum;
}

static void alone(struct muri_replay *r, int id)
{
	struct muri_task *t = &r->tasks[id];

	t->lead = id;
	t->pace_s = r->trace->jobs[id].iteration_s;
	t->lost_s = r->trace->jobs[id].overhead_s;
}

/* Everybody in it pays for everybody's start. */
static void bind(struct muri_replay *r, const struct group *g)
{
	double lost_s = 0;

	for (int i = 0; i < g->count; i++)
		lost_s += r->trace->jobs[g->jobs[i]].overhead_s;
	for (int i = 0; i < g->count; i++) {
		struct muri_task *t = &r->tasks[g->jobs[i]];

		t->lead = g->jobs[0];
		t->pace_s = g->pace_s;
		t->lost_s = lost_s;
	}
}

static void arrange(struct muri_replay *r, const struct muri_shelf *shelf,
		    const int take[MURI_SIZES])
{
	struct share *s = r->state;
	struct group groups[MURI_GPUS];
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++) {
		alone(r, r->queue[i]);
		s->taken[r->queue[i]] = false;
	}
	for (int size = MURI_SIZES - 1; size >= 0; size--) {
		pack(r, shelf, size, take[size], groups);
		for (int i = 0; i < take[size]; i++) {
			bind(r, &groups[i]);
			for (int k = 0; k < groups[i].count; k++) {
				s->next[n++] = groups[i].jobs[k];
				s->taken[groups[i].jobs[k]] = true;
			}
		}
	}
	for (size_t i = 0; i < r->count; i++)
		if (!s->taken[r->queue[i]])
			s->next[n++] = r->queue[i];
	memcpy(r->queue, s->next, n * sizeof *s->next);
}

/* The taste that goes with what is known. */
static const struct muri_taste *find_left(struct muri_replay *r)
{
	struct share *s = r->state;

	if (!s->guess) {
		muri_lefts(r, s->left_s);
		return &taste;
	}
	muri_guess_costs(s->guess, r, s->left_s);
	for (size_t i = 0; i < r->count; i++)
		s->left_s[r->queue[i]] /= r->trace->jobs[r->queue[i]].gpus;
	return &blind_taste;
}

static void share_order(struct muri_replay *r)
{
	struct share *s = r->state;
	struct muri_shelf shelf;
	struct group groups[MURI_GPUS];
	double worth[MURI_SIZES][MURI_GPUS + 1] = { 0 };
	int take[MURI_SIZES];

	muri_weigh(r, find_left(r), s->left_s, s->worth);
	muri_shelve(r, DEEP, &shelf);
	for (int size = 0; size < MURI_SIZES; size++) {
		int most = MURI_GPUS >> size;

		if (most > shelf.count[size])
			most = shelf.count[size];
		for (int n = 1; n <= most; n++)
			if (n <= FINE || n % STEP == 0 || n == most)
				worth[size][n] = pack(r, &shelf, size, n, groups);
	}
	muri_choose(worth, take);
	arrange(r, &shelf, take);
}

const struct muri_policy muri_share = {
	.name = "yard-share",
	.create = share_create,
	.destroy = share_destroy,
	.order = share_order,
	.shares = true,
};

static double share_wake(const struct muri_replay *r)
{
	const struct share *s = r->state;

	return muri_guess_wake(s->guess, r);
}

const struct muri_policy muri_share_blind = {
	.name = "yard-share-blind",
	.create = share_blind_create,
	.destroy = share_destroy,
	.order = share_order,
	.wake = share_wake,
	.shares = true,
};
