// SPDX-License-Identifier: Apache-2.0
#include "tap.h"

#include <stdlib.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/mem.h"

/* One line that shows a tree: {key: value, ...}; strings in single quotes. */
static void show(const struct doc_node *n, struct buf *out)
{
	const char *open = n->kind == DOC_MAP ? "{" : "[",
		   *close = n->kind == DOC_MAP ? "}" : "]";

	switch (n->kind) {
	case DOC_NULL:
		buf_adds(out, "null");
		return;
	case DOC_BOOL:
		buf_adds(out, n->boolean ? "true" : "false");
		return;
	case DOC_NUMBER:
		buf_adds(out, n->text);
		return;
	case DOC_STRING:
		buf_printf(out, "'%s'", n->text);
		return;
	case DOC_LIST:
	case DOC_MAP:
		break;
	}
	buf_adds(out, open);
	for (const struct doc_node *c = n->first; c; c = c->next) {
		if (c->key)
			buf_printf(out, "%s: ", c->key);
		show(c, out);
		if (c->next)
			buf_adds(out, ", ");
	}
	buf_adds(out, close);
}

typedef struct doc *(*parser)(const char *text, size_t len, struct err *err);

static const char *shown(parser parse, const char *text)
{
	static char line[4096];
	AUTO_BUF struct buf out = { 0 };
	struct err err = { 0 };
	/* A copy without a NUL behind it: reading past the end is seen by the sanitizer. */
	char *exact = malloc(strlen(text) + 1);

	memcpy(exact, text, strlen(text));
	exact = realloc(exact, strlen(text) ? strlen(text) : 1);
	AUTO_DOC struct doc *d = parse(exact, strlen(text), &err);
	free(exact);
	if (d)
		show(doc_root(d), &out);
	snprintf(line, sizeof line, "%s", d ? buf_str(&out) : err.text);
	return line;
}

static void json_is(const char *text, const char *want)
{
	IS(shown(doc_parse_json, text), want, "JSON %.*s", (int)strcspn(text, "\n"),
	   text);
}

static void yaml_is(const char *text, const char *want)
{
	IS(shown(doc_parse_yaml, text), want, "YAML %.*s", (int)strcspn(text, "\n"),
	   text);
}

static void json_values(void)
{
	json_is("{}", "{}");
	json_is(" [ ] ", "[]");
	json_is("[[],{}]", "[[], {}]");
	json_is("{\"a\":[1,-2.5e+3,\"x\"],\"b\":{\"c\":null,\"d\":true,\"e\":false}}",
		"{a: [1, -2.5e+3, 'x'], b: {c: null, d: true, e: false}}");
	json_is("\"\\u00e9\\ud83d\\ude00\\n\\\"\\/\"", "'\xc3\xa9\xf0\x9f\x98\x80\n\"/'");
	json_is("0", "0");
	json_is("\"plain \xe4\xbd\xa0\"", "'plain \xe4\xbd\xa0'");
}

static void json_refusals(void)
{
	json_is("", "line 1, column 1: the text ends where a value should be");
	json_is("{\"a\":1,}",
		"line 1, column 8: '}' where a key in double quotes should be");
	json_is("[1,]", "line 1, column 4: ']' where a value should be");
	json_is("[1",
		"line 1, column 3: the text ends where the closing bracket should be");
	json_is("[1 2]", "line 1, column 4: '2' where ',' or ']' should be");
	json_is("{\"a\" 1}", "line 1, column 6: '1' where ':' should be");
	json_is("{a:1}", "line 1, column 2: 'a' where a key in double quotes should be");
	json_is("[01]", "line 1, column 2: \"01\" is not a number");
	json_is("[1.]", "line 1, column 2: \"1.\" is not a number");
	json_is("[.5]", "line 1, column 2: '.' where a value should be");
	json_is("[+1]", "line 1, column 2: '+' where a value should be");
	json_is("nul", "line 1, column 1: 'n' where a value should be");
	json_is("{} {}", "line 1, column 4: '{' where the end of the text should be");
	json_is("\"a\nb\"",
		"line 1, column 3: byte 0x0a where a printable character or an escape such as \\n should be");
	json_is("\"\\ud800x\"",
		"line 1, column 8: 'x' where the second half of a surrogate pair should be");
	json_is("\"\\udc00\"",
		"line 1, column 3: 'u' where the first half of a surrogate pair should be");
	json_is("\"\\u12g4\"",
		"line 1, column 3: 'u' where \\u with four hexadecimal digits should be");
	json_is("\"\\x\"",
		"line 1, column 3: 'x' where an escape (one of \" \\ / b f n r t u) should be");
	json_is("\"abc",
		"line 1, column 5: the text ends where the closing \" should be");
	json_is("\"abc\\",
		"line 1, column 6: the text ends where an escape (one of \" \\ / b f n r t u) should be");
	json_is("\"\xc0\xaf\"",
		"line 1, column 2: byte 0xc0 where well-formed UTF-8 should be");
	json_is("\"\xed\xa0\x80\"",
		"line 1, column 2: byte 0xed where well-formed UTF-8 should be");
	json_is("\"\xe4\xbd\"",
		"line 1, column 2: byte 0xe4 where well-formed UTF-8 should be");
	json_is("{\n \"a\": 1,\n \"a\": 2}",
		"line 3, column 2: \"a\" is given twice: first in line 2, column 2");
	json_is("{\"a\\u0000b\":1}",
		"line 1, column 2: a key must not contain a NUL character");
	json_is("[\"\xe4\xbd\xa0\xe4\xbd\xa0\" x]",
		"line 1, column 7: 'x' where ',' or ']' should be");
}

