// SPDX-License-Identifier: Apache-2.0
/* muri_pace.c - how fast jobs are that share GPUs, as Muri's authors model it.
 *
 * An iteration has three phases that the trace tells: getting data ready (which keeps the
 * storage busy, then the processor), on the GPU, and on the network.  Jobs of a group take
 * turns, four to a round: the first phase may last two of them, as another job can read
 * while it computes; the others have one each.  Each job does one iteration a round, and
 * a turn is over when all that stand in it are, in the best order of the jobs.  Two jobs
 * may instead run as two halves: one's first phase beside the other's two last.  That
 * time is stretched by a factor that the authors measured for two, three and four.
 */
#include <math.h>
#include <string.h>

#include "sim/muri_share.h"

enum { TURNS = 4, ROUNDS = 2 };

#define SETTLED 1e-3 /* two rounds that differ by less are the same */

/* Against a job alone, whose 1.5 % are in its iteration time already. */
static const double stretch[MURI_GROUP_MAX + 1] = {
	[2] = 1.33 / 1.015,
	[3] = 1.5 / 1.015,
	[4] = 1.37 / 1.015,
};

static bool settled(double a, double b)
{
	return fabs(a - b) <= SETTLED * fmax(fabs(a), fabs(b));
}

/* The time of a round of jobs in this order.  at[i] is when turn i is over: in it one job
 * has its last phase, the next its middle one, and the first phase of a third ends, which
 * began a turn earlier. */
static double round_s(const struct muri_job *const *jobs, int count)
{
	double at[TURNS * ROUNDS + 1] = { 0 };

	for (int i = 0; i < TURNS * ROUNDS; i++) {
		int last = (i + 1) % TURNS, middle = (i + 2) % TURNS,
		    first = (i + 3) % TURNS;

		if (last < count)
			at[i + 1] = fmax(at[i + 1], at[i] + jobs[last]->phase_s[2]);
		if (middle < count)
			at[i + 1] = fmax(at[i + 1], at[i] + jobs[middle]->phase_s[1]);
		if (i > 0 && first < count)
			at[i + 1] = fmax(at[i + 1], at[i - 1] + jobs[first]->phase_s[0]);
		if (i < TURNS)
			continue;
		double now = at[i + 1] - at[i + 1 - TURNS];
		if (settled(now, at[i] - at[i - TURNS]))
			return now;
	}
	return at[TURNS * ROUNDS] - at[TURNS];
}

static double two_halves_s(const struct muri_job *a, const struct muri_job *b)
{
	return fmax(a->phase_s[0], b->phase_s[1] + b->phase_s[2]) +
	       fmax(b->phase_s[0], a->phase_s[1] + a->phase_s[2]);
}

/* Tries every order of jobs[fixed..]; puts them back as they were. */
static double best_round_s(const struct muri_job **jobs, int count, int fixed)
{
	double best = INFINITY;

	if (fixed == count - 1) {
		double s = round_s(jobs, count);
		return s > 0 ? s : INFINITY;
	}
	for (int i = fixed; i < count; i++) {
		const struct muri_job *moved = jobs[i];

		jobs[i] = jobs[fixed];
		jobs[fixed] = moved;
		best = fmin(best, best_round_s(jobs, count, fixed + 1));
		jobs[fixed] = jobs[i];
		jobs[i] = moved;
	}
	return best;
}

static bool told(const struct muri_job *j)
{
	return j->phase_s[0] + j->phase_s[1] + j->phase_s[2] > 0;
}

double muri_pace(const struct muri_job *const *group, int count)
{
	const struct muri_job *jobs[MURI_GROUP_MAX];

	if (count == 1)
		return group[0]->iteration_s;
	for (int i = 0; i < count; i++)
		if (!told(group[i]))
			return INFINITY;
	memcpy(jobs, group, (size_t)count * sizeof *jobs);
	double best = best_round_s(jobs, count, 0);
	if (count == 2)
		best = fmin(best, two_halves_s(jobs[0], jobs[1]));
	return best * stretch[count];
}
