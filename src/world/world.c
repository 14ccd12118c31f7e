// SPDX-License-Identifier: Apache-2.0
#include "world/world.h"

#include <assert.h>

#include "base/mem.h"
#include "world/impl.h"
#include "world/lend.h"

void world_fini(struct world *w)
{
	assert(w->timer_count == 0 && "a timer outlives its world");
	free(w->timers);
	free(w->laters);
}

void world_destroy(struct world *w)
{
	if (w)
		w->ops->destroy(w);
}

void world_run(struct world *w)
{
	w->ops->run(w);
}

void world_stop(struct world *w)
{
	w->ops->stop(w);
}

int64_t world_now_ms(struct world *w)
{
	return w->ops->now_ms(w);
}

int64_t world_mono_ms(struct world *w)
{
	return w->ops->mono_ms(w);
}

uint64_t world_random(struct world *w)
{
	return w->ops->random(w);
}

/* Timers: a binary heap; each timer knows its place, so that it can be moved or taken out. */

static bool before(const struct world_timer *a, const struct world_timer *b)
{
	return a->due_ms != b->due_ms ? a->due_ms < b->due_ms : a->tie < b->tie;
}

static void place(struct world *w, size_t i, struct world_timer *t)
{
	w->timers[i] = t;
	t->at = i + 1;
}

static void sift(struct world *w, size_t i)
{
	struct world_timer *t = w->timers[i];

	for (; i > 0 && before(t, w->timers[(i - 1) / 2]); i = (i - 1) / 2)
		place(w, i, w->timers[(i - 1) / 2]);
	for (size_t c; (c = 2 * i + 1) < w->timer_count; i = c) {
		if (c + 1 < w->timer_count && before(w->timers[c + 1], w->timers[c]))
			c++;
		if (!before(w->timers[c], t))
			break;
		place(w, i, w->timers[c]);
	}
	place(w, i, t);
}

static void take_out(struct world_timer *t)
{
	struct world *w = t->world;
	size_t i = t->at - 1;
	struct world_timer *last = w->timers[--w->timer_count];

	t->at = 0;
	if (last == t)
		return;
	place(w, i, last);
	sift(w, i);
}

struct world_timer *world_timers_first(const struct world *w)
{
	return w->timer_count ? w->timers[0] : NULL;
}

void world_timers_fire(struct world *w)
{
	struct world_timer *t = w->timers[0];

	take_out(t);
	t->cb(t->arg);
}

struct world_timer *world_timer_create(struct world *w, world_cb cb, void *arg)
{
	struct world_timer *t = mem_alloc(1, sizeof *t);

	t->world = w;
	t->cb = cb;
	t->arg = arg;
	return t;
}

void world_timer_at(struct world_timer *t, int64_t mono_ms)
{
	struct world *w = t->world;

	if (t->at)
		take_out(t);
	t->due_ms = mono_ms;
	t->tie = w->ops->tie(w);
	mem_grow(&w->timers, &w->timer_cap, w->timer_count, sizeof *w->timers);
	place(w, w->timer_count, t);
	sift(w, w->timer_count++);
	w->ops->timers_changed(w);
}

bool world_timer_is_set(const struct world_timer *t)
{
	return t->at != 0;
}

void world_timer_stop(struct world_timer *t)
{
	if (!t->at)
		return;
	take_out(t);
	t->world->ops->timers_changed(t->world);
}

void world_timer_destroy(struct world_timer *t)
{
	if (!t)
		return;
	world_timer_stop(t);
	free(t);
}

static void grow_laters(struct world *w)
{
	size_t cap = w->later_cap ? w->later_cap * 2 : 16;
	struct world_later *ring = mem_alloc(cap, sizeof *ring);

	for (size_t i = 0; i < w->later_count; i++)
		ring[i] = w->laters[(w->later_first + i) % w->later_cap];
	free(w->laters);
	w->laters = ring;
	w->later_first = 0;
	w->later_cap = cap;
}

