// SPDX-License-Identifier: Apache-2.0
#include "fleet/rate.h"

#include <stddef.h>
#include <string.h>

#define BALANCE_PERCENT 95 /* of the cpu that devices usually need is worth keeping */

/* ln(p / (100 - p)) in 1/1,000,000, for p of 50 to 99: from there on a score is p. */
static const int32_t logit[50] = {
	0,       40006,   80043,   120145,  160343,  200671,  241163,  281852,  322774,
	363966,  405466,  447313,  489549,  532217,  575365,  619040,  663295,  708186,
	753772,  800120,  847298,  895385,  944462,  994623,  1045969, 1098613, 1152680,
	1208312, 1265667, 1324926, 1386295, 1450011, 1516348, 1585628, 1658229, 1734602,
	1815290, 1900959, 1992431, 2090742, 2197225, 2313635, 2442348, 2586690, 2751536,
	2944439, 3178054, 3476099, 3891821, 4595120,
};

/* floor(100 × the logistic function of delta). */
static int percent(int64_t delta)
{
	int p = 0;

	if (delta >= 0) {
		while (p < 49 && logit[p + 1] <= delta)
			p++;
		return 50 + p;
	}
	while (p < 49 && logit[p] < -delta)
		p++;
	return logit[p] < -delta ? 0 : 50 - p;
}

enum task_size task_size(const struct need *n)
{
	if (n->share_milli)
		return TASK_SHARE;
	return n->count == 1   ? TASK_ONE
	       : n->count == 2 ? TASK_TWO
	       : n->count <= 4 ? TASK_FOUR
			       : TASK_MORE;
}

/* What the task takes of devices. */
static int take_of(const struct ask_role *r)
{
	if (!r->device_count)
		return 0;
	return r->devices[0].share_milli ? r->devices[0].share_milli
					 : (int)r->devices[0].count * DEVICE_SHARE;
}

/* Devices that will stand idle for want of cpu, in 1/1,000,000. */
static int64_t starved(const struct typical *t, int sum, int64_t cpu_milli)
{
	int64_t want = (int64_t)sum * (10 * BALANCE_PERCENT), have;

	if (!t->cpu_per_device)
		return 0;
	have = cpu_milli > 0 ? cpu_milli * PRICE_ONE / t->cpu_per_device : 0;
	return want > have ? want - have : 0;
}

static int64_t fragment_now(const struct typical *t, const struct stand *s, int at)
{
	if (s->fragment >= 0 && s->spot_count == 1)
		return s->fragment;
	return typical_fragment(t, &s->spots[at], s->cpu_milli);
}

static int64_t fragments(const struct typical *t, const struct stand *s, int64_t cpu)
{
	int64_t sum = 0;

	for (int i = 0; i < s->spot_count; i++)
		sum += typical_fragment(t, &s->spots[i], cpu);
	return sum;
}

/* Of F's differences, in 1/1,000,000 of a device; rounded down. */
static int64_t micro(int64_t fragment)
{
	return fragment * 1000 >> TYPICAL_BITS;
}

static void total(const struct rater *x, const struct stand *s, const struct ask_role *r,
		  struct score *out)
{
	const struct placement_weights *w = &x->weights;
	int take = take_of(r);
	int64_t *terms = out->terms;

	if (x->rule == PLACE_FGD) {
		out->total = percent(terms[SCORE_FRAGMENT]);
		return;
	}
	terms[SCORE_BALANCE] =
		starved(x->typical, s->sum, s->cpu_milli) -
		starved(x->typical, s->sum - take, s->cpu_milli - r->cpu_milli);
	/* A node without devices has nothing but cpu to be filled with. */
	terms[SCORE_SLACK] = s->spot_count ? -(int64_t)(s->sum - take) * 1000
					   : -(s->cpu_milli - r->cpu_milli);
	out->total =
		(w->fragment * terms[SCORE_FRAGMENT] + w->balance * terms[SCORE_BALANCE] +
		 w->gap * terms[SCORE_GAP] + w->slack * terms[SCORE_SLACK]) /
		1000;
}

/* Every device that has room is tried; of equals the first. */
static void try_shares(const struct rater *x, const struct stand *s, int at,
		       const struct ask_role *r, struct score *out)
{
	int share = r->devices[0].share_milli;
	const uint16_t *left = s->of[at].left;
	int64_t cpu = s->cpu_milli - r->cpu_milli;
	int64_t before = fragment_now(x->typical, s, at);

	for (int d = 0; d < s->spots[at].count; d++) {
		struct score now = { .device = s->of[at].pool * DEVICES_MAX + d };
		struct spot after;
		int same = 0;
		while (left[same] != left[d])
			same++;
		if (left[d] < share || same < d)
			continue;
		memcpy(&after, &s->spots[at],
		       offsetof(struct spot, left) +
			       (size_t)s->spots[at].count * sizeof *after.left);
		spot_share(&after, left[d], share);
		now.terms[SCORE_FRAGMENT] =
			micro(before - typical_fragment(x->typical, &after, cpu));
		now.terms[SCORE_GAP] = -prices_loss(&x->typical->prices, left[d], share);
		total(x, s, r, &now);
		if (out->device < 0 || now.total > out->total)
			*out = now;
	}
}

