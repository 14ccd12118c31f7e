// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "base/buf.h"
#include "codec/http.h"
#include "tap.h"

/* What a run of bytes means, as text: "GET /a?q H[host=x] D(abc) E" for each message,
 * "!400" when it is refused, "+" when more is awaited. */
static void describe(struct http_parser *p, const char *data, size_t len, struct buf *out)
{
	struct http_piece piece;
	struct err err;

	while (!strchr(buf_str(out), '!')) {
		enum http_item item = http_parser_next(p, &data, &len, &piece, &err);
		const struct http_head *h = http_parser_head(p);
		switch (item) {
		case HTTP_ITEM_MORE:
			return;
		case HTTP_ITEM_HEAD:
			if (h->method)
				buf_printf(out, "%s %s?%s", h->method, h->path, h->query);
			else
				buf_printf(out, "%d", h->status);
			for (size_t i = 0; i < h->header_count; i++)
				buf_printf(out, " %s=%s", h->headers[i].name,
					   h->headers[i].value);
			buf_printf(out, " L%lld%s", (long long)h->length,
				   h->keep_alive ? " K" : "");
			buf_adds(out, " D(");
			break;
		case HTTP_ITEM_DATA:
			buf_add(out, piece.data, piece.len);
			break;
		case HTTP_ITEM_END:
			buf_adds(out, ") E\n");
			break;
		case HTTP_ITEM_FAILED:
			buf_printf(out, "!%d", http_parser_status(p));
			return;
		}
	}
}

static char *meaning(enum http_kind kind, const char *bytes, size_t len)
{
	struct http_parser *p = http_parser_create(kind);
	struct buf out = { 0 };

	describe(p, bytes, len, &out);
	http_parser_destroy(p);
	return buf_take(&out);
}

static void means(const char *bytes, const char *want, const char *law)
{
	char *got = meaning(HTTP_REQUESTS, bytes, strlen(bytes));

	IS(got ? got : "", want, "%s", law);
	free(got);
}

static bool refused(const char *bytes, size_t len, int status)
{
	char want[8], *got = meaning(HTTP_REQUESTS, bytes, len);

	snprintf(want, sizeof want, "!%d", status);
	bool ok = got && strstr(got, want) && !strstr(got, " E\n");
	if (!ok)
		printf("# got '%s'\n", got ? got : "(nothing)");
	free(got);
	return ok;
}

static void split_everywhere(const char *bytes, const char *law)
{
	size_t len = strlen(bytes);
	char *whole = meaning(HTTP_REQUESTS, bytes, len);
	int differ = 0;

	for (size_t cut = 0; cut <= len; cut++) {
		struct http_parser *p = http_parser_create(HTTP_REQUESTS);
		struct buf out = { 0 };
		describe(p, bytes, cut, &out);
		describe(p, bytes + cut, len - cut, &out);
		differ += strcmp(buf_str(&out), whole) != 0;
		buf_fini(&out);
		http_parser_destroy(p);
	}
	struct http_parser *p = http_parser_create(HTTP_REQUESTS);
	struct buf out = { 0 };
	for (size_t i = 0; i < len; i++)
		describe(p, bytes + i, 1, &out);
	differ += strcmp(buf_str(&out), whole) != 0;
	OK(differ == 0, "%s: the same however it is cut, also byte by byte", law);
	buf_fini(&out);
	http_parser_destroy(p);
	free(whole);
}

#define H    "Host: x\r\n"
#define POST "POST / HTTP/1.1\r\n" H

