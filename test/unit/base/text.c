// SPDX-License-Identifier: Apache-2.0
/* The small things everybody stands on: errors, buffers, text, UTF-8, JSON, log frames. */
#include "tap.h"

#include <errno.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"
#include "base/logframe.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/utf8.h"

static void errors(void)
{
	struct err e = { 0 };
	char wide[3000];

	OK(err_set(&e, ERR_INVALID, "a %d", 5) == -1 && e.code == ERR_INVALID,
	   "setting gives -1");
	OK(err_wrap(&e, "in %s", "b") == -1 && strcmp(e.text, "in b: a 5") == 0 &&
		   e.code == ERR_INVALID,
	   "wrapping puts words in front and keeps the class");
	errno = ENOENT;
	OK(err_sys(&e, "open x") == -1 && e.code == ERR_NOT_FOUND &&
		   strcmp(e.text, "open x: No such file or directory") == 0,
	   "the system's words come last");
	OK(err_set(NULL, ERR_IO, "x") == -1 && err_wrap(NULL, "x") == -1 &&
		   err_sys(NULL, "x") == -1,
	   "who does not care passes NULL");
	memset(wide, 'w', sizeof wide - 1);
	wide[sizeof wide - 1] = 0;
	err_set(&e, ERR_IO, "%s", wide);
	err_wrap(&e, "%s", wide);
	OK(strlen(e.text) == ERR_TEXT_MAX - 1, "long words are cut, not overrun");
	for (enum err_code c = 0; c < ERR_CODE_END; c++)
		if (!err_word(c) || !*err_word(c))
			OK(false, "class %d has no word", c);
}

static void buffers(void)
{
	AUTO_BUF struct buf b = { 0 };
	char *taken;

	IS(buf_str(&b), "", "an empty buffer is an empty string");
	buf_drop(&b, 5);
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	OK(b.len == 3890 && b.data[b.len] == 0 && strstr(b.data, ",999,"),
	   "it grows and stays terminated");
	buf_drop(&b, 3886);
	IS(buf_str(&b), "999,", "dropping forgets the front");
	buf_add(&b, "a\0b", 3);
	IS_INT((long long)b.len, 7, "it holds any byte");
	taken = buf_take(&b);
	OK(b.len == 0 && !b.data, "taking leaves it empty");
	free(taken);
	buf_add(&b, NULL, 0);
	IS(buf_str(&b), "", "adding nothing");
	buf_add_i64(&b, INT64_MIN);
	buf_addc(&b, ' ');
	buf_add_i64(&b, 0);
	buf_addc(&b, ' ');
	buf_add_i64(&b, INT64_MAX);
	IS(buf_str(&b), "-9223372036854775808 0 9223372036854775807",
	   "numbers, all of them");
}

static void numbers(void)
{
	int64_t v = 7;

	OK(str_to_i64("-9223372036854775808", INT64_MIN, INT64_MAX, &v) == 0 &&
		   v == INT64_MIN,
	   "the smallest");
	OK(str_to_i64("9223372036854775807", INT64_MIN, INT64_MAX, &v) == 0 &&
		   v == INT64_MAX,
	   "the greatest");
	OK(str_to_i64("9223372036854775808", INT64_MIN, INT64_MAX, &v) < 0,
	   "one more is refused");
	OK(str_to_i64("-9223372036854775809", INT64_MIN, INT64_MAX, &v) < 0,
	   "one less too");
	v = 7;
	static const char *const bad[] = {
		"", "-", "+1", " 1", "1 ", "0x1", "1e3", "--1"
	};
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		OK(str_to_i64(bad[i], INT64_MIN, INT64_MAX, &v) < 0 && v == 7,
		   "\"%s\" is not a number", bad[i]);
	OK(str_to_i64("5", 6, 9, &v) < 0 && str_to_i64("9", 6, 9, &v) == 0,
	   "bounds are inclusive");
	OK(str_leading_i64("12]", &v) == 2 && v == 12 && str_leading_i64("x", &v) == 0 &&
		   str_leading_i64("99999999999999999999", &v) == 0,
	   "a leading number");
}

