// SPDX-License-Identifier: Apache-2.0
/* The tables of shapes: whole, without circles, their words the ones of the code; and what
 * the check of a value says. */
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/event.h"
#include "job/exit.h"
#include "job/life.h"
#include "tap.h"
#include "wire/shape.h"

#define DEPTH_MAX 8

static const struct wire_field *field(const char *shape, const char *name)
{
	const struct wire_shape *s = wire_shape_find(shape);

	for (const struct wire_field *f = s ? s->fields : NULL; f && f->name; f++)
		if (str_eq(f->name, name))
			return f;
	return NULL;
}

static bool basic(const char *of)
{
	return str_eq(of, "text") || str_eq(of, "int") || str_eq(of, "ints") ||
	       str_eq(of, "count") || str_eq(of, "amount") || str_eq(of, "any") ||
	       str_eq(of, "point") || str_eq(of, WIRE_JOB_FILE);
}

/* How deep it goes; DEPTH_MAX: a circle, or a name that is none. */
static int depth(const char *name, int left)
{
	const struct wire_shape *s = wire_shape_find(name);
	int most = 0;

	if (basic(name))
		return 0;
	if (!s || left == 0)
		return DEPTH_MAX;
	for (const struct wire_field *f = s->fields; f->name; f++) {
		int d = f->of ? depth(f->of, left - 1) + 1 : 1;
		most = d > most ? d : most;
	}
	return most;
}

static void whole(void)
{
	const struct wire_shape *s;

	for (size_t i = 0; (s = wire_shape_at(i)); i++) {
		int bad = 0;
		for (const struct wire_field *f = s->fields; f->name; f++) {
			bool needs = f->kind == WIRE_OBJECT || f->kind == WIRE_LIST ||
				     f->kind == WIRE_MAP;
			bad += !f->help || !*f->help || needs != !!f->of;
			bad += field(s->name, f->name) != f;
		}
		OK(!bad && s->help && wire_shape_find(s->name) == s,
		   "%s: every field has its help and its kind, none is there twice",
		   s->name);
		OK(depth(s->name, DEPTH_MAX) < DEPTH_MAX,
		   "%s: names shapes that are, and no circle", s->name);
		if (!s->example)
			continue;
		struct err err = { 0 };
		struct doc *d = doc_parse_json(s->example, strlen(s->example), &err);
		OK(d && wire_shape_check(s, doc_root(d), &err) == 0,
		   "%s: so is its example", s->name);
		doc_destroy(d);
	}
}

static void same_words(const char *shape, const char *name, struct buf *want)
{
	const struct wire_field *f = field(shape, name);

	OK(f && f->words && str_eq(f->words, buf_str(want) + 1),
	   "%s.%s: its words are those of the code", shape, name);
	if (f && !str_eq(f->words, buf_str(want) + 1))
		printf("# have %s\n# want%s\n", f->words, buf_str(want));
	buf_clear(want);
}

static void words(void)
{
	struct buf want = { 0 };

	for (int i = 0; i < JOB_STATE_COUNT; i++)
		buf_printf(&want, " %s", job_state_word((enum job_state)i));
	same_words("job", "state", &want);
	for (int i = 0; i < TASK_STATE_COUNT; i++)
		buf_printf(&want, " %s", task_state_word((enum task_state)i));
	same_words("task", "state", &want);
	for (int i = 1; i < OUTCOME_COUNT; i++)
		buf_printf(&want, " %s", outcome_word((enum outcome)i));
	same_words("job", "outcome", &want);
	for (int i = 1; i < STOP_KIND_COUNT; i++)
		buf_printf(&want, " %s", stop_kind_word((enum stop_kind)i));
	same_words("stop_info", "kind", &want);
	for (int i = 0; i < EXIT_KIND_COUNT; i++)
		buf_printf(&want, " %s", exit_kind_word((enum exit_kind)i));
	same_words("exit", "kind", &want);
	for (int i = 0; i < EVENT_KIND_COUNT; i++)
		buf_printf(&want, " %s", event_kind_word((enum event_kind)i));
	same_words("event", "kind", &want);
	for (int i = 1; i < ERR_CODE_END; i++)
		buf_printf(&want, " %s", err_word((enum err_code)i));
	same_words("error_body", "code", &want);
	buf_fini(&want);
}

