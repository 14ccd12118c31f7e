// SPDX-License-Identifier: Apache-2.0
/* Pictures of series: axes with round numbers, lines where they belong, nothing too wide. */
#include "cli/plot.h"

#include <math.h>
#include <stdlib.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/metrics_view.h"
#include "cli/width.h"
#include "tap.h"

static void ticks_are_round(void)
{
	uint64_t seed = 7;
	int bad = 0, few = 0, outside = 0;

	for (int i = 0; i < 20000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		double low = ldexp((double)(int64_t)seed, -(int)(seed >> 58) - 10);
		double high = low + fabs(low) * ((double)(seed % 1000 + 1) / 100) + 1e-12;
		struct axis a;
		axis_init(&a, low, high, false, 5);
		axis_round(&a);
		few += a.tick_count < 2 || a.tick_count > 12;
		outside +=
			a.low > low + a.spacing / 1e6 || a.high < high - a.spacing / 1e6;
		double m = a.spacing / pow(10, floor(log10(a.spacing) + 1e-9));
		bad += fabs(m - 1) > 1e-6 && fabs(m - 2) > 1e-6 && fabs(m - 5) > 1e-6;
		for (size_t k = 0; k < a.tick_count; k++)
			outside += a.ticks[k] < a.low - a.spacing / 1e6 ||
				   a.ticks[k] > a.high + a.spacing / 1e6;
	}
	IS_INT(bad, 0, "ticks are 1, 2 or 5 times a power of ten apart");
	IS_INT(few, 0, "never fewer than two of them, nor too many");
	IS_INT(outside, 0, "all within the axis, and all values, too");
}

static void labels(void)
{
	static const struct {
		double low, high, v;
		const char *want;
	} cases[] = {
		{ 0, 1, 0.2, "0.2" },         { 0, 10, 4, "4" },
		{ 0, 100000, 20000, "20k" },  { 0, 2e6, 500000, "500k" },
		{ 0, 1e-7, 2e-8, "2e-08" },   { -1, 1, 0, "0" },
		{ 0.5, 0.52, 0.51, "0.510" },
	};
	char text[PLOT_TEXT_MAX];
	struct axis a;

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		axis_init(&a, cases[i].low, cases[i].high, false, 5);
		IS(axis_label(&a, cases[i].v, text), cases[i].want,
		   "a label from %g to %g", cases[i].low, cases[i].high);
	}
	IS(plot_value(NAN, text), "NaN", "a value that is none");
	IS(plot_value(0.000012345, text), "1.23e-05", "a small one");
	IS(plot_value(-1234567, text), "-1.235M", "a large one");
	axis_init(&a, 1e-4, 1, true, 5);
	OK(a.tick_count == 5 && fabs(a.ticks[1] / 1e-3 - 1) < 1e-9,
	   "powers of ten by logarithm");
}

/* Rows of a picture; how wide the widest is. */
static size_t widest(const struct buf *out)
{
	size_t most = 0;
	AUTO_FREE char *copy = mem_strdup(buf_str(out));
	char *rest = copy, *row;

	while ((row = strsep(&rest, "\n")))
		most = width_of(row) > most ? width_of(row) : most;
	return most;
}

static void draw(const double *y, size_t count, struct plot *p, struct buf *out)
{
	double x[512];
	struct plot_line line = { .x = x, .y = y, .count = count };

	for (size_t i = 0; i < count; i++)
		x[i] = (double)i;
	p->lines = &line;
	p->count = 1;
	buf_clear(out);
	plot_draw(p, out);
}

static void pictures(void)
{
	AUTO_BUF struct buf out = { 0 };
	double y[512];
	struct plot p = { .title = "loss", .width = 60, .height = 6, .ascii = true };
	bool fits = true;

	y[0] = 0;
	y[1] = 5;
	y[2] = 0;
	draw(y, 3, &p, &out);
	IS(buf_str(&out),
	   "loss\n"
	   "   5 +                         *****\n"
	   "     |                   ******     *****\n"
	   "     |              *****                *****\n"
	   "     |         *****                          ******\n"
	   "     |   ******                                     *****\n"
	   "   0 +***                                                ***\n"
	   "     ++--------------------------+-------------------------+\n"
	   "      0                          1                         2\n",
	   "a line from end to end, between two axes");
	for (size_t width = 1; width < 200; width++) {
		p.width = width;
		p.note = width % 2 ? "last 0.25" : NULL;
		draw(y, 3, &p, &out);
		size_t most = width < PLOT_WIDTH_MIN ? PLOT_WIDTH_MIN : width;
		fits = fits && widest(&out) <= most;
	}
	OK(fits, "no row is wider than asked, at any width");
	p.width = 80;
	p.ascii = false;
	draw(y, 3, &p, &out);
	OK(strstr(buf_str(&out), "\u2524") && widest(&out) <= 80, "and none in Braille");
}

