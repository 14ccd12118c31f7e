// SPDX-License-Identifier: Apache-2.0
/* muri_fill.h - which jobs run together: worth by job, then the best set that fits.
 *
 * Sizes are powers of two, so any set whose GPUs add up to the cluster's or less has a
 * place when wide ones are placed first.  And of one size the best go before the others:
 * what is left to choose is how many of each size, a knapsack of 64 places.
 */
#pragma once

#include "sim/muri_replay.h"

enum {
	MURI_SIZES = 6,      /* 1, 2, 4, 8, 16, 32 GPUs */
	MURI_SHELF_MAX = 256 /* of a size, at hand at one time */
};

/* How much a job is worth: seconds left to the minus `shorter`, times GPUs to `wider`. */
struct muri_taste {
	double shorter;
	double wider;      /* less when the queue is long ... */
	double long_queue; /* ... half when it asks for so many clusters */
	double critical; /* longer than so many times all work on all GPUs: goes first ... */
	double critical_cut; /* ... as if so much of it were left */
};

/* What each size has at hand, the shortest first. */
struct muri_shelf {
	int jobs[MURI_SIZES][MURI_SHELF_MAX];
	int count[MURI_SIZES];
};

/* By job: the time left of all in the queue. */
void muri_lefts(const struct muri_replay *r, double *left_s);
/* Sorts the queue by time left, known or guessed; left_s and worth are by job. */
void muri_weigh(struct muri_replay *r, const struct muri_taste *taste, double *left_s,
		double *worth);
/* Of each size as many as would fill the cluster, times `deep`. */
void muri_shelve(const struct muri_replay *r, int deep, struct muri_shelf *out);
/* By the worth of so many places of each size (0 for those that are not to be had). */
void muri_choose(double worth[MURI_SIZES][MURI_GPUS + 1], int take[MURI_SIZES]);
int muri_size(const struct muri_replay *r, int job); /* place of its GPUs among sizes */
