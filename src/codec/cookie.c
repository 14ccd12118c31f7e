// SPDX-License-Identifier: Apache-2.0
#include "codec/cookie.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"

/* Part of a header between two ';', without the spaces around it. */
struct part {
	const char *text;
	size_t len;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

static bool next_part(const char **at, struct part *out)
{
	const char *text = *at;

	if (!text || *text == '\0')
		return false;
	size_t n = strcspn(text, ";");
	*at = text[n] ? text + n + 1 : text + n;
	while (n > 0 && is_space(*text)) {
		text++;
		n--;
	}
	while (n > 0 && is_space(text[n - 1]))
		n--;
	*out = (struct part){ text, n };
	return true;
}

/* How long the name before '=' is; the whole part when there is none. */
static size_t name_len(const struct part *p)
{
	const char *eq = memchr(p->text, '=', p->len);
	size_t n = eq ? (size_t)(eq - p->text) : p->len;

	while (n > 0 && is_space(p->text[n - 1]))
		n--;
	return n;
}

static struct part value_of(const struct part *p)
{
	const char *eq = memchr(p->text, '=', p->len), *end = p->text + p->len;

	if (!eq)
		return (struct part){ end, 0 };
	for (eq++; eq < end && is_space(*eq);)
		eq++;
	return (struct part){ eq, (size_t)(end - eq) };
}

static bool begins(const struct part *p, const char *prefix)
{
	size_t n = strlen(prefix);

	return p->len >= n && strncasecmp(p->text, prefix, n) == 0;
}

static bool is_called(const struct part *p, const char *name)
{
	size_t n = name_len(p);

	return n == strlen(name) && strncasecmp(p->text, name, n) == 0;
}

bool cookie_find(const char *header, const char *name, size_t n, struct buf *value)
{
	struct part p;

	while (next_part(&header, &p)) {
		size_t len = name_len(&p);
		if (len != strlen(name) || memcmp(p.text, name, len) != 0 || n-- > 0)
			continue;
		struct part v = value_of(&p);
		buf_clear(value);
		buf_add(value, v.text, v.len);
		return true;
	}
	return false;
}

void cookie_hide(const char *header, const char *prefix, struct buf *out)
{
	struct part p;
	bool first = true;

	while (next_part(&header, &p)) {
		if (p.len == 0 || begins(&p, prefix))
			continue;
		buf_adds(out, first ? "" : "; ");
		buf_add(out, p.text, p.len);
		first = false;
	}
}

/* Browsers end a cookie, or a name, at some of these and not at others. */
static bool is_clean(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* "/apps/12/" and what is below it, by the text: what climbs out again is not. */
static bool is_below(const struct part *p, const char *path)
{
	return begins(p, path) && strncmp(p->text, path, strlen(path)) == 0 &&
	       !memmem(p->text, p->len, "..", 2) && !memchr(p->text, '%', p->len);
}

bool cookie_confine(const char *set_cookie, const char *path, const char *prefix,
		    struct buf *out)
{
	struct part p;

	if (!is_clean(set_cookie) || !next_part(&set_cookie, &p))
		return false;
	if (name_len(&p) == 0 || !memchr(p.text, '=', p.len) || begins(&p, prefix))
		return false;
	const char *where = path;
	size_t where_len = strlen(path);
	buf_add(out, p.text, p.len);
	while (next_part(&set_cookie, &p)) {
		if (is_called(&p, "path")) {
			/* The last one counts, as in browsers. */
			struct part v = value_of(&p);
			bool below = is_below(&v, path);
			where = below ? v.text : path;
			where_len = below ? v.len : strlen(path);
		} else if (p.len && !is_called(&p, "domain")) {
			buf_adds(out, "; ");
			buf_add(out, p.text, p.len);
		}
	}
	buf_adds(out, "; Path=");
	buf_add(out, where, where_len);
	return true;
}
