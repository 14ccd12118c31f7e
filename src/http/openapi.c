// SPDX-License-Identifier: Apache-2.0
/* The OpenAPI 3.1 document: the tables of routes, parameters and shapes, written out.
 * Nothing of it is written by hand, so it cannot promise what is not there. */
#include "http/openapi.h"

#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "dialect/dialect.h"
#include "http/handlers.h"
#include "http/route.h"
#include "wire/api.h"
#include "wire/outcome.h"
#include "wire/shape.h"

#define SCHEMAS   "#/components/schemas/"
#define RESPONSES "#/components/responses/"

/* clang-format off */
/* Statuses that are no error class's, and those that are, in words. */
static const struct { int status; const char *help; } refusals[] = {
	{ 400, "the request is wrong; `field` says where" },
	{ 401, "not known who you are" },
	{ 403, "known who you are; not allowed" },
	{ 404, "no such thing, or not yours to see" },
	{ 408, "the request came too slowly" },
	{ 409, "not now: it is in another state, or the name is taken" },
	{ 413, "over a limit of size" },
	{ 414, "the path and the query together are over 8 KiB" },
	{ 422, "over a quota" },
	{ 426, "Connection: Upgrade is needed" },
	{ 429, "too many wrong passwords; Retry-After says when to come again" },
	{ 500, "our bug" },
	{ 501, "this machine or this version cannot" },
	{ 503, "busy; try again later" },
	{ 504, "it took too long" },
	{ 507, "the operating system said no" },
};
/* clang-format on */

static void put_ref(struct json *j, const char *base, const char *name)
{
	AUTO_FREE char *ref = str_printf("%s%s", base, name);

	json_str(j, "$ref", ref);
}

static void put_words(struct json *j, const char *words)
{
	const char *word;
	size_t len;

	json_array(j, "enum");
	while ((word = wire_word_next(&words, &len)))
		json_strn(j, NULL, word, len);
	json_end(j);
}

static void put_int(struct json *j, const struct param *p)
{
	json_str(j, "type", "integer");
	json_i64(j, "minimum", p->min);
	json_i64(j, "maximum", p->max);
}

static void put_int_or(struct json *j, const struct param *p)
{
	json_array(j, "anyOf");
	json_object(j, NULL);
	put_int(j, p);
	json_end(j);
	json_object(j, NULL);
	json_str(j, "type", "string");
	put_words(j, p->words);
	json_end(j);
	json_end(j);
}

static void put_text(struct json *j, const struct param *p)
{
	json_str(j, "type", "string");
	if (p->min)
		json_i64(j, "minLength", p->min);
	json_i64(j, "maxLength", p->max ? p->max : PARAM_TEXT_MAX);
	if (p->pattern)
		json_str(j, "pattern", p->pattern);
}

static void put_param_schema(struct json *j, const struct param *p)
{
	json_object(j, "schema");
	switch (p->kind) {
	case PARAM_TEXT:
		put_text(j, p);
		break;
	case PARAM_INT:
		if (p->words)
			put_int_or(j, p);
		else
			put_int(j, p);
		break;
	case PARAM_BOOL:
		json_str(j, "type", "boolean");
		break;
	case PARAM_WORD:
		json_str(j, "type", "string");
		put_words(j, p->words);
		break;
	case PARAM_LIST:
		json_str(j, "type", "array");
		json_raw(j, "items", "{\"type\":\"string\"}");
		if (p->needed)
			json_i64(j, "minItems", 1);
		if (p->max)
			json_i64(j, "maxItems", p->max);
		break;
	case PARAM_KIND_COUNT:
		break;
	}
	json_end(j);
}

static void put_param(struct json *j, const char *in, const struct param *p, bool needed)
{
	json_object(j, NULL);
	json_str(j, "name", p->name);
	json_str(j, "in", in);
	json_str(j, "description", p->help);
	if (needed)
		json_bool(j, "required", true);
	put_param_schema(j, p);
	json_end(j);
}

static void put_params(struct json *j, const struct route *r)
{
	json_array(j, "parameters");
	for (const char *at = r->pattern; (at = strchr(at, ':'));) {
		size_t len = strcspn(++at, "/");
		put_param(j, "path", params_path(at, len), true);
	}
	for (const struct param *p = r->params; p && p->name; p++)
		put_param(j, "query", p, p->needed);
	for (const struct param *p = r->headers; p && p->name; p++)
		put_param(j, "header", p, p->needed);
	json_end(j);
}

/* The next of "a|b|c" as a text of its own; the caller frees.  NULL: no more. */
static char *next_of(const char **at)
{
	const char *from = *at;

	if (!from || !*from)
		return NULL;
	size_t len = strcspn(from, "|");
	*at = from + len + (from[len] == '|');
	return mem_strndup(from, len);
}

