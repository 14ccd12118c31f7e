// SPDX-License-Identifier: Apache-2.0
/* conn.h - one connection, as the rest of the room sees it.
 *
 * HTTP never touches the stream: it is given clear bytes by http_conn_take() and gives
 * clear bytes to http_conn_write().  What stands between is nothing, or a filter (TLS).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "world/world.h"

struct http_server;
struct exchange;
struct conn;

/* A filter is given what the stream brings, and what HTTP says.  It hands on the clear
 * bytes by http_conn_take() and gives its own bytes to the stream by http_conn_put(),
 * from inside these calls or later.  No call of these frees the connection. */
struct conn_filter {
	void (*in)(void *arg, const char *data, size_t len);
	void (*out)(void *arg, const char *data, size_t len);
	void (*end)(
		void *arg); /* our side is over: its last bytes, before the stream's */
	void (*destroy)(void *arg);
};

/* False: too many are open already; the stream is still the caller's. */
bool http_conn_open(struct http_server *s, struct world_stream *stream, bool admin);
/* Before any byte came. */
void http_conn_filter(struct conn *c, const struct conn_filter *f, void *arg);
void http_conn_destroy(struct conn *c);
struct conn *http_conn_next(struct conn *c);

/* Clear bytes: from the stream or its filter, and to it. */
void http_conn_take(struct conn *c, const char *data, size_t len);
void http_conn_write(struct conn *c, const void *data, size_t len);
void http_conn_put(struct conn *c, const void *data, size_t len); /* for a filter */
/* A duplicate of its socket, to send by (world/lend.h); -1: not now, or not this one. */
int http_conn_lend(struct conn *c);
void http_conn_await(struct conn *c);           /* ops->room once it takes bytes again */
size_t http_conn_pending(const struct conn *c); /* not taken by the kernel yet */
/* Whether the client has bytes to read; lets it go when it has read none for too long. */
bool http_conn_stuck(struct conn *c, int64_t now_ms);
/* Accounts changed: lets it go when the one who asked may not be who they were. */
void http_conn_look_again(struct conn *c);

/* Bytes that are no request: says so and closes. */
void http_conn_refuse(struct conn *c, int status, const struct err *err);
/* A filter's last act: the client said that it sends no more.  May free the connection. */
void http_conn_ended(struct conn *c);

void http_conn_timer(struct conn *c, int64_t in_ms); /* ops->timer after that long */
void http_conn_pause(struct conn *c, bool paused);
void http_conn_upgraded(struct exchange *ex); /* 101 was written: bytes go to ops->raw */
void http_conn_close(
	struct conn *c); /* once all is written; what still comes is dropped */
void http_conn_answered(
	struct exchange *ex); /* the answer is whole: on to the next request */
