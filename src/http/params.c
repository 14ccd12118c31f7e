// SPDX-License-Identifier: Apache-2.0
#include "http/params.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"
#include "http/route.h"
#include "wire/shape.h"

#define GUESS_NAMES_MAX 32

/* clang-format off */
/* The words of a path.  Every ":x" of a pattern is here. */
static const struct param path_words[] = {
	{ "job", PARAM_TEXT, 1, 128, .help = "a job's number, PARENT.INDEX, or name: then your newest of that name" },
	{ "hash", PARAM_TEXT, 64, 64, .pattern = "^[0-9a-f]{64}$", .help = "BLAKE2b-256 in hex" },
	{ "scope", PARAM_WORD, .words = "user group", .help = "whether the next word is a user or a group" },
	{ "name", PARAM_TEXT, 1, 63, .help = "of the user or group" },
	{ "owner", PARAM_TEXT, 1, 63, .help = "the user or group" },
	{ "user", PARAM_TEXT, 1, 63, .help = "a user's name" },
	{ "group", PARAM_TEXT, 1, 63, .help = "a group's name" },
	{ "token", PARAM_TEXT, 1, 63, .help = "a token's id" },
	{ "upload", PARAM_TEXT, 32, 32, .pattern = "^[0-9a-f]{32}$", .help = "an upload's id" },
	{ "part", PARAM_TEXT, 1, 6, .pattern = "^[0-9]+$", .help = "the number of a part, from 0" },
	{ "node", PARAM_TEXT, 1, 63, .pattern = "^[!-~]+$", .help = "a machine's name" },
	{ "secret", PARAM_TEXT, 1, 63, .pattern = "^[a-z_][a-z0-9._-]*$", .help = "a secret's name" },
	{ "image", PARAM_TEXT, 1, 127, .pattern = "^[a-z0-9][a-z0-9._-]*$", .help = "an image's name" },
	{ "app", PARAM_TEXT, 1, 19, .help = "an app by its number" },
	{ "type", PARAM_TEXT, 1, 63, .pattern = "^[A-Za-z0-9][A-Za-z0-9._-]*$", .help = "a kind of machine" },
	{ 0 }
};
/* clang-format on */

const struct param *params_path(const char *name, size_t len)
{
	for (const struct param *p = path_words; p->name; p++)
		if (strlen(p->name) == len && memcmp(p->name, name, len) == 0)
			return p;
	return NULL;
}

const struct param *params_find(const struct param *table, const char *name)
{
	for (const struct param *p = table; p && p->name; p++)
		if (str_eq(p->name, name))
			return p;
	return NULL;
}

