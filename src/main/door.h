// SPDX-License-Identifier: Apache-2.0
/* door.h - where the daemon listens by TCP, and whether in TLS.
 *
 * TLS is on unless the address is one that only this machine reaches (--tls auto).  The
 * certificate is the one given, else one that the daemon made for itself, once.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "main/place.h"
#include "tls/tls.h"
#include "wire/settings.h"

struct door {
	char host[256]; /* "": it does not listen by TCP */
	int port;
	struct tls_context *tls; /* NULL: in the clear */
};

int door_open(struct door *d, const struct settings *s, const struct place *p,
	      struct err *err);
void door_close(struct door *d);
/* " https://host:port" with the port it got; nothing when it does not listen. */
void door_url(const struct door *d, int port, struct buf *out);
/* "https://host:port" for others to open: where it listens everywhere, by this machine's
 * name.  Nothing when it does not listen. */
void door_public_url(const struct door *d, int port, struct buf *out);
