// SPDX-License-Identifier: Apache-2.0
/* Masking against its definition: every byte of every occurrence goes, and what comes out
 * does not depend on how the text was cut. */
#include "shim/mask.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

struct catch
{
	struct buf text;
};

static void take(void *arg, const char *data, size_t len)
{
	buf_add(&((struct catch *)arg)->text, data, len);
}

/* In pieces of the given sizes, over and over; a size of 0 is the rest. */
static char *masked(const struct mask *m, const char *text, size_t len,
		    const size_t *cuts, size_t cut_count)
{
	struct catch c = { 0 };
	struct mask_stream *s = mask_stream_create(m, take, &c);

	for (size_t at = 0, i = 0; at < len; i++) {
		size_t n = cuts[i % cut_count];

		n = n == 0 || n > len - at ? len - at : n;
		/* A copy of exactly this length, so that a step too far is seen. */
		AUTO_FREE char *piece = mem_dup(text + at, n);
		mask_feed(s, piece, n);
		at += n;
	}
	mask_end(s);
	mask_stream_destroy(s);
	return buf_take(&c.text) ?: mem_strdup("");
}

static char *at_once(const char *const *values, size_t count, const char *text)
{
	struct mask_value list[8];

	for (size_t i = 0; i < count; i++)
		list[i] = (struct mask_value){ values[i], strlen(values[i]) };
	struct mask *m = mask_create(list, count);
	char *out =
		m ? masked(m, text, strlen(text), (size_t[]){ 0 }, 1) : mem_strdup(text);
	mask_destroy(m);
	return out;
}

#define MASKED(want, text, law, ...)                                                     \
	do {                                                                             \
		const char *const values_[] = { __VA_ARGS__ };                           \
		AUTO_FREE char *got_ = at_once(values_, COUNT_OF(values_), text);        \
		IS(got_, want, law);                                                     \
	} while (0)

static void what_goes(void)
{
	MASKED("a ***-b ***\n", "a hunter2-b hunter2\n", "a value goes, each time",
	       "hunter2");
	MASKED("hunter hunte r2", "hunter hunte r2", "a part of it is nothing",
	       "hunter2");
	MASKED("******", "hunter2hunter2", "two side by side are two", "hunter2");
	MASKED("x***y", "xabcabcabcy", "those that overlap go whole", "abcabc");
	MASKED("***!", "secret12xyz9!", "also those of two secrets", "secret12",
	       "et12xyz9");
	MASKED("*** ***", "secret secret-longer", "the longer one counts", "secret",
	       "secret-longer");
	MASKED("*** secretly", "secretive secretly", "and the shorter where it is all",
	       "secretive");
	MASKED("abc", "abc", "what is too short is left", "abc");
	MASKED("***", "hunter2", "a line end behind a value does not hide it",
	       "hunter2\n");
	MASKED("", "", "nothing of nothing", "hunter2");
}

static void lines(void)
{
	const char *pem = "-----BEGIN KEY-----\nAAAABBBBCCCC\r\nDDDD\nEEEEFFFFGGGG\n";

	MASKED("before ***after",
	       "before -----BEGIN KEY-----\nAAAABBBBCCCC\r\nDDDD\n"
	       "EEEEFFFFGGGG\nafter",
	       "a text of many lines goes whole", pem);
	MASKED("1: ***\n2: DDDD\n3: ***\n", "1: AAAABBBBCCCC\n2: DDDD\n3: EEEEFFFFGGGG\n",
	       "and line by line, unless a line is short", pem);
}

static void base64(void)
{
	MASKED("aHVudGVyMg", "aHVudGVyMg", "a value of nobody is not looked for",
	       "another-value");
	MASKED("***==", "aHVudGVyMg==", "its base64 goes", "hunter2");
	MASKED("***o=", "aHVudGVyMgo=", "with a line end behind it", "hunter2");
}

/* Whatever is before and behind: of the value's own letters none is left. */
static void base64_inside(void)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789+/";
	const char *value = "s3cr\xfbt-t\xffken";
	const struct mask_value v = { value, strlen(value) };
	struct mask *m = mask_create(&v, 1);
	int left = 0;

	for (size_t before = 0; before < 7; before++) {
		for (size_t behind = 0; behind < 4; behind++) {
			AUTO_BUF struct buf plain = { 0 }, text = { 0 };
			for (size_t i = 0; i < before; i++)
				buf_addc(&plain, 'x');
			buf_adds(&plain, value);
			for (size_t i = 0; i < behind; i++)
				buf_addc(&plain, 'y');
			for (size_t bit = 0; bit < plain.len * 8; bit += 6) {
				unsigned six = 0;
				for (size_t k = bit; k < bit + 6; k++)
					six = six << 1 |
					      (k < plain.len * 8
						       ? (uint8_t)plain.data[k / 8] >>
									 (7 - k % 8) &
								 1u
						       : 0);
				buf_addc(&text, letters[six]);
			}
			AUTO_FREE char *got =
				masked(m, text.data, text.len, (size_t[]){ 0 }, 1);
			/* At most the letters it shares with its neighbours. */
			size_t own = (before * 8 + 5) / 6 + (behind * 8 + 5) / 6 + 2;
			left += !strstr(got, "***") || strlen(got) - 3 > own;
		}
	}
	IS_INT(left, 0, "base64 of a text with the value in it, at any place");
	mask_destroy(m);
}

