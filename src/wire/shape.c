// SPDX-License-Identifier: Apache-2.0
#include "wire/shape.h"

#include <assert.h>
#include <regex.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

#define GUESS_FIELDS_MAX 64

static const struct wire_shape *const lists[] = { wire_shapes_job,     wire_shapes_people,
						  wire_shapes_yard,    wire_shapes_file,
						  wire_shapes_catalog, wire_shapes_app };

const struct wire_shape *wire_shape_at(size_t i)
{
	for (size_t l = 0; l < COUNT_OF(lists); l++)
		for (const struct wire_shape *s = lists[l]; s->name; s++)
			if (i-- == 0)
				return s;
	return NULL;
}

const struct wire_shape *wire_shape_find(const char *name)
{
	for (size_t l = 0; l < COUNT_OF(lists); l++)
		for (const struct wire_shape *s = lists[l]; s->name; s++)
			if (str_eq(s->name, name))
				return s;
	return NULL;
}

const char *wire_word_next(const char **at, size_t *len)
{
	const char *word = *at;

	if (!word || !*word)
		return NULL;
	*len = strcspn(word, " ");
	*at = word + *len + (word[*len] == ' ');
	return word;
}

static bool is_word(const char *words, const char *text)
{
	const char *word;
	size_t len;

	while ((word = wire_word_next(&words, &len)))
		if (strlen(text) == len && memcmp(word, text, len) == 0)
			return true;
	return false;
}

static int check_shape(const struct wire_shape *s, const struct doc_node *n,
		       struct buf *path, struct err *err);

/* The path of what is wrong, and what is allowed there. */
static int wrong(const struct buf *path, struct err *err, const char *allowed)
{
	return err_set(err, ERR_INVALID, "%s%s%s", buf_str(path), path->len ? ": " : "",
		       allowed);
}

bool wire_pattern_fits(const char *pattern, const char *text)
{
	regex_t re;

	if (regcomp(&re, pattern, REG_EXTENDED | REG_NOSUB) != 0)
		return false; /* ours are tested */
	bool fits = regexec(&re, text, 0, NULL, 0) == 0;
	regfree(&re);
	return fits;
}

static int check_pattern(const char *pattern, const char *text, const struct buf *path,
			 struct err *err)
{
	AUTO_BUF struct buf allowed = { 0 };

	if (!pattern || wire_pattern_fits(pattern, text))
		return 0;
	buf_printf(&allowed, "'%.64s' is not like %s", text, pattern);
	return wrong(path, err, buf_str(&allowed));
}

static int check_text(const struct wire_field *f, const struct doc_node *n,
		      const struct buf *path, struct err *err)
{
	AUTO_BUF struct buf allowed = { 0 };

	if (n->kind != DOC_STRING)
		return wrong(path, err, "a text is wanted");
	if (f->words && !is_word(f->words, n->text)) {
		buf_printf(&allowed, "'%.64s' is not one of: %s", n->text, f->words);
		return wrong(path, err, buf_str(&allowed));
	}
	if (strlen(n->text) != n->text_len)
		return wrong(path, err, "a text without NUL is wanted");
	int64_t length = (int64_t)utf8_count(n->text);
	if (f->max && (length < f->min || length > f->max)) {
		buf_printf(&allowed, "%lld to %lld letters are wanted", (long long)f->min,
			   (long long)f->max);
		return wrong(path, err, buf_str(&allowed));
	}
	if (f->flags & WIRE_SECRET && f->pattern)
		return wire_pattern_fits(f->pattern, n->text)
			       ? 0
			       : wrong(path, err, "it is not of the form that is wanted");
	return check_pattern(f->pattern, n->text, path, err);
}

static int check_int(const struct wire_field *f, const struct doc_node *n,
		     const struct buf *path, struct err *err)
{
	AUTO_BUF struct buf allowed = { 0 };
	bool any = f->min == 0 && f->max == 0;
	int64_t v;

	if (doc_whole(n, any ? INT64_MIN : f->min, any ? INT64_MAX : f->max, &v) == 0)
		return 0;
	buf_adds(&allowed, "a whole number");
	if (!any)
		buf_printf(&allowed, " from %lld to %lld", (long long)f->min,
			   (long long)f->max);
	buf_adds(&allowed, f->flags & WIRE_NULL ? " or null is wanted" : " is wanted");
	return wrong(path, err, buf_str(&allowed));
}

static int check_number(const struct doc_node *n, const struct buf *path, struct err *err)
{
	static const struct wire_field none = { .words = "NaN Infinity -Infinity" };

	return n->kind == DOC_NUMBER ? 0 : check_text(&none, n, path, err);
}

/* [step, time_ms, value] */
static int check_point(const struct doc_node *n, const struct buf *path, struct err *err)
{
	static const struct wire_field plain = { 0 };

	if (n->kind != DOC_LIST || n->count != 3)
		return wrong(path, err, "a list of three numbers is wanted");
	if (check_int(&plain, n->first, path, err) < 0 ||
	    check_int(&plain, n->first->next, path, err) < 0)
		return -1;
	return check_number(n->first->next->next, path, err);
}

/* One of a list or map: `of` is a basic word or a shape. */
static int check_item(const struct wire_field *f, const struct doc_node *n,
		      struct buf *path, struct err *err)
{
	const char *of = f->of;
	const struct wire_field item = { .words = f->words,
					 .pattern = f->kind == WIRE_LIST ? f->pattern
									 : NULL };
	static const struct wire_field plain = { 0 }, count = { .max = INT32_MAX };

