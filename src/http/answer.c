// SPDX-License-Identifier: Apache-2.0
#include "http/internal.h"

#include "base/str.h"
#include "wire/api.h"
#include "wire/outcome.h"

struct buf *answer_scratch(struct exchange *ex)
{
	buf_clear(&ex->server->json);
	return &ex->server->json;
}

static void write_head(struct exchange *ex, struct buf *out, int status, const char *type)
{
	ex->server->answered[status / 100 < STATUS_CLASSES ? status / 100 : 0]++;
	http_write_status(out, status);
	if (type)
		http_write_header(out, "Content-Type", type);
	if (ex->allow)
		http_write_header(out, "Allow", ex->allow);
	/* At an app a browser must not ask for a password in a window of its own. */
	if (status == 401)
		buf_printf(out, "WWW-Authenticate: %sBearer\r\n",
			   ex->job_is_app ? "" : "Basic realm=\"yard\", ");
	if (ex->retry_s)
		buf_printf(out, "Retry-After: %lld\r\n", (long long)ex->retry_s);
	if (!ex->head->keep_alive || !ex->body_over)
		buf_adds(out, "Connection: close\r\n");
	else if (ex->head->minor == 0)
		buf_adds(out, "Connection: keep-alive\r\n");
	ex->begun = true;
}

/* One write, so that head and body leave in one packet. */
static void answer_more(struct exchange *ex, int status, const char *type,
			const char *headers, const char *body, size_t len)
{
	struct buf *out = &ex->server->scratch;

	if (!ex->conn)
		return; /* nobody is there any more */
	buf_clear(out);
	write_head(ex, out, status, type);
	buf_adds(out, headers);
	if (status != 204) /* which by its number has no body, and may not say so */
		http_write_length(out, len);
	http_write_head_end(out);
	if (!str_eq(ex->head->method, "HEAD"))
		buf_add(out, body, len);
	http_conn_write(ex->conn, out->data, out->len);
	http_conn_answered(ex);
}

static void answer(struct exchange *ex, int status, const char *type, const char *body,
		   size_t len)
{
	answer_more(ex, status, type, "", body, len);
}

void answer_with(struct exchange *ex, int status, const char *type, const char *headers,
		 const struct buf *body)
{
	answer_more(ex, status, type, headers, buf_str(body), body->len);
}

void answer_json(struct exchange *ex, int status, const struct buf *json)
{
	answer(ex, status, "application/json", buf_str(json), json->len);
}

void answer_text(struct exchange *ex, const char *type, const struct buf *text)
{
	answer(ex, 200, type, buf_str(text), text->len);
}

void answer_empty(struct exchange *ex, int status)
{
	answer(ex, status, NULL, "", 0);
}

void answer_status(struct exchange *ex, int status, const struct err *err,
		   const struct problems *problems)
{
	AUTO_BUF struct buf body = { 0 };

	wire_error_write(&body, err, problems);
	answer(ex, status, "application/json", body.data, body.len);
}

void answer_reason(struct exchange *ex, int status, const struct err *err,
		   const char *reason)
{
	AUTO_BUF struct buf body = { 0 };

	wire_refusal_write(&body, err, reason);
	answer(ex, status, "application/json", body.data, body.len);
}

void answer_error(struct exchange *ex, const struct err *err)
{
	answer_status(ex, wire_http_status(err->code), err, NULL);
}

void answer_busy(struct exchange *ex, const struct err *err, int64_t wait_ms)
{
	ex->retry_s = wait_ms > 0 ? (wait_ms + 999) / 1000 : 1;
	answer_status(ex, 429, err, NULL);
}

static void sized_head(struct exchange *ex, struct buf *out, int status,
		       const struct buf *more, int64_t len)
{
	buf_clear(out);
	write_head(ex, out, status, NULL);
	buf_add(out, buf_str(more), more->len);
	http_write_length(out, (uint64_t)len);
	http_write_head_end(out);
}

void answer_sized(struct exchange *ex, int status, const struct buf *more,
		  const char *body, size_t len)
{
	struct buf *out = &ex->server->scratch;

	if (!ex->conn)
		return;
	sized_head(ex, out, status, more, (int64_t)len);
	if (!str_eq(ex->head->method, "HEAD"))
		buf_add(out, body, len);
	http_conn_write(ex->conn, out->data, out->len);
	http_conn_answered(ex);
}

void answer_sized_begin(struct exchange *ex, int status, const struct buf *more,
			int64_t len)
{
	struct buf *out = &ex->server->scratch;

	sized_head(ex, out, status, more, len);
	http_conn_write(ex->conn, out->data, out->len);
}

/* HTTP/1.0 knows no chunks: there the end of the connection ends the answer. */
void answer_begin(struct exchange *ex, int status, const char *type)
{
	struct buf *out = &ex->server->scratch;

	buf_clear(out);
	ex->chunked = ex->head->minor == 1;
	if (!ex->chunked)
		ex->body_over = false;
	write_head(ex, out, status, type);
	buf_adds(out, "Cache-Control: no-store\r\n");
	if (ex->chunked)
		buf_adds(out, "Transfer-Encoding: chunked\r\n");
	http_write_head_end(out);
	http_conn_write(ex->conn, out->data, out->len);
}

void answer_piece_begin(struct buf *out)
{
	buf_clear(out);
	buf_add(out, "                    ", ANSWER_SLACK);
}

/* The size line goes into the room in front, so that the bytes are not copied again. */
void answer_piece(struct exchange *ex, struct buf *out)
{
	static const char hex[] = "0123456789abcdef";
	size_t len = out->len - ANSWER_SLACK, at = ANSWER_SLACK;

	if (len == 0)
		return;
	if (ex->chunked) {
		out->data[--at] = '\n';
		out->data[--at] = '\r';
		for (size_t n = len; n; n >>= 4)
			out->data[--at] = hex[n & 15];
		buf_add(out, "\r\n", 2);
	}
	http_conn_write(ex->conn, out->data + at, out->len - at);
}

void answer_end(struct exchange *ex)
{
	if (ex->chunked)
		http_conn_write(ex->conn, "0\r\n\r\n", 5);
	http_conn_answered(ex);
}

/* Very many slow readers must not fill the memory: each may then keep less. */
size_t answer_high(const struct exchange *ex)
{
	size_t share = OUTPUT_ALL / (ex->server->conn_count + 1);

	return share > OUTPUT_HIGH  ? OUTPUT_HIGH
	       : share < OUTPUT_LOW ? OUTPUT_LOW
				    : share;
}

bool answer_room(const struct exchange *ex)
{
	return http_conn_pending(ex->conn) < answer_high(ex);
}

void answer_done(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;

	(void)job;
	(void)again;
	if (err)
		answer_error(ex, err);
	else if (ex->conn)
		answer_empty(ex, 204);
	exchange_drop(ex);
}
