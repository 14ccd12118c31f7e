// SPDX-License-Identifier: Apache-2.0
/* tape.h - a file that grows by lines and is written off the loop: the plan's journal.
 *
 * What was there is kept once, as FILE.1.  Never blocks and never fails its caller: when the
 * disk does not take it, or so many bytes are written, it ends, and nothing more is kept
 * until the next start.  What was added last may be missing after a crash, and the last
 * line may be half.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/err.h"
#include "world/world.h"

struct tape;

struct tape *tape_open(struct world *w, const char *path, int64_t most_bytes,
		       struct err *err);
void tape_add(struct tape *t, const struct buf *lines);
bool tape_over(const struct tape *t); /* it takes nothing more */
/* Writes out what it has, waits for nobody.  NULL is fine. */
void tape_close(struct tape *t);
