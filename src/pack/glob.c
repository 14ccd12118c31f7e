// SPDX-License-Identifier: Apache-2.0
#include "pack/glob.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum token_kind {
	TOKEN_BYTE,
	TOKEN_SET,      /* '?' and brackets */
	TOKEN_STAR,     /* any run without slashes */
	TOKEN_STARSTAR, /* any run */
	TOKEN_FOLDERS, /* nothing: the STARSTAR and the slash behind it may be left out */
};

struct token {
	enum token_kind kind;
	unsigned char byte;
	size_t set; /* index into sets */
};

struct set {
	uint8_t has[32];
};

struct glob {
	bool malformed;
	struct token *tokens;
	size_t count, token_cap;
	struct set *sets;
	size_t set_count, set_cap;
};

static void set_add(struct set *s, unsigned c)
{
	s->has[c / 8] |= (uint8_t)(1u << (c % 8));
}

static bool set_has(const struct set *s, unsigned c)
{
	return s->has[c / 8] >> (c % 8) & 1;
}

static bool between(unsigned c, unsigned first, unsigned last)
{
	return c >= first && c <= last;
}

/* clang-format off */
static bool is_upper(unsigned c) { return between(c, 'A', 'Z'); }
static bool is_lower(unsigned c) { return between(c, 'a', 'z'); }
static bool is_digit(unsigned c) { return between(c, '0', '9'); }
static bool is_alpha(unsigned c) { return is_upper(c) || is_lower(c); }
static bool is_alnum(unsigned c) { return is_alpha(c) || is_digit(c); }
static bool is_blank(unsigned c) { return c == ' ' || c == '\t'; }
static bool is_cntrl(unsigned c) { return c < 32 || c == 127; }
static bool is_graph(unsigned c) { return between(c, 33, 126); }
static bool is_print(unsigned c) { return between(c, 32, 126); }
static bool is_punct(unsigned c) { return is_graph(c) && !is_alnum(c); }
static bool is_space(unsigned c) { return is_blank(c) || c == '\n' || c == '\r'; }
static bool is_xdigit(unsigned c)
{
	return is_digit(c) || between(c, 'a', 'f') || between(c, 'A', 'F');
}

static const struct {
	const char *name;
	bool (*has)(unsigned c);
} classes[] = {
	{ "alnum", is_alnum }, { "alpha", is_alpha }, { "blank", is_blank }, { "cntrl", is_cntrl },
	{ "digit", is_digit }, { "graph", is_graph }, { "lower", is_lower }, { "print", is_print },
	{ "punct", is_punct }, { "space", is_space }, { "upper", is_upper }, { "xdigit", is_xdigit },
};
/* clang-format on */

static bool add_class(struct set *s, const char *name, size_t len)
{
	for (size_t i = 0; i < COUNT_OF(classes); i++) {
		if (strlen(classes[i].name) != len ||
		    memcmp(classes[i].name, name, len) != 0)
			continue;
		for (unsigned c = 0; c < 256; c++)
			if (classes[i].has(c))
				set_add(s, c);
		return true;
	}
	return false;
}

/* A cursor in the pattern; at its end it reads as 0. */
struct cursor {
	const char *p, *end;
};

static unsigned char peek(const struct cursor *c, size_t ahead)
{
	return (size_t)(c->end - c->p) > ahead ? (unsigned char)c->p[ahead] : 0;
}

/* "[:name:]" at the cursor, which is left on its last ']'.  1: added, 0: it is no class
 * but plain characters, -1: malformed. */
static int read_class(struct cursor *c, struct set *s)
{
	const char *name = c->p + 2, *close = name;

	while (close < c->end && *close != ']')
		close++;
	if (close == c->end)
		return -1;
	if (close == name || close[-1] != ':')
		return 0;
	if (!add_class(s, name, (size_t)(close - name) - 1))
		return -1;
	c->p = close;
	return 1;
}

/* One element of a bracket at the cursor, left on its last character.  *previous is what
 * a range would begin with, 0: nothing. */
static bool read_element(struct cursor *c, struct set *s, unsigned *previous)
{
	unsigned ch = peek(c, 0);

	if (ch == '-' && *previous && peek(c, 1) && peek(c, 1) != ']') {
		unsigned first = *previous;
		c->p++;
		if (peek(c, 0) == '\\')
			c->p++;
		if (!peek(c, 0))
			return false;
		for (unsigned i = first; i <= peek(c, 0); i++)
			set_add(s, i);
		*previous = 0;
		return true;
	}
	if (ch == '[' && peek(c, 1) == ':') {
		int rc = read_class(c, s);
		if (rc != 0) {
			*previous = 0;
			return rc > 0;
		}
	} else if (ch == '\\') {
		c->p++;
		ch = peek(c, 0);
	}
	if (!ch)
		return false;
	set_add(s, ch);
	*previous = ch;
	return true;
}

