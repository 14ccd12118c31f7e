// SPDX-License-Identifier: Apache-2.0
#include "codec/url.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

char *url_decode(const char *text, size_t len, int plus, struct err *err)
{
	AUTO_FREE char *out = mem_alloc(len + 1, 1);
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];
		if (c == '+' && plus)
			c = ' ';
		if (c == '%') {
			int hi = i + 2 < len ? hex_value(text[i + 1]) : -1;
			int lo = hi >= 0 ? hex_value(text[i + 2]) : -1;
			if (lo < 0) {
				err_set(err, ERR_INVALID,
					"a '%%' in the URL is not followed by two hexadecimal digits");
				return NULL;
			}
			c = (char)(hi << 4 | lo);
			i += 2;
		}
		if (c == '\0') {
			err_set(err, ERR_INVALID, "the URL holds a NUL byte");
			return NULL;
		}
		out[n++] = c;
	}
	return TAKE(out);
}

void url_encode(struct buf *out, const char *text)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

	for (; *text; text++) {
		if (strchr(plain, *text))
			buf_addc(out, *text);
		else
			buf_printf(out, "%%%02X", (unsigned char)*text);
	}
}

int url_query_parse(struct url_query *q, const char *text, struct err *err)
{
	while (*text) {
		size_t n = strcspn(text, "&");
		size_t name = strcspn(text, "=&");
		if (q->count == URL_PARAMS_MAX)
			return err_set(err, ERR_TOO_LARGE,
				       "more than %d query parameters", URL_PARAMS_MAX);
		if (n > 0) {
			mem_grow(&q->items, &q->cap, q->count, sizeof *q->items);
			struct url_param *p = &q->items[q->count];
			p->name = url_decode(text, name, 1, err);
			if (!p->name)
				return -1;
			p->value = name < n ? url_decode(text + name + 1, n - name - 1, 1,
							 err)
					    : mem_strdup("");
			if (!p->value) {
				free(p->name);
				return -1;
			}
			q->count++;
		}
		text += n + (text[n] == '&');
	}
	return 0;
}

void url_query_fini(struct url_query *q)
{
	for (size_t i = 0; i < q->count; i++) {
		free(q->items[i].name);
		free(q->items[i].value);
	}
	free(q->items);
	*q = (struct url_query){ 0 };
}

const char *url_query_get(const struct url_query *q, const char *name)
{
	for (size_t i = 0; i < q->count; i++)
		if (str_eq(q->items[i].name, name))
			return q->items[i].value;
	return NULL;
}

void url_query_add(struct buf *target, const char *name, const char *value)
{
	buf_addc(target, strchr(buf_str(target), '?') ? '&' : '?');
	url_encode(target, name);
	buf_addc(target, '=');
	url_encode(target, value);
}
