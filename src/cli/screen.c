// SPDX-License-Identifier: Apache-2.0
#include "cli/screen.h"

#include <string.h>

#include "base/mem.h"
#include "cli/plain.h"
#include "cli/width.h"

#define CELL_BYTES 8 /* a character, and a mark that combines with it */

struct cell {
	char text[CELL_BYTES]; /* "": the second half of a wide character */
	size_t len;
	enum table_colour colour;
};

struct screen {
	int rows, cols;
	bool *selected; /* by row */
	struct cell *cells;
};

struct screen *screen_create(int rows, int cols)
{
	struct screen *s = mem_alloc(1, sizeof *s);
	size_t count = (size_t)rows * (size_t)cols;

	s->rows = rows;
	s->cols = cols;
	s->selected = mem_alloc((size_t)rows + 1, sizeof *s->selected);
	s->cells = mem_alloc(count + 1, sizeof *s->cells);
	for (size_t i = 0; i < count; i++)
		s->cells[i] = (struct cell){ " ", 1, TABLE_PLAIN };
	return s;
}

void screen_destroy(struct screen *s)
{
	if (!s)
		return;
	free(s->selected);
	free(s->cells);
	free(s);
}

int screen_rows(const struct screen *s)
{
	return s->rows;
}

int screen_cols(const struct screen *s)
{
	return s->cols;
}

static struct cell *cell_at(const struct screen *s, int row, int col)
{
	return &s->cells[(size_t)row * (size_t)s->cols + (size_t)col];
}

/* A mark goes into the cell of the letter that it belongs to. */
static void combine(struct screen *s, int row, int col, const char *text, size_t bytes)
{
	if (col == 0)
		return;
	struct cell *c = cell_at(s, row, col - 1);
	if (c->len + bytes >= CELL_BYTES)
		return;
	memcpy(c->text + c->len, text, bytes);
	c->len += bytes;
}

int screen_put(struct screen *s, int row, int col, enum table_colour colour,
	       const char *text)
{
	AUTO_FREE char *plain = mem_strdup(text);
	size_t bytes;

	plain_text(plain, "");
	if (row < 0 || row >= s->rows || col < 0)
		return col;
	size_t len = strlen(plain);
	for (size_t i = 0; i < len; i += bytes) {
		int n = (int)width_char(plain + i, len - i, &bytes);
		if (n == 0) {
			combine(s, row, col, plain + i, bytes);
			continue;
		}
		if (col + n > s->cols)
			break;
		struct cell *c = cell_at(s, row, col);
		*c = (struct cell){ .len = bytes, .colour = colour };
		memcpy(c->text, plain + i, bytes);
		if (n == 2)
			*cell_at(s, row, col + 1) = (struct cell){ .colour = colour };
		col += n;
	}
	return col;
}

void screen_field(struct screen *s, const struct screen_field *f, const char *text)
{
	AUTO_BUF struct buf cut = { 0 };
	AUTO_FREE char *plain = mem_strdup(text);

	if (f->cells <= 0)
		return;
	plain_text(plain, "");
	int have = (int)width_cut(&cut, plain, (size_t)f->cells);
	screen_put(s, f->row, f->right ? f->col + f->cells - have : f->col, f->colour,
		   buf_str(&cut));
}

void screen_select(struct screen *s, int row)
{
	if (row >= 0 && row < s->rows)
		s->selected[row] = true;
}

void screen_text(const struct screen *s, int row, struct buf *out)
{
	size_t start = out->len;

	for (int col = 0; col < s->cols; col++)
		buf_add(out, cell_at(s, row, col)->text, cell_at(s, row, col)->len);
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

static void render_row(const struct screen *s, int row, bool colours, struct buf *out)
{
	enum table_colour now = TABLE_PLAIN;

	/* What is selected must be seen without colours, too. */
	if (s->selected[row])
		buf_adds(out, table_colour_code(TABLE_BACK));
	for (int col = 0; col < s->cols; col++) {
		const struct cell *c = cell_at(s, row, col);
		if (colours && !s->selected[row] && c->colour != now) {
			buf_adds(out, TABLE_COLOUR_END);
			buf_adds(out, table_colour_code(c->colour));
			now = c->colour;
		}
		buf_add(out, c->text, c->len);
	}
	if (now != TABLE_PLAIN || s->selected[row])
		buf_adds(out, TABLE_COLOUR_END);
}

void screen_render(const struct screen *s, bool colours, struct buf *out)
{
	buf_adds(out, "\033[H");
	for (int row = 0; row < s->rows; row++) {
		buf_printf(out, "\033[%d;1H", row + 1);
		render_row(s, row, colours, out);
	}
}
