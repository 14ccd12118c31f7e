// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "cli/plain.h"
#include "cli/width.h"

#define GAP        2
#define COLUMN_MIN 8 /* cells that a column of words keeps */

struct cell {
	char *text;
	size_t width; /* in cells of a terminal */
	enum table_colour colour;
};

struct table {
	const char *const *heads;
	size_t columns;
	struct cell *cells;
	size_t count, cap;
};

struct table *table_create(const char *const *heads, size_t count)
{
	struct table *t = mem_alloc(1, sizeof *t);

	assert(count > 0 && count <= TABLE_COLUMNS_MAX);
	t->heads = heads;
	t->columns = count;
	return t;
}

void table_destroy(struct table *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t);
}

void table_cell(struct table *t, enum table_colour colour, const char *fmt, ...)
{
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	mem_grow(&t->cells, &t->cap, t->count, sizeof *t->cells);
	struct cell *c = &t->cells[t->count++];
	c->text = mem_strdup(buf_str(&text));
	plain_text(c->text, "");
	c->width = width_of(c->text);
	c->colour = colour;
}

const char *table_colour_code(enum table_colour c)
{
	static const char *const codes[TABLE_COLOUR_COUNT] = {
		[TABLE_PLAIN] = "",        [TABLE_GOOD] = "\033[32m",
		[TABLE_BAD] = "\033[31m",  [TABLE_BUSY] = "\033[36m",
		[TABLE_WARN] = "\033[33m", [TABLE_DIM] = "\033[2m",
		[TABLE_BOLD] = "\033[1m",  [TABLE_BACK] = "\033[7m",
	};

	return codes[c];
}

struct row_style {
	const size_t *widths;
	bool colours;
};

static void add_row(const struct table *t, const struct cell *row, struct row_style style,
		    struct buf *out)
{
	for (size_t i = 0; i < t->columns; i++) {
		bool right = t->heads[i][0] == '>', last = i + 1 == t->columns;
		size_t width = style.widths[i];
		bool coloured = style.colours && row[i].colour != TABLE_PLAIN;
		if (right && row[i].width < width)
			width_pad(out, width - row[i].width);
		if (coloured)
			buf_adds(out, table_colour_code(row[i].colour));
		size_t have = width_cut(out, row[i].text, width);
		if (coloured)
			buf_adds(out, TABLE_COLOUR_END);
		if (!right && !last)
			width_pad(out, width - have);
		if (!last)
			width_pad(out, GAP);
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_addc(out, '\n');
}

/* Columns of words give way, the widest first; numbers are never cut. */
static void fit(const struct table *t, size_t *widths, size_t width)
{
	size_t all = GAP * (t->columns - 1);

	for (size_t i = 0; i < t->columns; i++)
		all += widths[i];
	while (width && all > width) {
		size_t widest = t->columns;
		for (size_t i = 0; i < t->columns; i++)
			if (t->heads[i][0] != '>' && widths[i] > COLUMN_MIN &&
			    (widest == t->columns || widths[i] >= widths[widest]))
				widest = i;
		if (widest == t->columns)
			return;
		widths[widest]--;
		all--;
	}
}

void table_render(const struct table *t, bool colours, size_t width, struct buf *out)
{
	size_t widths[TABLE_COLUMNS_MAX] = { 0 };
	struct cell head[TABLE_COLUMNS_MAX];

	for (size_t i = 0; i < t->columns; i++) {
		char *text = mem_strdup(t->heads[i] + (t->heads[i][0] == '>'));
		head[i] = (struct cell){ text, width_of(text), TABLE_DIM };
		widths[i] = head[i].width;
		for (size_t k = i; k < t->count; k += t->columns)
			if (t->cells[k].width > widths[i])
				widths[i] = t->cells[k].width;
	}
	fit(t, widths, width);
	struct row_style style = { widths, colours };
	add_row(t, head, style, out);
	for (size_t i = 0; i + t->columns <= t->count; i += t->columns)
		add_row(t, &t->cells[i], style, out);
	for (size_t i = 0; i < t->columns; i++)
		free(head[i].text);
}
