// SPDX-License-Identifier: Apache-2.0
#include "job/spec_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "job/spec_default.h"

size_t check_enter(struct check *c, const char *fmt, ...)
{
	size_t before = c->path.len;
	va_list ap;

	if (before)
		buf_addc(&c->path, '.');
	va_start(ap, fmt);
	buf_vprintf(&c->path, fmt, ap);
	va_end(ap);
	return before;
}

void check_leave(struct check *c, size_t before)
{
	c->path.len = before;
	if (c->path.data)
		c->path.data[before] = 0;
}

void check_bad(struct check *c, const char *leaf, const char *fmt, ...)
{
	size_t before = *leaf ? check_enter(c, "%s", leaf) : c->path.len;
	AUTO_BUF struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	problems_add(c->out, 0, 0, buf_str(&c->path), "%s", buf_str(&text));
	check_leave(c, before);
}

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Names become folders, variables and host names: one narrow alphabet for all. */
bool check_is_name(const char *s, const char *also)
{
	if (!is_alnum(*s))
		return false;
	for (s++; *s; s++)
		if (!is_alnum(*s) && !strchr(also, *s))
			return false;
	return true;
}

void check_name(struct check *c, const char *leaf, const char *name, size_t most)
{
	if (!name || !*name)
		check_bad(c, leaf, "a name is missing");
	else if (strlen(name) > most)
		check_bad(c, leaf, "the name has %zu characters; at most %zu are allowed",
			  strlen(name), most);
	else if (!check_is_name(name, "._-"))
		check_bad(c, leaf, "\"%s\" is not a name; allowed are " CHECK_NAME_RULE,
			  name);
}

bool check_is_utf8(const char *s)
{
	size_t len = strlen(s), n;

	for (size_t i = 0; i < len; i += n) {
		n = utf8_sequence(s + i, len - i);
		if (!n)
			return false;
	}
	return true;
}

void check_text(struct check *c, const char *leaf, const char *text)
{
	if (strlen(text) >= SPEC_ARG_BYTES_MAX)
		check_bad(c, leaf, "longer than %d bytes", SPEC_ARG_BYTES_MAX - 1);
	else if (!check_is_utf8(text))
		check_bad(c, leaf, "not well-formed UTF-8");
}

void check_range(struct check *c, const char *leaf, int64_t v, int64_t min, int64_t max)
{
	if (v < min || v > max)
		check_bad(c, leaf,
			  "%" PRId64 " is out of range; allowed is %" PRId64
			  " to %" PRId64,
			  v, min, max);
}

void check_count(struct check *c, const char *leaf, size_t count, size_t max)
{
	if (count > max)
		check_bad(c, leaf, "%zu entries; at most %zu are allowed", count, max);
}

bool check_alike(const char *a, const char *b)
{
	AUTO_FREE char *x = spec_variable("", a), *y = NULL;

	y = spec_variable("", b);
	return strcmp(x, y) == 0;
}
