// SPDX-License-Identifier: Apache-2.0
/* proxy.h - an exchange that somebody else answers: a program in a task.
 *
 * Both messages are read by the strict parser and written anew, so nothing that one side
 * takes for one message can be two for the other.  One request a connection upstream.
 * Bodies pass through in pieces; who is slow slows the other down, and never is more kept
 * than answer_high() one way and OUTPUT_LOW the other.  After 101 the connection is a pipe.
 *
 * The program never sees the yard's own credentials (Authorization, the yard's cookies),
 * and nothing a client says about who or where it is (X-Forwarded-*, Forwarded): that is
 * set here.  What it answers cannot set the yard's cookies, nor cookies or service workers
 * outside its own path, nor rules for the whole origin.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "codec/http.h"

#define PROXY_COOKIES "yard-" /* names of cookies that are the yard's begin so */

struct exchange;

struct proxy_target {
	const char *address; /* a number of IPv4 or IPv6 */
	int port;
	const char *prefix; /* "/apps/12": its paths lie below it */
	bool strip;         /* it does not know the prefix: it is taken off and put on */
};

/* Why there is no answer of the program's. */
enum proxy_fault {
	PROXY_REFUSED, /* nobody listens there */
	PROXY_SLOW,    /* it took the request and says nothing */
	PROXY_BROKEN,  /* it ended or spoke no HTTP before its answer was whole */
};

/* For the caller to say so in its own way; the exchange is not begun. */
typedef void (*proxy_failed)(struct exchange *ex, enum proxy_fault fault,
			     const struct err *err);

/* Of a route with ROUTE_STREAM, from its handler.  Takes over the exchange; the strings
 * of the target are copied as far as they are needed later. */
void proxy_begin(struct exchange *ex, const struct proxy_target *to, proxy_failed failed);

/* proxy_head.c: the heads, as pure text. */
struct proxy_from {
	const char *address; /* of the client, or "" */
	const char *user;    /* who was let in; NULL: nobody */
	bool tls;
};
void proxy_write_request(struct buf *out, const struct http_head *h,
			 const struct proxy_target *to, const struct proxy_from *from);
/* Without framing and the empty line. */
void proxy_write_answer(struct buf *out, const struct http_head *h,
			const struct proxy_target *to);
/* It asks for a WebSocket, the one protocol that passes. */
bool proxy_wants_upgrade(const struct http_head *h);
