// SPDX-License-Identifier: Apache-2.0
/* link.h - frames to and from one shim over a world stream.
 *
 * Exactly one on_end comes, after the last frame, unless the link is closed before.
 * A link may be closed inside its own callbacks.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "shim/message.h"
#include "world/world.h"

struct link;

struct link_events {
	void *arg;
	void (*on_frame)(void *arg, const struct shim_frame *f);
	void (*on_end)(void *arg);
};

/* Owns the fd, also on failure. */
struct link *link_open(struct world *w, int fd, const struct link_events *ev,
		       struct err *err);
void link_send(struct link *l, enum shim_type type, const void *data, size_t len);
void link_close(struct link *l); /* NULL is fine */
