// SPDX-License-Identifier: Apache-2.0
/* world.h - the outside as an interface: clock, timers, a pool, byte streams, log lines.
 *
 * One loop thread calls every callback.  world_uv.c is the real one (the only place
 * that sees <uv.h>), world_sim.c has virtual time and seeded faults.  Rooms below the
 * yard ask the world for time and randomness and never the system itself.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct world;
struct world_timer;
struct world_watch;
struct world_stream;
struct world_listener;

struct world *world_uv_create(struct err *err);
void world_destroy(struct world *w); /* after every timer, watch and stream is destroyed */
void world_run(struct world *w);     /* until world_stop() */
void world_stop(struct world *w);    /* safe from any callback */

int64_t world_now_ms(struct world *w);  /* wall clock: may jump; for records */
int64_t world_mono_ms(struct world *w); /* never goes back; for durations */
uint64_t world_random(struct world *w);

typedef void (*world_cb)(void *arg);

/* A timer fires once at `mono_ms`; setting it again moves it.  An idle world sleeps. */
struct world_timer *world_timer_create(struct world *w, world_cb cb, void *arg);
void world_timer_at(struct world_timer *t, int64_t mono_ms);
void world_timer_stop(struct world_timer *t);
void world_timer_destroy(struct world_timer *t); /* NULL is fine; no callback comes after */

/* Soon, on the loop thread, in order, never from inside this call. */
void world_later(struct world *w, world_cb cb, void *arg);
/* work() off the loop thread (it may touch only its own arg), then done() on it. */
void world_work(struct world *w, world_cb work, world_cb done, void *arg);

/* Calls cb whenever fd is readable (pidfds, inotify). The fd stays the caller's. */
struct world_watch *world_watch_create(struct world *w, int fd, world_cb cb, void *arg);
void world_watch_destroy(struct world_watch *t);

/* Streams.  After on_end (peer gone, error, or closed by us) no callback comes; the
 * stream is then destroyed by its user with world_stream_close(). */
struct world_stream_events {
	void (*on_data)(void *arg, const char *data, size_t len);
	void (*on_eof)(void *arg);                       /* the peer ended its side; may still read ours */
	void (*on_end)(void *arg, const struct err *err); /* err NULL: orderly */
	void (*on_drain)(void *arg); /* everything written so far is out; may be NULL */
};

struct world_peer {
	int64_t pid, uid, gid; /* -1 when not a unix socket */
};

struct world_listener *world_listen_unix(struct world *w, const char *path, int mode,
					 void (*on_stream)(void *arg, struct world_stream *s),
					 void *arg, struct err *err);
struct world_listener *world_listen_tcp(struct world *w, const char *address, int port,
					void (*on_stream)(void *arg, struct world_stream *s),
					void *arg, struct err *err);
int world_listener_port(const struct world_listener *l); /* the bound port; 0 for unix */
void world_listener_close(struct world_listener *l); /* NULL is fine */

/* A connected socket, pipe or pty becomes a stream that owns the fd. */
struct world_stream *world_stream_open(struct world *w, int fd, struct err *err);
struct world_stream *world_connect_unix(struct world *w, const char *path, struct err *err);
void world_stream_start(struct world_stream *s, const struct world_stream_events *ev, void *arg);
void world_stream_pause(struct world_stream *s, bool paused); /* stop and go on reading */
/* Copies; never blocks.  pending() is what has not been taken by the kernel yet. */
void world_stream_write(struct world_stream *s, const void *data, size_t len);
size_t world_stream_pending(const struct world_stream *s);
void world_stream_shutdown(struct world_stream *s); /* end our side once written out */
struct world_peer world_stream_peer(const struct world_stream *s);
void world_stream_close(struct world_stream *s); /* NULL is fine; drops what is unwritten */
