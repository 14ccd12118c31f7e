// SPDX-License-Identifier: Apache-2.0
/* A member's spec: the parent's with the member's values filled in.
 *
 * In an argument a value stands as it is.  In a shell line it must stay one word, or a part
 * of one, whatever it contains: it is quoted as the quotes around it ask for.  Lines in
 * which that cannot be told by looking at quotes alone (substitutions, here-documents) take
 * only values that no shell acts on; the check sees to it. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"
#include "job/array.h"
#include "job/spec.h"

#define INDEX_NAME  "index"
#define QUOTE_WORST 4 /* bytes that one byte may become: ' as '\'' */
#define QUOTES_MOST 4 /* bytes around a quoted value: "' and '" */
#define INDEX_MOST  7 /* digits of an index */

enum quotes { QUOTES_NONE, QUOTES_SINGLE, QUOTES_DOUBLE };

/* What a value looks like in a command: texts without their quotes, all else as JSON. */
static char *plain_value(const char *json)
{
	AUTO_DOC struct doc *d = doc_parse_json(json, strlen(json), NULL);

	if (d && doc_root(d)->kind == DOC_STRING)
		return mem_strdup(doc_root(d)->text);
	return mem_strdup(json);
}

/* Whether {NAME} with a name of ours stands here: gives the axis, or axis_count for
 * {index}; -1: it does not. */
static int name_at(const struct array *a, const char *text, size_t *len)
{
	size_t n = *text == '{' ? strcspn(text + 1, "{}") : 0;

	if (!n || text[n + 1] != '}')
		return -1;
	*len = n + 2;
	for (size_t i = 0; i < a->axis_count; i++)
		if (strlen(a->axes[i].name) == n &&
		    memcmp(a->axes[i].name, text + 1, n) == 0)
			return (int)i;
	return n == strlen(INDEX_NAME) && memcmp(text + 1, INDEX_NAME, n) == 0
		       ? (int)a->axis_count
		       : -1;
}

/* "${lr}": the shell's. */
static bool is_variable(const char *text, const char *p)
{
	return p > text && p[-1] == '$';
}

/* No shell does anything with a word of these, quoted or not. */
static bool is_harmless(const char *value)
{
	return *value && value[strspn(value, "abcdefghijklmnopqrstuvwxyz"
					     "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
					     "0123456789._+-/:@%,")] == 0;
}

static void put_quoted(struct buf *out, const char *value, enum quotes around)
{
	const char *open = around == QUOTES_NONE ? "'" : "\"'";
	const char *close = around == QUOTES_NONE ? "'" : "'\"";

	if (is_harmless(value)) {
		buf_adds(out, value);
		return;
	}
	if (around == QUOTES_SINGLE)
		open = close = "";
	buf_adds(out, open);
	for (; *value; value++) {
		if (*value == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *value);
	}
	buf_adds(out, close);
}

/* The quotes that are open behind this character; *skip: the next one has no meaning. */
static enum quotes quotes_behind(enum quotes now, char c, bool *skip)
{
	*skip = c == '\\' && now != QUOTES_SINGLE;
	if (c == '\'' && now != QUOTES_DOUBLE)
		return now == QUOTES_SINGLE ? QUOTES_NONE : QUOTES_SINGLE;
	if (c == '"' && now != QUOTES_SINGLE)
		return now == QUOTES_DOUBLE ? QUOTES_NONE : QUOTES_DOUBLE;
	return now;
}

/* values: by axis, the index behind them. */
static char *fill(const struct array *a, char *const *values, const char *text,
		  bool shell)
{
	enum quotes quotes = QUOTES_NONE;
	bool skip = false;
	struct buf out = { 0 };
	size_t len = 0;

	for (const char *p = text; *p; p++) {
		/* Behind a backslash it is the shell's own, and a quote would not be one. */
		int name = is_variable(text, p) || (shell && skip) ? -1
								   : name_at(a, p, &len);

		if (name >= 0) {
			if (shell)
				put_quoted(&out, values[name], quotes);
			else
				buf_adds(&out, values[name]);
			p += len - 1;
			continue;
		}
		buf_addc(&out, *p);
		if (skip)
			skip = false;
		else
			quotes = quotes_behind(quotes, *p, &skip);
	}
	return out.data ? buf_take(&out) : mem_strdup("");
}

static void fill_role(const struct array *a, char *const *values, struct role *r)
{
	if (r->shell_line) {
		AUTO_FREE char *line = fill(a, values, r->shell_line, true);
		role_set_shell(r, line);
		return;
	}
	for (size_t i = 0; i < r->argc; i++) {
		char *filled = fill(a, values, r->argv[i], false);
		free(r->argv[i]);
		r->argv[i] = filled;
	}
}

static struct spec *copy_without_array(const struct spec *s)
{
	struct spec single = *s;

	single.array = (struct array){ 0 };
	single.after_count = 0; /* the parent has waited for them */
	return spec_copy(&single, NULL);
}

struct spec *array_member(const struct spec *parent, int64_t index)
{
	const struct array *a = &parent->array;
	struct spec *s = copy_without_array(parent);
	char *values[ARRAY_AXES_MAX + 1];

	for (size_t i = 0; i < a->axis_count; i++) {
		AUTO_BUF struct buf json = { 0 };
		array_value(a, i, index, &json);
		pairs_set(&s->hyperparameters, a->axes[i].name, buf_str(&json));
		values[i] = plain_value(buf_str(&json));
	}
	values[a->axis_count] = str_printf("%" PRId64, index);
	for (size_t i = 0; i < s->role_count; i++)
		fill_role(a, values, &s->roles[i]);
	for (size_t i = 0; i <= a->axis_count; i++)
		free(values[i]);
	free(s->name);
	s->name = str_printf("%s.%" PRId64, parent->name, index);
	return s;
}

static int64_t longest(const struct axis *x, bool *harmless)
{
	int64_t most = 0;

	*harmless = true;
	if (!x->values)
		return UINT8_MAX; /* more digits than any number has */
	for (int64_t i = 0; i < x->count; i++) {
		AUTO_FREE char *value = plain_value(x->values[i]);
		int64_t n = (int64_t)strlen(value);
		most = n > most ? n : most;
		*harmless = *harmless && is_harmless(value);
	}
	return most * (*harmless ? 1 : QUOTE_WORST) + QUOTES_MOST;
}

/* Whether the quotes that are open can be told by reading from left to right. */
static bool is_simple(const char *line)
{
	return !strpbrk(line, "`#") && !strstr(line, "$(") && !strstr(line, "${") &&
	       !strstr(line, "$'") && !strstr(line, "<<");
}

int64_t array_fill_growth(const struct array *a, const char *text, bool shell,
			  const struct axis **axis)
{
	bool simple = is_simple(text);
	int64_t most[ARRAY_AXES_MAX + 1] = { 0 }, growth = 0;
	bool harmless[ARRAY_AXES_MAX + 1];
	size_t len = 0;

	for (size_t i = 0; i < a->axis_count; i++)
		most[i] = longest(&a->axes[i], &harmless[i]);
	most[a->axis_count] = INDEX_MOST;
	harmless[a->axis_count] = true;
	for (const char *p = text; *p; p++) {
		int name = is_variable(text, p) ? -1 : name_at(a, p, &len);

		if (name < 0)
			continue;
		if (shell && !simple && !harmless[name]) {
			*axis = &a->axes[name];
			return -1;
		}
		growth += most[name];
	}
	return growth;
}
