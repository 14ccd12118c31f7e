// SPDX-License-Identifier: Apache-2.0
/* lend.h - to send by other means than the stream's own, such as sendfile() off the loop. */
#pragma once

#include "world/world.h"

/* A duplicate of the stream's socket, which does not block; the caller closes it.  Until all
 * is sent by it the stream itself must not be written to.  -1: this stream has none (it
 * is no socket, or simulated), or bytes are pending. */
int world_stream_lend(struct world_stream *s);
/* on_drain once the kernel takes bytes again. */
void world_stream_await(struct world_stream *s);
