// SPDX-License-Identifier: Apache-2.0
/* json.h - writes JSON into a buf, commas and escapes taken care of.
 *
 * Text that is not valid UTF-8 comes out with U+FFFD in place of the bad bytes, so
 * that what is written can always be read back.  Nesting is the caller's: every
 * json_object/json_array has its json_end.  A key of NULL writes a list's element.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct json {
	struct buf *out;
	int depth;
	uint64_t is_array, has_items; /* one bit a level: at most 64 levels */
};

void json_init(struct json *j, struct buf *out);
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j); /* closes the innermost object or array */

void json_str(struct json *j, const char *key, const char *value); /* NULL writes null */
void json_strn(struct json *j, const char *key, const char *value, size_t len);
void json_i64(struct json *j, const char *key, int64_t value);
/* As short as reads back the same.  JSON has no words for what is no number: these are the
 * texts "NaN", "Infinity" and "-Infinity". */
void json_real(struct json *j, const char *key, double value);
void json_bool(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);
void json_raw(struct json *j, const char *key, const char *json); /* already JSON */
