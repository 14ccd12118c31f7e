// SPDX-License-Identifier: Apache-2.0
/* table.h - columns for people: as wide as their widest cell; on a terminal that is too narrow the
 * widest columns of words give way.  Widths are cells of a terminal (cli/width.h). */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

#define TABLE_COLUMNS_MAX 12

enum table_colour {
	TABLE_PLAIN,
	TABLE_GOOD,
	TABLE_BAD,
	TABLE_BUSY,
	TABLE_WARN,
	TABLE_DIM,
	TABLE_BOLD,
	TABLE_BACK, /* letters and ground change places: what is selected */
	TABLE_COLOUR_COUNT
};

struct table;

/* heads: upper case by custom; a head that begins with '>' is a column of numbers, flush right. */
struct table *table_create(const char *const *heads, size_t count);
void table_destroy(struct table *t);
/* Cells of a row from left to right; the row is over after `count` of them. */
void table_cell(struct table *t, enum table_colour colour, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* width: of the terminal, 0: as wide as it gets. */
void table_render(const struct table *t, bool colours, size_t width, struct buf *out);

const char *table_colour_code(enum table_colour c); /* the escape sequence */
#define TABLE_COLOUR_END "\033[0m"
