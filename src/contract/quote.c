// SPDX-License-Identifier: Apache-2.0
#include "contract/quote.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static bool is_plain(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("@%_-+=:,./", c));
}

void quote_word(const char *text, struct buf *out)
{
	const char *p = text;

	while (is_plain(*p))
		p++;
	if (*text && !*p) {
		buf_adds(out, text);
		return;
	}
	buf_addc(out, '\'');
	for (p = text; *p; p++) {
		if (*p == '\'')
			buf_adds(out, "'\\''");
		else
			buf_addc(out, *p);
	}
	buf_addc(out, '\'');
}

size_t quote_shell_line(char *const *argv, size_t argc)
{
	static const char *const shells[] = { "sh", "bash", "dash", "ash", "zsh", "ksh" };
	const char *base = argc ? strrchr(argv[0], '/') : NULL;
	bool shell = false;

	for (size_t i = 0; argc && i < COUNT_OF(shells); i++)
		shell = shell || strcmp(base ? base + 1 : argv[0], shells[i]) == 0;
	for (size_t i = 1; shell && i + 1 < argc && argv[i][0] == '-'; i++)
		if (argv[i][1] != '-' && strchr(argv[i], 'c'))
			return i + 1;
	return 0;
}

/* Reads a line as a shell would, as far as is needed to know where a word of its own is. */
struct scan {
	const char *line, *at;
	const char *name;
	bool blind; /* from here on nothing is sure */
};

static bool breaks(char c) /* what ends a word; the end of the line too */
{
	return !c || strchr(" \t\n;&|()<>", c);
}

static bool begins_word(const struct scan *s)
{
	return s->at == s->line || breaks(s->at[-1]);
}

/* Bytes of the variable that stands here as a whole word; 0: there is none. */
static size_t variable(const struct scan *s)
{
	size_t n = strlen(s->name);
	const char *p = s->at + 1;
	bool brace = *p == '{';

	/* What a line begins with is no argument of anything. */
	if (*s->at != '$' || s->at == s->line || !begins_word(s))
		return 0;
	p += brace;
	if (strncmp(p, s->name, n) != 0 || (brace && p[n] != '}'))
		return 0;
	p += n + brace;
	return breaks(*p) ? (size_t)(p - s->at) : 0;
}

/* Behind the quotes, or braces, that begin at p. */
static const char *behind(const char *p, char close, bool escapes)
{
	for (p++; *p && *p != close; p++)
		if (escapes && *p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* What may hold quotes of its own: where those end is more than is looked for here. */
static bool nests(const char *p, const char *end)
{
	for (p++; p < end; p++)
		if (*p == '`' || (*p == '$' && (p[1] == '(' || p[1] == '{')))
			return true;
	return false;
}

static bool is_word(const struct scan *s, const char *word)
{
	size_t n = strlen(word);

	return begins_word(s) && strncmp(s->at, word, n) == 0 && breaks(s->at[n]);
}

/* Whether a part of the language begins here in which a word is no longer just a word. */
static bool is_dark(const struct scan *s)
{
	const char *p = s->at;

	if (*p == '"')
		return nests(p, behind(p, '"', true));
	return strncmp(p, "<<", 2) == 0 || strncmp(p, "((", 2) == 0 ||
	       strncmp(p, "$'", 2) == 0 || strncmp(p, "${", 2) == 0 || is_word(s, "[[") ||
	       is_word(s, "case");
}

/* Bytes that can be copied as they are. */
static size_t step(const struct scan *s)
{
	const char *p = s->at;

	switch (*p) {
	case '\\':
		return p[1] ? 2 : 1;
	case '\'':
		return (size_t)(behind(p, '\'', false) - p);
	case '"':
	case '`':
		return (size_t)(behind(p, *p, true) - p);
	case '#':
		return begins_word(s) ? strcspn(p, "\n") : 1;
	}
	return 1;
}

static bool has_word(const char *line, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = strstr(line, word); p; p = strstr(p + 1, word))
		if ((p == line || breaks(p[-1]) || strchr("`\"'$\\{", p[-1])) &&
		    (breaks(p[n]) || strchr("`\"'", p[n])))
			return true;
	return false;
}

void quote_expand(const char *line, const char *name, const char *words, struct buf *out)
{
	struct scan s = { .line = line, .at = line, .name = name };

	s.blind = has_word(line, "eval");
	while (*s.at) {
		size_t n = s.blind ? 0 : variable(&s);
		if (n) {
			buf_adds(out, words);
		} else {
			s.blind = s.blind || is_dark(&s);
			n = s.blind ? strlen(s.at) : step(&s);
			buf_add(out, s.at, n);
		}
		s.at += n;
	}
}
