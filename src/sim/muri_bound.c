// SPDX-License-Identifier: Apache-2.0
/* muri_bound.c - what no policy without sharing can beat.
 *
 * All GPUs together are one machine, 64 times as fast as a GPU, on which a job is its
 * GPU time.  Whatever the cluster does, that machine can do too, hence:
 *  - no schedule has a smaller sum of ends than the machine with the shortest remaining
 *    work first (Schrage);
 *  - a job's end is at least the middle of its running time plus half its length, as it
 *    cannot run wider than it is; and the sum of middles is least on the machine when
 *    the job of least total work goes first (Goemans).
 * Overheads only add to both.
 */
#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "sim/muri.h"

struct waiting {
	double key;  /* smallest goes first */
	double left; /* seconds on the fast machine */
	double whole;
};

struct heap {
	struct waiting *at;
	size_t count;
};

static void push(struct heap *h, struct waiting w)
{
	size_t i = h->count++;

	for (; i && h->at[(i - 1) / 2].key > w.key; i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = w;
}

static struct waiting pop(struct heap *h)
{
	struct waiting top = h->at[0], last = h->at[--h->count];
	size_t i = 0;

	for (size_t c = 1; c < h->count; c = 2 * i + 1) {
		c += c + 1 < h->count && h->at[c + 1].key < h->at[c].key;
		if (h->at[c].key >= last.key)
			break;
		h->at[i] = h->at[c];
		i = c;
	}
	h->at[i] = last;
	return top;
}

/* The machine works through the trace; the sum of ends (by remaining work) or of the
 * middles of running times (by whole work), and when it is done. */
static double work_through(const struct muri_trace *t, bool remaining, double *done_s)
{
	AUTO_FREE struct waiting *at = mem_alloc(t->count, sizeof *at);
	struct heap h = { .at = at };
	double now = 0, sum = 0;

	for (size_t next = 0; next < t->count || h.count;) {
		for (now = h.count ? now : fmax(now, t->jobs[next].submit_s);
		     next < t->count && t->jobs[next].submit_s <= now; next++) {
			double s = muri_length(&t->jobs[next]) * t->jobs[next].gpus /
				   MURI_GPUS;
			push(&h, (struct waiting){ s, s, s });
		}
		struct waiting w = pop(&h);
		double until = next < t->count ? t->jobs[next].submit_s : INFINITY;
		double run = fmin(w.left, until - now);
		if (!remaining)
			sum += (now + run / 2) * run / w.whole;
		now += run;
		w.left -= run;
		if (w.left > 0) {
			w.key = remaining ? w.left : w.whole;
			push(&h, w);
		} else if (remaining) {
			sum += now;
		}
	}
	*done_s = now;
	return sum;
}

void muri_bound(const struct muri_trace *t, double *avg_jct_s, double *makespan_s)
{
	double done_s, lengths = 0, submits = 0, last_s = 0;

	for (size_t i = 0; i < t->count; i++) {
		lengths += muri_length(&t->jobs[i]);
		submits += t->jobs[i].submit_s;
		last_s = fmax(last_s, t->jobs[i].submit_s + muri_length(&t->jobs[i]));
	}
	double ends = work_through(t, true, &done_s) - submits;
	double middles = work_through(t, false, &done_s) + lengths / 2 - submits;
	*avg_jct_s = fmax(lengths, fmax(ends, middles)) / (double)t->count;
	*makespan_s = fmax(done_s, last_s);
}