/* The cursor is behind '['; left behind the closing ']'. */
static bool read_bracket(struct cursor *c, struct set *out)
{
	bool negated = peek(c, 0) == '!' || peek(c, 0) == '^';
	unsigned previous = 0;
	struct set s = { { 0 } };

	if (negated)
		c->p++;
	do {
		if (!peek(c, 0) || !read_element(c, &s, &previous))
			return false;
		c->p++;
	} while (peek(c, 0) != ']');
	c->p++;
	for (unsigned i = 1; i < 256; i++)
		if (i != '/' && set_has(&s, i) != negated)
			set_add(out, i);
	return true;
}

static struct token *add_token(struct glob *g, enum token_kind kind)
{
	mem_grow(&g->tokens, &g->token_cap, g->count, sizeof *g->tokens);
	struct token *t = &g->tokens[g->count++];
	*t = (struct token){ .kind = kind };
	return t;
}

static struct set *add_set(struct glob *g)
{
	mem_grow(&g->sets, &g->set_cap, g->set_count, sizeof *g->sets);
	struct set *s = &g->sets[g->set_count];
	memset(s, 0, sizeof *s);
	add_token(g, TOKEN_SET)->set = g->set_count++;
	return s;
}

/* The cursor is on the first star; left behind the last of the run. */
static void read_stars(struct glob *g, struct cursor *c, const char *pattern)
{
	bool open_before = c->p == pattern || c->p[-1] == '/';
	const char *first = c->p;

	while (peek(c, 0) == '*')
		c->p++;
	unsigned char next = peek(c, 0);
	bool slash = next == '/' || (next == '\\' && peek(c, 1) == '/');
	if (c->p - first < 2 || !open_before || (c->p < c->end && !slash)) {
		add_token(g, TOKEN_STAR);
		return;
	}
	if (next == '/')
		add_token(g, TOKEN_FOLDERS);
	add_token(g, TOKEN_STARSTAR);
}

static bool compile(struct glob *g, const char *pattern, size_t len)
{
	struct cursor c = { pattern, pattern + len };

	while (c.p < c.end) {
		switch (*c.p) {
		case '*':
			read_stars(g, &c, pattern);
			continue;
		case '?':
			memset(add_set(g)->has, 0xff, sizeof(struct set));
			g->sets[g->set_count - 1].has['/' / 8] &=
				(uint8_t) ~(1u << ('/' % 8));
			break;
		case '[':
			c.p++;
			if (!read_bracket(&c, add_set(g)))
				return false;
			continue;
		case '\\':
			if (++c.p == c.end)
				return false;
			add_token(g, TOKEN_BYTE)->byte = (unsigned char)*c.p;
			break;
		default:
			add_token(g, TOKEN_BYTE)->byte = (unsigned char)*c.p;
		}
		c.p++;
	}
	return true;
}

struct glob *glob_create(const char *pattern, size_t len)
{
	struct glob *g = mem_alloc(1, sizeof *g);

	g->malformed = len > GLOB_BYTES_MAX || !compile(g, pattern, len);
	return g;
}

void glob_destroy(struct glob *g)
{
	if (!g)
		return;
	free(g->tokens);
	free(g->sets);
	free(g);
}

/* Marks position i as reached, and what can be reached from it without a character.
 * Positions only grow, so one pass in order does. */
static void reach(const struct glob *g, bool *at)
{
	for (size_t i = 0; i < g->count; i++) {
		if (!at[i] || g->tokens[i].kind < TOKEN_STAR)
			continue;
		at[i + 1] = true;
		if (g->tokens[i].kind == TOKEN_FOLDERS)
			at[i + 3] = true;
	}
}

static void advance(const struct glob *g, unsigned char c, const bool *from, bool *to)
{
	for (size_t i = 0; i < g->count; i++) {
		const struct token *t = &g->tokens[i];
		if (!from[i])
			continue;
		if (t->kind == TOKEN_BYTE)
			to[i + 1] |= t->byte == c;
		else if (t->kind == TOKEN_SET)
			to[i + 1] |= set_has(&g->sets[t->set], c);
		else if (t->kind != TOKEN_FOLDERS)
			to[i] |= t->kind == TOKEN_STARSTAR || c != '/';
	}
}

bool glob_match(const struct glob *g, const char *text)
{
	bool sets[2][GLOB_BYTES_MAX + 2];
	bool *now = sets[0], *next = sets[1];

	if (g->malformed)
		return false;
	memset(now, 0, g->count + 1);
	now[0] = true;
	reach(g, now);
	for (; *text; text++) {
		memset(next, 0, g->count + 1);
		advance(g, (unsigned char)*text, now, next);
		reach(g, next);
		bool *swap = now;
		now = next;
		next = swap;
	}
	return now[g->count];
}
