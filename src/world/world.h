// SPDX-License-Identifier: Apache-2.0
/* world.h - the outside as an interface: clock, timers, a pool, byte streams, signals.
 *
 * One loop thread makes every call and gets every callback.  world_uv.c is the real
 * world (libuv is seen in this room only), world_sim.c has virtual time and a seed.
 * Rooms below the yard ask the world for time and randomness, never the system.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "world/streams.h"

struct world;
struct world_timer;
struct world_lane;
struct world_watch;
struct world_signal;

/* Ignores SIGPIPE for the whole process (a program it executes must reset that). */
struct world *world_uv_create(struct err *err);
/* After every timer, lane, watch and stream is destroyed.  Waits for works under way and calls
 * their done(); drops laters. NULL is fine. */
void world_destroy(struct world *w);
void world_run(
	struct world *w); /* until world_stop(), also when nothing is left to wait for */
void world_stop(
	struct world
		*w); /* safe from any callback; before run(): run() returns at once */

int64_t world_now_ms(struct world *w);  /* wall clock: may jump; for records */
int64_t world_mono_ms(struct world *w); /* never goes back; for durations */
uint64_t
world_random(struct world *w); /* of the system's best source; the sim: of its seed */

typedef void (*world_cb)(void *arg);

/* A timer fires once at `mono_ms` or as soon after as it can, in order of time and, where
 * that is equal, of being set; setting it again moves it.  An idle world sleeps. */
struct world_timer *world_timer_create(struct world *w, world_cb cb, void *arg);
void world_timer_at(struct world_timer *t, int64_t mono_ms);
void world_timer_stop(struct world_timer *t);
bool world_timer_is_set(const struct world_timer *t); /* false inside its own callback */
/* NULL is fine; no callback comes after. */
void world_timer_destroy(struct world_timer *t);

/* Soon, on the loop thread, in order, never from inside this call. */
void world_later(struct world *w, world_cb cb, void *arg);
/* work() off the loop thread (it may touch only its own arg), then done() on it.  The pool
 * is everybody's; what may be slow, or must not wait for others, has a lane: threads of its
 * own (1 to 4) that begin works in order.  Destroying it calls nothing; works go on. */
void world_work(struct world *w, world_cb work, world_cb done, void *arg);
struct world_lane *world_lane_create(struct world *w, int threads);
void world_lane_work(struct world_lane *l, world_cb work, world_cb done, void *arg);
void world_lane_destroy(struct world_lane *l); /* NULL is fine */

/* Calls cb while fd is readable (pidfds, inotify).  The fd stays the caller's, who may
 * close it once the watch is destroyed.  NULL: an fd that cannot be waited for. */
struct world_watch *world_watch_create(struct world *w, int fd, world_cb cb, void *arg);
void world_watch_destroy(struct world_watch *t); /* NULL is fine; safe in its callback */

/* Calls cb on the loop when the process got the signal; several may become one call. */
struct world_signal *world_signal_create(struct world *w, int signum, world_cb cb,
					 void *arg);
void world_signal_destroy(struct world_signal *s); /* NULL is fine */