static void yaml_values(void)
{
	yaml_is("", "null");
	yaml_is("# only a comment\n", "null");
	yaml_is("a: 1\nb: [x, 'true', true, ~]\nc:\n  - d: 0.5\n",
		"{a: 1, b: ['x', 'true', true, null], c: [{d: 0.5}]}");
	yaml_is("a: yes\nb: 007\nc: 0x1f\nd: 1.\ne: .5\nf: +1\ng: 1e-4\n",
		"{a: 'yes', b: '007', c: '0x1f', d: '1.', e: '.5', f: '+1', g: 1e-4}");
	yaml_is("a: !!str 12\nb: ! 12\nc: !!int 12\n", "{a: '12', b: '12', c: 12}");
	yaml_is("a: |\n  one\n  two\nb: >-\n  one\n  two\n",
		"{a: 'one\ntwo\n', b: 'one two'}");
	yaml_is("a: &x {k: [1, 2]}\nb: *x\nc: [*x, *x]\n",
		"{a: {k: [1, 2]}, b: {k: [1, 2]}, c: [{k: [1, 2]}, {k: [1, 2]}]}");
	yaml_is("a: &x 5\nb: *x\n", "{a: 5, b: 5}");
	yaml_is("{\"a\": [1, 2], b: c}", "{a: [1, 2], b: 'c'}");
	yaml_is("1: x\ntrue: y\n", "{1: 'x', true: 'y'}");
}

static void yaml_refusals(void)
{
	yaml_is("a: 1\nb: 2\na: 3\n",
		"line 3, column 1: \"a\" is given twice: first in line 1, column 1");
	yaml_is("a: *nowhere\n",
		"line 1, column 4: there is no anchor \"&nowhere\" above");
	yaml_is("a: &x [*x]\n", "line 1, column 8: \"*x\" contains itself");
	yaml_is("a: 1\n---\nb: 2\n",
		"line 2, column 1: a second document begins here; one file holds one");
	yaml_is("a: !python/object x\n",
		"line 1, column 4: the tag \"!python/object\" has no meaning here; leave it out");
	yaml_is("? [1, 2]\n: x\n",
		"line 1, column 3: a key must be a plain text, not a list");
	yaml_is("? {a: 1}\n: x\n",
		"line 1, column 3: a key must be a plain text, not a map");
	yaml_is("a: &x k\n*x : y\n",
		"line 2, column 1: a key must be a plain text, not an alias");
	yaml_is("a: &x {b: 1}\n<<: *x\n",
		"line 2, column 1: merge keys (<<) are not supported; write the fields out");
	yaml_is("\"a\\0b\": 1\n",
		"line 1, column 1: a key must not contain a NUL character");
	OK(strstr(shown(doc_parse_yaml, "a: [1\nb: 2\n"), "line 2, column"),
	   "an open bracket is reported with its line");
	OK(strstr(shown(doc_parse_yaml, "a: \xff\n"), "line 1, column"),
	   "bytes that are not UTF-8 are reported");
}

static void places(void)
{
	const char *text = "a: 1\nbb:\n  - x\n  - cc: y\n";
	AUTO_DOC struct doc *d = doc_parse_yaml(text, strlen(text), NULL);
	const struct doc_node *bb = d ? doc_get(doc_root(d), "bb") : NULL;
	const struct doc_node *cc =
		bb && bb->first ? doc_get(bb->first->next, "cc") : NULL;
	const char *json = "{\n  \"k\": [1,\n    \"v\"]\n}";
	AUTO_DOC struct doc *j = doc_parse_json(json, strlen(json), NULL);
	const struct doc_node *k = j ? doc_get(doc_root(j), "k") : NULL;

	OK(cc && cc->key_line == 4 && cc->key_column == 5 && cc->line == 4 &&
		   cc->column == 9,
	   "a YAML node knows the place of its key and of its value");
	OK(bb && bb->count == 2, "a list knows its length");
	OK(k && k->key_line == 2 && k->key_column == 3 && k->column == 8 &&
		   k->first->next->line == 3 && k->first->next->column == 5,
	   "a JSON node knows its places too");
}

