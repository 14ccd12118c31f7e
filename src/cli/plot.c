// SPDX-License-Identifier: Apache-2.0
#include "cli/plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/units.h"
#include "base/utf8.h"
#include "cli/plain.h"
#include "cli/table.h"
#include "cli/width.h"

#define BRAILLE    0x2800
#define GAP        4 /* cells between labels below */
#define LABEL_ROWS 3 /* of the picture for each label at its side */
#define LABEL_COLS 14

static const char *const colours[PLOT_LINES_MAX] = {
	"\033[36m", "\033[33m", "\033[35m", "\033[32m",
	"\033[34m", "\033[31m", "\033[96m", "\033[93m",
};
static const char marks[PLOT_LINES_MAX + 1] = "*o+x#@%=";

struct cell {
	uint8_t dots, line; /* line: which one drew here last, from 1 */
};

struct canvas {
	const struct plot *plot;
	struct axis x, y;
	size_t rows, cols; /* in cells */
	bool braille;      /* else one mark a cell */
	struct cell *cells;
	size_t left; /* cells of the labels at the side */
	size_t no_number, no_place;
};

static bool has_place(const struct canvas *c, double v)
{
	return isfinite(v) && (!c->plot->log || v > 0);
}

static size_t line_count(const struct plot *p)
{
	return p->count < PLOT_LINES_MAX ? p->count : PLOT_LINES_MAX;
}

/* From what is there to the axes; false: there is nothing to draw. */
static bool measure(struct canvas *c)
{
	const struct plot *p = c->plot;
	double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };

	for (size_t l = 0; l < line_count(p); l++)
		for (size_t i = 0; i < p->lines[l].count; i++) {
			double at[2] = { p->lines[l].x[i], p->lines[l].y[i] };
			c->no_number += !isfinite(at[1]);
			c->no_place += isfinite(at[1]) && !has_place(c, at[1]);
			for (int k = 0; k < 2 && has_place(c, at[1]); k++) {
				low[k] = fmin(low[k], at[k]);
				high[k] = fmax(high[k], at[k]);
			}
		}
	if (!(low[1] <= high[1]))
		return false;
	axis_init(&c->y, low[1], high[1], p->log,
		  (c->rows + LABEL_ROWS - 1) / LABEL_ROWS + 1);
	axis_round(&c->y);
	/* As many rows from tick to tick everywhere. */
	size_t gaps = c->y.tick_count > 1 ? c->y.tick_count - 1 : 1;
	bool whole = c->y.tick_count > 1 && c->y.ticks[0] <= c->y.low &&
		     c->y.ticks[gaps] >= c->y.high;
	if (whole && c->rows > gaps)
		c->rows = (c->rows - 1) / gaps * gaps + 1;
	axis_init(&c->x, low[0], high[0], false, p->width / LABEL_COLS);
	if (low[0] == high[0] && low[0] >= 0) {
		c->x.low = low[0]; /* no steps below 0 for one that is there */
		c->x.tick_count = 0;
		c->x.ticks[c->x.tick_count++] = low[0];
	}
	return true;
}

static const char *x_label(const struct canvas *c, double v, char out[UNITS_TEXT_MAX])
{
	char text[PLOT_TEXT_MAX];

	if (c->plot->unit == PLOT_MS)
		return units_show_duration((int64_t)v, out);
	snprintf(out, UNITS_TEXT_MAX, "%s", axis_label(&c->x, v, text));
	return out;
}

static void lay_out(struct canvas *c)
{
	char text[PLOT_TEXT_MAX];

	c->left = 4;
	for (size_t i = 0; i < c->y.tick_count; i++) {
		size_t n = strlen(axis_label(&c->y, c->y.ticks[i], text));
		c->left = n > c->left ? n : c->left;
	}
	c->cols = c->plot->width - c->left - 2;
	c->cells = mem_alloc(c->rows * c->cols, sizeof *c->cells);
}

/* One dot, counted from the upper left, dots of all cells together. */
static void put_dot(struct canvas *c, int64_t x, int64_t y, size_t line)
{
	static const uint8_t bits[4][2] = {
		{ 0x01, 0x08 }, { 0x02, 0x10 }, { 0x04, 0x20 }, { 0x40, 0x80 }
	};
	int64_t wide = c->braille ? 2 : 1, high = c->braille ? 4 : 1;
	struct cell *cell = &c->cells[(size_t)(y / high) * c->cols + (size_t)(x / wide)];

	if (cell->line != line + 1 && !c->braille)
		cell->dots = 0;
	cell->dots |= c->braille ? bits[y % 4][x % 2] : 1;
	cell->line = (uint8_t)(line + 1);
}

