// SPDX-License-Identifier: Apache-2.0
/* plain.h - what other people wrote, made harmless for a terminal.
 *
 * Names, commands and reasons come from users; an escape sequence in them could rewrite what
 * an admin sees, or type for them.  Whatever could move the cursor becomes '?'.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"

/* In place: control characters (C0, DEL, C1) but for those in `keep`, and what is not UTF-8.
 * Gives how many characters there are. */
size_t plain_text(char *text, const char *keep);
/* Appends the bytes of a stream whose ends are anywhere; *last: the byte before, at first 0.
 * Tabs, line ends and carriage returns stay, and so does what is not UTF-8. */
void plain_stream(struct buf *out, const char *data, size_t len, unsigned char *last);
/* Appends JSON with C1 controls as escapes: the same value, nothing a terminal acts on. */
void plain_json(struct buf *out, const struct buf *json);
