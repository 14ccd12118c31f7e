// SPDX-License-Identifier: Apache-2.0
/* server.h - which daemon `yard` talks to, and how a private one is started.
 *
 * YARD_SERVER (unix:///path or http://host:port) if set; else the machine's own, if one
 * answers at its place; else the caller's private one, started on demand.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"

struct server {
	char *socket; /* unix socket, or NULL: */
	char *host;   /* TCP */
	int port;
	char *state; /* ours to start, with this state folder; NULL: somebody else's */
};

int server_find(struct server *out, struct err *err);
void server_fini(struct server *s);
/* A connected socket, or -1. */
int server_connect(const struct server *s, struct err *err);
/* Starts the private daemon and waits until it answers: 1.  0: somebody else was first. */
int server_start(const struct server *s, struct err *err);
/* Asks the daemon behind the socket to end, and waits for that.  Its tasks go on. */
int server_stop(const struct server *s, struct err *err);