static void put_stroke(struct canvas *c, const int64_t from[2], const int64_t to[2],
		       size_t line)
{
	int64_t dx = llabs(to[0] - from[0]), dy = llabs(to[1] - from[1]);
	int64_t steps = dx > dy ? dx : dy;

	for (int64_t i = 0; i <= steps; i++) {
		double part = steps ? (double)i / (double)steps : 0;
		put_dot(c, from[0] + llround((double)(to[0] - from[0]) * part),
			from[1] + llround((double)(to[1] - from[1]) * part), line);
	}
}

/* What cannot be placed is a gap: no line leads over it. */
static void draw_line(struct canvas *c, const struct plot_line *l, size_t line)
{
	int64_t wide = (int64_t)c->cols * (c->braille ? 2 : 1) - 1;
	int64_t high = (int64_t)c->rows * (c->braille ? 4 : 1) - 1;
	int64_t before[2] = { 0, 0 };
	bool begun = false;

	for (size_t i = 0; i < l->count; i++) {
		if (!has_place(c, l->y[i])) {
			begun = false;
			continue;
		}
		int64_t at[2] = {
			llround(axis_place(&c->x, l->x[i]) * (double)wide),
			llround((1 - axis_place(&c->y, l->y[i])) * (double)high),
		};
		put_stroke(c, begun ? before : at, at, line);
		memcpy(before, at, sizeof before);
		begun = true;
	}
}

static void add_cell(const struct canvas *c, const struct cell *cell, struct buf *out)
{
	char bytes[4];

	if (!cell->dots || !cell->line)
		buf_addc(out, ' ');
	else if (c->braille)
		buf_add(out, bytes, utf8_write(BRAILLE + cell->dots, bytes));
	else
		buf_addc(out, marks[cell->line - 1]);
}

static void add_cells(const struct canvas *c, size_t row, struct buf *out)
{
	const struct cell *cells = &c->cells[row * c->cols];
	size_t end = c->cols;
	uint8_t now = 0;

	while (end && !cells[end - 1].dots)
		end--;
	for (size_t i = 0; i < end; i++) {
		if (c->plot->colours && cells[i].line && cells[i].line != now) {
			now = cells[i].line;
			buf_adds(out, colours[now - 1]);
		}
		add_cell(c, &cells[i], out);
	}
	if (now)
		buf_adds(out, TABLE_COLOUR_END);
}

static void add_dim(const struct canvas *c, const char *text, struct buf *out)
{
	buf_adds(out, c->plot->colours ? table_colour_code(TABLE_DIM) : "");
	buf_adds(out, text);
	buf_adds(out, c->plot->colours ? TABLE_COLOUR_END : "");
}

/* The tick that stands in this row, or NULL. */
static const double *tick_of_row(const struct canvas *c, size_t row)
{
	for (size_t i = 0; i < c->y.tick_count; i++) {
		double at =
			(1 - axis_place(&c->y, c->y.ticks[i])) * (double)(c->rows - 1);
		if ((size_t)llround(at) == row)
			return &c->y.ticks[i];
	}
	return NULL;
}

static void add_row(const struct canvas *c, size_t row, struct buf *out)
{
	const double *tick = tick_of_row(c, row);
	char text[PLOT_TEXT_MAX] = "";
	AUTO_BUF struct buf side = { 0 };

	if (tick)
		axis_label(&c->y, *tick, text);
	buf_printf(&side, "%*s %s", (int)c->left, text,
		   c->plot->ascii ? (tick ? "+" : "|") : (tick ? "\u2524" : "\u2502"));
	add_dim(c, buf_str(&side), out);
	add_cells(c, row, out);
	buf_addc(out, '\n');
}

static size_t x_column(const struct canvas *c, double v)
{
	return (size_t)llround(axis_place(&c->x, v) * (double)(c->cols - 1));
}

