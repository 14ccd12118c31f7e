// SPDX-License-Identifier: Apache-2.0
/* http.h - HTTP/1.1 messages out of bytes, for servers and clients alike.
 *
 * Pull style: http_parser_next() is given what arrived and gives the next piece of the
 * message; what it did not take stays the caller's, so that a caller that stops
 * asking has back-pressure and pipelining for nothing.
 *
 * Heads are judged by llhttp (strict build) and by rules of ours on top, because two
 * readers that disagree about where a message ends is how requests are smuggled:
 * every line ends in CRLF and nothing else, no folded lines, one Host, one framing
 * (Content-Length or "chunked" alone), no trailing bytes in a chunk's size line.
 * Bodies are framed here.  A parser that failed stays failed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define HTTP_HEAD_MAX    (32u << 10) /* bytes of start line and headers together */
#define HTTP_TARGET_MAX  (8u << 10)  /* bytes of path and query */
#define HTTP_HEADERS_MAX 96
#define HTTP_BODY_MAX                                                                    \
	(8u << 20) /* of a request, unless http_parser_body_max() says otherwise */
#define HTTP_TRAILER_MAX   (4u << 10)
#define HTTP_SIZE_LINE_MAX 18 /* a chunk's size: 16 hex digits and CRLF */

enum http_kind { HTTP_REQUESTS, HTTP_RESPONSES };

struct http_header {
	const char *name; /* in lower case */
	const char *value;
};

/* Strings live in the parser until the next message begins. */
struct http_head {
	const char *method; /* requests: "GET", ... */
	const char *path;   /* still percent-encoded, begins with '/' */
	const char *query;  /* behind '?', "" when there is none */
	int status;         /* responses */
	int minor;          /* 0 or 1: HTTP/1.x */
	struct http_header headers[HTTP_HEADERS_MAX];
	size_t header_count;
	int64_t length; /* of the body; -1: chunked, or until the end of the stream */
	bool chunked;
	bool keep_alive; /* the sender allows another message after this one */
	bool upgrade;    /* Connection: upgrade was sent */
	bool expect;     /* Expect: 100-continue */
};

const char *http_head_get(const struct http_head *h, const char *name); /* NULL: absent */

enum http_item {
	HTTP_ITEM_MORE,   /* all input is taken; give more */
	HTTP_ITEM_HEAD,   /* http_parser_head() is filled */
	HTTP_ITEM_DATA,   /* a piece of the body, inside the caller's input */
	HTTP_ITEM_END,    /* the message is over; after an upgrade the rest is not HTTP */
	HTTP_ITEM_FAILED, /* err says why, http_parser_status() what to answer */
};

struct http_piece {
	const char *data;
	size_t len;
};

struct http_parser;

struct http_parser *http_parser_create(enum http_kind kind);
void http_parser_destroy(struct http_parser *p); /* NULL is fine */
/* Moves *data and *len past what was taken.  piece: set for HTTP_ITEM_DATA only. */
enum http_item http_parser_next(struct http_parser *p, const char **data, size_t *len,
				struct http_piece *piece, struct err *err);
/* The stream ended: HTTP_ITEM_END (a body that lasts until then, or one whose end was not
 * given yet), HTTP_ITEM_MORE (between two messages: nothing is missing), or
 * HTTP_ITEM_FAILED. */
enum http_item http_parser_eof(struct http_parser *p, struct err *err);
const struct http_head *http_parser_head(const struct http_parser *p);
int http_parser_status(const struct http_parser *p); /* 400, 413, 414, 431, 501 or 505 */
bool http_parser_idle(const struct http_parser *p);  /* between two messages */
/* After HTTP_ITEM_HEAD: how long this body may be; HTTP_ITEM_FAILED with 413 beyond that. */
void http_parser_body_max(struct http_parser *p, int64_t bytes);
/* Responses, before the head: the request was HEAD, so no body follows. */
void http_parser_no_body(struct http_parser *p);

/* Writers.  Names and values must not hold CR, LF or NUL: such bytes become spaces. */
void http_write_request(struct buf *out, const char *method, const char *target,
			const char *host);
void http_write_status(struct buf *out, int status);
void http_write_header(struct buf *out, const char *name, const char *value);
void http_write_length(struct buf *out, uint64_t bytes);
void http_write_head_end(struct buf *out);
void http_write_chunk(struct buf *out, const void *data, size_t len); /* len 0: nothing */
void http_write_last_chunk(struct buf *out);
const char *http_status_words(int status); /* "Not Found" */
