// SPDX-License-Identifier: Apache-2.0
#include "base/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

bool str_eq(const char *a, const char *b)
{
	if (!a || !b)
		return a == b;
	return strcmp(a, b) == 0;
}

bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

int str_to_i64(const char *s, int64_t min, int64_t max, int64_t *out)
{
	bool neg = *s == '-';
	int64_t v = 0; /* counted downwards, so that INT64_MIN fits */

	s += neg;
	if (!*s)
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_sub_overflow(v, *s - '0', &v))
			return -1;
	}
	if (!neg && __builtin_sub_overflow(0, v, &v))
		return -1;
	if (v < min || v > max)
		return -1;
	*out = v;
	return 0;
}

int str_to_double(const char *s, double max, double *out)
{
	int64_t digits = 0, scale = 1;
	int count = 0;
	bool point = false;

	for (; *s; s++) {
		if (*s == '.' && !point && count) {
			point = true;
			continue;
		}
		if (*s < '0' || *s > '9' || ++count > 15)
			return -1;
		digits = digits * 10 + (*s - '0');
		scale *= point ? 10 : 1;
	}
	/* Both are exact in a double, so one division rounds once. */
	double v = (double)digits / (double)scale;
	if (!count || s[-1] == '.' || v > max)
		return -1;
	*out = v;
	return 0;
}

#define REAL_MAX 64 /* bytes; nobody prints longer ones */

int str_to_real(const char *s, size_t len, double *out)
{
	char text[REAL_MAX + 1], *end;

	while (len && (*s == ' ' || *s == '\t'))
		s++, len--;
	while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
		len--;
	if (!len || len > REAL_MAX || memchr(s, '\0', len))
		return -1;
	memcpy(text, s, len);
	text[len] = '\0';
	/* Not what only strtod() takes for numbers: 0x1p3, nan(5), a space in front. */
	if (strpbrk(text, "xXpP(") || strspn(text, "+-.0123456789nNiI") == 0)
		return -1;
	double v = strtod(text, &end);
	if (*end)
		return -1;
	*out = v;
	return 0;
}

size_t str_leading_i64(const char *s, int64_t *out)
{
	size_t n = 0;
	int64_t v = 0;

	for (; s[n] >= '0' && s[n] <= '9'; n++)
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, s[n] - '0', &v))
			return 0;
	if (n)
		*out = v;
	return n;
}

#define GUESS_MAX 64

/* Edits (insert, delete, replace, swap of neighbours) from a to b. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	size_t row[3][GUESS_MAX + 1];

	if (n > GUESS_MAX || m > GUESS_MAX)
		return GUESS_MAX;
	for (size_t j = 0; j <= m; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t *cur = row[i % 3], *prev = row[(i - 1) % 3],
		       *prev2 = row[(i + 1) % 3];
		cur[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t best = prev[j - 1] + (a[i - 1] != b[j - 1]);
			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] && prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
	}
	return row[n % 3][m];
}

const char *str_guess(const char *word, const char *const *list, size_t count)
{
	size_t best = strlen(word) / 3 + 1;
	const char *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t d = distance(word, list[i]);
		if (d < best || (d == best && !found)) {
			best = d;
			found = list[i];
		}
	}
	return found;
}

char *str_printf(const char *fmt, ...)
{
	struct buf b = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	return buf_take(&b);
}
