// SPDX-License-Identifier: Apache-2.0
#include "codec/http.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include <llhttp.h>

#include "base/mem.h"
#include "base/str.h"

#define HTTP_LINE_MAX (HTTP_TARGET_MAX + 64) /* method, target, version */

enum phase {
	AT_HEAD,       /* collecting lines until the empty one */
	AT_BODY,       /* `left` bytes of a known length */
	AT_BODY_EOF,   /* everything until the stream ends */
	AT_CHUNK_SIZE, /* the line with a chunk's size */
	AT_CHUNK,      /* `left` bytes of a chunk */
	AT_CHUNK_CRLF, /* the two bytes behind it */
	AT_TRAILER,    /* lines behind the last chunk, dropped */
	AT_OVER,       /* HTTP_ITEM_END is due */
	AT_UPGRADED,   /* what follows is not HTTP */
	AT_FAILED,
};

struct lines {
	struct buf bytes;
	size_t start; /* of the line that is being received */
};

struct http_parser {
	enum http_kind kind;
	enum phase phase;
	bool no_body, ended; /* ended: the message is over, its strings are still there */
	int status;          /* to answer, once failed */
	llhttp_t ll;
	struct lines text; /* the head: its strings live as long as the message */
	struct lines line; /* a chunk's size, or the trailer */
	uint64_t left;
	int64_t body_bytes, body_max;
	struct http_head head;
	char *target; /* inside text */
	size_t target_len;
	int hosts, lengths, codings;
};

static int refuse(struct http_parser *p, struct err *err, enum err_code code, int status,
		  const char *why)
{
	p->phase = AT_FAILED;
	p->status = status;
	return err_set(err, code, "%s", why);
}

static int bad(struct http_parser *p, struct err *err, const char *why)
{
	return refuse(p, err, ERR_INVALID, 400, why);
}

/* llhttp calls these while it judges a head that is whole in p->text.bytes, so every span
 * is in one piece and its bytes may be cut into strings afterwards. */
static int on_target(llhttp_t *ll, const char *at, size_t len)
{
	struct http_parser *p = ll->data;

	p->target = p->text.bytes.data + (at - p->text.bytes.data);
	p->target_len = len;
	return 0;
}

static int on_name(llhttp_t *ll, const char *at, size_t len)
{
	struct http_parser *p = ll->data;
	char *name = p->text.bytes.data + (at - p->text.bytes.data);

	if (p->head.header_count == HTTP_HEADERS_MAX)
		return HPE_USER;
	for (size_t i = 0; i < len; i++)
		name[i] = (char)tolower((unsigned char)name[i]);
	p->head.headers[p->head.header_count++] = (struct http_header){ name, "" };
	return 0;
}

static int on_value(llhttp_t *ll, const char *at, size_t len)
{
	struct http_parser *p = ll->data;

	if (len > 0) /* of an empty value `at` is the next line */
		p->head.headers[p->head.header_count - 1].value = at;
	return 0;
}

static int on_head(llhttp_t *ll)
{
	(void)ll;
	return HPE_PAUSED; /* the body is ours */
}

static const llhttp_settings_t callbacks = {
	.on_url = on_target,
	.on_header_field = on_name,
	.on_header_value = on_value,
	.on_headers_complete = on_head,
};

struct http_parser *http_parser_create(enum http_kind kind)
{
	struct http_parser *p = mem_alloc(1, sizeof *p);

	p->kind = kind;
	p->ended = true;
	return p;
}

void http_parser_destroy(struct http_parser *p)
{
	if (!p)
		return;
	buf_fini(&p->text.bytes);
	buf_fini(&p->line.bytes);
	free(p);
}

enum line { LINE_MORE, LINE_WHOLE, LINE_LONG, LINE_BAD };

/* Takes bytes up to the end of one line.  LONG: all lines together would be longer
 * than max.  BAD: it does not end in CRLF, or a CR stands elsewhere. */
static enum line take_line(struct lines *l, const char **data, size_t *len, size_t max)
{
	const char *lf = memchr(*data, '\n', *len);
	size_t n = lf ? (size_t)(lf - *data) + 1 : *len;

	if (l->bytes.len + n > max)
		return LINE_LONG;
	buf_add(&l->bytes, *data, n);
	*data += n;
	*len -= n;
	if (!lf)
		return LINE_MORE;

	const char *line = l->bytes.data + l->start;
	size_t line_len = l->bytes.len - l->start;
	const char *cr = memchr(line, '\r', line_len);
	return cr && line_len >= 2 && cr == line + line_len - 2 ? LINE_WHOLE : LINE_BAD;
}

static void lines_clear(struct lines *l)
{
	buf_clear(&l->bytes);
	l->start = 0;
}

