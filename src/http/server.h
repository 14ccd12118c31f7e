// SPDX-License-Identifier: Apache-2.0
/* server.h - the daemon's door: HTTP/1.1 on the world's streams, /yard/v1 on the yard.
 *
 * A caller by the unix socket is known by its peer credentials, a caller by TCP by its
 * Authorization header (auth.h).  Answers to what changes something come after the commit.  The server never reads faster than it can keep, never writes
 * more than a bounded amount ahead of a slow reader, and sees at once when a client
 * that waits for something has gone.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "depot/depot.h"
#include "tls/tls.h"
#include "who/directory.h"
#include "world/world.h"
#include "yard/yard.h"

struct http_server;
struct catalog;
struct settings;

struct http_config {
	struct world *world;
	struct yard *yard;
	struct who *who;
	const struct settings *settings; /* to show; NULL: none are known */
	struct secrets *secrets;         /* NULL: none are kept */
	struct catalog *catalog;         /* NULL: images are not looked at */
	const char *
		user_path; /* where programs of this host are looked for; NULL: as usual */
	struct depot *depot;     /* the real one; NULL: no code is taken */
	struct storage *storage; /* homes and shares; NULL: there are none */
	struct tls_context *tls; /* of callers by TCP; NULL: in the clear */
	int64_t daemon_uid;      /* admin, beside root */
	/* Time-outs; 0: 120 s, 15 s, 60 s, 300 s.  A head has head_ms in all; a body may pause
	 * for body_ms and must come at BODY_BYTES_A_SECOND; one who reads nothing of what is
	 * sent for write_ms is let go. */
	int64_t idle_ms, head_ms, body_ms, write_ms;
	/* What an app may take to be reached, to begin its answer, and between two pieces of
	 * it; 0: 10 s, 120 s, 600 s. */
	int64_t app_connect_ms, app_answer_ms, app_idle_ms;
	/* Where the key of apps' cookies and the port of their door are kept; NULL: nowhere,
	 * and cookies end with the daemon.  Borrowed. */
	const char *state;
	int conns_per_user;    /* at a time, of one who is not admin; 0: 1000 */
	int conns_per_address; /* by TCP, before it is known who it is; 0: 256 */
	int conns_max;         /* of all; admins have some more; 0: 10000 */
};

#define BODY_BYTES_A_SECOND 1024

struct http_server *http_server_create(const struct http_config *c);
/* Closes every door and connection; before the yard is destroyed. */
void http_server_close(struct http_server *s);
/* Last of all, when nobody can call back any more: after the world.  NULL is fine. */
void http_server_destroy(struct http_server *s);
int http_server_listen_unix(struct http_server *s, const char *path, int mode,
			    struct err *err);
/* port: what was bound, for port 0. */
int http_server_listen_tcp(struct http_server *s, const char *address, int port,
			   int *bound, struct err *err);
/* The door on loopback that apps were given before, if there is none else. */
int http_server_reopen_apps(struct http_server *s, struct err *err);
/* "https://host:8470": how callers by TCP reach it, for addresses that it gives away. */
void http_server_set_url(struct http_server *s, const char *url);
size_t http_server_connections(const struct http_server *s); /* from any thread */
/* The table of routes as text, one line each: for `docs` and tests. */
void http_routes_text(struct buf *out);
/* The same with all a row says, as Markdown: docs/api-reference.md. */
void http_routes_reference(struct buf *out);