static void guesses(void)
{
	static const char *const list[] = { "command", "count", "completion",
					    "time-limit" };

	IS(str_guess("comand", list, 4), "command", "a letter left out");
	IS(str_guess("cuont", list, 4), "count", "two letters swapped");
	IS(str_guess("time_limit", list, 4), "time-limit", "another letter");
	OK(!str_guess("zebra", list, 4), "no guess is better than a wild one");
	OK(!str_guess("x", list, 0), "nothing to guess from");
}

static void utf8(void)
{
	char out[4];
	int bad = 0;

	for (uint32_t p = 0; p <= 0x10ffff; p++) {
		if (p >= 0xd800 && p <= 0xdfff)
			continue;
		size_t n = utf8_write(p, out);
		bad += utf8_sequence(out, n) != n ||
		       (n > 1 && utf8_sequence(out, n - 1) != 0);
	}
	IS_INT(bad, 0, "every code point is written as one well-formed sequence");
	OK(!utf8_sequence("\xed\xa0\x80", 3) && !utf8_sequence("\xc0\x80", 2) &&
		   !utf8_sequence("\xf4\x90\x80\x80", 4) &&
		   !utf8_sequence("\xe0\x9f\xbf", 3) &&
		   !utf8_sequence("\xf0\x8f\xbf\xbf", 4) && !utf8_sequence("\x80", 1) &&
		   !utf8_sequence("\xf5\x80\x80\x80", 4),
	   "surrogates, overlong forms, strays and what lies beyond are not");
}

static void json(void)
{
	AUTO_BUF struct buf b = { 0 };
	struct json j;

	json_init(&j, &b);
	json_object(&j, NULL);
	json_str(&j, "a\"", "x\n\x01\x7f\\/");
	json_array(&j, "l");
	json_i64(&j, NULL, INT64_MIN);
	json_bool(&j, NULL, true);
	json_object(&j, NULL);
	json_end(&j);
	json_array(&j, NULL);
	json_end(&j);
	json_end(&j);
	json_str(&j, "n", NULL);
	json_raw(&j, "r", "[1]");
	json_strn(&j, "bad", "a\xff\xc3z\0", 5);
	json_end(&j);
	IS(buf_str(&b),
	   "{\"a\\\"\":\"x\\n\\u0001\\u007f\\\\/\",\"l\":[-9223372036854775808,true,{},[]],\"n\":null,\"r\":[1],"
	   "\"bad\":\"a\xef\xbf\xbd\xef\xbf\xbdz\\u0000\"}",
	   "commas, escapes and bad bytes are taken care of");
}

/* Any bytes at all come back as text that is well-formed. */
static void json_any_bytes(void)
{
	uint64_t x = 88172645463325252u;
	int bad = 0;

	for (int i = 0; i < 20000; i++) {
		char bytes[24];
		AUTO_BUF struct buf b = { 0 };
		struct json j;
		for (size_t k = 0; k < sizeof bytes; k++) {
			x ^= x << 13, x ^= x >> 7, x ^= x << 17;
			bytes[k] = (char)(x >> (i % 8));
		}
		json_init(&j, &b);
		json_strn(&j, NULL, bytes, sizeof bytes);
		AUTO_DOC struct doc *d = doc_parse_json(b.data, b.len, NULL);
		bad += !d || doc_root(d)->kind != DOC_STRING;
	}
	IS_INT(bad, 0, "what is written can always be read back");
}

static void write_docs(void)
{
	static const char text[] =
		"{\"a\":[1,{\"b\":null,\"c\":\"x\\u0000y\"},[],true],\"d\":-1.5e3}";
	AUTO_DOC struct doc *d = doc_parse_json(text, strlen(text), NULL);
	AUTO_BUF struct buf b = { 0 };
	struct json j;

	json_init(&j, &b);
	doc_write_json(doc_root(d), &j, NULL);
	IS(buf_str(&b), text, "a tree is written as it was read");
	IS_INT(doc_depth(doc_root(d)), 3, "and knows how deep it is");
	IS_INT(doc_depth(doc_get(doc_root(d), "d")), 0, "a scalar has no depth");
	OK(doc_i64(doc_root(d), "d", 9) == 9 && doc_i64(doc_root(d), "zz", 8) == 8 &&
		   doc_bool(doc_root(d), "a", true),
	   "what is not there or of another kind gives the fallback");
	IS(doc_str(doc_root(d), "d", "f"), "f", "also for texts");
}

