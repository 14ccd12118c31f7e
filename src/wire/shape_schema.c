// SPDX-License-Identifier: Apache-2.0
/* The tables of shapes as JSON Schema (draft 2020-12), which is what OpenAPI 3.1 holds. */
#include "wire/shape.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

#define REF "#/components/schemas/"

static void put_ref(struct json *j, const char *shape)
{
	AUTO_FREE char *ref = str_printf(REF "%s", shape);

	json_str(j, "$ref", ref);
}

static void put_type(struct json *j, const char *type, bool null)
{
	if (!null) {
		json_str(j, "type", type);
		return;
	}
	json_array(j, "type");
	json_str(j, NULL, type);
	json_str(j, NULL, "null");
	json_end(j);
}

static void put_words(struct json *j, const struct wire_field *f)
{
	const char *at = f->words, *word;
	size_t len;

	json_array(j, "enum");
	while ((word = wire_word_next(&at, &len)))
		json_strn(j, NULL, word, len);
	if (f->flags & WIRE_NULL)
		json_null(j, NULL);
	json_end(j);
}

static void put_text(struct json *j, const struct wire_field *f)
{
	put_type(j, "string", f->flags & WIRE_NULL);
	if (f->words)
		put_words(j, f);
	if (f->max) {
		json_i64(j, "minLength", f->min);
		json_i64(j, "maxLength", f->max);
	}
	if (f->pattern)
		json_str(j, "pattern", f->pattern);
	if (f->flags & WIRE_SECRET) {
		json_str(j, "format", "password");
		json_bool(j, "writeOnly", true);
	}
}

static void put_int(struct json *j, const struct wire_field *f)
{
	put_type(j, "integer", f->flags & WIRE_NULL);
	json_str(j, "format", "int64");
	if (f->min == 0 && f->max == 0)
		return;
	json_i64(j, "minimum", f->min);
	json_i64(j, "maximum", f->max);
}

static void put_ints(struct json *j)
{
	json_str(j, "type", "array");
	json_object(j, "items");
	json_str(j, "type", "integer");
	json_end(j);
}

static void put_count(struct json *j)
{
	json_str(j, "type", "integer");
	json_i64(j, "minimum", 0);
	json_i64(j, "maximum", INT32_MAX);
}

static void put_amount(struct json *j)
{
	json_str(j, "type", "number");
	json_i64(j, "minimum", 0);
}

static void put_number(struct json *j, const char *key, bool null)
{
	json_array(j, key);
	json_object(j, NULL);
	put_type(j, "number", null);
	json_end(j);
	json_object(j, NULL);
	json_array(j, "enum");
	json_str(j, NULL, "NaN");
	json_str(j, NULL, "Infinity");
	json_str(j, NULL, "-Infinity");
	json_end(j);
	json_end(j);
	json_end(j);
}

/* Step, time and value. */
static void put_point(struct json *j)
{
	json_str(j, "type", "array");
	json_i64(j, "minItems", 3);
	json_i64(j, "maxItems", 3);
	json_array(j, "prefixItems");
	for (int i = 0; i < 2; i++) {
		json_object(j, NULL);
		json_str(j, "type", "integer");
		json_end(j);
	}
	json_object(j, NULL);
	put_number(j, "anyOf", false);
	json_end(j);
	json_end(j);
}

/* What is in a list or a map. */
static void put_item(struct json *j, const char *key, const struct wire_field *f)
{
	const struct wire_field item = { .words = f->words,
					 .pattern = f->kind == WIRE_LIST ? f->pattern
									 : NULL };
	const char *of = f->of;

	json_object(j, key);
	if (str_eq(of, "text"))
		put_text(j, &item);
	else if (str_eq(of, "int"))
		json_str(j, "type", "integer");
	else if (str_eq(of, "count"))
		put_count(j);
	else if (str_eq(of, "amount"))
		put_amount(j);
	else if (str_eq(of, "ints"))
		put_ints(j);
	else if (str_eq(of, "point"))
		put_point(j);
	else if (!str_eq(of, "any"))
		put_ref(j, of);
	json_end(j);
}

/* One that may be null is either; a $ref stands alone. */
static void put_object(struct json *j, const struct wire_field *f)
{
	if (!(f->flags & WIRE_NULL)) {
		put_ref(j, f->of);
		return;
	}
	json_array(j, "anyOf");
	json_object(j, NULL);
	put_ref(j, f->of);
	json_end(j);
	json_object(j, NULL);
	json_str(j, "type", "null");
	json_end(j);
	json_end(j);
}

static void put_keys(struct json *j, const char *pattern)
{
	json_object(j, "propertyNames");
	json_str(j, "pattern", pattern);
	json_end(j);
}

static void put_field(struct json *j, const struct wire_field *f)
{
	json_object(j, f->name);
	json_str(j, "description", f->help);
	switch (f->kind) {
	case WIRE_TEXT:
		put_text(j, f);
		break;
	case WIRE_INT:
		put_int(j, f);
		break;
	case WIRE_BOOL:
		put_type(j, "boolean", f->flags & WIRE_NULL);
		break;
	case WIRE_NUMBER:
		put_number(j, "anyOf", f->flags & WIRE_NULL);
		break;
	case WIRE_OBJECT:
		put_object(j, f);
		break;
	case WIRE_LIST:
		put_type(j, "array", f->flags & WIRE_NULL);
		put_item(j, "items", f);
		if (f->min)
			json_i64(j, "minItems", f->min);
		if (f->max)
			json_i64(j, "maxItems", f->max);
		break;
	case WIRE_MAP:
		put_type(j, "object", f->flags & WIRE_NULL);
		put_item(j, "additionalProperties", f);
		if (f->max)
			json_i64(j, "maxProperties", f->max);
		if (f->pattern)
			put_keys(j, f->pattern);
		break;
	case WIRE_ANY:
	case WIRE_KIND_COUNT:
		break;
	}
	json_end(j);
}

void wire_shape_schema(const struct wire_shape *s, struct json *j)
{
	json_object(j, s->name);
	json_str(j, "description", s->help);
	json_str(j, "type", "object");
	json_object(j, "properties");
	for (const struct wire_field *f = s->fields; f->name; f++)
		put_field(j, f);
	json_end(j);
	json_array(j, "required");
	for (const struct wire_field *f = s->fields; f->name; f++)
		if (!(f->flags & WIRE_OPTIONAL))
			json_str(j, NULL, f->name);
	json_end(j);
	/* Answers may get further fields some day; requests may not have any. */
	if (s->request)
		json_bool(j, "additionalProperties", false);
	if (s->just_one) {
		json_i64(j, "minProperties", 1);
		json_i64(j, "maxProperties", 1);
	}
	if (s->example) {
		json_array(j, "examples");
		json_raw(j, NULL, s->example);
		json_end(j);
	}
	json_end(j);
}
