// SPDX-License-Identifier: Apache-2.0
/* openb.h - the rule set "openb": how full a cluster gets, as a published simulator
 * counted it.
 *
 * Pods arrive one at a time and never leave; one that fits nowhere is dropped; demand runs
 * to 130 % of the devices.  After each the arrived demand is rounded to a whole percent
 * (half to even) and what is allocated to 0.01 %; the figure at a percent is the mean over
 * all pods that arrived there.  The order of arrival is the published one when the file
 * of orders is there and has the seed, else drawn from the seed: all pods, shuffled, then
 * any of them again and again.
 *
 * Among equal places the node whose name is first wins.  A thousand added to a seed gives
 * the nodes other names (that many times shuffled), to see how much hangs on that.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define OPENB_ORDERS_MAX 32
#define OPENB_NAMES      1000 /* seeds beyond: other names for nodes */
#define OPENB_DEMAND     130  /* percent of the devices */

/* The reader's extra: orders of arrival, each a list of rows. */
struct openb_trace {
	struct openb_order {
		uint64_t seed;
		int32_t *rows;
		size_t count, cap;
	} orders[OPENB_ORDERS_MAX];
	size_t order_count;
};
