// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

#define LEVELS_MAX 64

void json_init(struct json *j, struct buf *out)
{
	*j = (struct json){ .out = out };
}

static void add_escaped(struct buf *out, unsigned char c)
{
	static const char short_form[256] = {
		['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
		['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't',
	};

	if (short_form[c]) {
		buf_addc(out, '\\');
		buf_addc(out, short_form[c]);
	} else {
		buf_printf(out, "\\u%04x", c);
	}
}

/* How many bytes from here on stand for themselves. */
static size_t plain_bytes(const char *s, size_t len)
{
	size_t i = 0, n;

	while (i < len) {
		unsigned char c = (unsigned char)s[i];
		if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
			break;
		n = c < 0x80 ? 1 : utf8_sequence(s + i, len - i);
		if (n == 0)
			break;
		i += n;
	}
	return i;
}

static void add_string(struct buf *out, const char *s, size_t len)
{
	buf_reserve(out, len + 2);
	buf_addc(out, '"');
	for (size_t i = 0; i < len; i++) {
		size_t n = plain_bytes(s + i, len - i);
		buf_add(out, s + i, n);
		i += n;
		if (i == len)
			break;
		if ((unsigned char)s[i] < 0x80)
			add_escaped(out, (unsigned char)s[i]);
		else
			buf_adds(out, "\xef\xbf\xbd");
	}
	buf_addc(out, '"');
}

/* The comma and the key that stand before a value. */
static void begin_value(struct json *j, const char *key)
{
	uint64_t bit = j->depth ? UINT64_C(1) << (j->depth - 1) : 0;

	assert(!j->depth || !key == !!(j->is_array & bit));
	if (j->has_items & bit)
		buf_addc(j->out, ',');
	j->has_items |= bit;
	if (!key)
		return;
	add_string(j->out, key, strlen(key));
	buf_addc(j->out, ':');
}

static void open_level(struct json *j, const char *key, bool array)
{
	uint64_t bit;

	begin_value(j, key);
	assert(j->depth < LEVELS_MAX);
	bit = UINT64_C(1) << j->depth++;
	j->has_items &= ~bit;
	j->is_array = array ? j->is_array | bit : j->is_array & ~bit;
	buf_addc(j->out, array ? '[' : '{');
}

void json_object(struct json *j, const char *key)
{
	open_level(j, key, false);
}

void json_array(struct json *j, const char *key)
{
	open_level(j, key, true);
}

void json_end(struct json *j)
{
	assert(j->depth > 0);
	j->depth--;
	buf_addc(j->out, j->is_array >> j->depth & 1 ? ']' : '}');
}

void json_str(struct json *j, const char *key, const char *value)
{
	if (!value) {
		json_null(j, key);
		return;
	}
	json_strn(j, key, value, strlen(value));
}

void json_strn(struct json *j, const char *key, const char *value, size_t len)
{
	begin_value(j, key);
	add_string(j->out, value, len);
}

void json_i64(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	buf_add_i64(j->out, value);
}

void json_real(struct json *j, const char *key, double value)
{
	char text[40];

	if (isnan(value) || isinf(value)) {
		json_str(j, key,
			 isnan(value) ? "NaN"
			 : value > 0  ? "Infinity"
				      : "-Infinity");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof text, "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	begin_value(j, key);
	buf_adds(j->out, text);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	buf_adds(j->out, value ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	begin_value(j, key);
	buf_adds(j->out, "null");
}

void json_raw(struct json *j, const char *key, const char *json)
{
	begin_value(j, key);
	buf_adds(j->out, json);
}