/* The line below, marked where there are labels, and these under it. */
static void add_foot(const struct canvas *c, struct buf *out)
{
	AUTO_BUF struct buf rule = { 0 }, labels = { 0 };
	char text[UNITS_TEXT_MAX];
	size_t at = 0, free_from = 0;

	width_pad(&rule, c->left + 1);
	buf_adds(&rule, c->plot->ascii ? "+" : "\u2514");
	width_pad(&labels, c->left + 2);
	for (size_t i = 0; i < c->x.tick_count; i++) {
		size_t col = x_column(c, c->x.ticks[i]);
		x_label(c, c->x.ticks[i], text);
		size_t n = strlen(text), from = col > n / 2 ? col - n / 2 : 0;
		if (from + n > c->cols)
			from = c->cols > n ? c->cols - n : 0;
		if (from < free_from || from + n > c->cols)
			continue;
		for (; at < col; at++)
			buf_adds(&rule, c->plot->ascii ? "-" : "\u2500");
		buf_adds(&rule, c->plot->ascii ? "+" : "\u252c");
		at = col + 1;
		width_pad(&labels, c->left + 2 + from - labels.len);
		buf_adds(&labels, text);
		free_from = from + n + GAP;
	}
	for (; at < c->cols; at++)
		buf_adds(&rule, c->plot->ascii ? "-" : "\u2500");
	add_dim(c, buf_str(&rule), out);
	buf_addc(out, '\n');
	add_dim(c, buf_str(&labels), out);
	buf_addc(out, '\n');
}

/* "loss                         last 0.25, least 0.2" */
static void add_title(const struct plot *p, struct buf *out)
{
	AUTO_BUF struct buf cut = { 0 };
	AUTO_FREE char *title = mem_strdup(p->title);
	size_t note = p->note ? width_of(p->note) : 0;

	plain_text(title, "");
	size_t room = p->width > note + 2 ? p->width - note - 2 : 0;
	room = room < PLOT_WIDTH_MIN / 2 ? PLOT_WIDTH_MIN / 2 : room;
	size_t taken = width_cut(&cut, title, room);
	buf_printf(out, "%s%s%s", p->colours ? table_colour_code(TABLE_BOLD) : "",
		   buf_str(&cut), p->colours ? TABLE_COLOUR_END : "");
	if (note && p->width > taken + note) {
		width_pad(out, p->width - taken - note);
		buf_adds(out, p->note);
	}
	buf_addc(out, '\n');
}

static void add_legend_item(const struct plot *p, size_t i, size_t room, struct buf *out)
{
	const struct plot_line *l = &p->lines[i];
	AUTO_FREE char *name = mem_strdup(l->name);
	char mark[2] = { marks[i], '\0' };

	plain_text(name, "");
	buf_printf(out, "%s%s%s ", p->colours ? colours[i] : "",
		   p->ascii || !p->colours ? mark : "\u2501\u2501",
		   p->colours ? TABLE_COLOUR_END : "");
	width_cut(out, name, room);
	if (l->text)
		buf_printf(out, "  %s", l->text);
	buf_addc(out, '\n');
}

static void add_legend(const struct plot *p, struct buf *out)
{
	if (p->count == 1 && !p->lines[0].name)
		return;
	for (size_t i = 0; i < line_count(p); i++) {
		size_t text = p->lines[i].text ? width_of(p->lines[i].text) + 2 : 0;
		size_t room = p->width > text + 6 ? p->width - text - 6 : 10;
		buf_adds(out, "  ");
		add_legend_item(p, i, room, out);
	}
	if (p->count > PLOT_LINES_MAX)
		buf_printf(out, "  and %zu more that are not drawn\n",
			   p->count - PLOT_LINES_MAX);
}

static void add_left_out(const struct canvas *c, struct buf *out)
{
	if (c->no_number)
		buf_printf(out, "  %zu value%s NaN or infinite: not drawn\n",
			   c->no_number, c->no_number == 1 ? " is" : "s are");
	if (c->no_place)
		buf_printf(out, "  %zu value%s not above 0: not drawn by a logarithm\n",
			   c->no_place, c->no_place == 1 ? " is" : "s are");
}

void plot_draw(const struct plot *asked, struct buf *out)
{
	struct plot p = *asked;
	struct canvas c = { .plot = &p };

	p.width = p.width < PLOT_WIDTH_MIN ? PLOT_WIDTH_MIN : p.width;
	c.rows = p.height < 4 ? 4 : p.height;
	/* Without colours lines are told apart by their marks. */
	c.braille = !p.ascii && (p.colours || p.count == 1);
	add_title(&p, out);
	if (measure(&c)) {
		lay_out(&c);
		for (size_t i = line_count(&p); i-- > 0;) /* the first one on top */
			draw_line(&c, &p.lines[i], i);
		for (size_t row = 0; row < c.rows; row++)
			add_row(&c, row, out);
		add_foot(&c, out);
		free(c.cells);
	} else {
		buf_adds(out, "  nothing to draw\n");
	}
	add_left_out(&c, out);
	add_legend(&p, out);
}