static void frames(void)
{
	struct logframe f = { LOG_STDERR, 70000, -5 }, back = { 0 };
	uint8_t bytes[LOGFRAME_BYTES];

	logframe_write(&f, bytes);
	OK(logframe_read(bytes, &back) == 0 && back.stream == LOG_STDERR &&
		   back.len == 70000 && back.time_us == -5,
	   "a frame is read as it was written");
	OK(memcmp(bytes, "\xa7\x02\0\0\x70\x11\x01\0\xfb\xff\xff\xff\xff\xff\xff\xff",
		  16) == 0,
	   "in this order of bytes");
	for (int i = 0; i < 4; i++) {
		bytes[i] ^= 0x10;
		OK(logframe_read(bytes, &back) < 0,
		   "a frame with a wrong byte %d is none", i);
		bytes[i] ^= 0x10;
	}
	f.len = LOGFRAME_DATA_MAX + 1;
	logframe_write(&f, bytes);
	OK(logframe_read(bytes, &back) < 0, "a length beyond the bound is none");
}

/* Any double, by its bits, comes back the same through JSON. */
static void reals(void)
{
	uint64_t bits = 1, wrong = 0;

	for (int i = 0; i < 20000; i++) {
		AUTO_BUF struct buf b = { 0 };
		struct json j;
		double v, back = 0;
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		memcpy(&v, &bits, sizeof v);
		if (i % 4 == 0)
			v = (double)(int64_t)(bits >> 40) / 1000;
		json_init(&j, &b);
		json_real(&j, NULL, v);
		AUTO_DOC struct doc *d = doc_parse_json(b.data, b.len, NULL);
		if (!d ||
		    str_to_real(doc_root(d)->text, doc_root(d)->text_len, &back) < 0 ||
		    (memcmp(&v, &back, sizeof v) != 0 && v == v))
			wrong++;
	}
	IS_INT((long long)wrong, 0,
	       "every double is written so that it reads back the same");
	static const struct {
		double v;
		const char *text;
	} some[] = { { 0.1, "0.1" },
		     { -0.0, "-0" },
		     { 1e300, "1e+300" },
		     { 0.30000000000000004, "0.30000000000000004" },
		     { 5e-324, "4.94065645841247e-324" },
		     { __builtin_inf(), "\"Infinity\"" },
		     { -__builtin_inf(), "\"-Infinity\"" },
		     { __builtin_nan(""), "\"NaN\"" } };
	for (size_t i = 0; i < COUNT_OF(some); i++) {
		AUTO_BUF struct buf b = { 0 };
		struct json j;
		json_init(&j, &b);
		json_real(&j, NULL, some[i].v);
		IS(buf_str(&b), some[i].text, "as short as that takes: %s", some[i].text);
	}
	static const char *const bad[] = {
		"",    " ",   "1.2.3", "0x10", "nan(1)",  "1e",
		"1,5", "--1", "1 2",   "one",  "infinit", "1p3"
	};
	static const char *const good[] = { "1",    " -1.5\t", "+2",   ".5",
					    "1e-3", "NaN",     "-inf", "INFINITY" };
	double v;
	int missed = 0;
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		missed += str_to_real(bad[i], strlen(bad[i]), &v) == 0;
	for (size_t i = 0; i < COUNT_OF(good); i++)
		missed += str_to_real(good[i], strlen(good[i]), &v) < 0;
	missed += str_to_real("1\0"
			      "2",
			      3, &v) == 0;
	IS_INT(missed, 0, "numbers as programs print them, and nothing else");
}

int main(void)
{
	errors();
	reals();
	buffers();
	numbers();
	guesses();
	utf8();
	json();
	json_any_bytes();
	write_docs();
	frames();
	return END();
}
