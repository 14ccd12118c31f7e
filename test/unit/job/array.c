// SPDX-License-Identifier: Apache-2.0
/* Arrays: the grid of a sweep, what a member's spec is, and that no value ever becomes more
 * than one word of a shell line (asked of a real shell). */
#include "tap.h"

#include <stdlib.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/array.h"
#include "job/spec.h"

static void ranges(void)
{
	static const struct {
		const char *text;
		int64_t count, last; /* count 0: it is none */
	} cases[] = {
		{ "1..5", 5, 5 },        { "0..100..10", 11, 100 },
		{ "0..99..10", 10, 90 }, { "5..1..-2", 3, 1 },
		{ "-3..3", 7, 3 },       { "7..7", 1, 7 },
		{ "5..1", 0, 0 },        { "1..5..0", 0, 0 },
		{ "1..", 0, 0 },         { "..5", 0, 0 },
		{ "1.5..2", 0, 0 },      { "1..5..1..1", 0, 0 },
		{ "1..2000000", 0, 0 },  { "1..1000000", 1000000, 1000000 },
		{ "1..5 ", 0, 0 },       { "99999999999999999999..1", 0, 0 },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct axis x = { 0 }, again = { 0 };
		AUTO_BUF struct buf text = { 0 };
		int rc = axis_set_range(&x, cases[i].text);

		if (rc == 0) {
			axis_write_range(&x, &text);
			axis_set_range(&again, buf_str(&text));
		}
		OK(cases[i].count
			   ? rc == 0 && x.count == cases[i].count &&
				     x.from + (x.count - 1) * x.step == cases[i].last &&
				     again.count == x.count && again.step == x.step
			   : rc < 0,
		   "the range \"%s\"", cases[i].text);
	}
}

static struct spec *a_spec(const char *line)
{
	struct spec *s = spec_create();

	s->name = mem_strdup("grid");
	role_set_shell(spec_add_role(s), line);
	return s;
}

static bool check(struct spec *s)
{
	AUTO_PROBLEMS struct problems p = { 0 };

	spec_check(s, &p);
	return p.count == 0;
}

static void grid(void)
{
	AUTO_SPEC struct spec *s =
		a_spec("echo {lr} ${lr} \\{lr} {seed}-{index} {other}");
	struct axis *x = array_add_axis(&s->array, "lr");
	AUTO_BUF struct buf all = { 0 };

	axis_add_value(x, "0.1");
	axis_add_value(x, "1e-2");
	axis_set_range(array_add_axis(&s->array, "seed"), "1..3");
	pairs_set(&s->hyperparameters, "lr", "7");
	pairs_set(&s->hyperparameters, "kept", "\"adam\"");
	OK(check(s) && s->array.count == 6, "a sweep of two and three has six members");
	for (int64_t i = 0; i < 6; i++) {
		array_words(&s->array, i, &all);
		buf_addc(&all, ';');
	}
	IS(buf_str(&all),
	   "lr=0.1 seed=1;lr=0.1 seed=2;lr=0.1 seed=3;lr=1e-2 seed=1;lr=1e-2 seed=2;"
	   "lr=1e-2 seed=3;",
	   "in the order written, the last axis fastest");
	AUTO_SPEC struct spec *m = array_member(s, 4);
	IS(m->roles[0].shell_line, "echo 1e-2 ${lr} \\{lr} 2-4 {other}",
	   "its values stand in the command; ${lr}, \\{lr} and what is no axis stay");
	IS(m->roles[0].argv[2], m->roles[0].shell_line, "and in what is executed");
	IS(pairs_get(&m->hyperparameters, "lr"), "1e-2", "over the file's own value");
	IS(pairs_get(&m->hyperparameters, "kept"), "\"adam\"", "beside the others");
	IS(m->name, "grid.4", "it is named by its number");
	OK(m->array.count == 0 && check(m), "and is a job like any other");
}

static void round_trip(void)
{
	AUTO_SPEC struct spec *s = a_spec("true");
	AUTO_BUF struct buf one = { 0 }, two = { 0 };
	struct axis *x = array_add_axis(&s->array, "layers");

	axis_add_value(x, "[64,64]");
	axis_add_value(x, "{\"a\":null}");
	axis_set_range(array_add_axis(&s->array, "seed"), "0..90..10");
	s->array.parallel = 3;
	s->array.stop_after = 2;
	OK(check(s), "values may be anything");
	spec_to_json(s, &one);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&one), one.len, NULL);
	AUTO_SPEC struct spec *back = spec_from_json(doc_root(d), NULL);
	OK(back && back->array.count == 20, "an array survives being written");
	spec_to_json(back, &two);
	IS(buf_str(&two), buf_str(&one), "whole");
}