/* The definition, by hand: slow and plain. */
static char *by_definition(const char *const *patterns, size_t count, const char *text,
			   size_t len)
{
	struct buf out = { 0 };
	size_t covered = 0;

	for (size_t at = 0; at < len; at++) {
		size_t longest = 0;
		for (size_t i = 0; i < count; i++) {
			size_t n = strlen(patterns[i]);
			if (n <= len - at && memcmp(text + at, patterns[i], n) == 0 &&
			    n > longest)
				longest = n;
		}
		if (longest && at >= covered)
			buf_adds(&out, "***");
		if (at + longest > covered && longest)
			covered = at + longest;
		if (at >= covered)
			buf_addc(&out, text[at]);
	}
	return buf_take(&out) ?: mem_strdup("");
}

static uint64_t seed = 88172645463325252u;

static unsigned below(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20) % n;
}

/* Few letters, so that secrets overlap, begin and end each other. */
static void against_definition(void)
{
	int wrong = 0, cut_wrong = 0, grew = 0;

	for (int round = 0; round < 3000; round++) {
		char words[3][8], text[48];
		const char *patterns[3];
		struct mask_value values[3];
		size_t count = 1 + below(3), len = below(sizeof text);

		for (size_t i = 0; i < count; i++) {
			size_t n =
				4 + below(2); /* shorter than what base64 is looked for */
			for (size_t k = 0; k < n; k++)
				words[i][k] = (char)('a' + below(2));
			words[i][n] = 0;
			patterns[i] = words[i];
			values[i] = (struct mask_value){ words[i], n };
		}
		for (size_t i = 0; i < len; i++)
			text[i] = (char)('a' + below(2));
		struct mask *m = mask_create(values, count);
		AUTO_FREE char *want = by_definition(patterns, count, text, len);
		AUTO_FREE char *whole = masked(m, text, len, (size_t[]){ 0 }, 1);
		AUTO_FREE char *each = masked(m, text, len, (size_t[]){ 1 }, 1);
		AUTO_FREE char *some = masked(
			m, text, len, (size_t[]){ 1 + below(5), 1 + below(7), 1 }, 3);
		wrong += strcmp(whole, want) != 0;
		cut_wrong += strcmp(each, want) != 0 || strcmp(some, want) != 0;
		grew += strlen(whole) > len;
		mask_destroy(m);
	}
	IS_INT(wrong, 0, "3000 random texts come out as the definition says");
	IS_INT(cut_wrong, 0, "byte by byte and in random pieces just the same");
	IS_INT(grew, 0, "what comes out is never longer");
}

static void every_split(void)
{
	const char *text =
		"ab hunter2 hunter22 -----BEGIN KEY-----\nAAAABBBBCCCC\nDDDD\nx "
		"-----BEGIN KEY-----\nAAAA aHVudGVyMg== hunter";
	const struct mask_value v[] = {
		{ "hunter2", 7 }, { "-----BEGIN KEY-----\nAAAABBBBCCCC\nDDDD\n", 38 }
	};
	struct mask *m = mask_create(v, 2);
	AUTO_FREE char *want = masked(m, text, strlen(text), (size_t[]){ 0 }, 1);
	int wrong = 0;

	for (size_t a = 1; a < strlen(text); a++)
		for (size_t b = 1; a + b < strlen(text); b++) {
			AUTO_FREE char *got =
				masked(m, text, strlen(text), (size_t[]){ a, b, 0 }, 3);
			wrong += strcmp(got, want) != 0;
		}
	IS(want, "ab *** ***2 ***x ***\nAAAA ***== hunter", "all of it at once");
	IS_INT(wrong, 0, "and cut in three at every two places");
	mask_destroy(m);
}

static void holding(void)
{
	const struct mask_value v = { "hunter2\nmore-of-it\n", 19 };
	struct mask *m = mask_create(&v, 1);
	struct catch c = { 0 };
	struct mask_stream *s = mask_stream_create(m, take, &c);

	mask_feed(s, "a line\n", 7);
	IS(buf_str(&c.text), "a line\n",
	   "what no secret begins with is given out at once");
	mask_feed(s, "prompt: hunt", 12);
	IS(buf_str(&c.text), "a line\nprompt: ", "the beginning of one is held back");
	IS_INT((int)mask_held(s), 4, "just that");
	mask_feed(s, "ing", 3);
	IS(buf_str(&c.text), "a line\nprompt: hunting", "until it is none");
	mask_feed(s, "hunter2", 7);
	mask_end(s);
	IS(buf_str(&c.text), "a line\nprompt: hunting***", "the end gives out the rest");
	mask_stream_destroy(s);
	buf_fini(&c.text);
	mask_destroy(m);
}

static void many_lines(void)
{
	AUTO_BUF struct buf value = { 0 }, text = { 0 };

	for (int i = 0; i < 9000; i++)
		buf_printf(&value, "k%05d\n", i);
	buf_adds(&text, "k00000x k08999 k09000 ");
	struct mask_value v = { value.data, value.len };
	struct mask *m = mask_create(&v, 1);
	AUTO_FREE char *got = masked(m, text.data, text.len, (size_t[]){ 5 }, 1);
	IS(got, "***x *** k09000 ", "9000 lines are all looked for");
	AUTO_FREE char *whole = masked(m, value.data, value.len, (size_t[]){ 4000 }, 1);
	IS(whole, "***", "and the whole of them");
	mask_destroy(m);

	static char zeros[20000];
	memset(zeros, '\n', sizeof zeros);
	memset(zeros, 'z', 4096);
	v = (struct mask_value){ zeros, sizeof zeros };
	m = mask_create(&v, 1);
	OK(m, "a value with many line ends behind it has room");
	mask_destroy(m);
	OK(!mask_create(&(struct mask_value){ "abc", 3 }, 1),
	   "there is no mask where there is nothing to look for");
}

int main(void)
{
	what_goes();
	lines();
	base64();
	base64_inside();
	against_definition();
	every_split();
	holding();
	many_lines();
	return END();
}
