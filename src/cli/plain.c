// SPDX-License-Identifier: Apache-2.0
#include "cli/plain.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

#define C1_LEAD 0xc2 /* U+0080 to U+009F are this byte and 0x80 to 0x9f */

static bool is_c1(unsigned char lead, unsigned char next)
{
	return lead == C1_LEAD && next >= 0x80 && next < 0xa0;
}

size_t plain_text(char *text, const char *keep)
{
	size_t width = 0, len = strlen(text), out = 0;

	for (size_t i = 0; i < len; width++) {
		const unsigned char *at = (const unsigned char *)text + i;
		size_t n = utf8_sequence(text + i, len - i);
		bool control = (*at < ' ' && !strchr(keep, *at)) || *at == 0x7f ||
			       (n == 2 && is_c1(at[0], at[1]));
		if (n == 0 || control) {
			i += n ? n : 1;
			text[out++] = '?';
			continue;
		}
		memmove(text + out, text + i, n);
		i += n;
		out += n;
	}
	text[out] = '\0';
	return width;
}

void plain_stream(struct buf *out, const char *data, size_t len, unsigned char *last)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)data[i];
		bool control =
			(c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
		buf_addc(out, control || is_c1(*last, c) ? '?' : data[i]);
		*last = c;
	}
}

void plain_json(struct buf *out, const struct buf *json)
{
	const char *text = buf_str(json);

	for (size_t i = 0; i < json->len; i++) {
		bool more = i + 1 < json->len;
		if (more && is_c1((unsigned char)text[i], (unsigned char)text[i + 1]))
			buf_printf(out, "\\u%04x", (unsigned char)text[++i]);
		else
			buf_addc(out, text[i]);
	}
}
