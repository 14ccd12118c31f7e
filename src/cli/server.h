// SPDX-License-Identifier: Apache-2.0
/* server.h - which daemon `yard` talks to, and how a private one is started.
 *
 * The first of these that says something (docs/remote.md has it for people):
 *   1. yard --context NAME (-C); "local" stands for 5 and 6
 *   2. YARD_SERVER, with YARD_TOKEN and YARD_FINGERPRINT; of a server one has logged in to,
 *      the token and the fingerprint are known without them
 *   3. YARD_STATE or YARD_SOCKET: a private daemon there
 *   4. the current context, of `yard login` and `yard context use`
 *   5. the machine's own daemon, if one answers at its place
 *   6. the caller's private one, started on demand
 * YARD_TOKEN stands above the token of 4, and is shown to 5 and 6 as well.  It is not sent in
 * the clear to another machine, unless one has logged in there so.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define SERVER_PORT 8470 /* of a host named without scheme and port */

struct server {
	char *socket; /* unix socket, or NULL: */
	char *host;   /* TCP */
	int port;
	bool tls;
	char *pin; /* the fingerprint its certificate must have; NULL: authorities vouch */
	char *token;   /* or NULL */
	char *state;   /* ours to start, with this state folder; NULL: somebody else's */
	char *named;   /* by what: "YARD_SERVER", "context work"; NULL: nobody named it */
	char *context; /* the name of the one it came from, or NULL */
};

int server_find(struct server *out, const char *context, struct err *err);
/* unix:///path, http://host[:port], https://host[:port], or host[:port]: that is https. */
int server_parse(struct server *out, const char *url, struct err *err);
char *
server_url(const struct server *s); /* as server_parse() reads it; the caller frees */
char *server_authority(const struct server *s); /* "host:port"; the caller frees */
bool server_stays_here(const struct server *s); /* what is sent leaves no machine */
void server_fini(struct server *s);
/* A connected socket, or -1. */
int server_connect(const struct server *s, struct err *err);
/* Starts the private daemon and waits until it answers: 1.  0: somebody else was first.
 * told (may be NULL): what it said then, "ready URL... [code CODE]"; the caller frees. */
int server_start(const struct server *s, char **told, struct err *err);
/* Asks the daemon behind the socket to end, and waits for that.  Its tasks go on. */
int server_stop(const struct server *s, struct err *err);
