// SPDX-License-Identifier: Apache-2.0
/* plot.h - lines over an axis, drawn in characters: dots of Braille, or ASCII.
 *
 * Pure: values in, text out.  What is no number, and what a logarithm has no place for, is
 * left out of the picture and counted below it.  Names are made harmless for a terminal.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define PLOT_LINES_MAX 8 /* of one picture; further ones are named, not drawn */
#define PLOT_WIDTH_MIN 40
#define PLOT_TEXT_MAX  24

struct plot_line {
	const char *name; /* or NULL, when there is just one */
	const char *text; /* behind the name, or NULL: "last 0.25" */
	const double *x, *y;
	size_t count;
};

enum plot_unit { PLOT_STEPS, PLOT_MS /* since the beginning */ };

struct plot {
	const char *title;
	const char *note; /* at the right of the title, or NULL */
	const struct plot_line *lines;
	size_t count;
	enum plot_unit unit;  /* of x */
	bool log;             /* y by its logarithm */
	size_t width, height; /* in cells: of all, and of the picture alone */
	bool ascii, colours;
};

void plot_draw(const struct plot *p, struct buf *out);

/* A value as short as four digits tell it: "0.0123", "1.5k", "2.4e-05". */
const char *plot_value(double v, char out[PLOT_TEXT_MAX]);

/* One axis: from low to high, with marks at round numbers. */
#define AXIS_TICKS_MAX 16
struct axis {
	double low, high;
	bool log;
	double ticks[AXIS_TICKS_MAX];
	size_t tick_count;
	double spacing; /* of ticks; 0 where it is a factor */
};
/* About `want` ticks. */
void axis_init(struct axis *a, double low, double high, bool log, size_t want);
void axis_round(struct axis *a); /* its ends become ticks where that costs little room */
double axis_place(const struct axis *a, double v); /* 0 at low or below, 1 at high */
/* With as many digits as tell neighbours apart. */
const char *axis_label(const struct axis *a, double v, char out[PLOT_TEXT_MAX]);
