// SPDX-License-Identifier: Apache-2.0
/* csv.h - a table in text, read by the names in its first line.
 *
 * Columns may stand in any order and there may be more than are asked for.  A field
 * may be in double quotes ("" is one).  Empty lines and a '\r' before the end of a
 * line are passed over.  Every complaint names the line and the column.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CSV_COLUMNS_MAX 256
#define CSV_LINE_MAX    (1 << 20)

struct csv {
	const char *at, *end; /* what is still unread, borrowed */
	int64_t line;         /* of the row at hand, from 1 */
	int columns, fields;  /* the header has, this row has */
	char *header, *row;   /* owned copies, cut into fields */
	const char *name[CSV_COLUMNS_MAX];
	const char *field[CSV_COLUMNS_MAX];
};

/* Reads the header.  The text stays the caller's and must live as long as the csv. */
int csv_init(struct csv *c, const char *text, size_t len, struct err *err);
void csv_fini(struct csv *c);

/* The place of a column; -1 when there is none (csv_need complains then). */
int csv_find(const struct csv *c, const char *name);
int csv_need(const struct csv *c, const char *name, int *column, struct err *err);

/* 1: another row is at hand, 0: that was all, -1: err says what is wrong with it. */
int csv_next(struct csv *c, struct err *err);

/* A field of the row at hand; "" when the column is -1. */
const char *csv_text(const struct csv *c, int column);
int csv_i64(const struct csv *c, int column, int64_t min, int64_t max, int64_t *out,
	    struct err *err);
/* A decimal number from 0 to max. */
int csv_double(const struct csv *c, int column, double max, double *out, struct err *err);
/* err_set(ERR_INVALID) with "line 7, column gpus: " in front; -1. */
int csv_fault(const struct csv *c, int column, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
