// SPDX-License-Identifier: Apache-2.0
/* prices.h - what a gap on a shared device is worth, learned from the shares that are
 * usually asked for.
 *
 * Cut devices into shares so that the fewest devices hold all that were asked for: that
 * is a linear program, and its shadow prices tell what a share of each size costs (of a
 * device) when all is cut well.  A gap is worth the dearest shares that fit into it.  A
 * share that is put into a gap so that nothing of worth is lost completes a good cut;
 * what is lost otherwise is the term `gap` of a score.
 *
 * Whole numbers: sizes in 1/100 of a device, prices in 1/1,000,000.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PRICE_STEPS 100
#define PRICE_ONE   1000000

struct prices {
	int32_t share[PRICE_STEPS + 1]; /* by size; 0 when such was not asked for */
	int32_t gap[PRICE_STEPS + 1];
};

/* `seen`: how many shares of each size. */
void prices_learn(const int64_t seen[PRICE_STEPS + 1], struct prices *out);

/* The place of a share among the sizes: rounded up, so that it fits what it is put in. */
static inline int price_step(int milli)
{
	return (milli + 9) / 10;
}

/* What is lost when a share is put into a gap that has room for it. */
static inline int64_t prices_loss(const struct prices *p, int gap_milli, int share_milli)
{
	int64_t loss = (int64_t)p->gap[gap_milli / 10] -
		       p->share[price_step(share_milli)] -
		       p->gap[(gap_milli - share_milli) / 10];

	return loss > 0 ? loss : 0;
}
