// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/buf.h"
#include "plan/learn.h"

#define PRINT_MAX 120 /* bytes; what is behind counts as a hash */
#define HEX_WORD  7 /* so many hex digits, some of them numbers, name a commit or a run */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f');
}

static bool is_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* "8", "0.01", "1e-4", "0,1,2", "2026-11-16": digits, and one or two signs between them. */
static size_t number_at(const char *s)
{
	static const char between[] = ".,:-+_eExX";
	size_t n = 0;

	while (is_digit(s[n])) {
		while (is_digit(s[n]))
			n++;
		size_t skip = 0;
		while (skip < 2 && s[n + skip] && strchr(between, s[n + skip]))
			skip++;
		if (skip && is_digit(s[n + skip]))
			n += skip;
	}
	return n;
}

/* A word of hex digits such as a commit's name; 0: none here. */
static size_t hex_at(const char *s)
{
	size_t n = 0, digits = 0;

	for (; is_hex(s[n]); n++)
		digits += is_digit(s[n]);
	return n >= HEX_WORD && digits && !is_word(s[n]) ? n : 0;
}

static void add_plain(const char *s, struct buf *out)
{
	bool inside = false; /* a word */

	while (*s) {
		size_t n = inside ? 0 : hex_at(s);
		if (!n)
			n = number_at(s);
		if (!n && (*s == ' ' || *s == '\t' || *s == '\n')) {
			s += strspn(s, " \t\n");
			buf_addc(out, ' ');
			inside = false;
			continue;
		}
		buf_addc(out, n ? '#' : *s);
		inside = n || is_word(*s);
		s += n ? n : 1;
	}
}

void learn_fingerprint(const char *const *argv, struct buf *out)
{
	size_t from = out->len;
	uint64_t hash = 14695981039346656037U;

	for (; *argv; argv++) {
		if (out->len > from)
			buf_addc(out, ' ');
		add_plain(*argv, out);
	}
	if (out->len - from <= PRINT_MAX)
		return;
	for (size_t i = from + PRINT_MAX; i < out->len; i++)
		hash = (hash ^ (unsigned char)out->data[i]) * 1099511628211U;
	buf_cut(out, from + PRINT_MAX);
	buf_printf(out, "~%016llx", (unsigned long long)hash);
}