static void places_of_errors(void)
{
	struct doc_mark at = { 9, 9 };
	struct err err = { 0 };
	const char *bad = "{\"a\": 1,\n \"b\" 2}";

	OK(!doc_parse_at(bad, strlen(bad), &at, &err) && at.line == 2 && at.column == 6,
	   "a text that begins like JSON is judged as JSON");
	OK(!doc_parse_at("a: [", 4, &at, &err) && at.line >= 1, "and a YAML one as YAML");
	AUTO_DOC struct doc *flow = doc_parse("{a: 1}", 6, &err);
	OK(flow && doc_i64(doc_root(flow), "a", 0) == 1,
	   "YAML's flow style is read although it begins like JSON");
}

static void whole_numbers(void)
{
	static const struct {
		const char *text;
		int64_t want; /* -1: none, or not from 0 to 300 */
	} rows[] = { { "208", 208 },  { "208.0", 208 }, { "0.000", 0 },  { "-0.0", 0 },
		     { "208.5", -1 }, { "301.0", -1 },  { "1e2", -1 },   { "\"7\"", -1 },
		     { "-1.0", -1 },  { "true", -1 },   { "0.0001", -1 } };

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		struct err err = { 0 };
		int64_t v = -1;
		AUTO_DOC struct doc *d =
			doc_parse_json(rows[i].text, strlen(rows[i].text), &err);
		int rc = d ? doc_whole(doc_root(d), 0, 300, &v) : -2;
		OK(rc == (rows[i].want < 0 ? -1 : 0) && v == rows[i].want,
		   "%s %s a whole number in bounds", rows[i].text,
		   rows[i].want < 0 ? "is not" : "is");
	}
}

static void limits(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct err err = { 0 };
	const parser both[] = { doc_parse_json, doc_parse_yaml };
	struct doc *d;

	for (int i = 0; i < 2; i++) {
		for (int depth = DOC_DEPTH_MAX; depth <= DOC_DEPTH_MAX + 1; depth++) {
			buf_clear(&b);
			for (int k = 0; k < depth; k++)
				buf_addc(&b, '[');
			for (int k = 0; k < depth; k++)
				buf_addc(&b, ']');
			d = both[i](b.data, b.len, &err);
			OK(!d == (depth > DOC_DEPTH_MAX), "%d levels: %s", depth,
			   d ? "read" : err.text);
			doc_destroy(d);
		}
		buf_clear(&b);
		buf_adds(&b, "[0");
		for (int k = 0; k < DOC_NODES_MAX; k++)
			buf_adds(&b, ",0");
		buf_addc(&b, ']');
		OK(!both[i](b.data, b.len, &err) && err.code == ERR_TOO_LARGE,
		   "too many values: %s", err.text);
	}
	buf_clear(&b);
	buf_reserve(&b, DOC_BYTES_MAX + 1);
	memset(b.data, ' ', DOC_BYTES_MAX + 1);
	OK(!doc_parse_json(b.data, DOC_BYTES_MAX + 1, &err) && err.code == ERR_TOO_LARGE,
	   "too many bytes: %s", err.text);
}

static void bombs(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct err err = { 0 };

	buf_adds(&b, "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 12; i++) {
		buf_printf(&b, "a%d: &a%d [", i, i);
		for (int k = 0; k < 10; k++)
			buf_printf(&b, "%s*a%d", k ? ", " : "", i - 1);
		buf_adds(&b, "]\n");
	}
	OK(!doc_parse_yaml(b.data, b.len, &err) && err.code == ERR_TOO_LARGE,
	   "an alias bomb is refused: %s", err.text);
	buf_clear(&b);
	buf_adds(&b, "a0: &a0 [x]\n");
	for (int i = 1; i < 100; i++)
		buf_printf(&b, "a%d: &a%d [*a%d]\n", i, i, i - 1);
	OK(!doc_parse_yaml(b.data, b.len, &err) && strstr(err.text, "nested deeper"),
	   "depth made by aliases counts too: %s", err.text);
	buf_clear(&b);
	for (int i = 0; i < 1001; i++)
		buf_printf(&b, "- &a%d x\n", i);
	OK(!doc_parse_yaml(b.data, b.len, &err) &&
		   strstr(err.text, "more than 1000 anchors"),
	   "too many anchors");
	buf_clear(&b);
	buf_adds(&b, "a: &a ");
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "0123456789");
	buf_adds(&b, "\nb: [*a, *a, *a, *a, *a, *a, *a, *a]\n");
	OK(!doc_parse_yaml(b.data, b.len, &err) && err.code == ERR_TOO_LARGE,
	   "a long text cannot be repeated beyond the bound: %s", err.text);
}

static void many_keys(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct err err = { 0 };

	buf_addc(&b, '{');
	for (int i = 0; i < 90000; i++)
		buf_printf(&b, "\"k%d\":%d,", i, i);
	buf_adds(&b, "\"k70000\":0}");
	OK(!doc_parse_json(b.data, b.len, &err) &&
		   strstr(err.text, "\"k70000\" is given twice"),
	   "a duplicate among 90,000 keys is found");
}

int main(void)
{
	json_values();
	json_refusals();
	yaml_values();
	yaml_refusals();
	places();
	places_of_errors();
	whole_numbers();
	limits();
	bombs();
	many_keys();
	return END();
}
