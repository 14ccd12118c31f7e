// SPDX-License-Identifier: Apache-2.0
/* record.h - structs as JSON and back, by tables of their fields; inside this room only.
 *
 * Both ways use one table, so they agree, and a new field is one new row.  What is zero is
 * not written; what is not there is zero.  A field that no table knows is an error.
 */
#pragma once

#include <stddef.h>

#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"

/* WORDS: a const char *, which borrows from the text that was read. */
enum field_kind { I64, I32, FLAG, TEXT, WORDS, LIST };

struct table;

struct field {
	const char *key;
	enum field_kind kind;
	size_t at;        /* of the field in its struct */
	size_t room;      /* TEXT: bytes with the NUL; LIST: how many items */
	int64_t min, max; /* of numbers that are read: others would be our end */
	/* LIST: each item, and where the number of those in use is (an int or a size_t, of
	 * that many bytes); 0: all of them are, up to the last that is not zero. */
	const struct table *item;
	size_t count_at, count_size;
};

struct table {
	const struct field *fields;
	size_t count, size;
};

/* The fields as members of the object that is open. */
void record_write(struct json *j, const struct table *t, const void *from);
/* Into zeroed memory.  -1 with err. */
int record_read(const struct doc_node *map, const struct table *t, void *into,
		struct err *err);

extern const struct table record_node, record_job, record_role, record_place,
	record_quota, record_tenant, record_policy, record_use;
