// SPDX-License-Identifier: Apache-2.0
/* native.h - the native job file: one table of fields; reading, JSON Schema and reference
 * all come out of it.  Inside the room only; others go through dialect.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/doc.h"
#include "dialect/dialect.h"

extern const struct dialect dialect_native;

enum field_kind {
	FIELD_TEXT,
	FIELD_BOOL,
	FIELD_INT,    /* within [min, max] */
	FIELD_INT_OR, /* or one word, which means SPEC_ALL */
	FIELD_BYTES,
	FIELD_CPU,
	FIELD_DURATION,
	FIELD_COMMAND,
	FIELD_TEXTS,  /* a map to texts */
	FIELD_VALUES, /* a map to anything */
	FIELD_DEVICES,
	FIELD_WITHIN,
	FIELD_CONTRACT,
	FIELD_REQUIREMENTS,
	FIELD_METRICS,
	FIELD_PORTS,
	FIELD_INPUTS,
	FIELD_OUTPUTS,
	FIELD_SERVICES,
	FIELD_AFTER,
	FIELD_AFTER_OK,
	FIELD_GROUP, /* fields inside, of the same object */
	FIELD_RETRY, /* a group, or just its max */
	FIELD_ARRAY, /* a group, or just its count */
	FIELD_SWEEP,
	FIELD_ROLES,
	FIELD_MODE,
	FIELD_SECRETS,
	FIELD_KIND_COUNT
};

struct field_set;

struct field {
	const char *name;
	enum field_kind kind;
	size_t offset;        /* in struct spec or struct role */
	const char *text;     /* one sentence for the reference and the schema */
	const char *fallback; /* in words, when it is left out; NULL: nothing */
	int64_t min, max;
	const char *word; /* FIELD_INT_OR */
	const struct field_set *inside;
};

struct field_set {
	const char *title;
	const struct field *fields;
	size_t count;
};

extern const struct field_set native_job, native_role;

/* What people write who know other tools, and what it is called here. */
struct field_habit {
	const char *wrong, *right;
};
const char *native_habit(const char *wrong); /* NULL: none */

const struct field *field_find(const struct field_set *set, const char *name);

/* One kind of field: what it allows, in words and as a schema. */
struct field_type {
	const char *allowed;
	const char *schema; /* NULL: made from the fields inside */
};
extern const struct field_type field_types[FIELD_KIND_COUNT];

/* Where a role stands in the file. */
struct role_place {
	const struct doc_node *node;
	char *prefix; /* "roles[1]", "roles.worker", or "" in the short form */
};

struct native_reader {
	struct problems *out;
	struct spec *spec;
	struct buf path; /* of what is being read */
	struct role_place places[SPEC_ROLES_MAX];
	size_t place_count;
};

/* "path.key" and "path[i]"; native_leave() with what they gave goes back. */
size_t native_enter(struct native_reader *r, const struct doc_node *n);
size_t native_enter_item(struct native_reader *r, size_t index);
void native_leave(struct native_reader *r, size_t before);
void native_bad(struct native_reader *r, const struct doc_node *n, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Reads every field of the set that the map has; object is the spec or the role. */
void native_fields(struct native_reader *r, const struct field_set *set,
		   const struct doc_node *map, void *object);
void native_value(struct native_reader *r, const struct field *f,
		  const struct doc_node *n, void *object);
void native_unknown(struct native_reader *r, const struct field_set *const *sets,
		    const struct doc_node *n);
bool native_bounded(struct native_reader *r, const struct doc_node *n, size_t most);
/* Turns the problems that the check found into places and words of the file. */
void native_locate(const struct native_reader *r, const struct doc_node *root,
		   struct problems *found);

void native_schema(struct buf *out);
void native_reference(struct buf *out);
