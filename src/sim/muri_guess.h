// SPDX-License-Identifier: Apache-2.0
/* muri_guess.h - what it costs to end a job whose length is not known. */
#pragma once

#include "sim/muri_replay.h"

struct muri_guess;

struct muri_guess *muri_guess_create(const struct muri_trace *t);
void muri_guess_destroy(struct muri_guess *g);
/* For all in the queue, by job: GPU seconds that an end costs at best.  Once an event. */
void muri_guess_costs(struct muri_guess *g, struct muri_replay *r, double *cost);
/* When the first of those that run has had the time for which it was best. */
double muri_guess_wake(const struct muri_guess *g, const struct muri_replay *r);
