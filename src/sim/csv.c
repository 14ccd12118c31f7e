// SPDX-License-Identifier: Apache-2.0
#include "sim/csv.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

int csv_fault(const struct csv *c, int column, struct err *err, const char *fmt, ...)
{
	AUTO_BUF struct buf words = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&words, fmt, ap);
	va_end(ap);
	if (column < 0)
		return err_set(err, ERR_INVALID, "line %" PRId64 ": %s", c->line,
			       buf_str(&words));
	return err_set(err, ERR_INVALID, "line %" PRId64 ", column %s: %s", c->line,
		       c->name[column], buf_str(&words));
}

/* A copy of the next line that is not empty; NULL behind the last. */
static char *next_line(struct csv *c)
{
	while (c->at < c->end) {
		const char *nl = memchr(c->at, '\n', (size_t)(c->end - c->at));
		const char *stop = nl ? nl : c->end;
		size_t len = (size_t)(stop - c->at);
		const char *from = c->at;

		c->at = nl ? nl + 1 : c->end;
		c->line++;
		if (len && from[len - 1] == '\r')
			len--;
		if (len)
			return mem_strndup(from, len < CSV_LINE_MAX ? len : CSV_LINE_MAX);
	}
	return NULL;
}

/* Takes the quotes off a field in place; gives what stands behind it, NULL: not closed. */
static char *unquote(char *s)
{
	char *to = s, *from = s + 1;

	for (; *from; from++) {
		if (*from == '"' && *++from != '"') {
			*to = '\0';
			return from;
		}
		*to++ = *from;
	}
	return NULL;
}

/* Cuts a line into its fields; how many, or -1. */
static int cut(const struct csv *c, char *line, const char **field, struct err *err)
{
	int n = 0;

	if (strlen(line) >= CSV_LINE_MAX)
		return csv_fault(c, -1, err, "longer than %d bytes", CSV_LINE_MAX);
	for (char *s = line;; s++) {
		if (n == CSV_COLUMNS_MAX)
			return csv_fault(c, -1, err, "more than %d columns",
					 CSV_COLUMNS_MAX);
		field[n++] = s;
		s = *s == '"' ? unquote(s) : s + strcspn(s, ",");
		if (!s)
			return csv_fault(c, -1, err, "field %d has no closing quote", n);
		if (*s == '\0')
			return n;
		if (*s != ',')
			return csv_fault(c, -1, err, "text behind the quotes of field %d",
					 n);
		*s = '\0';
	}
}

int csv_init(struct csv *c, const char *text, size_t len, struct err *err)
{
	*c = (struct csv){ .at = text, .end = text + len };
	c->header = next_line(c);
	if (!c->header)
		return err_set(err, ERR_INVALID, "nothing in it, not even a header");
	c->columns = cut(c, c->header, c->name, err);
	if (c->columns < 0) {
		csv_fini(c);
		return -1;
	}
	return 0;
}

void csv_fini(struct csv *c)
{
	free(c->header);
	free(c->row);
	c->header = c->row = NULL;
}

int csv_find(const struct csv *c, const char *name)
{
	for (int i = 0; i < c->columns; i++)
		if (str_eq(c->name[i], name))
			return i;
	return -1;
}

int csv_need(const struct csv *c, const char *name, int *column, struct err *err)
{
	*column = csv_find(c, name);
	if (*column >= 0)
		return 0;
	const char *near = str_guess(name, c->name, (size_t)c->columns);
	if (near)
		return err_set(err, ERR_INVALID,
			       "no column '%s' in the header (is '%s' meant?)", name,
			       near);
	return err_set(err, ERR_INVALID, "no column '%s' in the header", name);
}

int csv_next(struct csv *c, struct err *err)
{
	free(c->row);
	c->row = next_line(c);
	if (!c->row)
		return 0;
	c->fields = cut(c, c->row, c->field, err);
	if (c->fields < 0)
		return -1;
	if (c->fields != c->columns)
		return csv_fault(c, -1, err, "%d fields, the header has %d", c->fields,
				 c->columns);
	return 1;
}

const char *csv_text(const struct csv *c, int column)
{
	return column < 0 ? "" : c->field[column];
}

int csv_i64(const struct csv *c, int column, int64_t min, int64_t max, int64_t *out,
	    struct err *err)
{
	if (str_to_i64(csv_text(c, column), min, max, out) == 0)
		return 0;
	return csv_fault(c, column, err,
			 "'%s' is not a whole number from %" PRId64 " to %" PRId64,
			 csv_text(c, column), min, max);
}

int csv_double(const struct csv *c, int column, double max, double *out, struct err *err)
{
	if (str_to_double(csv_text(c, column), max, out) == 0)
		return 0;
	return csv_fault(c, column, err, "'%s' is not a number from 0 to %.0f",
			 csv_text(c, column), max);
}