static void put_shape(struct json *j, const char *name)
{
	if (str_eq(name, ROUTE_ANY))
		json_str(j, "type", "object");
	else
		put_ref(j, SCHEMAS, name);
}

/* The JSON among the answers: one shape, or any of several. */
static void put_json_content(struct json *j, const char *answer)
{
	AUTO_BUF struct buf shapes = { 0 };
	const char *at = answer;
	char *one;
	size_t count = 0;

	for (; (one = next_of(&at)); free(one))
		if (!strchr(one, '/'))
			buf_printf(&shapes, "%s%s", count++ ? "|" : "", one);
	if (count == 0)
		return;
	json_object(j, ROUTE_JSON);
	json_object(j, "schema");
	if (count == 1) {
		put_shape(j, buf_str(&shapes));
	} else {
		json_array(j, "anyOf");
		for (at = buf_str(&shapes); (one = next_of(&at)); free(one)) {
			json_object(j, NULL);
			put_shape(j, one);
			json_end(j);
		}
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_content(struct json *j, const char *answer)
{
	const char *at = answer;
	char *one;

	json_object(j, "content");
	put_json_content(j, answer);
	for (; (one = next_of(&at)); free(one)) {
		if (!strchr(one, '/'))
			continue;
		one[strcspn(one, ";")] = '\0';
		json_object(j, one);
		json_object(j, "schema");
		if (str_starts(one, "text/plain"))
			json_str(j, "type", "string");
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void put_success(struct json *j, int status, const char *answer, const char *help)
{
	char text[12];

	snprintf(text, sizeof text, "%d", status);
	json_object(j, text);
	json_str(j, "description", help);
	if (answer)
		put_content(j, answer);
	json_end(j);
}

/* Whether the route can answer with this status of refusal. */
static bool can_refuse(const struct route *r, int status)
{
	unsigned errors = route_errors(r);

	if (status == 408)
		return r->takes != ROUTE_NO_BODY;
	if (status == 414)
		return r->params != NULL;
	if (status == 426)
		return route_status(r) == 101;
	if (status == 429)
		return r->rule != RULE_PUBLIC || errors & ROUTE_ERR(ERR_UNKNOWN_CALLER);
	for (int c = ERR_NONE + 1; c < ERR_CODE_END; c++)
		if (errors & ROUTE_ERR(c) && wire_http_status((enum err_code)c) == status)
			return true;
	return false;
}

static void put_responses(struct json *j, const struct route *r)
{
	char text[12];

	json_object(j, "responses");
	put_success(j, route_status(r), r->answer, r->help);
	if (r->also)
		put_success(j, r->also, r->also_answer ? r->also_answer : r->answer,
			    r->help);
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		if (!can_refuse(r, refusals[i].status))
			continue;
		snprintf(text, sizeof text, "%d", refusals[i].status);
		json_object(j, text);
		if (str_eq(r->method, "HEAD")) /* which has no body */
			json_str(j, "description", refusals[i].help);
		else
			put_ref(j, RESPONSES, text);
		json_end(j);
	}
	json_end(j);
}

static void put_body(struct json *j, const struct route *r)
{
	const char *at = r->body_types ? r->body_types : ROUTE_JSON;
	char *type;

	if (!r->body)
		return;
	json_object(j, "requestBody");
	json_bool(j, "required", !r->body_optional);
	json_object(j, "content");
	for (; (type = next_of(&at)); free(type)) {
		json_object(j, type);
		json_object(j, "schema");
		if (!strchr(r->body, '/'))
			put_shape(j, r->body);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void put_operation(struct json *j, const struct route *r, const char *subject)
{
	char method[16] = "";

	for (size_t i = 0; i < sizeof method - 1 && r->method[i]; i++)
		method[i] = (char)(r->method[i] | 0x20);
	json_object(j, method);
	json_str(j, "operationId", r->name);
	json_str(j, "summary", r->help);
	json_array(j, "tags");
	json_str(j, NULL, subject);
	json_end(j);
	put_params(j, r);
	put_body(j, r);
	put_responses(j, r);
	if (r->rule == RULE_PUBLIC)
		json_raw(j, "security", "[]");
	json_str(j, "x-yard-rule", route_rule_word(r->rule));
	json_end(j);
}

/* "/yard/v1/jobs/{job}" */
static void put_template(struct buf *out, const struct route *r)
{
	AUTO_BUF struct buf path = { 0 };

	route_path(r, &path);
	for (const char *at = buf_str(&path); *at;) {
		bool word = *at == ':';
		size_t len = word ? strcspn(at, "/") : strcspn(at, ":");
		if (word)
			buf_printf(out, "{%.*s}", (int)len - 1, at + 1);
		else
			buf_add(out, at, len);
		at += len;
	}
}

static const char *subject_of(const struct route *wanted)
{
	for (size_t t = 0; t < route_table_count; t++)
		for (const struct route *r = route_tables[t].rows; r->method; r++)
			if (r == wanted)
				return route_tables[t].subject;
	return NULL;
}

static bool same_path(const struct route *a, const struct route *b)
{
	return a->root == b->root && str_eq(a->pattern, b->pattern);
}

static void put_paths(struct json *j)
{
	size_t count = route_count();

	json_object(j, "paths");
	for (size_t i = 0; i < count; i++) {
		AUTO_BUF struct buf path = { 0 };
		size_t first = 0;
		while (!same_path(route_at(first), route_at(i)))
			first++;
		if (first < i)
			continue; /* told with the first of its path */
		put_template(&path, route_at(i));
		json_object(j, buf_str(&path));
		for (size_t k = i; k < count; k++)
			if (same_path(route_at(i), route_at(k)))
				put_operation(j, route_at(k), subject_of(route_at(k)));
		json_end(j);
	}
	json_end(j);
}

static void put_refusals(struct json *j)
{
	char text[12];

	json_object(j, "responses");
	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		snprintf(text, sizeof text, "%d", refusals[i].status);
		json_object(j, text);
		json_str(j, "description", refusals[i].help);
		if (refusals[i].status == 401)
			json_raw(j, "headers",
				 "{\"WWW-Authenticate\":{\"required\":true,"
				 "\"schema\":{\"type\":\"string\"}}}");
		if (refusals[i].status == 429)
			json_raw(j, "headers",
				 "{\"Retry-After\":{\"required\":true,"
				 "\"schema\":{\"type\":\"integer\"}}}");
		put_content(j, "error");
		json_end(j);
	}
	json_end(j);
}

/* The dialect's own schema, whose references begin at its root: here it is not the root. */
static void put_job_file(struct json *j)
{
	static const char from[] = "\"#/$defs/";
	AUTO_BUF struct buf own = { 0 }, moved = { 0 };
	const char *at, *next;

	dialect_find(DIALECT_NATIVE, NULL)->schema(&own);
	for (at = buf_str(&own); (next = strstr(at, from)); at = next + sizeof from - 1) {
		buf_add(&moved, at, (size_t)(next - at));
		buf_adds(&moved, "\"" SCHEMAS WIRE_JOB_FILE "/$defs/");
	}
	buf_adds(&moved, at);

	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&moved), moved.len, NULL);
	json_object(j, WIRE_JOB_FILE);
	for (const struct doc_node *n = d ? doc_root(d)->first : NULL; n; n = n->next)
		if (!str_eq(n->key, "$schema"))
			doc_write_json(n, j, n->key);
	json_end(j);
}

static void put_components(struct json *j)
{
	json_object(j, "components");
	json_object(j, "schemas");
	put_job_file(j);
	for (size_t i = 0; wire_shape_at(i); i++)
		wire_shape_schema(wire_shape_at(i), j);
	json_end(j);
	put_refusals(j);
	json_raw(j, "securitySchemes",
		 "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\","
		 "\"description\":\"a token of `yard login` or POST /tokens\"},"
		 "\"password\":{\"type\":\"http\",\"scheme\":\"basic\","
		 "\"description\":\"a user's name and password\"}}");
	json_end(j);
}

static void put_info(struct json *j)
{
	json_object(j, "info");
	json_str(j, "title", "Trainyard");
	json_str(j, "version", YARD_VERSION);
	json_str(
		j, "description",
		"Jobs on shared machines. By the unix socket the caller is who the kernel "
		"says; by TCP a token or a password says it. Every refusal is an `error` "
		"with a stable code. HEAD is answered where GET is, OPTIONS everywhere.");
	json_raw(j, "license", "{\"name\":\"Apache 2.0\",\"identifier\":\"Apache-2.0\"}");
	json_end(j);
}

void openapi_write(struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "openapi", "3.1.0");
	put_info(&j);
	json_raw(&j, "servers", "[{\"url\":\"/\"}]");
	json_raw(&j, "security", "[{\"token\":[]},{\"password\":[]}]");
	json_array(&j, "tags");
	for (size_t t = 0; t < route_table_count; t++) {
		json_object(&j, NULL);
		json_str(&j, "name", route_tables[t].subject);
		json_str(&j, "description", route_tables[t].help);
		json_end(&j);
	}
	json_end(&j);
	put_paths(&j);
	put_components(&j);
	json_end(&j);
}

void handle_openapi(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);

	openapi_write(out);
	answer_json(ex, 200, out);
}
