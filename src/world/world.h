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

struct world;
struct world_timer;
struct world_lane;
struct world_watch;
struct world_signal;
struct world_stream;
struct world_listener;

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

/* Streams.  Callbacks never come from inside a call of the user's.  on_end comes at most
 * once and last: after an error, or when both sides are over (on_eof seen and our side
 * shut down, or the peer gone altogether).  The user then, or at any time and from any
 * callback, destroys the stream by world_stream_close(), which itself calls nothing. */
struct world_stream_events {
	void (*on_data)(void *arg, const char *data, size_t len);
	void (*on_eof)(
		void *arg); /* the peer ended its side, may still read ours; NULL: ends the stream */
	void (*on_end)(void *arg, const struct err *err); /* err NULL: orderly */
	void (*on_drain)(void *arg); /* pending() fell to 0; may be NULL */
	void (*on_hangup)(
		void *arg); /* paused with bytes unread, and the peer ended; may be NULL */
	void (*on_connect)(void *arg); /* of world_connect_tcp(): it stands; may be NULL */
};

#define WORLD_ADDRESS_MAX 46

struct world_peer {
	int64_t pid, uid, gid;           /* -1 when not a unix socket */
	char address[WORLD_ADDRESS_MAX]; /* by TCP: "192.0.2.1", "2001:db8::1"; else "" */
};

/* Refuses a path where somebody listens (ERR_CONFLICT), removes a dead socket, never
 * touches another kind of file.  At no moment is the socket more open than `mode`. */
typedef void (*world_stream_cb)(void *arg, struct world_stream *s);
struct world_listener *world_listen_unix(struct world *w, const char *path, int mode,
					 world_stream_cb on_stream, void *arg,
					 struct err *err);
/* address: "localhost" or a number of IPv4 or IPv6; port 0: any. */
struct world_listener *world_listen_tcp(struct world *w, const char *address, int port,
					world_stream_cb on_stream, void *arg,
					struct err *err);
int world_listener_port(const struct world_listener *l); /* the bound port; 0 for unix */
/* NULL is fine; removes its socket file. */
void world_listener_close(struct world_listener *l);

/* A connected socket, pipe or pty becomes a stream that owns the fd (not on failure). */
struct world_stream *world_stream_open(struct world *w, int fd, struct err *err);
struct world_stream *world_connect_unix(struct world *w, const char *path,
					struct err *err);
/* address: a number of IPv4 or IPv6.  NULL: refused at once.  Else the stream may be used
 * at once: what is written waits (pending() stays above 0) until somebody is there; that
 * nobody is comes as on_end with err. */
struct world_stream *world_connect_tcp(struct world *w, const char *address, int port,
				       struct err *err);
void world_stream_start(struct world_stream *s, const struct world_stream_events *ev,
			void *arg);
/* Stop and go on reading.  A paused stream still sees that its peer has gone. */
void world_stream_pause(struct world_stream *s, bool paused);
/* Copies; never blocks.  pending() is what the kernel has not taken yet.  After the end or
 * shutdown() what is written is dropped. */
void world_stream_write(struct world_stream *s, const void *data, size_t len);
size_t world_stream_pending(const struct world_stream *s);
void world_stream_shutdown(struct world_stream *s); /* end our side once written out */
struct world_peer world_stream_peer(const struct world_stream *s);
void world_stream_close(struct world_stream *s); /* NULL is fine; drops what is unsent */
