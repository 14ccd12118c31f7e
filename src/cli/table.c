// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/plain.h"

#define GAP 2

struct cell {
	char *text;
	size_t width; /* in characters */
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
	c->width = plain_text(c->text, "");
	c->colour = colour;
}

const char *table_colour_code(enum table_colour c)
{
	static const char *const codes[TABLE_COLOUR_COUNT] = {
		[TABLE_PLAIN] = "",       [TABLE_GOOD] = "\033[32m",
		[TABLE_BAD] = "\033[31m", [TABLE_BUSY] = "\033[36m",
		[TABLE_DIM] = "\033[2m",
	};

	return codes[c];
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_addc(out, ' ');
}

/* The first `width` characters; the last of them a dot-dot-dot when something is cut. */
static void add_cut(struct buf *out, const char *text, size_t have, size_t width)
{
	if (have <= width) {
		buf_adds(out, text);
		return;
	}
	for (size_t i = 1; i < width; i++) {
		size_t n = utf8_sequence(text, strlen(text));
		buf_add(out, text, n ? n : 1);
		text += n ? n : 1;
	}
	buf_adds(out, "\u2026");
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
		size_t width = style.widths[i],
		       have = row[i].width < width ? row[i].width : width;
		bool coloured = style.colours && row[i].colour != TABLE_PLAIN;
		if (right)
			pad(out, width - have);
		if (coloured)
			buf_adds(out, table_colour_code(row[i].colour));
		add_cut(out, row[i].text, row[i].width, width);
		if (coloured)
			buf_adds(out, TABLE_COLOUR_END);
		if (!right && !last)
			pad(out, width - have);
		if (!last)
			pad(out, GAP);
	}
	while (out->len && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_addc(out, '\n');
}

void table_render(const struct table *t, bool colours, size_t width, struct buf *out)
{
	size_t widths[TABLE_COLUMNS_MAX] = { 0 }, before = 0;
	struct cell head[TABLE_COLUMNS_MAX];

	for (size_t i = 0; i < t->columns; i++) {
		char *text = mem_strdup(t->heads[i] + (t->heads[i][0] == '>'));
		head[i] = (struct cell){ text, strlen(text), TABLE_DIM };
		widths[i] = head[i].width;
		for (size_t k = i; k < t->count; k += t->columns)
			if (t->cells[k].width > widths[i])
				widths[i] = t->cells[k].width;
		before += i + 1 < t->columns ? widths[i] + GAP : 0;
	}
	size_t *last = &widths[t->columns - 1];
	if (width && before + *last > width)
		*last = width > before + 8 ? width - before : 8;
	struct row_style style = { widths, colours };
	add_row(t, head, style, out);
	for (size_t i = 0; i + t->columns <= t->count; i += t->columns)
		add_row(t, &t->cells[i], style, out);
	for (size_t i = 0; i < t->columns; i++)
		free(head[i].text);
}