static void good(void)
{
	means("GET /a/b?c=d HTTP/1.1\r\nHOST:  x \r\nX-Y: z\r\n\r\n",
	      "GET /a/b?c=d host=x x-y=z L0 K D() E\n",
	      "a request; names in lower case, values trimmed");
	means("GET / HTTP/1.0\r\n\r\n", "GET /? L0 D() E\n",
	      "HTTP/1.0 needs no Host and closes");
	means("GET / HTTP/1.1\r\n" H "Connection: close\r\n\r\n",
	      "GET /? host=x connection=close L0 D() E\n", "Connection: close is seen");
	means(POST "Content-Length: 3\r\n\r\nabcGET /2 HTTP/1.1\r\n" H "\r\n",
	      "POST /? host=x content-length=3 L3 K D(abc) E\nGET /2? host=x L0 K D() E\n",
	      "a body by length, and the next request behind it");
	means(POST
	      "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA\r\n0123456789\r\n0\r\n\r\n",
	      "POST /? host=x transfer-encoding=chunked L-1 K D(abc0123456789) E\n",
	      "a body in chunks");
	means(POST
	      "Transfer-Encoding: Chunked\r\n\r\n0\r\nSum: 1\r\n\r\nGET / HTTP/1.1\r\n" H
	      "\r\n",
	      "POST /? host=x transfer-encoding=Chunked L-1 K D() E\nGET /? host=x L0 K D() E\n",
	      "a trailer is dropped, the next request found");
	means("\r\nGET / HTTP/1.1\r\n" H "\r\n", "GET /? host=x L0 K D() E\n",
	      "an empty line before is harmless");
	means("GET http://x/y?z HTTP/1.1\r\n" H "\r\n", "GET /y?z host=x L0 K D() E\n",
	      "the absolute form");
	means("GET / HTTP/1.1\r\n" H "X:\r\nY: \r\n\r\n",
	      "GET /? host=x x= y= L0 K D() E\n", "empty values");
	split_everywhere(POST "Content-Length: 3\r\n\r\nabcGET /2?q HTTP/1.1\r\n" H
			      "X: y \r\n\r\n",
			 "by length");
	split_everywhere(
		POST
		"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\nA: b\r\n\r\n"
		"GET / HTTP/1.1\r\n" H "\r\n",
		"in chunks");
	split_everywhere(POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
			 "refused");
}