	if (str_eq(of, "any"))
		return 0;
	if (str_eq(of, "text"))
		return check_text(&item, n, path, err);
	if (str_eq(of, "int"))
		return check_int(&plain, n, path, err);
	if (str_eq(of, "count"))
		return check_int(&count, n, path, err);
	if (str_eq(of, "amount"))
		return n->kind == DOC_NUMBER && n->text[0] != '-'
			       ? 0
			       : wrong(path, err, "a number from 0 is wanted");
	if (str_eq(of, "point"))
		return check_point(n, path, err);
	if (!str_eq(of, "ints"))
		return check_shape(wire_shape_find(of), n, path, err);
	if (n->kind != DOC_LIST)
		return wrong(path, err, "a list of whole numbers is wanted");
	for (const struct doc_node *c = n->first; c; c = c->next)
		if (check_int(&plain, c, path, err) < 0)
			return -1;
	return 0;
}

static int check_items(const struct wire_field *f, const struct doc_node *n,
		       struct buf *path, struct err *err)
{
	bool map = f->kind == WIRE_MAP;
	size_t before = path->len, i = 0;

	if (n->kind != (map ? DOC_MAP : DOC_LIST))
		return wrong(path, err, map ? "an object is wanted" : "a list is wanted");
	if (f->max && n->count > (size_t)f->max)
		return wrong(path, err, "too many of them");
	if (n->count < (size_t)f->min)
		return wrong(path, err, "too few of them");
	for (const struct doc_node *c = n->first; c; c = c->next, i++) {
		if (map)
			buf_printf(path, ".%.64s", c->key);
		else
			buf_printf(path, "[%zu]", i);
		if ((map && check_pattern(f->pattern, c->key, path, err) < 0) ||
		    check_item(f, c, path, err) < 0)
			return -1;
		buf_cut(path, before);
	}
	return 0;
}

static int check_field(const struct wire_field *f, const struct doc_node *n,
		       struct buf *path, struct err *err)
{
	if (n->kind == DOC_NULL && f->flags & WIRE_NULL)
		return 0;
	switch (f->kind) {
	case WIRE_TEXT:
		return check_text(f, n, path, err);
	case WIRE_INT:
		return check_int(f, n, path, err);
	case WIRE_BOOL:
		return n->kind == DOC_BOOL ? 0
					   : wrong(path, err, "true or false is wanted");
	case WIRE_NUMBER:
		return check_number(n, path, err);
	case WIRE_ANY:
		return 0;
	case WIRE_OBJECT:
		if (str_eq(f->of, WIRE_JOB_FILE))
			return n->kind == DOC_MAP
				       ? 0
				       : wrong(path, err, "an object is wanted");
		return check_shape(wire_shape_find(f->of), n, path, err);
	case WIRE_LIST:
	case WIRE_MAP:
		return check_items(f, n, path, err);
	case WIRE_KIND_COUNT:
		break;
	}
	return wrong(path, err, "a field of no kind");
}

static int refuse_key(const struct wire_shape *s, const struct doc_node *n,
		      const struct buf *path, struct err *err)
{
	const char *names[GUESS_FIELDS_MAX], *guess;
	size_t count = 0;

	for (const struct wire_field *f = s->fields; f->name && count < GUESS_FIELDS_MAX;
	     f++)
		names[count++] = f->name;
	guess = str_guess(n->key, names, count);
	return err_set(err, ERR_INVALID, "%s%s%.64s: no such field%s%s%s", buf_str(path),
		       path->len ? "." : "", n->key, guess ? "; did you mean " : "",
		       guess ? guess : "", guess ? "?" : "");
}

static const struct wire_field *find_field(const struct wire_shape *s, const char *name)
{
	for (const struct wire_field *f = s->fields; f->name; f++)
		if (str_eq(f->name, name))
			return f;
	return NULL;
}

/* As deep as the tables go, whatever the value. */
static int check_shape(const struct wire_shape *s, const struct doc_node *n,
		       struct buf *path, struct err *err)
{
	size_t before = path->len;

	assert(s);
	if (n->kind != DOC_MAP)
		return wrong(path, err, "an object is wanted");
	for (const struct doc_node *c = n->first; c; c = c->next) {
		const struct wire_field *f = find_field(s, c->key);
		if (!f)
			return refuse_key(s, c, path, err);
		buf_printf(path, "%s%s", before ? "." : "", f->name);
		if (check_field(f, c, path, err) < 0)
			return -1;
		buf_cut(path, before);
	}
	for (const struct wire_field *f = s->fields; f->name; f++)
		if (!(f->flags & WIRE_OPTIONAL) && !doc_get(n, f->name))
			return err_set(err, ERR_INVALID, "%s%s%s: is missing; %s",
				       buf_str(path), before ? "." : "", f->name,
				       f->help);
	if (s->just_one && n->count != 1)
		return err_set(err, ERR_INVALID,
			       "%s: exactly one field of its kind is wanted",
			       s->fields[0].name);
	return 0;
}

int wire_shape_check(const struct wire_shape *s, const struct doc_node *n,
		     struct err *err)
{
	AUTO_BUF struct buf path = { 0 };

	return check_shape(s, n, &path, err);
}
