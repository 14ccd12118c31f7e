// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "base/str.h"
#include "catalog/image.h"

/* One part of a version: a number, or a word. */
struct part {
	const char *word;
	size_t word_len; /* 0: it is a number, or there is none */
	int64_t number;  /* -1: there is none */
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static struct part next_part(const char **at)
{
	struct part p = { .number = -1 };

	*at += strspn(*at, ".-_+");
	if (is_digit(**at)) {
		size_t n = str_leading_i64(*at, &p.number);
		if (n == 0) { /* more digits than a number has */
			p.number = INT64_MAX;
			n = strspn(*at, "0123456789");
		}
		*at += n;
	} else if (**at) {
		p.word = *at;
		while (**at && !is_digit(**at) && !strchr(".-_+", **at))
			(*at)++;
		p.word_len = (size_t)(*at - p.word);
	}
	return p;
}

/* A word is before nothing, nothing is before a number: rc < (end) < 1. */
static int rank(const struct part *p)
{
	return p->word_len ? 0 : p->number < 0 ? 1 : 2;
}

static int compare_part(const struct part *a, const struct part *b)
{
	if (rank(a) != rank(b))
		return rank(a) - rank(b);
	if (a->word_len) {
		size_t n = a->word_len < b->word_len ? a->word_len : b->word_len;
		int order = strncmp(a->word, b->word, n);
		return order ? order
			     : (a->word_len > b->word_len) - (a->word_len < b->word_len);
	}
	return (a->number > b->number) - (a->number < b->number);
}

int version_compare(const char *a, const char *b)
{
	while (*a || *b) {
		struct part x = next_part(&a), y = next_part(&b);
		int order = compare_part(&x, &y);
		if (order)
			return order;
	}
	return 0;
}

bool version_within(const char *v, const char *asked)
{
	size_t n = strlen(asked);

	return n > 0 && strncmp(v, asked, n) == 0 && !is_digit(v[n]);
}