static void problems(void)
{
	static const char *const bad_names[] = { "index", "a b", "", "LR" };
	AUTO_SPEC struct spec *big = a_spec("true");

	for (size_t i = 0; i < COUNT_OF(bad_names); i++) {
		AUTO_SPEC struct spec *s = a_spec("true");
		axis_add_value(array_add_axis(&s->array, "lr"), "1");
		axis_add_value(array_add_axis(&s->array, bad_names[i]), "1");
		OK(!check(s), "an axis cannot be named \"%s\" beside lr", bad_names[i]);
	}
	axis_set_range(array_add_axis(&big->array, "a"), "1..1000");
	axis_set_range(array_add_axis(&big->array, "b"), "1..1001");
	OK(!check(big), "a million members is the most");
	AUTO_SPEC struct spec *long_one = a_spec("true");
	struct axis *x = array_add_axis(&long_one->array, "x");
	AUTO_BUF struct buf line = { 0 }, value = { 0 };
	buf_addc(&value, '"');
	for (int i = 0; i < 2000; i++) {
		buf_adds(&line, "{x}");
		buf_addc(&value, 'v');
	}
	buf_addc(&value, '"');
	axis_add_value(x, buf_str(&value));
	role_set_shell(&long_one->roles[0], buf_str(&line));
	OK(!check(long_one), "a command that would grow beyond all bounds is refused");
}

/* What a shell makes of the line: the words, each in brackets. */
static char *shell_says(const char *line)
{
	struct buf out = { 0 };
	char chunk[512];
	size_t n;
	FILE *p;

	setenv("YARD_TEST_LINE", line, 1);
	p = popen("sh -c \"$YARD_TEST_LINE\"", "r");
	while (p && (n = fread(chunk, 1, sizeof chunk, p)) > 0)
		buf_add(&out, chunk, n);
	if (p)
		pclose(p);
	return out.data ? buf_take(&out) : mem_strdup("");
}

static void quoting(void)
{
	static const char *const lines[] = {
		"printf '[%s]' {v}",
		"printf '[%s]' \"{v}\"",
		"printf '[%s]' '{v}'",
		"printf '[%s]' \"\"{v}''",
		"x=1; printf '[%s]' \"\\\"\"{v} | sed 's/\"//'",
	};
	static const char *const values[] = {
		"plain", "two words", "it's", "\"",  "$HOME",   "$(echo no)", "`echo no`",
		"a;b",   "a\\b",      "*",    "-n",  "'\"'\"'", "a\nb",       "#x",
		"!",     "~",         "&",    "{v}", "\\",
	};
	int wrong = 0, refused = 0;

	for (size_t i = 0; i < COUNT_OF(lines) * COUNT_OF(values); i++) {
		const char *value = values[i % COUNT_OF(values)];
		AUTO_SPEC struct spec *s = a_spec(lines[i / COUNT_OF(values)]);
		AUTO_BUF struct buf json = { 0 };
		struct json j;

		json_init(&j, &json);
		json_str(&j, NULL, value);
		axis_add_value(array_add_axis(&s->array, "v"), buf_str(&json));
		if (!check(s)) {
			refused++;
			continue;
		}
		AUTO_SPEC struct spec *m = array_member(s, 0);
		AUTO_FREE char *said = shell_says(m->roles[0].shell_line);
		bool strips = i / COUNT_OF(values) == 4 && strchr(value, '"');
		AUTO_FREE char *want = str_printf("[%s]", value);
		if (!strips && strcmp(said, want) != 0) {
			printf("# %s: %s, not %s\n", m->roles[0].shell_line, said, want);
			wrong++;
		}
	}
	IS_INT(wrong, 0, "a value is one word of a shell line, whatever it contains");
	IS_INT(refused, 0, "and none of these is refused");
	AUTO_SPEC struct spec *s = a_spec("echo \"$(cat {v})\" # it's");
	axis_add_value(array_add_axis(&s->array, "v"), "\"a b\"");
	OK(!check(s), "a line too intricate to quote in takes no such value");
	AUTO_SPEC struct spec *t = a_spec("echo \"$(cat {v})\" # it's");
	axis_add_value(array_add_axis(&t->array, "v"), "\"a-b.txt\"");
	OK(check(t), "but takes a harmless one");
}

/* Members are stored one by one: a large job file many times would fill the disk. */
static void together(void)
{
	static const struct {
		int count;
		size_t text;
		bool fine;
	} cases[] = { { 1000000, 1000, true },
		      { 1000000, 100000, false },
		      { 1000, 100000, true } };

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		AUTO_FREE char *text = mem_alloc(1, cases[i].text + 1);
		AUTO_SPEC struct spec *s = a_spec("true"), *swept = a_spec("echo {a}");
		struct buf json = { 0 };

		memset(text, 'x', cases[i].text);
		pairs_set(&s->roles[0].env, "A", text);
		s->array.count = cases[i].count;
		OK(check(s) == cases[i].fine, "%d members with %zu bytes each are %s",
		   cases[i].count, cases[i].text, cases[i].fine ? "fine" : "too much");
		buf_printf(&json, "\"%s\"", text);
		axis_add_value(array_add_axis(&swept->array, "a"), buf_str(&json));
		AUTO_FREE char *range = str_printf("1..%d", cases[i].count);
		axis_set_range(array_add_axis(&swept->array, "b"), range);
		OK(check(swept) == cases[i].fine, "wherever they are from");
		buf_fini(&json);
	}
}

int main(void)
{
	ranges();
	grid();
	round_trip();
	problems();
	quoting();
	together();
	return END();
}
