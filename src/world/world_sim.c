// SPDX-License-Identifier: Apache-2.0
#include "world/world_sim.h"

#include <assert.h>

#include "base/mem.h"
#include "world/sim_impl.h"

#define WALL_AT_START_MS INT64_C(1767225600000) /* 2026-01-01 */
#define MONO_AT_START_MS 1000000 /* so that "an hour ago" is not negative by accident */

/* The leak checker's own function; absent in a build without it. */
extern void __lsan_ignore_object(const void *p) __attribute__((weak));

/* splitmix64: any seed is good, and the state is one number. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

uint64_t sim_chance(struct sim_world *u)
{
	return next(&u->chance);
}

int64_t sim_soon(struct sim_world *u, int64_t most_ms)
{
	return u->mono_ms + (int64_t)(sim_chance(u) % ((uint64_t)most_ms + 1));
}

static int64_t simw_now_ms(struct world *w)
{
	return sim_of(w)->mono_ms + sim_of(w)->wall_minus_mono_ms;
}

static int64_t simw_mono_ms(struct world *w)
{
	return sim_of(w)->mono_ms;
}

static uint64_t simw_random(struct world *w)
{
	return next(&sim_of(w)->random);
}

static uint64_t simw_tie(struct world *w)
{
	return sim_chance(sim_of(w));
}

static void simw_changed(struct world *w)
{
	(void)w; /* step() looks at the heap and the queue each time */
}

/* A work is a timer that fires twice: work(), and after another delay done(), so that a
 * crash can fall between what it did and the news of it. */
struct sim_work {
	struct sim_world *world;
	struct world_timer *timer;
	world_cb work, done;
	void *arg;
	bool worked;
	struct sim_work *prev, *next;
};

static void forget_work(struct sim_work *k)
{
	if (k->prev)
		k->prev->next = k->next;
	else
		k->world->works = k->next;
	if (k->next)
		k->next->prev = k->prev;
	world_timer_destroy(k->timer);
	free(k);
}

static void on_work(void *arg)
{
	struct sim_work *k = arg;
	world_cb done = k->done;
	void *done_arg = k->arg;

	if (!k->worked) {
		k->worked = true;
		k->work(k->arg);
		world_timer_at(k->timer, sim_soon(k->world, k->world->work_most_ms));
		return;
	}
	forget_work(k);
	done(done_arg);
}

static void simw_work(struct world *w, world_cb work, world_cb done, void *arg)
{
	struct sim_world *u = sim_of(w);
	struct sim_work *k = mem_alloc(1, sizeof *k);

	*k = (struct sim_work){
		.world = u, .work = work, .done = done, .arg = arg, .next = u->works
	};
	if (u->works)
		u->works->prev = k;
	u->works = k;
	k->timer = world_timer_create(w, on_work, k);
	world_timer_at(k->timer, sim_soon(u, u->work_most_ms));
}

/* A lane: as many works at once as it has threads, the others wait in order. */
struct sim_lane_job {
	struct sim_lane *lane;
	world_cb work, done;
	void *arg;
	struct sim_lane_job *next;
};

struct sim_lane {
	struct world_lane base;
	int threads, running;
	struct sim_lane_job *first, **last; /* those that wait */
	bool destroyed;
};

static void lane_go_on(struct sim_lane *l);

static void lane_run(void *arg)
{
	struct sim_lane_job *j = arg;

	j->work(j->arg);
}

static void lane_done(void *arg)
{
	struct sim_lane_job *j = arg;
	struct sim_lane *l = j->lane;

	j->done(j->arg);
	free(j);
	l->running--; /* not before done(), which may destroy the lane */
	lane_go_on(l);
	if (l->destroyed && l->running == 0)
		free(l);
}

static void lane_go_on(struct sim_lane *l)
{
	while (l->first && l->running < l->threads) {
		struct sim_lane_job *j = l->first;

		l->first = j->next;
		if (!l->first)
			l->last = &l->first;
		l->running++;
		simw_work(l->base.world, lane_run, lane_done, j);
	}
}

static struct world_lane *simw_lane_create(struct world *w, int threads)
{
	struct sim_lane *l = mem_alloc(1, sizeof *l);

	*l = (struct sim_lane){ .base.world = w, .threads = threads };
	l->last = &l->first;
	return &l->base;
}

static void simw_lane_work(struct world_lane *lane, world_cb work, world_cb done,
			   void *arg)
{
	struct sim_lane *l = (struct sim_lane *)lane;
	struct sim_lane_job *j = mem_alloc(1, sizeof *j);

	*j = (struct sim_lane_job){ .lane = l, .work = work, .done = done, .arg = arg };
	*l->last = j;
	l->last = &j->next;
	lane_go_on(l);
}

static void simw_lane_destroy(struct world_lane *lane)
{
	struct sim_lane *l = (struct sim_lane *)lane;

	l->destroyed = true;
	if (l->running == 0)
		free(l);
}

/* Descriptors and signals are the real machine's: no history may depend on them. */
static struct world_watch *simw_watch_create(struct world *w, int fd, world_cb cb,
					     void *arg)
{
	(void)w, (void)fd, (void)cb, (void)arg;
	return NULL;
}

static void simw_watch_destroy(struct world_watch *t)
{
	free(t);
}

