// SPDX-License-Identifier: Apache-2.0
#include "cli/metrics_view.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/plain.h"
#include "cli/plot.h"
#include "cli/width.h"

#define HEIGHT_ONE  14 /* of the only picture */
#define HEIGHT_MANY 8
#define HEIGHT_MIN  6
#define AROUND      4 /* rows of title, axis and gap */

static double number(const struct doc_node *n)
{
	double v = NAN;

	if (n && (n->kind == DOC_NUMBER || n->kind == DOC_STRING) &&
	    str_to_real(n->text, n->text_len, &v) < 0)
		return NAN;
	return v;
}

static void read_points(struct metric_line *l, const struct doc_node *list)
{
	size_t count = list ? list->count : 0;

	l->steps = mem_alloc(3 * count + 1, sizeof *l->steps);
	l->times_ms = l->steps + count;
	l->values = l->times_ms + count;
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		if (n->count != 3)
			continue;
		l->steps[l->points] = number(n->first);
		l->times_ms[l->points] = number(n->first->next);
		l->values[l->points] = number(n->first->next->next);
		l->points++;
	}
}

static int compare(const void *a, const void *b)
{
	const struct metric_line *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->source, y->source);
	return order ? order : strcmp(x->run, y->run);
}

void metric_page_read(struct metric_page *p, const struct doc_node *answer)
{
	const struct doc_node *list = doc_get(answer, "series");

	*p = (struct metric_page){ .other = doc_get(answer, "other"),
				   .problems = doc_get(answer, "problems") };
	p->lines = mem_alloc((list ? list->count : 0) + 1, sizeof *p->lines);
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		struct metric_line *l = &p->lines[p->count++];
		*l = (struct metric_line){ .name = doc_str(n, "name", ""),
					   .run = doc_str(n, "run", ""),
					   .source = doc_str(n, "source", ""),
					   .count = doc_i64(n, "count", 0),
					   .last_step = doc_i64(n, "last_step", 0),
					   .last = number(doc_get(n, "last")),
					   .min = number(doc_get(n, "min")),
					   .max = number(doc_get(n, "max")) };
		read_points(l, doc_get(n, "points"));
	}
	qsort(p->lines, p->count, sizeof *p->lines, compare);
}

void metric_page_fini(struct metric_page *p)
{
	for (size_t i = 0; i < p->count; i++)
		free(p->lines[i].steps);
	free(p->lines);
}

/* How many lines from i on have one name: they share a picture. */
static size_t same_name(const struct metric_page *p, size_t i)
{
	size_t n = 1;

	while (i + n < p->count && str_eq(p->lines[i].name, p->lines[i + n].name))
		n++;
	return n;
}

static size_t count_names(const struct metric_page *p)
{
	size_t names = 0;

	for (size_t i = 0; i < p->count; i += same_name(p, i))
		names++;
	return names;
}

static void add_sums(const struct metric_line *l, bool all, struct buf *out)
{
	char text[PLOT_TEXT_MAX];

	buf_printf(out, "last %s", plot_value(l->last, text));
	if (!all)
		return;
	buf_printf(out, "  min %s", plot_value(l->min, text));
	buf_printf(out, "  max %s", plot_value(l->max, text));
	buf_printf(out, "  %" PRId64 " value%s", l->count, l->count == 1 ? "" : "s");
}

/* Where times begin: each run at its own first value. */
static const double *x_values(const struct metric_line *l, bool time, double **made)
{
	if (!time)
		return l->steps;
	double *x = *made = mem_alloc(l->points + 1, sizeof *x);
	for (size_t i = 0; i < l->points; i++)
		x[i] = l->times_ms[i] - l->times_ms[0];
	return x;
}

static void draw_name(const struct metric_line *lines, size_t count, size_t height,
		      const struct metric_look *look, struct buf *out)
{
	size_t drawn = count < PLOT_LINES_MAX ? count : PLOT_LINES_MAX;
	struct plot_line *list = mem_alloc(count, sizeof *list);
	double *made[PLOT_LINES_MAX] = { NULL };
	struct buf texts[PLOT_LINES_MAX] = { 0 };
	AUTO_BUF struct buf note = { 0 };

	for (size_t i = 0; i < drawn; i++) {
		add_sums(&lines[i], false, &texts[i]);
		list[i] = (struct plot_line){
			.name = count > 1 ? lines[i].run : NULL,
			.text = buf_str(&texts[i]),
			.x = x_values(&lines[i], look->time, &made[i]),
			.y = lines[i].values,
			.count = lines[i].points,
		};
	}
	/* The run of just one stands beside its name. */
	AUTO_FREE char *title =
		count > 1 || str_eq(lines[0].run, ".")
			? mem_strdup(lines[0].name)
			: str_printf("%s (%s)", lines[0].name, lines[0].run);
	if (count == 1)
		add_sums(&lines[0], look->width >= 70, &note);
	struct plot p = { .title = title,
			  .note = note.len ? buf_str(&note) : NULL,
			  .lines = list,
			  .count = count,
			  .unit = look->time ? PLOT_MS : PLOT_STEPS,
			  .log = look->log,
			  .width = look->width,
			  .height = height,
			  .ascii = look->ascii,
			  .colours = look->colours };
	plot_draw(&p, out);
	for (size_t i = 0; i < drawn; i++) {
		buf_fini(&texts[i]);
		free(made[i]);
	}
	free(list);
}

