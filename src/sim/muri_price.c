// SPDX-License-Identifier: Apache-2.0
/* muri_price.c - a bound that knows that jobs cannot run wider than they are.
 *
 * Every moment has a price a GPU second.  Each job, with all GPUs to itself, chooses when
 * to run so that its end plus what it pays is least; the sum of that, less the price of
 * all GPU time there is, is no more than the sum of ends of any schedule, whatever the
 * prices are: who keeps to 64 GPUs pays no more than all there is (Lagrange).  Good
 * prices make it a good bound.  They are found by raising those of moments that too many
 * choose and lowering the others, in steps as long as the way to a known schedule calls
 * for (Polyak).
 *
 * Time is cut into slots of one price each.  Where a slot makes a choice uncertain the
 * lesser cost is taken, so the bound holds for every number of slots and rounds.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sim/muri.h"

#define SLACK      1.05 /* slots reach so far beyond the known schedule */
#define PATIENCE   15   /* rounds without a better bound, then steps are shorter */
#define SHORTER    0.7
#define ROUNDING_S 1e-6

struct slot {
	double price, asked; /* a GPU second; GPU seconds chosen at it */
};

/* What a job has chosen so far: the cheapest time up to here, the dearest on top. */
struct chosen {
	int slot;
	double s;
};

struct market {
	const struct muri_trace *trace;
	struct slot *slots;
	int count;
	double slot_s;
	struct chosen *heap;
	int chosen;
	double time_s, paid; /* of all that is chosen, for one GPU */
};

static void push(struct market *m, struct chosen c)
{
	double price = m->slots[c.slot].price;
	int i = m->chosen++;

	for (; i && m->slots[m->heap[(i - 1) / 2].slot].price < price; i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = c;
	m->time_s += c.s;
	m->paid += c.s * price;
}

static void pop(struct market *m)
{
	struct chosen last = m->heap[--m->chosen];
	double price = m->slots[last.slot].price;
	int i = 0;

	for (int k = 1; k < m->chosen; k = 2 * i + 1) {
		k += k + 1 < m->chosen && m->slots[m->heap[k + 1].slot].price >
						  m->slots[m->heap[k].slot].price;
		if (m->slots[m->heap[k].slot].price <= price)
			break;
		m->heap[i] = m->heap[k];
		i = k;
	}
	m->heap[i] = last;
}

static double dearest(const struct market *m)
{
	return m->chosen ? m->slots[m->heap[0].slot].price : 0;
}

/* Gives back what is dearest until no more than need_s is chosen. */
static void trim(struct market *m, double need_s)
{
	while (m->time_s > need_s + ROUNDING_S) {
		double over = m->time_s - need_s, price = dearest(m);
		bool whole = m->heap[0].s <= over;
		double back = whole ? m->heap[0].s : over;

		m->time_s -= back;
		m->paid -= back * price;
		m->heap[0].s -= back;
		if (whole)
			pop(m);
	}
}

/* The least that ending from from_s on, within slot_s at that price, can cost: what must
 * run there does; more may, where it saves more than it delays. */
static double ending(const struct market *m, const struct muri_job *j, double from_s,
		     double slot_s, double price)
{
	double must_s = fmax(muri_length(j) - m->time_s, 0);
	double saved = (slot_s - must_s) * (j->gpus * (dearest(m) - price) - 1);

	if (must_s > slot_s + ROUNDING_S)
		return INFINITY;
	return fmax(from_s + must_s + j->gpus * (m->paid + must_s * price) -
			    fmax(saved, 0),
		    from_s + must_s);
}

/* What a job's end and time cost at least; if `until` is not negative, it asks for the
 * cheapest time up to that slot.  Gives the slot of its cheapest end. */
static int shop(struct market *m, const struct muri_job *j, int until, double *least)
{
	double length_s = muri_length(j);
	int first = (int)(j->submit_s / m->slot_s), best = -1;

	m->chosen = 0;
	m->time_s = m->paid = 0;
	*least = INFINITY;
	for (int i = first; i < m->count; i++) {
		double from_s = fmax(j->submit_s, i * m->slot_s);
		double here_s = fmin((i + 1) * m->slot_s - from_s, length_s);
		double cost = ending(m, j, from_s, here_s, m->slots[i].price);

		if (from_s > *least && until < 0)
			return best;
		if (m->time_s < length_s || m->slots[i].price < dearest(m)) {
			push(m, (struct chosen){ i, here_s });
			trim(m, length_s);
		}
		cost = fmax(cost, j->submit_s + length_s + j->gpus * m->paid);
		if (cost < *least) {
			*least = cost;
			best = i;
		}
		if (i == until)
			break;
	}
	for (int i = 0; until >= 0 && i < m->chosen; i++)
		m->slots[m->heap[i].slot].asked += m->heap[i].s * j->gpus;
	/* Behind the last slot time is free. */
	if (until < 0)
		*least =
			fmin(*least, fmax(ending(m, j, m->count * m->slot_s, length_s, 0),
					  j->submit_s + length_s));
	return best;
}

/* The bound at these prices, as a sum of ends; slots then know what is asked of them. */
static double round_of(struct market *m)
{
	double sum = 0, least;

	for (int i = 0; i < m->count; i++) {
		m->slots[i].asked = 0;
		sum -= m->slots[i].price * m->slot_s * MURI_GPUS;
	}
	for (size_t i = 0; i < m->trace->count; i++) {
		int end = shop(m, &m->trace->jobs[i], -1, &least);
		sum += least;
		if (end >= 0)
			shop(m, &m->trace->jobs[i], end, &least);
	}
	return sum;
}

static void change_prices(struct market *m, double gap, double step)
{
	double all = m->slot_s * MURI_GPUS, square = 0;

	for (int i = 0; i < m->count; i++)
		if (m->slots[i].price > 0 || m->slots[i].asked > all)
			square += (m->slots[i].asked - all) * (m->slots[i].asked - all);
	for (int i = 0; i < m->count && square > 0; i++)
		m->slots[i].price =
			fmax(m->slots[i].price +
				     step * gap / square * (m->slots[i].asked - all),
			     0);
}

double muri_bound_priced(const struct muri_trace *t, const struct muri_known *known,
			 int slots, int rounds)
{
	AUTO_FREE struct slot *now = mem_alloc((size_t)slots, sizeof *now);
	AUTO_FREE struct slot *kept = mem_alloc((size_t)slots, sizeof *kept);
	AUTO_FREE struct chosen *heap = mem_alloc((size_t)slots + 1, sizeof *heap);
	struct market m = { .trace = t, .slots = now, .count = slots, .heap = heap };
	double submits = 0, best = -INFINITY, step = 1;

	m.slot_s = known->makespan_s * SLACK / slots;
	for (size_t i = 0; i < t->count; i++)
		submits += t->jobs[i].submit_s;
	double target = known->avg_jct_s * (double)t->count + submits;
	for (int i = 0, worse = 0; i < rounds; i++) {
		double sum = round_of(&m);

		if (sum > best) {
			best = sum;
			worse = 0;
			memcpy(kept, now, (size_t)slots * sizeof *now);
		} else if (++worse == PATIENCE) {
			step *= SHORTER;
			worse = 0;
			memcpy(now, kept, (size_t)slots * sizeof *now);
		}
		change_prices(&m, target - sum, step);
	}
	return (best - submits) / (double)t->count;
}
