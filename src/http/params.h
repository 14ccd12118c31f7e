// SPDX-License-Identifier: Apache-2.0
/* params.h - query parameters: a table for each route, checked once for all.
 *
 * What a table does not name is refused, and so is a value out of its range, before the
 * handler is called; so the readers below cannot fail.  A handler that asks for a name
 * its table does not have is our bug (assert).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "codec/url.h"

enum param_kind {
	PARAM_TEXT, /* min, max: characters; max 0: PARAM_TEXT_MAX */
	PARAM_INT,  /* min, max; .words: or one of these */
	PARAM_BOOL, /* 1, true or nothing behind the '='; 0, false */
	PARAM_WORD, /* one of .words */
	PARAM_LIST, /* texts, by giving it several times; max: how many */
	PARAM_KIND_COUNT
};

#define PARAM_TEXT_MAX 256

struct param {
	const char *name; /* NULL ends the table */
	enum param_kind kind;
	int64_t min, max;
	const char *words;   /* "live ended all" */
	const char *pattern; /* of a text, as POSIX and JSON Schema both read it */
	const char *help;
	bool needed;
};

struct exchange;

/* Every parameter is known, given once, and within its range. */
int params_check(const struct param *table, const struct url_query *q, struct err *err);
/* One word of a path or value of a header, against what its name allows (params_path). */
int params_check_word(const struct param *p, const char *text, struct err *err);
/* What a ":name" of a pattern may be; NULL: nobody said. */
const struct param *params_path(const char *name, size_t len);
const struct param *params_find(const struct param *table, const char *name);

const char *param_text(const struct exchange *ex, const char *name); /* NULL: not given */
int64_t param_int(const struct exchange *ex, const char *name, int64_t otherwise);
bool param_bool(const struct exchange *ex, const char *name); /* not given: false */
/* Of a list, one after the other; *at begins as 0.  NULL: no more. */
const char *param_next(const struct exchange *ex, const char *name, size_t *at);
