// SPDX-License-Identifier: Apache-2.0
/* width.h - how many cells of a terminal a text takes.
 *
 * A Chinese character takes two, an accent that combines with the letter before it none.
 * What is not UTF-8 counts as one a byte.  No locale is asked: the same on every machine.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* Cells of the character that s begins with, and its bytes.  len >= 1. */
size_t width_char(const char *s, size_t len, size_t *bytes);
size_t width_of(const char *text);
/* Appends what fits into so many cells, the last of them an ellipsis when something is cut;
 * gives the cells taken, which may be one less than allowed. */
size_t width_cut(struct buf *out, const char *text, size_t cells);
void width_pad(struct buf *out, size_t cells); /* spaces */
/* Appends text that begins `indent` cells from the left, broken between words into lines of
 * so many cells, each further one indented as far.  cells 0, or too few: as it is. */
void width_wrap(struct buf *out, const char *text, size_t indent, size_t cells);