static void try_whole(const struct rater *x, const struct stand *s, int at,
		      const struct ask_role *r, struct score *out)
{
	int64_t cpu = s->cpu_milli - r->cpu_milli;
	int count = (int)r->devices[0].count;
	struct spot after = s->spots[at];
	struct score now = { .device = -1 };

	if (count > after.count || after.left[after.count - count] < DEVICE_SHARE)
		return;
	spot_whole(&after, count);
	now.terms[SCORE_FRAGMENT] = micro(fragment_now(x->typical, s, at) -
					  typical_fragment(x->typical, &after, cpu));
	total(x, s, r, &now);
	if (now.total > out->total)
		*out = now;
}

static void rate_learned(const struct rater *x, const struct stand *s,
			 const struct ask_role *r, struct score *out)
{
	if (!r->device_count) {
		out->terms[SCORE_FRAGMENT] =
			micro(fragments(x->typical, s, s->cpu_milli) -
			      fragments(x->typical, s, s->cpu_milli - r->cpu_milli));
		total(x, s, r, out);
		return;
	}
	for (int i = 0; i < s->spot_count; i++) {
		if (!s->of[i].will_do)
			continue;
		if (r->devices[0].share_milli)
			try_shares(x, s, i, r, out);
		else
			try_whole(x, s, i, r, out);
	}
}

/* The fullest device with room: where the published rules put shares. */
static int fullest(const struct stand *s, int share, int *left)
{
	int best = -1;

	*left = DEVICE_SHARE + 1;
	for (int i = 0; i < s->spot_count; i++) {
		for (int d = 0; s->of[i].will_do && d < s->spots[i].count; d++) {
			if (s->of[i].left[d] >= share && s->of[i].left[d] < *left) {
				*left = s->of[i].left[d];
				best = s->of[i].pool * DEVICES_MAX + d;
			}
		}
	}
	return best;
}

static int64_t best_fit(const struct rater *x, const struct stand *s,
			const struct ask_role *r)
{
	int64_t cpu = s->cpu_milli - r->cpu_milli, milli = s->sum - take_of(r);

	return (100 * PRICE_ONE - 50 * PRICE_ONE * cpu / x->cpu_most -
		50 * PRICE_ONE * milli / x->milli_most) /
	       PRICE_ONE;
}

static int64_t dot_product(const struct rater *x, const struct stand *s,
			   const struct ask_role *r)
{
	int64_t cpu = s->cpu_milli * PRICE_ONE / x->cpu_most * r->cpu_milli / x->cpu_most;
	int64_t milli =
		(int64_t)s->sum * PRICE_ONE / x->milli_most * take_of(r) / x->milli_most;

	return (100 * PRICE_ONE - 50 * (cpu + milli)) / PRICE_ONE;
}

static int64_t clustering(const struct rater *x, const struct stand *s,
			  const struct ask_role *r)
{
	int64_t full = 25 * (x->milli_most - s->sum) / x->milli_most;
	int mine;

	if (!r->device_count)
		return 0;
	mine = 1 << task_size(&r->devices[0]);
	if (s->sizes & mine)
		return full + (s->sizes == mine ? 75 : 50);
	return full + (s->sizes ? 0 : 25);
}

static int64_t packing(const struct stand *s, const struct ask_role *r, int left)
{
	int idle = 0, count = 0, opened;

	if (!r->device_count)
		return 0;
	for (int i = 0; i < s->spot_count; i++) {
		for (int d = 0; d < s->spots[i].count; d++, count++)
			idle += s->spots[i].left[d] == DEVICE_SHARE;
	}
	if (idle == count)
		return 33 - idle > idle ? 33 - idle : idle;
	opened = r->devices[0].share_milli ? left == DEVICE_SHARE
					   : (int)r->devices[0].count;
	if (opened)
		return 50 - opened > 33 ? 50 - opened : 33;
	return 100 - left / 100 > 50 ? 100 - left / 100 : 50;
}

void rate(const struct rater *x, const struct stand *s, const struct ask_role *r,
	  struct score *out)
{
	int left = 0;

	*out = (struct score){ .device = -1, .total = INT64_MIN };
	if (x->rule == PLACE_YARD || x->rule == PLACE_FGD) {
		rate_learned(x, s, r, out);
		return;
	}
	if (r->device_count && r->devices[0].share_milli)
		out->device = fullest(s, r->devices[0].share_milli, &left);
	switch (x->rule) {
	case PLACE_BEST_FIT:
		out->total = best_fit(x, s, r);
		break;
	case PLACE_DOT_PRODUCT:
		out->total = dot_product(x, s, r);
		break;
	case PLACE_CLUSTERING:
		out->total = clustering(x, s, r);
		break;
	case PLACE_PACKING:
		out->total = packing(s, r, left);
		break;
	case PLACE_RANDOM: /* drawn, not rated */
	case PLACE_YARD:
	case PLACE_FGD:
	case PLACE_RULE_COUNT:
		out->total = 0;
		break;
	}
}