static void odd_values(void)
{
	AUTO_BUF struct buf out = { 0 };
	struct plot p = {
		.title = "odd\033[2J\nname", .width = 80, .height = 8, .ascii = true
	};
	double y[] = { 1, NAN, INFINITY, -1, 0, 1e308, -1e308, 5e-324 };

	draw(y, COUNT_OF(y), &p, &out);
	OK(strstr(buf_str(&out), "2 values are NaN or infinite"),
	   "what is no number is counted");
	OK(!strchr(buf_str(&out), '\033'), "a name does nothing to the terminal");
	p.log = true;
	draw(y, COUNT_OF(y), &p, &out);
	OK(strstr(buf_str(&out), "3 values are not above 0"),
	   "nor has a logarithm a place for all");
	draw(y + 1, 2, &p, &out);
	OK(strstr(buf_str(&out), "nothing to draw"), "nothing to draw is said");
	draw(y, 0, &p, &out);
	OK(strstr(buf_str(&out), "nothing to draw"), "of no values, too");
	p.log = false;
	draw(y, 1, &p, &out);
	OK(strchr(buf_str(&out), '*'), "one value is a dot");
}

static void several(void)
{
	static const char text[] =
		"{\"series\":["
		"{\"name\":\"loss\",\"run\":\"b\",\"source\":\"tensorboard\",\"count\":2,\"nan_count\":0,"
		"\"min\":1,\"max\":2,\"last\":2,\"last_step\":1,\"last_time_ms\":5,\"points\":[[0,4,1],[1,5,2]]},"
		"{\"name\":\"acc\",\"run\":\".\",\"source\":\"log\",\"count\":1,\"nan_count\":1,"
		"\"min\":null,\"max\":null,\"last\":\"NaN\",\"last_step\":1,\"last_time_ms\":5,"
		"\"points\":[[1,5,\"NaN\"]]},"
		"{\"name\":\"loss\",\"run\":\"a\",\"source\":\"tensorboard\",\"count\":1,\"nan_count\":0,"
		"\"min\":3,\"max\":3,\"last\":3,\"last_step\":1,\"last_time_ms\":5,\"points\":[[1,5,3]]}],"
		"\"other\":[{\"name\":\"cat\",\"run\":\"a\",\"kind\":\"image\",\"count\":2,\"last_step\":1}],"
		"\"problems\":[\"something\"]}";
	AUTO_BUF struct buf out = { 0 };
	struct err err;
	AUTO_DOC struct doc *d = doc_parse_json(text, strlen(text), &err);
	struct metric_page p;
	struct metric_look look = { .width = 60, .ascii = true };

	metric_page_read(&p, doc_root(d));
	metric_page_rows(&p, &out);
	IS(buf_str(&out),
	   ".\tacc\t1\t5\tnan\na\tloss\t1\t5\t3\nb\tloss\t0\t4\t1\nb\tloss\t1\t5\t2\n",
	   "rows by name and run");
	buf_clear(&out);
	metric_page_draw(&p, &look, &out);
	OK(strstr(buf_str(&out), "* a  last 3") && strstr(buf_str(&out), "o b  last 2"),
	   "runs of one name are lines of one picture, with a legend");
	buf_clear(&out);
	metric_page_notes(&p, 0, &out);
	IS(buf_str(&out), "also: a cat (2 image)\nproblem: something\n",
	   "what else there is");
	buf_clear(&out);
	metric_page_words(&p, 2, &out);
	IS(buf_str(&out), "acc NaN, a:loss 3 and 1 more", "in a line");
	look.most = 1;
	buf_clear(&out);
	metric_page_draw(&p, &look, &out);
	OK(strstr(buf_str(&out), "1 more that is not drawn; name them to see them: loss"),
	   "what is not drawn is named");
	metric_page_fini(&p);
}

int main(void)
{
	ticks_are_round();
	labels();
	pictures();
	odd_values();
	several();
	return END();
}