static struct world_signal *simw_signal_create(struct world *w, int signum, world_cb cb,
					       void *arg)
{
	struct world_signal *s = mem_alloc(1, sizeof *s);

	(void)signum, (void)cb, (void)arg;
	s->world = w;
	return s;
}

static void simw_signal_destroy(struct world_signal *s)
{
	free(s);
}

bool world_sim_step(struct world *w)
{
	struct sim_world *u = sim_of(w);
	struct world_timer *first = world_timers_first(w);
	bool due = first && first->due_ms <= u->mono_ms;

	if (w->later_count && (!due || sim_chance(u) % 2)) {
		u->history ^= 1;
		world_later_fire(w);
	} else if (first) {
		if (!due)
			u->mono_ms = first->due_ms;
		u->history ^= 2 + (uint64_t)u->mono_ms;
		world_timers_fire(w);
	} else {
		return false;
	}
	next(&u->history);
	u->history = u->history * 31 + u->chance;
	sim_streams_reap(u);
	return true;
}

void world_sim_run_until(struct world *w, int64_t mono_ms)
{
	struct sim_world *u = sim_of(w);

	while (!u->stopping) {
		struct world_timer *first = world_timers_first(w);
		if (!w->later_count && (!first || first->due_ms > mono_ms))
			break;
		world_sim_step(w);
	}
	if (!u->stopping && u->mono_ms < mono_ms)
		u->mono_ms = mono_ms;
	u->stopping = false;
}

bool world_sim_settle(struct world *w, size_t most)
{
	while (most--) {
		if (!world_sim_step(w))
			return true;
	}
	return !w->later_count && !w->timer_count;
}

uint64_t world_sim_history(const struct world *w)
{
	return ((const struct sim_world *)w)->history;
}

static void simw_run(struct world *w)
{
	struct sim_world *u = sim_of(w);

	while (!u->stopping && world_sim_step(w))
		;
	u->stopping = false;
}

static void simw_stop(struct world *w)
{
	sim_of(w)->stopping = true;
}

static void ignore_leak(const void *p)
{
	if (__lsan_ignore_object && p)
		__lsan_ignore_object(p);
}

void world_sim_crash(struct world *w)
{
	struct sim_world *u = sim_of(w);

	for (struct sim_work *k = u->works, *following; k; k = following) {
		following = k->next;
		ignore_leak(k->arg);
		forget_work(k);
	}
	while (w->timer_count)
		world_timer_stop(w->timers[w->timer_count - 1]);
	for (size_t i = 0; i < w->later_count; i++)
		ignore_leak(w->laters[(w->later_first + i) % w->later_cap].arg);
	w->later_count = 0;
	u->stopping = false;
}

void world_sim_jump_wall(struct world *w, int64_t by_ms)
{
	sim_of(w)->wall_minus_mono_ms += by_ms;
}

void world_sim_work_delay(struct world *w, int64_t most_ms)
{
	sim_of(w)->work_most_ms = most_ms;
}

void world_sim_net_delay(struct world *w, int64_t most_ms)
{
	sim_of(w)->net_most_ms = most_ms;
}

void world_sim_caller(struct world *w, struct world_peer peer)
{
	sim_of(w)->caller = peer;
}

static void simw_destroy(struct world *w)
{
	struct sim_world *u = sim_of(w);

	/* As in the real world: what is under way ends before the world does. */
	while (u->works) {
		w->later_count = 0;
		world_sim_step(w);
	}
	sim_streams_reap(u);
	assert(!u->streams && !u->listeners && "a stream or listener outlives its world");
	world_fini(w);
	free(u);
}

static const struct world_ops ops = {
	.destroy = simw_destroy,
	.run = simw_run,
	.stop = simw_stop,
	.now_ms = simw_now_ms,
	.mono_ms = simw_mono_ms,
	.random = simw_random,
	.tie = simw_tie,
	.timers_changed = simw_changed,
	.later_added = simw_changed,
	.work = simw_work,
	.lane_create = simw_lane_create,
	.lane_work = simw_lane_work,
	.lane_destroy = simw_lane_destroy,
	.watch_create = simw_watch_create,
	.watch_destroy = simw_watch_destroy,
	.signal_create = simw_signal_create,
	.signal_destroy = simw_signal_destroy,
	.listen_unix = sim_listen_unix,
	.listen_tcp = sim_listen_tcp,
	.listener_port = sim_listener_port,
	.listener_close = sim_listener_close,
	.stream_open = sim_stream_open,
	.connect_unix = sim_connect_unix,
	.connect_tcp = sim_connect_tcp,
	.stream_start = sim_stream_start,
	.stream_pause = sim_stream_pause,
	.stream_write = sim_stream_write,
	.stream_pending = sim_stream_pending,
	.stream_shutdown = sim_stream_shutdown,
	.stream_peer = sim_stream_peer,
	.stream_close = sim_stream_close,
};

struct world *world_sim_create(uint64_t seed)
{
	struct sim_world *u = mem_alloc(1, sizeof *u);

	*u = (struct sim_world){
		.base.ops = &ops,
		.mono_ms = MONO_AT_START_MS,
		.wall_minus_mono_ms = WALL_AT_START_MS - MONO_AT_START_MS,
		.chance = seed,
		.random = ~seed,
		.work_most_ms = 20,
		.net_most_ms = 2,
		.caller = { 1, 0, 0 },
		.next_port = 20000,
	};
	return &u->base;
}
