// SPDX-License-Identifier: Apache-2.0
/* link.h - bytes to a server and back, by socket, TCP or TLS, with a blocking descriptor.
 *
 * After link_fill() no clear byte is left inside: whoever waits may poll the descriptor.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "cli/server.h"

#define LINK_ROOM (64u << 10) /* link_fill() wants at least this much */

struct link;

/* Connects and, with TLS, shakes hands.  ERR_DENIED: its certificate is not trusted; then
 * *shown, when not NULL, is the fingerprint of the one it has (the caller frees). */
struct link *link_open(const struct server *s, char **shown, struct err *err);
void link_close(struct link *l); /* NULL is fine */
int link_fd(const struct link *l);
int link_send(struct link *l, const void *data, size_t len, struct err *err);
/* Waits for bytes and takes what is there; may be none at all, of TLS's own.  *over: there
 * will be no more.  -1 also when they were cut off. */
int link_fill(struct link *l, char *out, size_t max, size_t *got, bool *over,
	      struct err *err);
