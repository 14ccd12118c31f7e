// SPDX-License-Identifier: Apache-2.0
#include "plan/spread.h"

int spread_step(int64_t ms)
{
	int top;

	if (ms < (INT64_C(1) << SPREAD_FIRST))
		return 0;
	if (ms >= (INT64_C(1) << SPREAD_LAST))
		return SPREAD_COUNT - 1;
	top = 63 - __builtin_clzll((uint64_t)ms);
	return 1 + (top - SPREAD_FIRST) * 8 + (int)(ms >> (top - 3) & 7);
}

int64_t spread_floor(int step)
{
	if (step == 0)
		return 0;
	step--;
	return (INT64_C(8) + step % 8) << (SPREAD_FIRST + step / 8 - 3);
}

void spread_note(struct spread *s, int64_t ms)
{
	s->weight[spread_step(ms)] += SPREAD_WEIGHT;
	s->sum += SPREAD_WEIGHT;
	s->seen++;
	if (s->sum <= (int64_t)SPREAD_MEMORY * SPREAD_WEIGHT)
		return;
	s->sum = 0;
	for (int i = 0; i < SPREAD_COUNT; i++) {
		s->weight[i] /= 2;
		s->sum += s->weight[i];
	}
}

void spread_mix(struct spread_mix *m, const struct spread *s, int64_t prior)
{
	int64_t beside = m->known ? prior * SPREAD_WEIGHT : 0, all = s->sum + beside;

	if (!s->sum)
		return;
	for (int i = 0; i < SPREAD_COUNT; i++) {
		if (s->weight[i] || m->mass[i])
			m->mass[i] =
				(s->weight[i] * SPREAD_ONE + m->mass[i] * beside) / all;
	}
	m->known = true;
}

static int64_t mass_of(const struct spread_mix *m)
{
	int64_t sum = 0;

	for (int i = 0; i < SPREAD_COUNT; i++)
		sum += m->mass[i];
	return sum;
}

static int64_t width(int step)
{
	return spread_floor(step + 1) - spread_floor(step);
}

bool spread_longer(struct spread_mix *m, int64_t ms)
{
	int at = spread_step(ms);
	int64_t into = ms - spread_floor(at), all = width(at);

	for (int i = 0; i < at; i++)
		m->mass[i] = 0;
	/* Inside a step they are taken to lie evenly. */
	m->mass[at] = into < all ? m->mass[at] * (all - into) / all : 0;
	return mass_of(m) > 0;
}

int64_t spread_quantile(const struct spread_mix *m, int64_t milli)
{
	int64_t want = mass_of(m) * milli / 1000, sum = 0;
	int last = 0;

	for (int i = 0; i < SPREAD_COUNT; i++) {
		if (!m->mass[i])
			continue;
		last = i;
		if (sum + m->mass[i] > want)
			return spread_floor(i) + width(i) * (want - sum) / m->mass[i];
		sum += m->mass[i];
	}
	return spread_floor(last + 1);
}

int64_t spread_mean(const struct spread_mix *m)
{
	int64_t sum = 0, all = mass_of(m);

	for (int i = 0; i < SPREAD_COUNT; i++)
		sum += m->mass[i] * ((spread_floor(i) + spread_floor(i + 1)) / 2) /
		       SPREAD_ONE;
	return all ? (int64_t)((__int128)sum * SPREAD_ONE / all) : 0;
}
