// SPDX-License-Identifier: Apache-2.0
/* bar.h - how far a copy is, in one line: a bar, files, bytes, rate, and how long it takes.
 *
 * Pure: what is told goes in, words come out.  What does not fit is left out, the least
 * telling first; the line never wraps.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct bar_view {
	int64_t files, files_all; /* done, and to be done */
	int64_t bytes, bytes_all;
	bool counting;   /* there may be more than is known by now */
	int64_t rate;    /* bytes a second */
	int64_t left_ms; /* -1: not known */
	int64_t idle_ms; /* since anything moved */
};

void bar_words(const struct bar_view *v, size_t cells, struct buf *out);

#define PACE_SAMPLES 40
#define PACE_STEP_MS 250 /* samples closer than that are left out: ten seconds in all */

/* The last ten seconds of it; zero-initialised is a pace that begins. */
struct pace {
	struct pace_sample {
		int64_t ms, bytes, files;
	} samples[PACE_SAMPLES];
	size_t count, next;
	int64_t moved_ms; /* when something last moved */
};

void pace_add(struct pace *p, int64_t now_ms, int64_t bytes, int64_t files);
/* Fills rate, left_ms and idle_ms of what else is in v. */
void pace_tell(const struct pace *p, int64_t now_ms, struct bar_view *v);

/* "10,000" */
void bar_count(int64_t n, struct buf *out);
/* "1 file", "10,000 files" */
void bar_files(int64_t n, struct buf *out);
