// SPDX-License-Identifier: Apache-2.0
/* uv_impl.h - what the files of the real world share. */
#pragma once

#include <uv.h>

#include "world/impl.h"

#define UV_SCRATCH_BYTES (64u << 10)

struct uv_world {
	struct world base;
	uv_loop_t loop;
	uv_async_t alive; /* keeps uv_run() waiting when nothing else does */
	uv_timer_t timer; /* armed for the earliest timer of the heap, or before that */
	int64_t armed_ms; /* for when, while it is */
	uv_idle_t idle;   /* active while laters wait: the loop then does not sleep */
	uint64_t next_tie;
	size_t works, lanes;
	bool stopping, closing;
	int spare_fd;  /* given up for a moment when the process is out of descriptors */
	char *scratch; /* every stream reads into it: one callback runs at a time */
};

static inline struct uv_world *uv_world_of(struct world *w)
{
	return (struct uv_world *)w;
}

struct world_lane *uv_lane_create(struct world *w, int threads);
void uv_lane_work(struct world_lane *lane, world_cb work, world_cb done, void *arg);
void uv_lane_destroy(struct world_lane *lane);

struct world_listener *uv_listen_unix(struct world *w, const char *path, int mode,
				      const struct world_listen *to, struct err *err);
struct world_listener *uv_listen_tcp(struct world *w, const char *address, int port,
				     const struct world_listen *to, struct err *err);
int uv_listener_port(const struct world_listener *l);
void uv_listener_close(struct world_listener *l);

struct world_stream *uv_stream_open(struct world *w, int fd, struct err *err);
struct world_stream *uv_connect_unix(struct world *w, const char *path, struct err *err);
struct world_stream *uv_connect_tcp(struct world *w, const char *address, int port,
				    struct err *err);
/* Of one that is not started: its socket is not connected yet. */
void uv_stream_connecting(struct world_stream *s);
void uv_stream_start(struct world_stream *s, const struct world_stream_events *ev,
		     void *arg);
void uv_stream_pause(struct world_stream *s, bool paused);
void uv_stream_write(struct world_stream *s, const void *data, size_t len);
size_t uv_stream_pending(const struct world_stream *s);
int uv_stream_lend(struct world_stream *s);
void uv_stream_await(struct world_stream *s);
void uv_stream_shutdown(struct world_stream *s);
struct world_peer uv_stream_peer(const struct world_stream *s);
void uv_stream_close(struct world_stream *s);
