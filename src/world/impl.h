// SPDX-License-Identifier: Apache-2.0
/* impl.h - for implementers of a world; nobody outside this room includes it.
 *
 * Timers and laters are the same in every world and live here and in world.c; what
 * differs stands behind struct world_ops.  An implementation embeds struct world (and
 * world_stream, world_listener, ...) as its first member.
 */
#pragma once

#include "world/world.h"

struct world_timer {
	struct world *world;
	world_cb cb;
	void *arg;
	int64_t due_ms;
	uint64_t tie; /* order among equal due_ms */
	size_t at;    /* place in the heap from 1; 0: not set */
};

struct world_lane {
	struct world *world;
};
struct world_watch {
	struct world *world;
};
struct world_signal {
	struct world *world;
};
struct world_stream {
	struct world *world;
};
struct world_listener {
	struct world *world;
};

struct world_later {
	world_cb cb;
	void *arg;
};

struct world_listen {
	void (*on_stream)(void *arg, struct world_stream *s);
	void *arg;
};

struct world_ops {
	void (*destroy)(struct world *w); /* frees w itself too */
	void (*run)(struct world *w);
	void (*stop)(struct world *w);
	int64_t (*now_ms)(struct world *w);
	int64_t (*mono_ms)(struct world *w);
	uint64_t (*random)(struct world *w);
	uint64_t (*tie)(struct world *w);        /* of a timer being set now */
	void (*timers_changed)(struct world *w); /* the earliest one may be another */
	void (*later_added)(struct world *w);
	void (*work)(struct world *w, world_cb work, world_cb done, void *arg);
	struct world_lane *(*lane_create)(struct world *w, int threads);
	void (*lane_work)(struct world_lane *l, world_cb work, world_cb done, void *arg);
	void (*lane_destroy)(struct world_lane *l);
	struct world_watch *(*watch_create)(struct world *w, int fd, world_cb cb,
					    void *arg);
	void (*watch_destroy)(struct world_watch *t);
	struct world_signal *(*signal_create)(struct world *w, int signum, world_cb cb,
					      void *arg);
	void (*signal_destroy)(struct world_signal *s);

	struct world_listener *(*listen_unix)(struct world *w, const char *path, int mode,
					      const struct world_listen *to,
					      struct err *err);
	struct world_listener *(*listen_tcp)(struct world *w, const char *address,
					     int port, const struct world_listen *to,
					     struct err *err);
	int (*listener_port)(const struct world_listener *l);
	void (*listener_close)(struct world_listener *l);
	struct world_stream *(*stream_open)(struct world *w, int fd, struct err *err);
	struct world_stream *(*connect_unix)(struct world *w, const char *path,
					     struct err *err);
	struct world_stream *(*connect_tcp)(struct world *w, const char *address,
					    int port, struct err *err);
	void (*stream_start)(struct world_stream *s, const struct world_stream_events *ev,
			     void *arg);
	void (*stream_pause)(struct world_stream *s, bool paused);
	void (*stream_write)(struct world_stream *s, const void *data, size_t len);
	size_t (*stream_pending)(const struct world_stream *s);
	int (*stream_lend)(struct world_stream *s); /* NULL: never */
	void (*stream_await)(struct world_stream *s);
	void (*stream_shutdown)(struct world_stream *s);
	struct world_peer (*stream_peer)(const struct world_stream *s);
	void (*stream_close)(struct world_stream *s);
};

struct world {
	const struct world_ops *ops;
	struct world_timer **timers; /* binary heap by (due_ms, tie), from index 0 */
	size_t timer_count, timer_cap;
	struct world_later *laters; /* ring */
	size_t later_first, later_count, later_cap;
};

void world_fini(struct world *w); /* asserts that no timer is set; drops laters */

/* NULL: none is set. */
struct world_timer *world_timers_first(const struct world *w);
/* Takes the first one out and calls it. */
void world_timers_fire(struct world *w);
/* Calls the oldest later. */
void world_later_fire(struct world *w);
