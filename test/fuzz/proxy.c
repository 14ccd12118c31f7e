// SPDX-License-Identifier: Apache-2.0
/* What passes the proxy: a head that was read and written anew is read as just one head, and
 * has nothing in it that must not pass.  The first byte: a request or an answer, and whether
 * the prefix is stripped. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/str.h"
#include "http/proxy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool law)
{
	if (!law)
		abort();
}

/* The one head of a text. */
static struct http_parser *read_again(enum http_kind kind, const struct buf *text)
{
	struct http_parser *p = http_parser_create(kind);
	struct http_piece piece;
	struct err err;
	const char *at = text->data;
	size_t len = text->len;

	must(http_parser_next(p, &at, &len, &piece, &err) == HTTP_ITEM_HEAD);
	must(len == 0);
	return p;
}

static void never(const struct http_head *h, const char *const *names)
{
	for (; *names; names++)
		must(!http_head_get(h, *names));
}

static void check_answer(const struct http_head *h)
{
	static const char *const names[] = { "service-worker-allowed", "clear-site-data",
					     "www-authenticate",       "content-length",
					     "transfer-encoding",      NULL };

	never(h, names);
	for (size_t i = 0; i < h->header_count; i++) {
		const char *value = h->headers[i].value;
		if (!str_eq(h->headers[i].name, "set-cookie"))
			continue;
		must(strncasecmp(value, "yard-", 5) != 0);
		const char *path = strstr(value, "; Path=/apps/12/");
		must(path && !strcasestr(path + 2, "; path="));
	}
}

static void check_request(const struct http_head *h, const struct http_head *was)
{
	static const char *const names[] = {
		"authorization", "proxy-authorization", "te",
		"x-real-ip",     "forwarded",           NULL
	};
	const char *cookie = http_head_get(h, "cookie");
	int from = 0;

	never(h, names);
	must(str_eq(h->method, was->method) && str_eq(h->query, was->query));
	must(!cookie ||
	     (strncasecmp(cookie, "yard-", 5) != 0 && !strcasestr(cookie, "; yard-")));
	for (size_t i = 0; i < h->header_count; i++)
		from += str_eq(h->headers[i].name, "x-forwarded-for");
	must(from == 1 && str_eq(http_head_get(h, "x-forwarded-for"), "192.0.2.7"));
	must(h->chunked == was->chunked && h->length == was->length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct proxy_from from = { "192.0.2.7", "ann", false };
	struct proxy_target to = { "127.1.0.1", 20000, "/apps/12", false };
	struct http_piece piece;
	struct err err;

	if (size < 2)
		return 0;
	enum http_kind kind = data[0] & 1 ? HTTP_RESPONSES : HTTP_REQUESTS;
	struct http_parser *p = http_parser_create(kind);
	const char *at = (const char *)data + 1;
	size_t len = size - 1;
	struct buf out = { 0 };

	const struct http_head *h = http_parser_head(p);
	/* The proxy adds some headers of its own: what was full before cannot be read again. */
	if (http_parser_next(p, &at, &len, &piece, &err) == HTTP_ITEM_HEAD &&
	    h->header_count < HTTP_HEADERS_MAX - 10 && size < HTTP_TARGET_MAX) {
		to.strip = data[0] & 2 && kind == HTTP_REQUESTS &&
			   str_starts(h->path, to.prefix);
		if (kind == HTTP_REQUESTS)
			proxy_write_request(&out, h, &to, &from);
		else
			proxy_write_answer(&out, h, &to);
		if (kind == HTTP_RESPONSES)
			http_write_head_end(&out);
		struct http_parser *again = read_again(kind, &out);
		if (kind == HTTP_REQUESTS)
			check_request(http_parser_head(again), h);
		else
			check_answer(http_parser_head(again));
		http_parser_destroy(again);
	}
	buf_fini(&out);
	http_parser_destroy(p);
	return 0;
}
