// SPDX-License-Identifier: Apache-2.0
/* Requests from anybody: never a crash, and never two meanings.  The first byte says
 * where the rest is cut in two; cut or not, the same messages must come out of it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "codec/http.h"
#include "codec/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What the bytes mean, as bytes.  False: refused. */
static bool read_all(struct http_parser *p, const char *data, size_t len, struct buf *out)
{
	struct url_query q = { 0 };
	struct http_piece piece;
	struct err err;

	for (;;) {
		const struct http_head *h = http_parser_head(p);
		switch (http_parser_next(p, &data, &len, &piece, &err)) {
		case HTTP_ITEM_MORE:
			return true;
		case HTTP_ITEM_HEAD:
			buf_printf(out, "%s %s %s %lld %d%d%d", h->method, h->path,
				   h->query, (long long)h->length, h->keep_alive,
				   h->chunked, h->upgrade);
			for (size_t i = 0; i < h->header_count; i++)
				buf_printf(out, "\n%s: %s", h->headers[i].name,
					   h->headers[i].value);
			if (h->path[0] != '/' && strcmp(h->path, "*") != 0)
				abort();
			url_query_parse(&q, h->query, &err);
			url_query_fini(&q);
			break;
		case HTTP_ITEM_DATA:
			buf_add(out, piece.data, piece.len);
			break;
		case HTTP_ITEM_END:
			buf_adds(out, "\n.\n");
			break;
		case HTTP_ITEM_FAILED:
			if (http_parser_status(p) < 400)
				abort();
			return false;
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1;

	if (size < 2)
		return 0;
	struct buf whole = { 0 }, parts = { 0 };
	struct http_parser *a = http_parser_create(HTTP_REQUESTS),
			   *b = http_parser_create(HTTP_REQUESTS);
	size_t len = size - 1, cut = data[0] * len / 256;
	bool good = read_all(a, text, len, &whole);
	bool cut_good = read_all(b, text, cut, &parts) &&
			read_all(b, text + cut, len - cut, &parts);

	if (good != cut_good || (good && strcmp(buf_str(&whole), buf_str(&parts)) != 0))
		abort();
	http_parser_destroy(a);
	http_parser_destroy(b);
	buf_fini(&whole);
	buf_fini(&parts);
	return 0;
}