/* Where a value ends: llhttp has checked it, the line ends in CRLF, and spaces before
 * that do not belong to it. */
static void cut_values(struct http_parser *p)
{
	for (size_t i = 0; i < p->head.header_count; i++) {
		struct http_header *h = &p->head.headers[i];
		char *name = p->text.bytes.data + (h->name - p->text.bytes.data);
		*strchr(name, ':') = '\0';
		if (*h->value == '\0')
			continue;
		char *value = p->text.bytes.data + (h->value - p->text.bytes.data);
		size_t n = strcspn(value, "\r");
		while (n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'))
			n--;
		value[n] = '\0';
	}
}

static bool has_token(const char *list, const char *token)
{
	size_t want = strlen(token);

	while (*list) {
		list += strspn(list, " \t,");
		size_t n = strcspn(list, " \t,");
		if (n == want && strncasecmp(list, token, n) == 0)
			return true;
		list += n;
	}
	return false;
}

static int read_headers(struct http_parser *p, struct err *err)
{
	struct http_head *h = &p->head;

	p->hosts = p->lengths = p->codings = 0;
	for (size_t i = 0; i < h->header_count; i++) {
		const char *name = h->headers[i].name, *value = h->headers[i].value;
		if (*name == '\0')
			return bad(p, err, "a header has no name");
		if (str_eq(name, "host"))
			p->hosts++;
		else if (str_eq(name, "content-length"))
			p->lengths++;
		else if (str_eq(name, "transfer-encoding"))
			p->codings += strcasecmp(value, "chunked") == 0 ? 1 : 2;
		else if (str_eq(name, "expect"))
			h->expect = strcasecmp(value, "100-continue") == 0;
		else if (str_eq(name, "connection"))
			h->upgrade = h->upgrade || has_token(value, "upgrade");
	}
	return 0;
}

/* Splits the target; the absolute form ("http://host/path") is allowed by the standard. */
static int read_target(struct http_parser *p, struct err *err)
{
	char *t = p->target;

	if (!t)
		return bad(p, err, "the request has no target");
	if (t[-2] == ' ' || !str_starts(t + p->target_len, " HTTP/"))
		return bad(
			p, err,
			"the first line is not METHOD TARGET VERSION with single spaces");
	t[p->target_len] = '\0';
	if (strncasecmp(t, "http://", 7) == 0)
		t = strchr(t + 7, '/');
	if (!t || (*t != '/' && !str_eq(t, "*")))
		return bad(p, err, "the request's target does not begin with '/'");
	if (strlen(t) > HTTP_TARGET_MAX)
		return refuse(p, err, ERR_TOO_LARGE, 414,
			      "the request's target is longer than 8 KiB");
	if (strchr(t, '#'))
		return bad(p, err, "the request's target holds a '#'");

	char *q = strchr(t, '?');
	p->head.query = "";
	if (q) {
		*q = '\0';
		p->head.query = q + 1;
	}
	p->head.path = t;
	return 0;
}

/* Decides how the body is framed; on this readers must never differ. */
static int read_framing(struct http_parser *p, struct err *err)
{
	struct http_head *h = &p->head;
	bool response = p->kind == HTTP_RESPONSES;

	if (p->lengths > 1)
		return bad(p, err, "more than one Content-Length");
	if (p->codings && p->lengths)
		return bad(p, err, "both Transfer-Encoding and Content-Length");
	if (p->codings > 1)
		return refuse(p, err, ERR_UNSUPPORTED, 501,
			      "the only known Transfer-Encoding is chunked");
	if (p->codings && h->minor == 0)
		return bad(p, err, "Transfer-Encoding in HTTP/1.0");

	h->chunked = p->codings == 1;
	h->length = p->lengths               ? (int64_t)p->ll.content_length
		    : h->chunked || response ? -1
					     : 0;
	if (p->lengths && p->ll.content_length > INT64_MAX)
		return refuse(p, err, ERR_TOO_LARGE, 413,
			      "Content-Length is beyond all limits");
	h->keep_alive = llhttp_should_keep_alive(&p->ll) != 0;

	if (response && (p->no_body || h->status / 100 == 1 || h->status == 204 ||
			 h->status == 304)) {
		h->length = 0;
		p->phase = h->status == 101 ? AT_UPGRADED : AT_OVER;
		return 0;
	}
	p->left = h->length > 0 ? (uint64_t)h->length : 0;
	p->phase = h->chunked       ? AT_CHUNK_SIZE
		   : h->length < 0  ? AT_BODY_EOF
		   : h->length == 0 ? AT_OVER
				    : AT_BODY;
	if (p->phase == AT_BODY_EOF)
		h->keep_alive = false;
	return 0;
}

static int judge_head(struct http_parser *p, struct err *err)
{
	struct http_head *h = &p->head;

	*h = (struct http_head){ 0 };
	p->target = NULL;
	llhttp_init(&p->ll, p->kind == HTTP_REQUESTS ? HTTP_REQUEST : HTTP_RESPONSE,
		    &callbacks);
	p->ll.data = p;
	llhttp_errno_t e = llhttp_execute(&p->ll, p->text.bytes.data, p->text.bytes.len);
	if (e == HPE_USER)
		return refuse(p, err, ERR_TOO_LARGE, 431, "more than 96 headers");
	if (e == HPE_INVALID_VERSION)
		return refuse(p, err, ERR_UNSUPPORTED, 505,
			      "only HTTP/1.0 and HTTP/1.1 are spoken here");
	if (e != HPE_PAUSED) {
		const char *why = llhttp_get_error_reason(&p->ll);
		return bad(p, err, why && *why ? why : "the head is not HTTP/1.1");
	}
	if (p->ll.http_major != 1 || p->ll.http_minor > 1)
		return refuse(p, err, ERR_UNSUPPORTED, 505,
			      "only HTTP/1.0 and HTTP/1.1 are spoken here");

	h->minor = p->ll.http_minor;
	h->status = p->ll.status_code;
	cut_values(p);
	if (read_headers(p, err) < 0)
		return -1;
	if (p->kind == HTTP_REQUESTS) {
		h->method = llhttp_method_name((llhttp_method_t)p->ll.method);
		if (p->hosts > 1 || (p->hosts == 0 && h->minor == 1))
			return bad(p, err,
				   p->hosts ? "more than one Host"
					    : "the Host header is missing");
		if (read_target(p, err) < 0)
			return -1;
	}
	return read_framing(p, err);
}

/* 1: the head is whole and good. */
static int take_head(struct http_parser *p, const char **data, size_t *len,
		     struct err *err)
{
	struct lines *l = &p->text;

	while (*len) {
		bool first = l->start == 0;
		enum line got =
			take_line(l, data, len, first ? HTTP_LINE_MAX : HTTP_HEAD_MAX);
		if (got == LINE_LONG && first)
			return refuse(p, err, ERR_TOO_LARGE, 414,
				      "the first line is longer than 8 KiB");
		if (got == LINE_LONG)
			return refuse(p, err, ERR_TOO_LARGE, 431,
				      "the head is longer than 32 KiB");
		if (got == LINE_BAD)
			return bad(p, err, "a line of the head does not end in CRLF");
		if (got == LINE_MORE)
			return 0;

		const char *line = l->bytes.data + l->start;
		size_t n = l->bytes.len - l->start;
		if (first && n == 2) {
			lines_clear(l); /* an empty line before a message is harmless */
			continue;
		}
		if (!first && (*line == ' ' || *line == '\t'))
			return bad(p, err, "a folded header line");
		l->start = l->bytes.len;
		if (n == 2)
			return judge_head(p, err) < 0 ? -1 : 1;
	}
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Extensions are refused: nobody sends them but those who try how parsers differ. */
static int take_chunk_size(struct http_parser *p, const char **data, size_t *len,
			   struct err *err)
{
	const struct buf *line = &p->line.bytes;
	enum line got = take_line(&p->line, data, len, HTTP_SIZE_LINE_MAX);
	uint64_t size = 0;

	if (got == LINE_MORE)
		return 0;
	if (got != LINE_WHOLE || line->len < 3)
		return bad(p, err, "a chunk's size line is malformed");
	for (size_t i = 0; i < line->len - 2; i++) {
		int d = hex_digit(line->data[i]);
		if (d < 0)
			return bad(p, err, "a chunk's size is not a hexadecimal number");
		size = size << 4 | (uint64_t)d;
	}
	lines_clear(&p->line);
	if (size > (uint64_t)(p->body_max - p->body_bytes))
		return refuse(p, err, ERR_TOO_LARGE, 413,
			      "the body is longer than allowed here");
	p->body_bytes += (int64_t)size;
	p->left = size;
	p->phase = size ? AT_CHUNK : AT_TRAILER;
	return 0;
}

static int take_chunk_end(struct http_parser *p, const char **data, size_t *len,
			  struct err *err)
{
	enum line got = take_line(&p->line, data, len, 2);

	if (got == LINE_MORE)
		return 0;
	if (got != LINE_WHOLE)
		return bad(p, err, "a chunk does not end where its size says");
	lines_clear(&p->line);
	p->phase = AT_CHUNK_SIZE;
	return 0;
}

static int take_trailer(struct http_parser *p, const char **data, size_t *len,
			struct err *err)
{
	enum line got = take_line(&p->line, data, len, HTTP_TRAILER_MAX);

	if (got == LINE_MORE)
		return 0;
	if (got != LINE_WHOLE)
		return bad(p, err, "the trailer is malformed or longer than 4 KiB");
	if (p->line.bytes.len - p->line.start == 2)
		p->phase = AT_OVER;
	p->line.start = p->line.bytes.len;
	return 0;
}

static enum http_item give_data(struct http_parser *p, const char **data, size_t *len,
				struct http_piece *piece)
{
	size_t n = *len < p->left ? *len : (size_t)p->left;

	*piece = (struct http_piece){ *data, n };
	*data += n;
	*len -= n;
	p->left -= n;
	if (p->left == 0)
		p->phase = p->phase == AT_CHUNK ? AT_CHUNK_CRLF : AT_OVER;
	return HTTP_ITEM_DATA;
}

/* Readies the parser for the message after this one. */
static enum http_item give_end(struct http_parser *p)
{
	p->phase = p->phase == AT_UPGRADED ? AT_UPGRADED : AT_HEAD;
	p->no_body = false;
	p->ended = true;
	return HTTP_ITEM_END;
}

static void begin_message(struct http_parser *p)
{
	lines_clear(&p->text);
	lines_clear(&p->line);
	p->body_bytes = 0;
	/* Who asked for an answer decides how much of it to read. */
	p->body_max = p->kind == HTTP_REQUESTS ? (int64_t)HTTP_BODY_MAX : INT64_MAX;
	p->ended = false;
}

static enum http_item next_data(struct http_parser *p, const char **data, size_t *len,
				struct http_piece *piece, struct err *err)
{
	if (p->phase == AT_BODY && p->head.length > p->body_max) {
		refuse(p, err, ERR_TOO_LARGE, 413,
		       "the body is longer than allowed here");
		return HTTP_ITEM_FAILED;
	}
	if (*len == 0)
		return HTTP_ITEM_MORE;
	if (p->phase != AT_BODY_EOF)
		return give_data(p, data, len, piece);
	*piece = (struct http_piece){ *data, *len };
	*data += *len;
	*len = 0;
	return HTTP_ITEM_DATA;
}

enum http_item http_parser_next(struct http_parser *p, const char **data, size_t *len,
				struct http_piece *piece, struct err *err)
{
	for (;;) {
		int rc = 0;
		switch (p->phase) {
		case AT_HEAD:
			if (*len && p->ended)
				begin_message(p);
			rc = take_head(p, data, len, err);
			if (rc > 0)
				return HTTP_ITEM_HEAD;
			break;
		case AT_BODY:
		case AT_BODY_EOF:
		case AT_CHUNK:
			return next_data(p, data, len, piece, err);
		case AT_CHUNK_SIZE:
			rc = take_chunk_size(p, data, len, err);
			break;
		case AT_CHUNK_CRLF:
			rc = take_chunk_end(p, data, len, err);
			break;
		case AT_TRAILER:
			rc = take_trailer(p, data, len, err);
			break;
		case AT_OVER:
			return give_end(p);
		case AT_UPGRADED:
			return p->ended ? HTTP_ITEM_MORE : give_end(p);
		case AT_FAILED:
			err_set(err, ERR_INVALID, "the message before was malformed");
			return HTTP_ITEM_FAILED;
		}
		if (rc < 0)
			return HTTP_ITEM_FAILED;
		if (*len == 0 && p->phase != AT_OVER)
			return HTTP_ITEM_MORE;
	}
}

enum http_item http_parser_eof(struct http_parser *p, struct err *err)
{
	if (p->phase == AT_BODY_EOF || p->phase == AT_OVER)
		return give_end(p);
	if (http_parser_idle(p) || p->phase == AT_UPGRADED)
		return HTTP_ITEM_MORE;
	if (p->phase != AT_FAILED)
		bad(p, err, "the connection ended in the middle of a message");
	else
		err_set(err, ERR_INVALID, "the message before was malformed");
	return HTTP_ITEM_FAILED;
}

const struct http_head *http_parser_head(const struct http_parser *p)
{
	return &p->head;
}

int http_parser_status(const struct http_parser *p)
{
	return p->status;
}

bool http_parser_idle(const struct http_parser *p)
{
	return p->phase == AT_HEAD && (p->ended || p->text.bytes.len == 0);
}

void http_parser_body_max(struct http_parser *p, int64_t bytes)
{
	p->body_max = bytes;
}

void http_parser_no_body(struct http_parser *p)
{
	p->no_body = true;
}

const char *http_head_get(const struct http_head *h, const char *name)
{
	for (size_t i = 0; i < h->header_count; i++)
		if (str_eq(h->headers[i].name, name))
			return h->headers[i].value;
	return NULL;
}
