// SPDX-License-Identifier: Apache-2.0
#include "sim/chart.h"

#include <math.h>

#include "base/mem.h"

#define WIDTH        960.0
#define LEFT         64.0 /* of the first point: room for the numbers */
#define RIGHT        24.0
#define TOP          64.0 /* title and legend */
#define PANEL        190.0
#define PANEL_GAP    60.0
#define BOTTOM       46.0
#define LEGEND_STEP  8.0
#define LETTER_WIDTH 6.8

const char *const chart_panel_names[CHART_PANEL_COUNT] = {
	[CHART_USE] = "use",
	[CHART_QUEUE] = "queue",
	[CHART_FRAGMENT] = "fragmentation",
};

static const char *const panel_titles[CHART_PANEL_COUNT] = {
	[CHART_USE] = "Devices in use (%)",
	[CHART_QUEUE] = "Jobs that wait",
	[CHART_FRAGMENT] = "Fragmentation: idle devices that no usual job can use (%)",
};

/* Told apart by those who see no red or no green, on white and on black. */
static const char *const colours[CHART_LINES_MAX] = {
	"#2f7ed8", "#e8832a", "#2a9d6f", "#d1495b", "#8f6fd1",
	"#8a7a3d", "#d06fb4", "#5f7f8f", "#b5a72c", "#3fa7c4",
};

static const char style[] =
	"<style>\n"
	"text{font:12px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif;fill:#4a5058}\n"
	".title{font-size:16px;font-weight:600;fill:#16191d}\n"
	".panel{font-size:13px;font-weight:600;fill:#16191d}\n"
	".back{fill:#ffffff}.grid{stroke:#e4e7eb}.axis{stroke:#9aa1a9}\n"
	"@media (prefers-color-scheme:dark){\n"
	"text{fill:#aeb6bf}.title,.panel{fill:#f0f3f6}\n"
	".back{fill:#15181c}.grid{stroke:#2b3036}.axis{stroke:#6b737c}}\n"
	"</style>\n";

struct scale {
	double from, to, tick;
	double unit;      /* what a tick's number is divided by */
	const char *word; /* and is called then */
};

struct area {
	double top;
	struct scale x, y;
};

static void text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '<')
			buf_adds(out, "&lt;");
		else if (*s == '&')
			buf_adds(out, "&amp;");
		else if ((unsigned char)*s >= ' ')
			buf_addc(out, *s);
	}
}

static double value_of(const struct sim_sample *s, enum chart_panel p)
{
	switch (p) {
	case CHART_USE:
		return 100 * s->use;
	case CHART_QUEUE:
		return s->waiting;
	case CHART_FRAGMENT:
		return 100 * s->fragment;
	case CHART_PANEL_COUNT:
		break;
	}
	return 0;
}

/* 1, 2 or 5 times a power of ten, so that about `count` of them make `span`. */
static double round_tick(double span, int count)
{
	double rough = span / count, power = pow(10, floor(log10(rough)));

	if (rough <= power)
		return power;
	if (rough <= 2 * power)
		return 2 * power;
	return rough <= 5 * power ? 5 * power : 10 * power;
}

static void scale_values(struct scale *s, double most)
{
	*s = (struct scale){ .unit = 1, .word = "" };
	s->tick = round_tick(most > 0 ? most : 1, 5);
	s->to = ceil((most > 0 ? most : 1) / s->tick - 1e-9) * s->tick;
}

/* Ticks of a clock: minutes, hours and days have steps of their own. */
static void scale_time(struct scale *s)
{
	static const struct {
		double seconds, unit;
		const char *word;
	} steps[] = {
		{ 1, 1, "seconds" },       { 5, 1, "seconds" },
		{ 15, 1, "seconds" },      { 60, 60, "minutes" },
		{ 300, 60, "minutes" },    { 900, 60, "minutes" },
		{ 3600, 3600, "hours" },   { 7200, 3600, "hours" },
		{ 14400, 3600, "hours" },  { 43200, 3600, "hours" },
		{ 86400, 86400, "days" },  { 172800, 86400, "days" },
		{ 432000, 86400, "days" },
	};
	size_t i = 0;

	while (i + 1 < COUNT_OF(steps) && (s->to - s->from) / steps[i].seconds > 12)
		i++;
	s->tick = steps[i].seconds;
	s->unit = steps[i].unit;
	s->word = steps[i].word;
	if ((s->to - s->from) / s->tick > 14)
		s->tick = round_tick((s->to - s->from) / s->unit, 10) * s->unit;
}

static void scale_across(const struct chart *c, struct scale *s)
{
	bool demand = false, any = false;

	*s = (struct scale){ .unit = 1, .word = "% of capacity asked for" };
	for (size_t i = 0; i < c->count; i++) {
		const struct sim_result *r = c->lines[i].result;
		demand |= r->samples_by_demand;
		if (!r->sample_count)
			continue;
		if (!any || r->samples[0].at < s->from)
			s->from = r->samples[0].at;
		if (!any || r->samples[r->sample_count - 1].at > s->to)
			s->to = r->samples[r->sample_count - 1].at;
		any = true;
	}
	if (s->to <= s->from)
		s->to = s->from + 1;
	if (demand)
		s->tick = round_tick(s->to - s->from, 10);
	else
		scale_time(s);
}

static double at_x(const struct area *a, double v)
{
	return LEFT + (v - a->x.from) / (a->x.to - a->x.from) * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct area *a, double v)
{
	return a->top + PANEL - (v - a->y.from) / (a->y.to - a->y.from) * PANEL;
}

