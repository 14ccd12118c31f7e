// SPDX-License-Identifier: Apache-2.0
/* JSON Schema and Markdown reference of the native job file, out of its table. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/str.h"
#include "dialect/native.h"

static void put_set(struct json *j, const struct field_set *set);

/* The table is ours and three levels deep: this recursion ends. */
static void put_inside(struct json *j, const struct field *f)
{
	json_str(j, "type", "object");
	json_bool(j, "additionalProperties", false);
	json_object(j, "properties");
	put_set(j, f->inside);
	json_end(j);
}

static void put_int(struct json *j, const struct field *f)
{
	json_str(j, "type", "integer");
	json_i64(j, "minimum", f->min);
	json_i64(j, "maximum", f->max);
}

static void put_int_or_word(struct json *j, const struct field *f)
{
	json_array(j, "anyOf");
	json_object(j, NULL);
	put_int(j, f);
	json_end(j);
	json_object(j, NULL);
	json_str(j, "const", f->word);
	json_end(j);
	json_end(j);
}

/* A group, or just the first field of it. */
static void put_short_group(struct json *j, const struct field *f)
{
	const struct field *first = &f->inside->fields[0];

	json_array(j, "anyOf");
	json_object(j, NULL);
	if (first->word)
		put_int_or_word(j, first);
	else
		put_int(j, first);
	json_end(j);
	json_object(j, NULL);
	put_inside(j, f);
	json_end(j);
	json_end(j);
}

static void put_roles(struct json *j)
{
	json_raw(
		j, "anyOf",
		"[{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/role\"}},"
		"{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":{\"$ref\":\"#/$defs/role\"}}]");
}

static void put_field(struct json *j, const struct field *f)
{
	json_object(j, f->name);
	json_str(j, "description", f->text);
	switch (f->kind) {
	case FIELD_INT:
		put_int(j, f);
		break;
	case FIELD_INT_OR:
		put_int_or_word(j, f);
		break;
	case FIELD_GROUP:
		put_inside(j, f);
		break;
	case FIELD_RETRY:
	case FIELD_ARRAY:
		put_short_group(j, f);
		break;
	case FIELD_ROLES:
		put_roles(j);
		break;
	case FIELD_TEXT:
	case FIELD_BOOL:
	case FIELD_BYTES:
	case FIELD_CPU:
	case FIELD_DURATION:
	case FIELD_COMMAND:
	case FIELD_TEXTS:
	case FIELD_VALUES:
	case FIELD_DEVICES:
	case FIELD_WITHIN:
	case FIELD_CONTRACT:
	case FIELD_REQUIREMENTS:
	case FIELD_METRICS:
	case FIELD_PORTS:
	case FIELD_INPUTS:
	case FIELD_OUTPUTS:
	case FIELD_SERVICES:
	case FIELD_AFTER:
	case FIELD_AFTER_OK:
	case FIELD_SWEEP:
	case FIELD_MODE:
	case FIELD_SECRETS:
	case FIELD_KIND_COUNT:
		json_array(j, "allOf");
		json_raw(j, NULL, field_types[f->kind].schema);
		json_end(j);
		break;
	}
	json_end(j);
}

static void put_set(struct json *j, const struct field_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		put_field(j, &set->fields[i]);
}

static bool at_top(const struct field *f)
{
	return !field_find(&native_job, f->name);
}

static void put_required(struct json *j, const char *name)
{
	json_object(j, NULL);
	json_array(j, "required");
	json_str(j, NULL, name);
	json_end(j);
	json_end(j);
}

/* Either roles, and then none of a role's fields at the top, or a command there. */
static void put_forms(struct json *j)
{
	json_array(j, "anyOf");
	json_object(j, NULL);
	json_raw(j, "required", "[\"roles\"]");
	json_object(j, "not");
	json_array(j, "anyOf");
	for (size_t i = 0; i < native_role.count; i++)
		if (at_top(&native_role.fields[i]))
			put_required(j, native_role.fields[i].name);
	json_end(j);
	json_end(j);
	json_end(j);
	json_object(j, NULL);
	json_raw(j, "required", "[\"command\"]");
	json_raw(j, "not", "{\"required\":[\"roles\"]}");
	json_end(j);
	json_end(j);
}

void native_schema(struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "$schema", "https://json-schema.org/draft/2020-12/schema");
	json_str(&j, "title", "Trainyard job");
	json_str(&j, "type", "object");
	json_bool(&j, "additionalProperties", false);
	json_object(&j, "properties");
	put_set(&j, &native_job);
	for (size_t i = 0; i < native_role.count; i++)
		if (at_top(&native_role.fields[i]))
			put_field(&j, &native_role.fields[i]);
	json_end(&j);
	put_forms(&j);
	json_object(&j, "$defs");
	json_object(&j, "role");
	json_str(&j, "type", "object");
	json_bool(&j, "additionalProperties", false);
	json_raw(&j, "required", "[\"command\"]");
	json_object(&j, "properties");
	put_set(&j, &native_role);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
}

static void put_allowed(const struct field *f, struct buf *out)
{
	buf_adds(out, field_types[f->kind].allowed);
	if (f->kind == FIELD_INT || f->kind == FIELD_INT_OR)
		buf_printf(out, " from %" PRId64 " to %" PRId64, f->min, f->max);
	if (f->word)
		buf_printf(out, ", or `%s`", f->word);
}

static void put_rows(const struct field_set *set, const char *prefix, struct buf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct field *f = &set->fields[i];
		buf_printf(out, "| `%s%s` | %s | ", prefix, f->name, f->text);
		put_allowed(f, out);
		buf_printf(out, " | %s |\n", f->fallback ? f->fallback : "");
		if (f->inside && f->kind != FIELD_ROLES) {
			char *inner = str_printf("%s%s.", prefix, f->name);
			put_rows(f->inside, inner, out);
			free(inner);
		}
	}
}

void native_reference(struct buf *out)
{
	static const char head[] =
		"| field | meaning | allowed | when left out |\n|---|---|---|---|\n";

	buf_adds(out, "### The job\n\n");
	buf_adds(out, head);
	put_rows(&native_job, "", out);
	buf_adds(out, "\n### A role\n\n");
	buf_adds(out, head);
	put_rows(&native_role, "", out);
}