static int refuse_name(const struct param *table, const char *name, struct err *err)
{
	const char *names[GUESS_NAMES_MAX];
	size_t n = 0;

	for (const struct param *p = table; p && p->name && n < GUESS_NAMES_MAX; p++)
		names[n++] = p->name;
	if (n == 0)
		return err_set(err, ERR_INVALID,
			       "%.64s: no such parameter; this path takes none", name);
	const char *guess = str_guess(name, names, n);
	if (guess)
		return err_set(err, ERR_INVALID,
			       "%.64s: no such parameter; did you mean %s?", name, guess);

	AUTO_BUF struct buf all = { 0 };
	for (size_t i = 0; i < n; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", names[i]);
	return err_set(err, ERR_INVALID, "%.64s: no such parameter; there are %s", name,
		       buf_str(&all));
}

static bool is_word(const char *words, const char *text)
{
	size_t n = strlen(text);

	for (const char *at = words; at && n;) {
		size_t len = strcspn(at, " ");
		if (len == n && memcmp(at, text, n) == 0)
			return true;
		at = at[len] ? at + len + 1 : NULL;
	}
	return false;
}

/* "live, ended or all" */
static void list_words(struct buf *out, const char *words)
{
	for (const char *at = words; *at;) {
		size_t len = strcspn(at, " ");
		bool last = at[len] == '\0';
		if (at > words)
			buf_adds(out, last ? " or " : ", ");
		buf_add(out, at, len);
		at += len + !last;
	}
}

static int check_int(const struct param *p, const char *text, struct err *err)
{
	AUTO_BUF struct buf words = { 0 };
	int64_t v;

	if (str_to_i64(text, p->min, p->max, &v) == 0 || is_word(p->words, text))
		return 0;
	if (p->words) {
		buf_adds(&words, ", ");
		list_words(&words, p->words);
	}
	return err_set(err, ERR_INVALID,
		       "%s: '%.64s' is not a whole number from %lld to %lld%s", p->name,
		       text, (long long)p->min, (long long)p->max, buf_str(&words));
}

static int check_text(const struct param *p, const char *text, struct err *err)
{
	size_t max = p->max && p->kind == PARAM_TEXT ? (size_t)p->max : PARAM_TEXT_MAX;
	size_t min = p->kind == PARAM_TEXT ? (size_t)p->min : 0, n = utf8_count(text);

	if (n < min || n > max)
		return err_set(err, ERR_INVALID, "%s: %zu to %zu letters are wanted",
			       p->name, min, max);
	if (p->pattern && !wire_pattern_fits(p->pattern, text))
		return err_set(err, ERR_INVALID, "%s: '%.64s' is not like %s", p->name,
			       text, p->pattern);
	return 0;
}

static int check_value(const struct param *p, const char *text, struct err *err)
{
	AUTO_BUF struct buf words = { 0 };

	switch (p->kind) {
	case PARAM_INT:
		return check_int(p, text, err);
	case PARAM_BOOL:
		if (is_word("0 1 true false", text) || !*text)
			return 0;
		return err_set(err, ERR_INVALID, "%s: '%.64s' is neither 0 nor 1",
			       p->name, text);
	case PARAM_WORD:
		if (is_word(p->words, text))
			return 0;
		list_words(&words, p->words);
		return err_set(err, ERR_INVALID, "%s: '%.64s' is not %s", p->name, text,
			       buf_str(&words));
	case PARAM_TEXT:
	case PARAM_LIST:
		return check_text(p, text, err);
	case PARAM_KIND_COUNT:
		break;
	}
	return err_set(err, ERR_INTERNAL, "%s: a parameter of no kind", p->name);
}

int params_check_word(const struct param *p, const char *text, struct err *err)
{
	return check_value(p, text, err);
}

static size_t times_given(const struct url_query *q, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < q->count; i++)
		n += str_eq(q->items[i].name, name);
	return n;
}

int params_check(const struct param *table, const struct url_query *q, struct err *err)
{
	for (size_t i = 0; i < q->count; i++) {
		const struct param *p = params_find(table, q->items[i].name);
		if (!p)
			return refuse_name(table, q->items[i].name, err);
		if (check_value(p, q->items[i].value, err) < 0)
			return -1;
	}
	for (const struct param *p = table; p && p->name; p++) {
		size_t n = times_given(q, p->name);
		size_t max = p->kind == PARAM_LIST && p->max ? (size_t)p->max
			     : p->kind == PARAM_LIST         ? URL_PARAMS_MAX
							     : 1;
		if (n > max)
			return err_set(err, ERR_INVALID,
				       "%s: given %zu times, at most %zu will do",
				       p->name, n, max);
		if (n == 0 && p->needed)
			return err_set(err, ERR_INVALID, "%s: is needed; %s", p->name,
				       p->help);
	}
	return 0;
}

static const char *value_of(const struct exchange *ex, const char *name,
			    enum param_kind kind)
{
	const struct param *p = params_find(ex->route->params, name);

	assert(p && (p->kind == kind || (kind == PARAM_TEXT && p->kind != PARAM_LIST)));
	(void)p;
	(void)kind;
	return url_query_get(&ex->query, name);
}

const char *param_text(const struct exchange *ex, const char *name)
{
	const char *text = value_of(ex, name, PARAM_TEXT);

	return text && *text ? text : NULL;
}

int64_t param_int(const struct exchange *ex, const char *name, int64_t otherwise)
{
	const char *text = value_of(ex, name, PARAM_INT);
	int64_t v;

	return text && str_to_i64(text, INT64_MIN, INT64_MAX, &v) == 0 ? v : otherwise;
}

bool param_bool(const struct exchange *ex, const char *name)
{
	const char *text = value_of(ex, name, PARAM_BOOL);

	return text && !str_eq(text, "0") && !str_eq(text, "false");
}

const char *param_next(const struct exchange *ex, const char *name, size_t *at)
{
	assert(params_find(ex->route->params, name));
	while (*at < ex->query.count) {
		const struct url_param *p = &ex->query.items[(*at)++];
		if (str_eq(p->name, name))
			return p->value;
	}
	return NULL;
}
