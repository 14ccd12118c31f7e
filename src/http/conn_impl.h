// SPDX-License-Identifier: Apache-2.0
/* conn_impl.h - a connection, for the files that are it.
 *
 *   conn.c         bytes become requests, one after the other
 *   conn_stream.c  the stream under it: opened, ended, full, slow
 */
#pragma once

#include "http/auth.h"
#include "http/internal.h"

#define LINGER_MS                                                                        \
	2000 /* a client that was refused may still be sending: let it read why */

enum conn_state {
	CONN_HEAD,    /* between requests, or in the middle of a head */
	CONN_FULL,    /* its answers are not read: no further request is begun */
	CONN_WHO,     /* a password is looked at; further bytes are kept */
	CONN_BODY,    /* a request's body comes in */
	CONN_BUSY,    /* a handler works on it; further bytes are kept */
	CONN_RAW,     /* upgraded: bytes are the handler's */
	CONN_CLOSING, /* answered for the last time; what comes is dropped */
};

struct conn {
	struct http_server *server;
	struct world_stream *stream;
	const struct conn_filter *filter; /* NULL: the stream's bytes are clear */
	void *filter_arg;
	struct world_timer *timer;
	struct http_parser *parser;
	enum conn_state state;
	struct exchange *ex;
	struct buf input; /* came before it could be used */
	struct auth auth;
	char counted[CONNS_KEY_MAX]; /* under which key; "": none */
	int64_t body_began_ms, body_bytes, paused_ms;
	uint64_t put, taken; /* bytes given to the stream, and those the kernel took */
	int64_t stuck_ms;    /* since when it takes no more; 0: it does */
	bool feeding;        /* inside feed(): it goes on by itself */
	bool head_begun;     /* the head's time runs */
	bool resume;         /* the timer is set to go on with the input */
	bool paused, eof;
	struct conn *prev, *next;
};

/* conn.c */
void conn_resume(struct conn *c); /* with the bytes that were kept */
void conn_go_on(struct conn *c, enum conn_state state); /* the same, soon */
int64_t conn_idle_ms(const struct conn *c);
void conn_who_seen(void *arg, const struct err *err, int64_t retry_ms);