/* Forms by which two readers come to disagree about where a request ends. */
static void smuggling(void)
{
	static const struct {
		const char *bytes, *name;
		int status;
	} forms[] = {
		{ POST "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc",
		  "Content-Length twice", 400 },
		{ POST "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
		  "two different lengths", 400 },
		{ POST "Content-Length: 3, 3\r\n\r\nabc", "a list of lengths", 400 },
		{ POST "Content-Length: +3\r\n\r\nabc", "a length with a sign", 400 },
		{ POST "Content-Length: -3\r\n\r\nabc", "a negative length", 400 },
		{ POST "Content-Length: 0x3\r\n\r\nabc", "a length in hex", 400 },
		{ POST "Content-Length: 3 4\r\n\r\nabc", "two lengths in one value",
		  400 },
		{ POST "Content-Length: 99999999999999999999\r\n\r\n",
		  "a length beyond 64 bits", 400 },
		{ POST "Content-Length: \r\n\r\n", "an empty length", 400 },
		{ POST "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n",
		  "coding, then length", 400 },
		{ POST "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "length, then coding", 400 },
		{ POST "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
		  "a second coding", 501 },
		{ POST "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		  "an unknown coding", 501 },
		{ POST
		  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "the coding twice", 400 },
		{ "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
		  "chunks in HTTP/1.0", 400 },
		{ "GET / HTTP/1.1\r\n" H "X : y\r\n\r\n", "a space before the colon",
		  400 },
		{ "GET / HTTP/1.1\r\nHost : x\r\n\r\n", "a space before Host's colon",
		  400 },
		{ POST "Content-Length : 3\r\n\r\nabc",
		  "a space before the length's colon", 400 },
		{ "GET / HTTP/1.1\r\n" H " X: y\r\n\r\n", "a folded line", 400 },
		{ "GET / HTTP/1.1\r\n" H "X: y\r\n\tz\r\n\r\n", "a line folded by a tab",
		  400 },
		{ "GET / HTTP/1.1\nHost: x\n\n", "bare LF throughout", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\n\r\n", "one bare LF", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\r\n\n", "bare LF as the last line", 400 },
		{ "GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n", "a bare CR in a line", 400 },
		{ "GET / HTTP/1.1\rHost: x\r\n\r\n", "a bare CR behind the version",
		  400 },
		{ "GET / HTTP/1.1\r\n\r\n", "no Host", 400 },
		{ "GET / HTTP/1.1\r\n" H H "\r\n", "two Hosts", 400 },
		{ "GET / HTTP/1.1\r\n" H ": y\r\n\r\n", "a header without a name", 400 },
		{ "GET / HTTP/1.1\r\n" H "X y\r\n\r\n", "a header without a colon", 400 },
		{ "GET / HTTP/2.0\r\n" H "\r\n", "HTTP/2.0", 505 },
		{ "GET / HTTP/1.2\r\n" H "\r\n", "HTTP/1.2", 505 },
		{ "GET /\r\n\r\n", "no version", 505 },
		{ "GET a HTTP/1.1\r\n" H "\r\n", "a target without a slash", 400 },
		{ "GET /a#b HTTP/1.1\r\n" H "\r\n", "a fragment", 400 },
		{ "GET  / HTTP/1.1\r\n" H "\r\n", "two spaces before the target", 400 },
		{ "GET /  HTTP/1.1\r\n" H "\r\n", "two spaces behind the target", 400 },
		{ "GET / HTTP/1.1 \r\n" H "\r\n", "a space behind the version", 505 },
		{ " GET / HTTP/1.1\r\n" H "\r\n", "a space before the method", 400 },
		{ "GET\t/ HTTP/1.1\r\n" H "\r\n", "a tab before the target", 400 },
		{ "FROB / HTTP/1.1\r\n" H "\r\n", "an unknown method", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
		  "a chunk extension", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n",
		  "a space behind a chunk's size", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n",
		  "a chunk size with 0x", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n",
		  "a negative chunk", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
		  "a bare LF behind a chunk's size", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabcX\r\n0\r\n\r\n",
		  "a chunk longer than its size", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n",
		  "a chunk without its CRLF", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n\r\nabc\r\n",
		  "a chunk without a size", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
		  "a chunk of 2^64 - 1", 413 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc",
		  "a size that wraps around", 400 },
		{ POST "Transfer-Encoding: chunked\r\n\r\n0\r\nA: b\n\r\n",
		  "a bare LF in the trailer", 400 },
	};

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
		OK(refused(forms[i].bytes, strlen(forms[i].bytes), forms[i].status),
		   "refused with %d: %s", forms[i].status, forms[i].name);
	static const char nul[] = "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n";
	OK(refused(nul, sizeof nul - 1, 400), "refused with 400: a NUL in a value");
	static const char nul_target[] = "GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n";
	OK(refused(nul_target, sizeof nul_target - 1, 400),
	   "refused with 400: a NUL in the target");
}

static bool long_one(const char *before, size_t n, const char *after, int status)
{
	struct buf b = { 0 };

	buf_adds(&b, before);
	for (size_t i = 0; i < n; i++)
		buf_addc(&b, 'a');
	buf_adds(&b, after);
	char *got = status ? NULL : meaning(HTTP_REQUESTS, b.data, b.len);
	bool ok = status ? refused(b.data, b.len, status)
			 : got && strstr(got, " E\n") != NULL;
	free(got);
	buf_fini(&b);
	return ok;
}

static void limits(void)
{
	struct buf many = { 0 };

	OK(long_one("GET /", HTTP_TARGET_MAX - 1, " HTTP/1.1\r\n" H "\r\n", 0),
	   "a target of exactly 8 KiB is taken");
	OK(long_one("GET /", HTTP_TARGET_MAX, " HTTP/1.1\r\n" H "\r\n", 414),
	   "one byte more is 414");
	OK(long_one("GET /", 100000, "", 414), "a first line without an end is 414");
	OK(long_one("GET / HTTP/1.1\r\n" H "X: ", HTTP_HEAD_MAX - 60, "\r\n\r\n", 0),
	   "a head below 32 KiB is taken");
	OK(long_one("GET / HTTP/1.1\r\n" H "X: ", 100000, "\r\n\r\n", 431),
	   "a header of 100 kB is 431");
	OK(long_one(POST "Transfer-Encoding: chunked\r\n\r\n0\r\nX: ", 5000, "\r\n\r\n",
		    400),
	   "a trailer of 5 kB is refused");
	OK(long_one(POST "Content-Length: 9000000\r\n\r\n", 1, "", 413),
	   "a body over the limit is 413 by its length");
	OK(long_one(POST "Transfer-Encoding: chunked\r\n\r\n900000\r\n", 1, "", 413),
	   "and by its chunks");

	buf_adds(&many, "GET / HTTP/1.1\r\n" H);
	for (int i = 0; i < HTTP_HEADERS_MAX - 1; i++)
		buf_adds(&many, "A: b\r\n");
	size_t fits = many.len;
	buf_adds(&many, "\r\n");
	char *got = meaning(HTTP_REQUESTS, many.data, many.len);
	OK(strstr(got, " E\n"), "96 headers are taken");
	free(got);
	buf_drop(&many, 0);
	many.len = fits;
	buf_adds(&many, "A: b\r\n\r\n");
	OK(refused(many.data, many.len, 431), "97 are 431");
	buf_fini(&many);
}

static void own_body_limit(void)
{
	struct http_parser *p = http_parser_create(HTTP_REQUESTS);
	const char *bytes = POST "Content-Length: 4\r\n\r\nabcd";
	size_t len = strlen(bytes);
	struct http_piece piece;
	struct err err;

	OK(http_parser_next(p, &bytes, &len, &piece, &err) == HTTP_ITEM_HEAD,
	   "the head comes first");
	http_parser_body_max(p, 3);
	OK(http_parser_next(p, &bytes, &len, &piece, &err) == HTTP_ITEM_FAILED &&
		   http_parser_status(p) == 413 && err.code == ERR_TOO_LARGE,
	   "then a limit of one's own counts");
	bytes = "GET / HTTP/1.1\r\n" H "\r\n";
	len = strlen(bytes);
	OK(http_parser_next(p, &bytes, &len, &piece, &err) == HTTP_ITEM_FAILED,
	   "a failed parser stays failed");
	http_parser_destroy(p);
}

static void responses(void)
{
	static const char *const bytes =
		"HTTP/1.1 100 Continue\r\n\r\n"
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
		"HTTP/1.1 204 No Content\r\n\r\n"
		"HTTP/1.1 200 OK\r\n\r\nuntil the end";
	char *got = meaning(HTTP_RESPONSES, bytes, strlen(bytes));
	struct http_parser *p = http_parser_create(HTTP_RESPONSES);
	const char *data = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
	size_t len = strlen(data);
	struct http_piece piece;
	struct err err;

	IS(got,
	   "100 L0 K D() E\n200 content-length=2 L2 K D(ok) E\n"
	   "200 transfer-encoding=chunked L-1 K D(a) E\n204 L0 K D() E\n200 L-1 D(until the end",
	   "answers of every framing, one after the other");
	free(got);
	http_parser_no_body(p);
	OK(http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_HEAD &&
		   http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_END,
	   "an answer to HEAD has no body whatever its length says");
	data = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: yard-exec\r\nConnection: Upgrade\r\n\r\nraw";
	len = strlen(data);
	OK(http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_HEAD &&
		   http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_END &&
		   len == 3,
	   "behind a 101 the bytes are left alone");
	http_parser_destroy(p);
}

static void ends(void)
{
	static const struct {
		const char *bytes;
		enum http_item want;
		const char *name;
	} rows[] = {
		{ "", HTTP_ITEM_MORE, "before all messages" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", HTTP_ITEM_MORE,
		  "between two" },
		{ "HTTP/1.1 200 OK\r\n\r\nabc", HTTP_ITEM_END,
		  "in a body that lasts until then" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", HTTP_ITEM_FAILED,
		  "in a body with a length" },
		{ "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
		  HTTP_ITEM_FAILED, "between two chunks" },
		{ "HTTP/1.1 200 O", HTTP_ITEM_FAILED, "in a head" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct http_parser *p = http_parser_create(HTTP_RESPONSES);
		struct buf out = { 0 };
		struct err err;
		describe(p, rows[i].bytes, strlen(rows[i].bytes), &out);
		OK(http_parser_eof(p, &err) == rows[i].want,
		   "the stream's end %s is told apart", rows[i].name);
		buf_fini(&out);
		http_parser_destroy(p);
	}
	/* TLS tells of the end together with the last bytes. */
	struct http_parser *p = http_parser_create(HTTP_RESPONSES);
	const char *data = "HTTP/1.1 404 Not Found\r\nContent-Length: 3\r\n\r\nabc";
	size_t len = strlen(data);
	struct http_piece piece;
	struct err err;
	OK(http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_HEAD &&
		   http_parser_next(p, &data, &len, &piece, &err) == HTTP_ITEM_DATA &&
		   len == 0 && http_parser_eof(p, &err) == HTTP_ITEM_END &&
		   http_parser_eof(p, &err) == HTTP_ITEM_MORE,
	   "a message that was whole when the stream ended is given its end");
	http_parser_destroy(p);
}

static void written(void)
{
	struct buf b = { 0 };

	http_write_status(&b, 200);
	http_write_header(&b, "X-Evil", "a\r\nSet: b");
	http_write_length(&b, 0);
	http_write_head_end(&b);
	char *got = meaning(HTTP_RESPONSES, b.data, b.len);
	IS(got, "200 x-evil=a  Set: b content-length=0 L0 K D() E\n",
	   "a value with a line end stays one header");
	free(got);
	buf_clear(&b);
	http_write_request(&b, "PUT", "/p?q=1", "yard");
	http_write_header(&b, "Transfer-Encoding", "chunked");
	http_write_head_end(&b);
	http_write_chunk(&b, "hello, ", 7);
	http_write_chunk(&b, "", 0);
	http_write_chunk(&b, "world", 5);
	http_write_last_chunk(&b);
	means(buf_str(&b),
	      "PUT /p?q=1 host=yard transfer-encoding=chunked L-1 K D(hello, world) E\n",
	      "what is written is read back; an empty chunk does not end it");
	buf_fini(&b);
}

int main(void)
{
	good();
	smuggling();
	limits();
	own_body_limit();
	responses();
	ends();
	written();
	return END();
}
