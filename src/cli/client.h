// SPDX-License-Identifier: Apache-2.0
/* client.h - HTTP to the daemon: one connection, used again, opened again when it broke.
 *
 * Requests that can be repeated (all but a POST without a key) are, for a while, when the
 * connection breaks before the answer: a daemon that is being restarted goes unnoticed.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "cli/server.h"
#include "codec/http.h"
#include "job/spec.h"

struct client;

struct request {
	const char *method;
	const char *target; /* path and query, behind /yard/v1 */
	const char *key;    /* Idempotency-Key, or NULL */
	const char *body;   /* or NULL */
	size_t body_len;
	/* Instead of body: called to write it, with client_send(); may be called again. */
	int (*write_body)(void *arg, struct client *c, struct err *err);
	void *arg;
	bool sized; /* it writes just body_len bytes, with client_write() */
	const struct http_header *headers; /* further ones */
	size_t header_count;
	const char *upgrade; /* ask for this protocol, or NULL */
};

struct answer {
	int status;
	struct buf body;
	struct doc *doc;          /* parsed, when it is JSON */
	struct problems problems; /* of a refused job file */
};

/* Takes nothing: s must outlive it.  started: told once when a private daemon was started. */
struct client *client_create(const struct server *s, bool may_start,
			     void (*started)(const struct server *s));
void client_destroy(struct client *c); /* NULL is fine */
/* No daemon could be reached at all: the exit code differs. */
bool client_unreachable(const struct client *c);

/* The whole answer.  -1 also when the status is not 2xx: err is then what the server said. */
int client_call(struct client *c, const struct request *r, struct answer *out,
		struct err *err);
void answer_fini(struct answer *a);
#define AUTO_ANSWER __attribute__((cleanup(answer_fini)))

/* An answer in pieces: after client_begin() gave 0 the head was 2xx (or 101). */
int client_begin(struct client *c, const struct request *r, struct err *err);
int client_status(const struct client *c); /* of the last; 0: no whole answer came */
/* Of its head, after client_begin(); NULL: absent.  Until the next request. */
const char *client_header(const struct client *c, const char *name);
/* HTTP_ITEM_MORE: wait until client_fd() is readable, then client_fill(). */
enum http_item client_next(struct client *c, struct http_piece *piece, struct err *err);
/* The same, and waits itself; after HTTP_ITEM_END another request may follow. */
enum http_item client_next_waiting(struct client *c, struct http_piece *piece,
				   struct err *err);
int client_fill(struct client *c, struct err *err); /* -1: the connection is over */
int client_fd(const struct client *c);
/* All was taken and no more comes; a fill that brought nothing is not that. */
bool client_over(const struct client *c);
/* After a 101: what came behind the head. */
struct http_piece client_rest(struct client *c);

/* Part of a request's body, from write_body. */
int client_send(struct client *c, const void *data, size_t len, struct err *err);
/* Plain bytes on an upgraded connection. */
int client_write(struct client *c, const void *data, size_t len, struct err *err);
void client_drop(
	struct client *c); /* closes the connection; the next request opens one */
