// SPDX-License-Identifier: Apache-2.0
#include "sim/muri_fill.h"

#include <math.h>
#include <string.h>

#define LEFT_MIN_S 1e-3
#define EQUAL      1e-12 /* sums in another order differ so much and mean the same */

int muri_size(const struct muri_replay *r, int job)
{
	return __builtin_ctz((unsigned)r->trace->jobs[job].gpus);
}

void muri_lefts(const struct muri_replay *r, double *left_s)
{
	for (size_t i = 0; i < r->count; i++)
		left_s[r->queue[i]] = fmax(muri_left(r, r->queue[i]), LEFT_MIN_S);
}

void muri_weigh(struct muri_replay *r, const struct muri_taste *taste, double *left_s,
		double *worth)
{
	double all_s = 0, clusters = 0;

	for (size_t i = 0; i < r->count; i++) {
		int id = r->queue[i], gpus = r->trace->jobs[id].gpus;

		all_s += left_s[id] * gpus / MURI_GPUS;
		clusters += (double)gpus / MURI_GPUS;
	}
	double wider = taste->wider * taste->long_queue / (taste->long_queue + clusters);
	for (size_t i = 0; i < r->count; i++) {
		int id = r->queue[i];

		if (left_s[id] >= taste->critical * all_s)
			left_s[id] *= taste->critical_cut;
		worth[id] =
			pow(left_s[id], -taste->shorter) * exp2(wider * muri_size(r, id));
	}
	muri_sort(r->queue, r->count, left_s);
}

void muri_shelve(const struct muri_replay *r, int deep, struct muri_shelf *out)
{
	memset(out->count, 0, sizeof out->count);
	for (size_t i = 0; i < r->count; i++) {
		int size = muri_size(r, r->queue[i]), n = out->count[size];

		if (n < MURI_SHELF_MAX && n < deep * (MURI_GPUS >> size))
			out->jobs[size][out->count[size]++] = r->queue[i];
	}
}

void muri_choose(double worth[MURI_SIZES][MURI_GPUS + 1], int take[MURI_SIZES])
{
	double best[MURI_GPUS + 1] = { 0 };
	int took[MURI_SIZES][MURI_GPUS + 1] = { 0 };

	for (int size = 0; size < MURI_SIZES; size++)
		/* Downwards, so that best[] below still is without this size. */
		for (int gpus = MURI_GPUS; gpus >= 1 << size; gpus--)
			for (int n = 1; n << size <= gpus; n++) {
				double sum = worth[size][n] + best[gpus - (n << size)];
				if (worth[size][n] > 0 &&
				    sum > best[gpus] * (1 + EQUAL)) {
					best[gpus] = sum;
					took[size][gpus] = n;
				}
			}
	for (int size = MURI_SIZES - 1, gpus = MURI_GPUS; size >= 0; size--) {
		take[size] = took[size][gpus];
		gpus -= take[size] << size;
	}
}
