// SPDX-License-Identifier: Apache-2.0
/* dialect.h - job files of many origins become one spec.  Pure: text in, spec out.
 *
 * A dialect is a row.  Reading gives a checked spec, or every problem of the file at once,
 * each with its line, its column, the field as the file writes it, and what is allowed.
 */
#pragma once

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/spec.h"

struct dialect {
	const char *name;
	const char *summary;
	/* NULL when there are problems.  The text need not end in NUL. */
	struct spec *(*read)(const char *text, size_t len, struct problems *out);
	/* JSON Schema (draft 2020-12) for editors; NULL: the dialect has none. */
	void (*schema)(struct buf *out);
	/* Its fields as Markdown tables, for docs/; NULL: the dialect has none. */
	void (*reference)(struct buf *out);
};

#define DIALECT_NATIVE "native"

extern const struct dialect *const dialects[]; /* ends with NULL */

/* NULL: no such; err has a guess. */
const struct dialect *dialect_find(const char *name, struct err *err);
