// SPDX-License-Identifier: Apache-2.0
/* muri_guess.c - what an end costs when lengths are unknown: Gittins, learned.
 *
 * It sees when a job was submitted, its GPUs, how long it ran, and how long others ran
 * that have ended; never how much work a job has left.
 *
 * What is known of others makes a guess of how long a job that ran for a while will run
 * in all: jobs of its size submitted close to it (often one person's, and alike), all
 * ended jobs of its size, all ended jobs, and a little of every length, so that nothing
 * is impossible.  Neighbours that still run and have run for longer say that it is not
 * short.  Of that guess the Gittins index is taken: the greatest chance to end within a
 * time, over what is spent for it, over all such times.  The best ratio a GPU goes first,
 * until the time is over for which it was best.
 *
 * A job that had more GPU time than nine of ten jobs ever take is a long one: those would
 * take turns and all end late, so they go one after the other, oldest first.
 */
#include "sim/muri_guess.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum {
	SIZES = 6,      /* 1, 2, 4, 8, 16, 32 GPUs */
	NEAR = 20,      /* neighbours on either side */
	BINS = 90,      /* of lengths, by powers of the cube root of two */
	RELEARN = 32,   /* ends, after which every index is taken anew */
	LONG_AFTER = 30 /* ends, before which nothing is called long */
};

#define NEAR_S      500.0  /* submitted so far apart counts half */
#define SIZE_WEIGHT 0.1    /* of all ended jobs of the size, a neighbour being 1 */
#define ALL_WEIGHT  0.01   /* of all ended jobs */
#define BIN_WEIGHT  0.0005 /* of every length there is */
#define SAFE        1.02   /* a neighbour's length and a bit, for overheads differ */
#define SAFE_S      60.0
#define STAY        0.4  /* the cost of who runs counts so much: no taking turns */
#define LONG_PART   0.92 /* of jobs take less GPU time than a long one has had */
#define LONG_COST   5.0  /* times that GPU time: where long jobs stand in the order */
#define PAUSE_S     60.0 /* at least between two looks at a job, and ... */
#define PAUSE_PART  0.5  /* ... that much of what it ran */

struct lengths {
	double count[BINS], all;
};

struct muri_guess {
	double *cost;    /* GPU seconds that an end costs at best, by job */
	double *until_s; /* attained time up to which that is so */
	bool *stale;
	int *place;       /* among those of its size */
	int *same[SIZES]; /* jobs of a size as they came */
	int same_count[SIZES];
	struct lengths size[SIZES], any, gpu_time;
	double long_gpu_s;
	size_t known; /* arrivals seen */
	int ends;
};

struct muri_guess *muri_guess_create(const struct muri_trace *t)
{
	struct muri_guess *b = mem_alloc(1, sizeof *b);

	b->cost = mem_alloc(t->count, sizeof *b->cost);
	b->until_s = mem_alloc(t->count, sizeof *b->until_s);
	b->stale = mem_alloc(t->count, sizeof *b->stale);
	b->place = mem_alloc(t->count, sizeof *b->place);
	for (int i = 0; i < SIZES; i++)
		b->same[i] = mem_alloc(t->count, sizeof **b->same);
	return b;
}

void muri_guess_destroy(struct muri_guess *b)
{
	free(b->cost);
	free(b->until_s);
	free(b->stale);
	free(b->place);
	for (int i = 0; i < SIZES; i++)
		free(b->same[i]);
	free(b);
}

static int size_of(const struct muri_replay *r, int job)
{
	return __builtin_ctz((unsigned)r->trace->jobs[job].gpus);
}

static int bin_of(double s)
{
	int bin = (int)(log2(s + 1) * 3);

	return bin < BINS ? bin : BINS - 1;
}

static double bin_end(int bin)
{
	return exp2((bin + 1) / 3.0);
}

static void count_length(struct lengths *l, double s)
{
	l->count[bin_of(s)]++;
	l->all++;
}

static void learn_arrivals(struct muri_guess *b, const struct muri_replay *r)
{
	for (; b->known < r->arrived; b->known++) {
		int id = (int)b->known, size = size_of(r, id);

		b->place[id] = b->same_count[size];
		b->same[size][b->same_count[size]++] = id;
		b->stale[id] = true;
	}
}

static void learn_ends(struct muri_guess *b, const struct muri_replay *r)
{
	for (size_t i = 0; i < r->ended_count; i++) {
		int id = r->ended[i], size = size_of(r, id);
		double ran_s = r->tasks[id].worked_s;

		count_length(&b->size[size], ran_s);
		count_length(&b->any, ran_s);
		count_length(&b->gpu_time, ran_s * r->trace->jobs[id].gpus);
		for (int k = b->place[id] - NEAR; k <= b->place[id] + NEAR; k++)
			if (k >= 0 && k < b->same_count[size])
				b->stale[b->same[size][k]] = true;
		if (++b->ends % RELEARN == 0)
			memset(b->stale, true, r->arrived * sizeof *b->stale);
	}
}