/* The first tick at or above the beginning, and how many there are from there on. */
static double first_tick(const struct scale *s, int *count)
{
	double first = ceil(s->from / s->tick) * s->tick;

	*count = (int)floor((s->to - first) / s->tick + 0.001) + 1;
	return first;
}

static void draw_axes(const struct area *a, struct buf *out)
{
	int rows, columns;
	double bottom = first_tick(&a->y, &rows), left = first_tick(&a->x, &columns);

	for (int i = 0; i < rows; i++) {
		double v = bottom + i * a->y.tick;
		buf_printf(out,
			   "<line class=\"%s\" stroke=\"#ccc\" x1=\"%.1f\" y1=\"%.1f\" "
			   "x2=\"%.1f\" y2=\"%.1f\"/>\n",
			   i ? "grid" : "axis", LEFT, at_y(a, v), WIDTH - RIGHT,
			   at_y(a, v));
		buf_printf(
			out,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.10g</text>\n",
			LEFT - 8, at_y(a, v) + 4, v);
	}
	for (int i = 0; i < columns; i++) {
		double v = left + i * a->x.tick;
		buf_printf(out,
			   "<line class=\"axis\" stroke=\"#999\" x1=\"%.1f\" y1=\"%.1f\" "
			   "x2=\"%.1f\" y2=\"%.1f\"/>\n",
			   at_x(a, v), a->top + PANEL, at_x(a, v), a->top + PANEL + 4);
		buf_printf(
			out,
			"<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%.10g</text>\n",
			at_x(a, v), a->top + PANEL + 18, v / a->x.unit);
	}
}

static void draw_line(const struct area *a, enum chart_panel p,
		      const struct sim_result *r, const char *colour, struct buf *out)
{
	if (!r->sample_count)
		return;
	buf_adds(out,
		 "<path fill=\"none\" stroke-width=\"1.4\" stroke-linejoin=\"round\" "
		 "stroke=\"");
	buf_printf(out, "%s\" d=\"", colour);
	for (size_t i = 0; i < r->sample_count; i++) {
		double x = at_x(a, r->samples[i].at);
		double y = at_y(a, value_of(&r->samples[i], p));
		buf_printf(out, "%c%.1f %.1f", i ? 'L' : 'M', x, y);
	}
	buf_adds(out, "\"/>\n");
}

static void draw_panel(const struct chart *c, enum chart_panel p, double top,
		       struct buf *out)
{
	struct area a = { .top = top };
	double most = 0;

	scale_across(c, &a.x);
	for (size_t i = 0; i < c->count; i++)
		for (size_t k = 0; k < c->lines[i].result->sample_count; k++)
			most = fmax(most, value_of(&c->lines[i].result->samples[k], p));
	scale_values(&a.y, p == CHART_USE        ? 100
			   : p == CHART_FRAGMENT ? fmax(most, 10)
						 : most);
	buf_printf(out, "<text class=\"panel\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", LEFT,
		   top - 12, panel_titles[p]);
	draw_axes(&a, out);
	for (size_t i = 0; i < c->count && i < CHART_LINES_MAX; i++)
		draw_line(&a, p, c->lines[i].result, colours[i], out);
	buf_printf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
		   WIDTH - RIGHT, top - 12, a.x.word);
}

static void draw_legend(const struct chart *c, struct buf *out)
{
	double x = LEFT;

	for (size_t i = 0; i < c->count && i < CHART_LINES_MAX; i++) {
		size_t letters = 0;
		for (const char *s = c->lines[i].name; *s; s++)
			letters += ((unsigned char)*s & 0xc0) != 0x80;
		buf_printf(out,
			   "<rect x=\"%.1f\" y=\"41\" width=\"16\" height=\"4\" rx=\"2\" "
			   "fill=\"%s\"/>\n<text x=\"%.1f\" y=\"47\">",
			   x, colours[i], x + 22);
		text(out, c->lines[i].name);
		buf_adds(out, "</text>\n");
		x += 22 + LETTER_WIDTH * (double)letters + 2 * LEGEND_STEP;
	}
}

void chart_svg(const struct chart *c, struct buf *out)
{
	double top = TOP + PANEL_GAP / 2, height = TOP + PANEL_GAP / 2;

	for (int p = 0; p < CHART_PANEL_COUNT; p++)
		if (c->panels & 1u << p)
			height += PANEL + PANEL_GAP;
	height += BOTTOM - PANEL_GAP;
	buf_printf(out,
		   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
		   "width=\"%.0f\" height=\"%.0f\" role=\"img\">\n<title>",
		   WIDTH, height, WIDTH, height);
	text(out, c->title);
	buf_printf(out,
		   "</title>\n%s<rect class=\"back\" fill=\"#fff\" width=\"%.0f\" "
		   "height=\"%.0f\"/>\n<text class=\"title\" x=\"%.1f\" y=\"27\">",
		   style, WIDTH, height, LEFT);
	text(out, c->title);
	buf_adds(out, "</text>\n");
	draw_legend(c, out);
	for (int p = 0; p < CHART_PANEL_COUNT; p++) {
		if (!(c->panels & 1u << p))
			continue;
		draw_panel(c, (enum chart_panel)p, top, out);
		top += PANEL + PANEL_GAP;
	}
	buf_adds(out, "</svg>\n");
}
