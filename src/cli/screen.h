// SPDX-License-Identifier: Apache-2.0
/* screen.h - a terminal's cells as a value: drawn in memory, looked at by tests, written at once.
 *
 * What is put outside is clipped; a wide character takes two cells or none.  Whatever a
 * terminal would act on becomes '?'.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "cli/table.h"

struct screen;

struct screen *screen_create(int rows, int cols);
void screen_destroy(struct screen *s);
int screen_rows(const struct screen *s);
int screen_cols(const struct screen *s);
/* Gives the column behind it. */
int screen_put(struct screen *s, int row, int col, enum table_colour colour,
	       const char *text);
/* In at most `cells` cells, with an ellipsis when cut, padded to them; flush right if asked. */
struct screen_field {
	int row, col, cells;
	bool right;
	enum table_colour colour;
};
void screen_field(struct screen *s, const struct screen_field *f, const char *text);
void screen_select(struct screen *s, int row); /* the whole row is marked */
/* A row as text, without spaces at its end. */
void screen_text(const struct screen *s, int row, struct buf *out);
/* All of it, for a terminal of that size. */
void screen_render(const struct screen *s, bool colours, struct buf *out);
