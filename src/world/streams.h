// SPDX-License-Identifier: Apache-2.0
/* streams.h - the part of a world that carries bytes: who listens, who calls, both ends.
 * Part of world.h, which includes it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct world;
struct world_stream;
struct world_listener;

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
	void (*on_connect)(void *arg); /* called by TCP: it stands; may be NULL */
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