/* The GPU time that LONG_PART of all jobs do not exceed; who waits is taken to exceed it. */
static double long_gpu_time(const struct muri_guess *b, const struct muri_replay *r)
{
	double below = 0;

	for (int bin = 0; bin < BINS && b->ends > LONG_AFTER; bin++) {
		below += b->gpu_time.count[bin];
		if (below >= LONG_PART * (b->gpu_time.all + (double)r->count))
			return bin_end(bin);
	}
	return INFINITY;
}

/* One that ran s in all, and how much it says. */
struct sample {
	double s, weight;
};

static void insert(struct sample *v, size_t *n, struct sample x)
{
	size_t i = (*n)++;

	for (; i && v[i - 1].s > x.s; i--)
		v[i] = v[i - 1];
	v[i] = x;
}

/* What neighbours say of lengths over a; gives the weight of those that still run. */
static double ask_neighbours(const struct muri_guess *b, const struct muri_replay *r,
			     int id, struct sample *v, size_t *n)
{
	int size = size_of(r, id);
	double a = r->tasks[id].worked_s, running = 0;

	for (int k = b->place[id] - NEAR; k <= b->place[id] + NEAR; k++) {
		if (k < 0 || k >= b->same_count[size] || k == b->place[id])
			continue;
		int other = b->same[size][k];
		const struct muri_task *t = &r->tasks[other];
		double apart = fabs(r->trace->jobs[other].submit_s -
				    r->trace->jobs[id].submit_s);
		double weight = NEAR_S / (NEAR_S + apart);

		if (t->worked_s <= a)
			continue;
		if (t->end_s < 0)
			running += weight;
		else
			insert(v, n,
			       (struct sample){ t->worked_s * SAFE + SAFE_S, weight });
	}
	return running;
}

/* What all that ended say, in bins. */
static void ask_all(const struct muri_guess *b, const struct muri_replay *r, int id,
		    struct sample *v, size_t *n)
{
	const struct lengths *same = &b->size[size_of(r, id)];
	double a = r->tasks[id].worked_s;

	for (int bin = bin_of(a); bin < BINS; bin++) {
		double weight = BIN_WEIGHT;

		if (same->all > 0)
			weight += SIZE_WEIGHT * same->count[bin] / same->all;
		if (b->any.all > 0)
			weight += ALL_WEIGHT * b->any.count[bin] / b->any.all;
		if (bin_end(bin) > a)
			v[(*n)++] = (struct sample){ bin_end(bin), weight };
	}
}

/* The Gittins index over two sorted lists; as its inverse, and where it is reached. */
static void take_index(struct muri_guess *b, const struct muri_replay *r, int id)
{
	struct sample near[2 * NEAR + 1], all[BINS];
	size_t near_n = 0, all_n = 0, i = 0, k = 0;
	double a = r->tasks[id].worked_s, ended = 0, spent = 0, best = 0;
	double weight = ask_neighbours(b, r, id, near, &near_n);

	ask_all(b, r, id, all, &all_n);
	for (size_t m = 0; m < near_n; m++)
		weight += near[m].weight;
	for (size_t m = 0; m < all_n; m++)
		weight += all[m].weight;
	b->until_s[id] = INFINITY;
	while (i < near_n || k < all_n) {
		bool one = i < near_n && (k == all_n || near[i].s <= all[k].s);
		struct sample x = one ? near[i++] : all[k++];

		ended += x.weight;
		spent += x.weight * (x.s - a);
		double index = ended / (spent + (weight - ended) * (x.s - a));
		if (index > best) {
			best = index;
			b->until_s[id] = x.s;
		}
	}
	b->cost[id] = best > 0 ? r->trace->jobs[id].gpus / best : INFINITY;
	b->stale[id] = false;
}

static double cost_of(struct muri_guess *b, struct muri_replay *r, int id)
{
	struct muri_task *t = &r->tasks[id];
	const struct muri_job *j = &r->trace->jobs[id];

	if (t->worked_s * j->gpus > b->long_gpu_s)
		t->level = 1; /* for good */
	if (t->level)         /* the small term: oldest first among them */
		return LONG_COST * b->long_gpu_s * (1 + 1e-9 * j->submit_s);
	if (b->stale[id] || t->running)
		take_index(b, r, id);
	return b->cost[id] * (t->running ? STAY : 1);
}

void muri_guess_costs(struct muri_guess *b, struct muri_replay *r, double *cost)
{
	learn_arrivals(b, r);
	learn_ends(b, r);
	b->long_gpu_s = long_gpu_time(b, r);
	for (size_t i = 0; i < r->count; i++)
		cost[r->queue[i]] = cost_of(b, r, r->queue[i]);
}

double muri_guess_wake(const struct muri_guess *b, const struct muri_replay *r)
{
	double at = INFINITY;

	for (size_t i = 0; i < r->running_count; i++) {
		int id = r->running[i];
		const struct muri_task *t = &r->tasks[id];
		double slow = t->pace_s / r->trace->jobs[id].iteration_s;

		if (t->level == 0)
			at = fmin(at,
				  r->now_s +
					  fmax((b->until_s[id] - t->worked_s) * slow + 1,
					       PAUSE_S + PAUSE_PART * t->worked_s));
	}
	return at;
}
