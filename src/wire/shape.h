// SPDX-License-Identifier: Apache-2.0
/* shape.h - what is on the wire, as tables: every object of the API, field by field.
 *
 * The OpenAPI document is made of these, requests are checked against them before a
 * handler sees them, and a test checks every real answer, so that neither the writers
 * (api.h) nor the document can drift.  To add an object: a table of its fields and a row
 * in the list of its subject (shape_job.c, shape_people.c, shape_yard.c).
 *
 * Shapes name each other, never in a circle.  "job_file" is no table: a job file in JSON,
 * which is the dialect's to check.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"

enum wire_kind {
	WIRE_TEXT,   /* min, max: letters; words: one of these */
	WIRE_INT,    /* min, max: both 0 when any will do */
	WIRE_BOOL,   /* */
	WIRE_NUMBER, /* as json_real() writes it: also the texts for what is no number */
	WIRE_ANY,    /* whatever JSON there is */
	WIRE_OBJECT, /* of: its shape */
	WIRE_LIST, /* of: a shape, or "text", "int", "count" (0 to INT32_MAX), "amount" (0.5), "ints",
		      * "point" (two whole numbers and a WIRE_NUMBER), "any"; max: how many; words and pattern:
		      * of each text */
	WIRE_MAP, /* any key to: as a list's */
	WIRE_KIND_COUNT
};

enum wire_flag {
	WIRE_NULL = 1,     /* may be null */
	WIRE_OPTIONAL = 2, /* may be absent */
	WIRE_SECRET = 4,   /* never shown, never in an example */
};

struct wire_field {
	const char *name; /* NULL ends the table */
	enum wire_kind kind;
	unsigned flags;
	const char *help;
	const char *of;
	const char *words; /* "live ended" */
	int64_t min, max;
	const char *
		pattern; /* of a text, or of a map's keys; what POSIX and JSON Schema both read */
};

struct wire_shape {
	const char *name, *help; /* name NULL ends the list */
	const struct wire_field *fields;
	const char *example; /* JSON, or NULL */
	bool request;        /* a body that is sent to us: nothing beside the fields */
	bool just_one;       /* exactly one of the fields, all of them optional */
};

#define WIRE_JOB_FILE "job_file"

extern const struct wire_shape wire_shapes_job[], wire_shapes_people[],
	wire_shapes_yard[], wire_shapes_catalog[], wire_shapes_app[], wire_shapes_file[];

/* Over all lists; NULL: no more. */
const struct wire_shape *wire_shape_at(size_t i);
const struct wire_shape *wire_shape_find(const char *name); /* NULL: none */

/* Whether the value has the shape: no field missing, none beside.  The message begins
 * with the path of what is wrong: "groups[1]: ...". */
int wire_shape_check(const struct wire_shape *s, const struct doc_node *n,
		     struct err *err);
/* Its JSON Schema, as the components of an OpenAPI document hold it. */
void wire_shape_schema(const struct wire_shape *s, struct json *j);
bool wire_pattern_fits(const char *pattern, const char *text);
/* Words by spaces: one after the other; *at begins as the whole.  NULL: no more. */
const char *wire_word_next(const char **at, size_t *len);
