// SPDX-License-Identifier: Apache-2.0
/* quote.h - words for a POSIX shell. */
#pragma once

#include "base/buf.h"

/* The text as one word: as it is where no shell could mistake it, else in quotes. */
void quote_word(const char *text, struct buf *out);

/* Whether argv is a shell with a line to execute; gives which argument that is, 0: none. */
size_t quote_shell_line(char *const *argv, size_t argc);

/* The line, with each $NAME and ${NAME} that stands as a word of its own, outside of quotes,
 * replaced by `words` (which are quoted already).  So each value arrives as one argument,
 * which an expansion could never do.
 *
 * Where it is not sure what the shell would make of it, nothing is replaced, and the
 * expansion does what it always does: in quotes of any kind, comments, `...`, ${...}, here
 * documents, arithmetic, behind '=', and in a line with eval, which reads words twice. */
void quote_expand(const char *line, const char *name, const char *words, struct buf *out);