/* NULL: it has the shape. */
static const char *check(const char *shape, const char *json)
{
	static struct err err;
	struct doc *d = doc_parse_json(json, strlen(json), &err);
	int rc = d ? wire_shape_check(wire_shape_find(shape), doc_root(d), &err) : -1;

	doc_destroy(d);
	return rc < 0 ? err.text : NULL;
}

static void checks(void)
{
	OK(!check("quota", "{}") && !check("quota", "{\"cpu_milli\":null}"),
	   "what may be absent or null may be");
	OK(!check("quota", "{\"cpu_milli\":5,\"devices\":{\"gpu\":1}}"), "a good one is");
	IS(check("quota", "[]"), "an object is wanted", "a list is no object");
	IS(check("quota", "{\"cpu_mili\":1}"),
	   "cpu_mili: no such field; did you mean cpu_milli?",
	   "a field beside them is told, with the meant one");
	IS(check("quota", "{\"max_running_jobs\":-1}"),
	   "max_running_jobs: a whole number from 0 to 2147483647 or null is wanted",
	   "so is a number that is too small");
	IS(check("quota", "{\"max_running_jobs\":1.5}"),
	   "max_running_jobs: a whole number from 0 to 2147483647 or null is wanted",
	   "or not whole");
	IS(check("quota", "{\"devices\":{\"gpu\":\"x\"}}"),
	   "devices.gpu: a whole number from 0 to 2147483647 is wanted", "by its path");
	IS(check("quota", "{\"devices\":{\"g u\":1}}"),
	   "devices.g u: 'g u' is not like ^[A-Za-z0-9][A-Za-z0-9:._-]{0,30}$",
	   "a key has its pattern");
	IS(check("secret_value", "{\"base64\":\"hush!!\"}"),
	   "base64: it is not of the form that is wanted", "a secret is not repeated");
	IS(check("quota", "{\"devices\":{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1}}"),
	   "devices: too many of them", "too many are too many");
	IS(check("quota_of", "{\"scope\":\"odd\",\"name\":\"a\",\"quota\":{}}"),
	   "scope: 'odd' is not one of: user group", "words are the words");
	IS(check("quota_of", "{\"scope\":\"user\",\"name\":\"a\"}"),
	   "quota: is missing; the limits", "what is missing is told");
	IS(check("quota_of", "{\"scope\":\"user\",\"name\":7,\"quota\":{}}"),
	   "name: a text is wanted", "a number is no text");
	IS(check("quota_of", "{\"scope\":\"user\",\"name\":\"a\\u0000b\",\"quota\":{}}"),
	   "name: a text without NUL is wanted", "nor is one with NUL in it");
	IS(check("nodes", "{\"nodes\":[{\"name\":1}]}"),
	   "nodes[0].name: a text is wanted", "the path leads into lists");
	IS(check("backup", "{\"path\":\"\"}"), "path: 1 to 4095 letters are wanted",
	   "a text has its length");
	IS(check("usage", "{\"samples\":[[1,\"x\"]]}"),
	   "samples[0]: a whole number is wanted", "lists of numbers are looked into");
}

static void schema(void)
{
	struct buf out = { 0 };
	struct json j;
	struct err err;

	json_init(&j, &out);
	json_object(&j, NULL);
	for (size_t i = 0; wire_shape_at(i); i++)
		wire_shape_schema(wire_shape_at(i), &j);
	json_end(&j);
	struct doc *d = doc_parse_json(buf_str(&out), out.len, &err);
	OK(d != NULL, "the schemas are JSON");
	const struct doc_node *quota = doc_get(doc_root(d), "quota");
	OK(doc_get(quota, "additionalProperties") != NULL &&
		   !doc_get(doc_get(doc_root(d), "job"), "additionalProperties"),
	   "a request is closed, an answer may grow");
	doc_destroy(d);
	buf_fini(&out);
}

int main(void)
{
	whole();
	words();
	checks();
	schema();
	return END();
}
