// SPDX-License-Identifier: Apache-2.0
/* Which devices of a node a task gets.  Whole ones lie in as few islands as can be, in
 * the tightest that will do; a share goes onto the fullest device that has room, so that
 * idle devices stay idle.  Among equals the lowest number, and the pool whose kind comes
 * first by name. */
#include "fleet/rings.h"
#include "fleet/space.h"

static bool will_do(const struct machine *m, int pool, const struct need *n)
{
	return m->pools[pool].kind >= 0 && n->kinds >> m->pools[pool].kind & 1;
}

static bool in_rings(const struct machine *m, int pool)
{
	return m->rings && !(m->pools[pool].total >> 2 * RING_DEVICES);
}

/* How many tasks; for one it is enough to know whether. */
static int64_t whole_room(const struct machine *m, int pool, uint64_t idle, int64_t count,
			  int64_t most)
{
	int have = bits_count(idle);

	if (in_rings(m, pool))
		return ring_room(ring_state(idle), count);
	if (have < count)
		return 0;
	return most == 1 ? 1 : have / (count > 0 ? count : 1);
}

static int64_t share_room(const struct fleet *f, const struct pool *p,
			  const struct space *s, uint64_t idle, int share)
{
	const uint16_t *left = space_left(f, s) + p->first;
	int64_t sum = (int64_t)bits_count(idle) * (DEVICE_SHARE / share);
	int count = bits_count(p->total);

	for (int i = 0; i < count && s->shared; i++)
		sum += left[i] / share;
	return sum;
}

int64_t devices_room(const struct fleet *f, int node, const struct space *s,
		     const struct need *n, int64_t most)
{
	const struct machine *m = &f->machines[node];
	int64_t sum = 0;

	for (int i = 0; i < (int)f->row_pools && sum < most; i++) {
		if (!will_do(m, i, n))
			continue;
		sum += n->share_milli ? share_room(f, &m->pools[i], s, s->idle[i],
						   n->share_milli)
				      : whole_room(m, i, s->idle[i], n->count, most);
	}
	return sum < most ? sum : most;
}

/* The tightest island that has enough, else the one that has most; 0: nothing is idle. */
static uint64_t island_best(uint64_t idle, int64_t count, int island)
{
	uint64_t one = island >= DEVICES_MAX ? UINT64_MAX : ((uint64_t)1 << island) - 1;
	uint64_t best = 0;

	for (int at = 0; at < DEVICES_MAX && idle >> at; at += island) {
		uint64_t here = idle & one << at;
		int have = bits_count(here), was = bits_count(best);
		if (was >= count ? have >= count && have < was : have > was)
			best = here;
	}
	return best;
}

static uint64_t whole_choose(const struct machine *m, int pool, uint64_t idle,
			     int64_t count)
{
	uint64_t out = 0;

	if (in_rings(m, pool))
		return ring_choose(idle, count);
	if (!m->island)
		return bits_lowest(idle, count);
	while (count > 0) {
		uint64_t some = bits_lowest(island_best(idle, count, m->island), count);
		out |= some;
		idle &= ~some;
		count -= bits_count(some);
	}
	return out;
}

/* Of pools that are alike in what they have: is a's kind before b's by name? */
static bool before(const struct fleet *f, const struct machine *m, int a, int b)
{
	return f->kind_rank[m->pools[a].kind] < f->kind_rank[m->pools[b].kind];
}

static bool choose_whole(const struct fleet *f, int node, const struct space *s,
			 const struct need *n, struct portion *out)
{
	const struct machine *m = &f->machines[node];
	int best = -1, have = 0;

	for (int i = 0; i < (int)f->row_pools; i++) {
		int idle = bits_count(s->idle[i]);
		if (!will_do(m, i, n) || !whole_room(m, i, s->idle[i], n->count, 1))
			continue;
		if (best < 0 || idle < have || (idle == have && before(f, m, i, best))) {
			best = i;
			have = idle;
		}
	}
	if (best < 0)
		return false;
	*out = (struct portion){ .pool = best,
				 .mask = whole_choose(m, best, s->idle[best], n->count) };
	return true;
}

/* The device of a pool that has least left and enough of it; -1: none.  A device that
 * nobody uses has all left. */
static int share_best(const struct fleet *f, const struct machine *m, int pool,
		      const struct space *s, int share, int *left)
{
	const uint16_t *lefts = space_left(f, s) + m->pools[pool].first;
	int count = bits_count(m->pools[pool].total), best = -1;

	*left = DEVICE_SHARE + 1;
	for (int i = 0; i < count && s->shared; i++) {
		if (lefts[i] >= share && lefts[i] < *left) {
			best = i;
			*left = lefts[i];
		}
	}
	if (best < 0 && s->idle[pool]) {
		uint64_t one = in_rings(m, pool)
				       ? ring_choose(s->idle[pool], 1)
				       : whole_choose(m, pool, s->idle[pool], 1);
		best = __builtin_ctzll(one);
		*left = DEVICE_SHARE;
	}
	return best;
}

static bool choose_share(const struct fleet *f, int node, const struct space *s,
			 const struct need *n, struct portion *out)
{
	const struct machine *m = &f->machines[node];
	int best = -1, least = 0;

	for (int i = 0; i < (int)f->row_pools; i++) {
		int left, device;
		if (!will_do(m, i, n))
			continue;
		device = share_best(f, m, i, s, n->share_milli, &left);
		if (device < 0 ||
		    (best >= 0 &&
		     (left > least || (left == least && before(f, m, best, i)))))
			continue;
		best = i;
		least = left;
		*out = (struct portion){ .pool = i,
					 .share_milli = n->share_milli,
					 .mask = (uint64_t)1 << device };
	}
	return best >= 0;
}

bool devices_choose(const struct fleet *f, int node, const struct space *s,
		    const struct need *n, struct portion *out)
{
	return n->share_milli ? choose_share(f, node, s, n, out)
			      : choose_whole(f, node, s, n, out);
}

static void set_left(struct space *s, uint16_t *left, int value)
{
	s->shared = (uint16_t)(s->shared + (value > 0) - (*left > 0));
	*left = (uint16_t)value;
}

void devices_take(const struct fleet *f, int node, struct space *s,
		  const struct portion *p)
{
	const struct pool *pool = &f->machines[node].pools[p->pool];
	uint64_t mask = p->mask & pool->total;
	uint16_t *left;

	if (!mask)
		return;
	if (p->share_milli) {
		left = space_left(f, s) + pool->first + __builtin_ctzll(mask);
		set_left(s, left,
			 (s->idle[p->pool] & mask ? DEVICE_SHARE : *left) -
				 p->share_milli);
	}
	s->idle[p->pool] &= ~mask;
}

void devices_return(const struct fleet *f, int node, struct space *s,
		    const struct portion *p)
{
	const struct pool *pool = &f->machines[node].pools[p->pool];
	uint64_t mask = p->mask & pool->total;
	uint16_t *left;
	int now;

	if (!mask)
		return;
	if (p->share_milli) {
		left = space_left(f, s) + pool->first + __builtin_ctzll(mask);
		now = *left + p->share_milli;
		set_left(s, left, now == DEVICE_SHARE ? 0 : now);
		if (now != DEVICE_SHARE)
			return;
	}
	s->idle[p->pool] |= mask;
}