/* How many pictures there is room for, and how high they are. */
static size_t fit(const struct metric_look *look, size_t names, size_t *height)
{
	size_t most = look->most && look->most < names ? look->most : names;

	*height = names == 1 ? HEIGHT_ONE : HEIGHT_MANY;
	if (look->height)
		*height = look->height;
	else if (look->rows)
		while (*height > HEIGHT_MIN && most * (*height + AROUND) > look->rows)
			--*height;
	if (look->rows && most * (*height + AROUND) > look->rows)
		most = look->rows / (*height + AROUND);
	return most ? most : 1;
}

static void name_rest(const struct metric_page *p, size_t i, size_t count, size_t width,
		      struct buf *out)
{
	AUTO_BUF struct buf text = { 0 };

	buf_printf(&text, "%zu more that %s not drawn; name them to see them:", count,
		   count == 1 ? "is" : "are");
	for (; i < p->count; i += same_name(p, i))
		buf_printf(&text, " %s", p->lines[i].name);
	AUTO_FREE char *plain = buf_take(&text);
	plain_text(plain, "");
	buf_addc(out, '\n');
	width_wrap(out, plain, 0, width);
	buf_addc(out, '\n');
}

void metric_page_draw(const struct metric_page *p, const struct metric_look *look,
		      struct buf *out)
{
	size_t names = count_names(p), height, n, drawn = 0;
	size_t most = fit(look, names, &height);

	for (size_t i = 0; i < p->count; i += n, drawn++) {
		n = same_name(p, i);
		if (drawn == most) {
			name_rest(p, i, names - drawn, look->width, out);
			break;
		}
		if (i)
			buf_addc(out, '\n');
		draw_name(&p->lines[i], n, height, look, out);
	}
	if (look->ascii)
		metric_ascii(out);
}

void metric_page_notes(const struct metric_page *p, size_t width, struct buf *out)
{
	const struct doc_node *n = p->other ? p->other->first : NULL;
	AUTO_BUF struct buf text = { 0 };

	for (; n; n = n->next)
		buf_printf(&text, "%s%s %s (%" PRId64 " %s)",
			   text.len ? ", " : "also: ", doc_str(n, "run", ""),
			   doc_str(n, "name", ""), doc_i64(n, "count", 0),
			   doc_str(n, "kind", ""));
	if (text.len)
		buf_addc(&text, '\n');
	for (n = p->problems ? p->problems->first : NULL; n; n = n->next)
		buf_printf(&text, "problem: %s\n", n->text);
	AUTO_FREE char *plain = buf_take(&text);
	if (!plain)
		return;
	plain_text(plain, "\n");
	width_wrap(out, plain, 0, width);
}

/* A name in a column: what would break the row becomes a space. */
static void add_column(struct buf *out, const char *text)
{
	for (; *text; text++)
		buf_addc(out, strchr("\t\n\r", *text) ? ' ' : *text);
	buf_addc(out, '\t');
}

void metric_page_rows(const struct metric_page *p, struct buf *out)
{
	for (size_t i = 0; i < p->count; i++)
		for (size_t k = 0; k < p->lines[i].points; k++) {
			const struct metric_line *l = &p->lines[i];
			add_column(out, l->run);
			add_column(out, l->name);
			buf_printf(out, "%.0f\t%.0f\t%.9g\n", l->steps[k], l->times_ms[k],
				   l->values[k]);
		}
}

void metric_page_words(const struct metric_page *p, size_t most, struct buf *out)
{
	char text[PLOT_TEXT_MAX];

	for (size_t i = 0; i < p->count && i < most; i++) {
		const struct metric_line *l = &p->lines[i];
		bool run = !str_eq(l->run, ".");
		buf_printf(out, "%s%s%s%s %s", i ? ", " : "", run ? l->run : "",
			   run ? ":" : "", l->name, plot_value(l->last, text));
	}
	if (p->count > most)
		buf_printf(out, " and %zu more", p->count - most);
}

void metric_ascii(struct buf *text)
{
	size_t to = 0, n;

	for (size_t i = 0; i < text->len; i += n) {
		n = utf8_sequence(text->data + i, text->len - i);
		n = n ? n : 1;
		text->data[to++] =
			(unsigned char)text->data[i] < 0x80 ? text->data[i] : '?';
	}
	buf_cut(text, to);
}
