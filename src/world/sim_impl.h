// SPDX-License-Identifier: Apache-2.0
/* sim_impl.h - what the files of the simulated world share. */
#pragma once

#include "world/impl.h"
#include "world/world_sim.h"

struct sim_work;
struct sim_strm;
struct sim_lstn;

struct sim_world {
	struct world base;
	int64_t mono_ms, wall_minus_mono_ms;
	uint64_t chance; /* decides order and delays */
	uint64_t random; /* what world_random() gives: asking for it changes no order */
	uint64_t history;
	int64_t work_most_ms, net_most_ms;
	bool stopping;
	struct sim_work *works;
	struct sim_lstn *listeners;
	struct sim_strm *streams;
	struct sim_strm *
		closed; /* freed after the step, when no callback of theirs is on the stack */
	struct world_peer caller;
	int next_port;
};

static inline struct sim_world *sim_of(struct world *w)
{
	return (struct sim_world *)w;
}

uint64_t sim_chance(struct sim_world *u);
/* A time from now to most_ms after it. */
int64_t sim_soon(struct sim_world *u, int64_t most_ms);

void sim_streams_reap(struct sim_world *u);

struct world_listener *sim_listen_unix(struct world *w, const char *path, int mode,
				       const struct world_listen *to, struct err *err);
struct world_listener *sim_listen_tcp(struct world *w, const char *address, int port,
				      const struct world_listen *to, struct err *err);
int sim_listener_port(const struct world_listener *l);
void sim_listener_close(struct world_listener *l);

struct world_stream *sim_stream_open(struct world *w, int fd, struct err *err);
struct world_stream *sim_connect_unix(struct world *w, const char *path, struct err *err);
struct world_stream *sim_connect_tcp(struct world *w, const char *address, int port,
				     struct err *err);
void sim_stream_start(struct world_stream *s, const struct world_stream_events *ev,
		      void *arg);
void sim_stream_pause(struct world_stream *s, bool paused);
void sim_stream_write(struct world_stream *s, const void *data, size_t len);
size_t sim_stream_pending(const struct world_stream *s);
void sim_stream_shutdown(struct world_stream *s);
struct world_peer sim_stream_peer(const struct world_stream *s);
void sim_stream_close(struct world_stream *s);
