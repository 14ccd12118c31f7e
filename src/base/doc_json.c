// SPDX-License-Identifier: Apache-2.0
/* Strict JSON.  One pass over the text, one loop; nesting lives in the builder. */
#include <string.h>

#include "base/doc.h"
#include "base/doc_build.h"
#include "base/utf8.h"

enum want {
	WANT_VALUE,
	WANT_VALUE_OR_END,
	WANT_KEY,
	WANT_KEY_OR_END,
	WANT_COMMA_OR_END,
	WANT_NOTHING
};

struct reader {
	struct doc_build b;
	const char *p, *end;
	/* Position of `seen`; moved forward only, so that all marks together cost one pass. */
	const char *seen;
	struct doc_mark mark;
};

static struct doc_mark mark_at(struct reader *r, const char *p)
{
	for (; r->seen < p; r->seen++) {
		if (*r->seen == '\n')
			r->mark = (struct doc_mark){ r->mark.line + 1, 1 };
		else if ((*r->seen & 0xc0) != 0x80)
			r->mark.column++;
	}
	return r->mark;
}

static int fail_here(struct reader *r, const char *what)
{
	struct doc_mark at = mark_at(r, r->p);

	if (r->p == r->end)
		return build_fail(&r->b, at, "the text ends where %s should be", what);
	if (*r->p > 0x20 && *r->p < 0x7f)
		return build_fail(&r->b, at, "'%c' where %s should be", *r->p, what);
	return build_fail(&r->b, at, "byte 0x%02x where %s should be",
			  (unsigned char)*r->p, what);
}

static int hex4(const char *p, const char *end, uint32_t *out)
{
	*out = 0;
	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		if (c >= '0' && c <= '9')
			*out = *out << 4 | (uint32_t)(c - '0');
		else if ((c | 32) >= 'a' && (c | 32) <= 'f')
			*out = *out << 4 | (uint32_t)((c | 32) - 'a' + 10);
		else
			return -1;
	}
	return 0;
}

