// SPDX-License-Identifier: Apache-2.0
/* The cutting-stock program by column generation: the simplex method on the prices' side,
 * with a knapsack that finds the next pattern.  Fixed point with 32 bits behind the point;
 * an answer that is a little off (or not the last word, when rounds run out) is still a
 * price list, so nothing can go wrong but the quality of a score. */
#include "fleet/prices.h"

#include <string.h>

#define SIZES_MAX  48 /* different ones that count; the rarest beyond are left out */
#define ROUNDS_MAX 400
#define POINT      32
#define ONE        ((int64_t)1 << POINT)
#define NEAR_ONE   (ONE >> 20) /* so little is nothing */

__extension__ typedef __int128 wide;

struct cutting {
	int count;
	int size[SIZES_MAX];
	int64_t inverse[SIZES_MAX][SIZES_MAX]; /* of the basis of patterns */
	int64_t use[SIZES_MAX];                /* how often each of these is cut */
	int64_t price[SIZES_MAX];
	int64_t worth[PRICE_STEPS + 1];
	int last[PRICE_STEPS + 1]; /* size that ends the best filling; -1: nothing does */
};

/* A basis that is nearly singular ends at the bounds and not in overflow. */
static int64_t narrow(wide v)
{
	const int64_t most = (int64_t)1 << 48;

	return v > most ? most : v < -most ? -most : (int64_t)v;
}

static int64_t times(int64_t a, int64_t b)
{
	return narrow((wide)a * b / ONE);
}

static int64_t over(int64_t a, int64_t b)
{
	return narrow((wide)a * ONE / b);
}

/* The sizes that were seen, the most frequent ones when there are too many. */
static void choose_sizes(struct cutting *c, const int64_t seen[PRICE_STEPS + 1])
{
	int64_t least = 1;
	int found;

	do {
		found = 0;
		for (int s = 1; s < PRICE_STEPS; s++)
			found += seen[s] >= least;
		least *= 2;
	} while (found > SIZES_MAX);
	least /= 2;
	for (int s = 1; s < PRICE_STEPS; s++) {
		if (seen[s] >= least)
			c->size[c->count++] = s;
	}
}

/* Devices cut into as many equal shares as there is room for. */
static void begin(struct cutting *c, const int64_t seen[PRICE_STEPS + 1])
{
	int64_t all = 0;

	for (int i = 0; i < c->count; i++)
		all += seen[c->size[i]];
	for (int i = 0; i < c->count; i++) {
		int each = PRICE_STEPS / c->size[i];
		c->inverse[i][i] = ONE / each;
		c->use[i] = over(seen[c->size[i]], all) / each;
	}
}

static void price(struct cutting *c)
{
	for (int j = 0; j < c->count; j++) {
		c->price[j] = 0;
		for (int i = 0; i < c->count; i++)
			c->price[j] += c->inverse[i][j];
	}
}

/* What each gap is worth at these prices: the unbounded knapsack. */
static void fill(struct cutting *c)
{
	c->worth[0] = 0;
	c->last[0] = -1;
	for (int gap = 1; gap <= PRICE_STEPS; gap++) {
		c->worth[gap] = c->worth[gap - 1];
		c->last[gap] = -1;
		for (int i = 0; i < c->count && c->size[i] <= gap; i++) {
			int64_t with = c->worth[gap - c->size[i]] + c->price[i];
			if (with > c->worth[gap]) {
				c->worth[gap] = with;
				c->last[gap] = i;
			}
		}
	}
}

/* Brings the best pattern into the basis, in place of the one that runs out first.
 * False: nothing runs out (fixed point has lost its way). */
static bool pivot(struct cutting *c)
{
	int64_t column[SIZES_MAX], least = INT64_MAX;
	int times_cut[SIZES_MAX] = { 0 }, out = -1;

	for (int gap = PRICE_STEPS; gap > 0;) {
		int i = c->last[gap];
		if (i >= 0)
			times_cut[i]++;
		gap -= i >= 0 ? c->size[i] : 1;
	}
	for (int i = 0; i < c->count; i++) {
		column[i] = 0;
		for (int j = 0; j < c->count; j++)
			column[i] += c->inverse[i][j] * times_cut[j];
		if (column[i] <= ONE >> 14)
			continue;
		int64_t most = over(c->use[i], column[i]);
		if (most < least) {
			least = most;
			out = i;
		}
	}
	if (out < 0)
		return false;
	for (int j = 0; j < c->count; j++)
		c->inverse[out][j] = over(c->inverse[out][j], column[out]);
	c->use[out] = least;
	for (int i = 0; i < c->count; i++) {
		if (i == out || !column[i])
			continue;
		c->use[i] -= times(least, column[i]);
		for (int j = 0; j < c->count; j++)
			c->inverse[i][j] -= times(column[i], c->inverse[out][j]);
	}
	return true;
}

static int32_t rounded(int64_t fixed)
{
	int64_t micro = (int64_t)(((wide)fixed * PRICE_ONE + ONE / 2) / ONE);

	return (int32_t)(micro < 0 ? 0 : micro > PRICE_ONE ? PRICE_ONE : micro);
}

void prices_learn(const int64_t seen[PRICE_STEPS + 1], struct prices *out)
{
	struct cutting c = { 0 };

	memset(out, 0, sizeof *out);
	choose_sizes(&c, seen);
	if (!c.count)
		return;
	begin(&c, seen);
	for (int round = 0; round < ROUNDS_MAX; round++) {
		price(&c);
		fill(&c);
		if (c.worth[PRICE_STEPS] <= ONE + NEAR_ONE || !pivot(&c))
			break;
	}
	for (int i = 0; i < c.count; i++)
		c.price[i] = c.price[i] > 0 ? c.price[i] : 0;
	fill(&c);
	for (int i = 0; i < c.count; i++)
		out->share[c.size[i]] = rounded(c.price[i]);
	for (int gap = 0; gap <= PRICE_STEPS; gap++)
		out->gap[gap] = rounded(c.worth[gap]);
}
