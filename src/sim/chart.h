// SPDX-License-Identifier: Apache-2.0
/* chart.h - results over time as a picture (SVG, no script, no outside font or style).
 *
 * Light or dark as the viewer is.  Several runs are lines of different colours.
 */
#pragma once

#include "base/buf.h"
#include "sim/result.h"

#define CHART_LINES_MAX 10

enum chart_panel { CHART_USE, CHART_QUEUE, CHART_FRAGMENT, CHART_PANEL_COUNT };

extern const char *const chart_panel_names[CHART_PANEL_COUNT]; /* for files */

struct chart_line {
	const char *name;
	const struct sim_result *result;
};

struct chart {
	const char *title;
	const struct chart_line *lines; /* those behind CHART_LINES_MAX are not drawn */
	size_t count;
	unsigned panels; /* bit of enum chart_panel: drawn one below the other */
};

void chart_svg(const struct chart *c, struct buf *out);
