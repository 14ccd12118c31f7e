// SPDX-License-Identifier: Apache-2.0
/* url.h - percent-encoding and query parameters. */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define URL_PARAMS_MAX 256 /* of one query; exec passes its arguments this way */

/* Decodes len bytes; NULL with err when a % is not followed by two hex digits or the
 * result would hold a NUL.  plus: '+' is a space (queries).  The caller frees. */
char *url_decode(const char *text, size_t len, int plus, struct err *err);
/* Everything but letters, digits and "-._~" as %XX. */
void url_encode(struct buf *out, const char *text);

struct url_param {
	char *name, *value;
};

struct url_query {
	struct url_param *items;
	size_t count, cap;
};

int url_query_parse(struct url_query *q, const char *text, struct err *err);
void url_query_fini(struct url_query *q);
const char *url_query_get(const struct url_query *q,
			  const char *name); /* first; NULL: absent */
/* Appends "name=value" with the '&' or '?' it needs (target holds a '?' already or not). */
void url_query_add(struct buf *target, const char *name, const char *value);