/* r->p stands behind the backslash; gives the bytes written, 0 on failure. */
static size_t read_escape(struct reader *r, char out[4])
{
	static const char plain[256] = {
		['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
		['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t',
	};
	uint32_t point, low;

	if (r->p < r->end && plain[(unsigned char)*r->p]) {
		out[0] = plain[(unsigned char)*r->p++];
		return 1;
	}
	if (r->p == r->end || *r->p != 'u') {
		fail_here(r, "an escape (one of \" \\ / b f n r t u)");
		return 0;
	}
	if (hex4(r->p + 1, r->end, &point) < 0) {
		fail_here(r, "\\u with four hexadecimal digits");
		return 0;
	}
	if (point >= 0xdc00 && point <= 0xdfff) {
		fail_here(r, "the first half of a surrogate pair");
		return 0;
	}
	r->p += 5;
	if (point >= 0xd800 && point <= 0xdbff) {
		if (r->end - r->p < 6 || r->p[0] != '\\' || r->p[1] != 'u' ||
		    hex4(r->p + 2, r->end, &low) < 0 || low < 0xdc00 || low > 0xdfff) {
			fail_here(r, "the second half of a surrogate pair");
			return 0;
		}
		r->p += 6;
		point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
	}
	return utf8_write(point, out);
}

/* Moves over characters that stand for themselves. */
static int skip_plain(struct reader *r)
{
	while (r->p < r->end && *r->p != '"' && *r->p != '\\') {
		size_t n = utf8_sequence(r->p, (size_t)(r->end - r->p));
		if (!n)
			return fail_here(r, "well-formed UTF-8");
		if ((unsigned char)*r->p < 0x20)
			return fail_here(
				r, "a printable character or an escape such as \\n");
		r->p += n;
	}
	return r->p == r->end ? fail_here(r, "the closing \"") : 0;
}

/* r->p stands at the opening quote; the text lives in the doc. */
static const char *read_string(struct reader *r, size_t *len)
{
	const char *from = ++r->p;
	char *out, bytes[4];
	size_t n = 0, k;

	if (skip_plain(r) < 0)
		return NULL;
	if (*r->p == '"') {
		*len = (size_t)(r->p++ - from);
		return doc_copy(r->b.doc, from, *len);
	}
	/* With escapes: the decoded text is never longer than the written one. */
	const char *close = r->p;
	while (close < r->end && *close != '"')
		close += *close == '\\' && r->end - close > 1 ? 2 : 1;
	out = doc_alloc(r->b.doc, (size_t)(close - from) + 1);
	for (;;) {
		memcpy(out + n, from, (size_t)(r->p - from));
		n += (size_t)(r->p - from);
		if (*r->p == '"')
			break;
		r->p++;
		k = read_escape(r, bytes);
		if (!k)
			return NULL;
		memcpy(out + n, bytes, k);
		n += k;
		from = r->p;
		if (skip_plain(r) < 0)
			return NULL;
	}
	r->p++;
	*len = n;
	return out;
}

static bool is_word(const struct reader *r, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(r->end - r->p) >= n && memcmp(r->p, word, n) == 0;
}

static int read_word(struct reader *r, struct doc_mark at)
{
	static const struct {
		const char *word;
		enum doc_kind kind;
	} words[] = { { "true", DOC_BOOL }, { "false", DOC_BOOL }, { "null", DOC_NULL } };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		size_t n = strlen(words[i].word);
		if (!is_word(r, words[i].word))
			continue;
		r->p += n;
		return build_scalar(&r->b, words[i].kind, at, words[i].word, n) ? 0 : -1;
	}
	return fail_here(r, "a value");
}

static int read_number(struct reader *r, struct doc_mark at)
{
	const char *from = r->p;
	size_t n;

	while (r->p < r->end && *r->p && strchr("+-.eE0123456789", *r->p))
		r->p++;
	n = (size_t)(r->p - from);
	if (!build_is_number(from, n))
		return build_fail(&r->b, at, "\"%.*s\" is not a number",
				  n > 40 ? 40 : (int)n, from);
	return build_scalar(&r->b, DOC_NUMBER, at, doc_copy(r->b.doc, from, n), n) ? 0
										   : -1;
}

static enum want after_value(const struct reader *r)
{
	return r->b.depth ? WANT_COMMA_OR_END : WANT_NOTHING;
}

static bool in_map(const struct reader *r)
{
	return r->b.depth && r->b.levels[r->b.depth - 1].node->kind == DOC_MAP;
}

static int read_value(struct reader *r, enum want *want)
{
	struct doc_mark at = mark_at(r, r->p);
	char c = *r->p;
	size_t len = 0;

	if (c == '{' || c == '[') {
		r->p++;
		*want = c == '{' ? WANT_KEY_OR_END : WANT_VALUE_OR_END;
		return build_open(&r->b, c == '{' ? DOC_MAP : DOC_LIST, at) ? 0 : -1;
	}
	*want = after_value(r);
	if (c == '"') {
		const char *text = read_string(r, &len);
		return text && build_scalar(&r->b, DOC_STRING, at, text, len) ? 0 : -1;
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		return read_number(r, at);
	return read_word(r, at);
}

static void skip_space(struct reader *r)
{
	while (r->p < r->end &&
	       (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r'))
		r->p++;
}

static int read_key(struct reader *r, enum want *want)
{
	struct doc_mark at = mark_at(r, r->p);
	const char *text;
	size_t len;

	if (*r->p != '"')
		return fail_here(r, "a key in double quotes");
	text = read_string(r, &len);
	if (!text || build_key(&r->b, at, text, len) < 0)
		return -1;
	skip_space(r);
	if (r->p == r->end || *r->p != ':')
		return fail_here(r, "':'");
	r->p++;
	*want = WANT_VALUE;
	return 0;
}

static int read_close(struct reader *r, enum want *want)
{
	r->p++;
	if (build_close(&r->b) < 0)
		return -1;
	*want = after_value(r);
	return 0;
}

static int read_comma_or_end(struct reader *r, enum want *want)
{
	if (*r->p == (in_map(r) ? '}' : ']'))
		return read_close(r, want);
	if (*r->p != ',')
		return fail_here(r, in_map(r) ? "',' or '}'" : "',' or ']'");
	r->p++;
	*want = in_map(r) ? WANT_KEY : WANT_VALUE;
	return 0;
}

static int read_token(struct reader *r, enum want *want)
{
	switch (*want) {
	case WANT_VALUE_OR_END:
		return *r->p == ']' ? read_close(r, want) : read_value(r, want);
	case WANT_VALUE:
		return read_value(r, want);
	case WANT_KEY_OR_END:
		return *r->p == '}' ? read_close(r, want) : read_key(r, want);
	case WANT_KEY:
		return read_key(r, want);
	case WANT_COMMA_OR_END:
		return read_comma_or_end(r, want);
	case WANT_NOTHING:
		return fail_here(r, "the end of the text");
	}
	return -1;
}

int doc_read_json(struct doc_build *b, const char *text, size_t len)
{
	struct reader r = {
		.b = *b, .p = text, .end = text + len, .seen = text, .mark = { 1, 1 }
	};
	enum want want = WANT_VALUE;

	for (skip_space(&r); r.p < r.end; skip_space(&r))
		if (read_token(&r, &want) < 0)
			return -1;
	if (want != WANT_NOTHING)
		return fail_here(&r, r.b.depth ? "the closing bracket" : "a value");
	return 0;
}