void world_later(struct world *w, world_cb cb, void *arg)
{
	if (w->later_count == w->later_cap)
		grow_laters(w);
	w->laters[(w->later_first + w->later_count++) % w->later_cap] =
		(struct world_later){ cb, arg };
	w->ops->later_added(w);
}

void world_later_fire(struct world *w)
{
	struct world_later l = w->laters[w->later_first];

	w->later_first = (w->later_first + 1) % w->later_cap;
	w->later_count--;
	l.cb(l.arg);
}

void world_work(struct world *w, world_cb work, world_cb done, void *arg)
{
	w->ops->work(w, work, done, arg);
}

struct world_lane *world_lane_create(struct world *w, int threads)
{
	return w->ops->lane_create(w, threads);
}

void world_lane_work(struct world_lane *l, world_cb work, world_cb done, void *arg)
{
	l->world->ops->lane_work(l, work, done, arg);
}

void world_lane_destroy(struct world_lane *l)
{
	if (l)
		l->world->ops->lane_destroy(l);
}

struct world_watch *world_watch_create(struct world *w, int fd, world_cb cb, void *arg)
{
	return w->ops->watch_create(w, fd, cb, arg);
}

void world_watch_destroy(struct world_watch *t)
{
	if (t)
		t->world->ops->watch_destroy(t);
}

struct world_signal *world_signal_create(struct world *w, int signum, world_cb cb,
					 void *arg)
{
	return w->ops->signal_create(w, signum, cb, arg);
}

void world_signal_destroy(struct world_signal *s)
{
	if (s)
		s->world->ops->signal_destroy(s);
}

struct world_listener *world_listen_unix(struct world *w, const char *path, int mode,
					 void (*on_stream)(void *arg,
							   struct world_stream *s),
					 void *arg, struct err *err)
{
	return w->ops->listen_unix(w, path, mode,
				   &(struct world_listen){ on_stream, arg }, err);
}

struct world_listener *world_listen_tcp(struct world *w, const char *address, int port,
					void (*on_stream)(void *arg,
							  struct world_stream *s),
					void *arg, struct err *err)
{
	return w->ops->listen_tcp(w, address, port,
				  &(struct world_listen){ on_stream, arg }, err);
}

int world_listener_port(const struct world_listener *l)
{
	return l->world->ops->listener_port(l);
}

void world_listener_close(struct world_listener *l)
{
	if (l)
		l->world->ops->listener_close(l);
}

struct world_stream *world_stream_open(struct world *w, int fd, struct err *err)
{
	return w->ops->stream_open(w, fd, err);
}

struct world_stream *world_connect_unix(struct world *w, const char *path,
					struct err *err)
{
	return w->ops->connect_unix(w, path, err);
}

struct world_stream *world_connect_tcp(struct world *w, const char *address, int port,
				       struct err *err)
{
	return w->ops->connect_tcp(w, address, port, err);
}

void world_stream_start(struct world_stream *s, const struct world_stream_events *ev,
			void *arg)
{
	s->world->ops->stream_start(s, ev, arg);
}

void world_stream_pause(struct world_stream *s, bool paused)
{
	s->world->ops->stream_pause(s, paused);
}

void world_stream_write(struct world_stream *s, const void *data, size_t len)
{
	if (len)
		s->world->ops->stream_write(s, data, len);
}

size_t world_stream_pending(const struct world_stream *s)
{
	return s->world->ops->stream_pending(s);
}

int world_stream_lend(struct world_stream *s)
{
	return s->world->ops->stream_lend ? s->world->ops->stream_lend(s) : -1;
}

void world_stream_await(struct world_stream *s)
{
	s->world->ops->stream_await(s);
}

void world_stream_shutdown(struct world_stream *s)
{
	s->world->ops->stream_shutdown(s);
}

struct world_peer world_stream_peer(const struct world_stream *s)
{
	return s->world->ops->stream_peer(s);
}

void world_stream_close(struct world_stream *s)
{
	if (s)
		s->world->ops->stream_close(s);
}
