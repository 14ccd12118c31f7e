// SPDX-License-Identifier: Apache-2.0
#include "codec/http.h"

#include <string.h>

static const struct {
	int status;
	const char *words;
} statuses[] = {
	/* clang-format off */
	{ 100, "Continue" }, { 101, "Switching Protocols" },
	{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" }, { 204, "No Content" },
	{ 206, "Partial Content" }, { 301, "Moved Permanently" }, { 302, "Found" }, { 303, "See Other" },
	{ 304, "Not Modified" }, { 307, "Temporary Redirect" }, { 308, "Permanent Redirect" },
	{ 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" }, { 404, "Not Found" },
	{ 405, "Method Not Allowed" }, { 408, "Request Timeout" }, { 409, "Conflict" },
	{ 411, "Length Required" }, { 412, "Precondition Failed" }, { 413, "Content Too Large" }, { 414, "URI Too Long" },
	{ 416, "Range Not Satisfiable" },
	{ 422, "Unprocessable Content" }, { 426, "Upgrade Required" }, { 429, "Too Many Requests" },
	{ 431, "Request Header Fields Too Large" }, { 500, "Internal Server Error" },
	{ 501, "Not Implemented" }, { 502, "Bad Gateway" }, { 503, "Service Unavailable" }, { 504, "Gateway Timeout" },
	{ 505, "HTTP Version Not Supported" }, { 507, "Insufficient Storage" },
	/* clang-format on */
};

const char *http_status_words(int status)
{
	for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
		if (statuses[i].status == status)
			return statuses[i].words;
	return "Status";
}

/* A value with a line end in it would be two headers, or two answers. */
static void add_clean(struct buf *out, const char *text)
{
	size_t at = out->len;

	buf_adds(out, text);
	for (; at < out->len; at++)
		if (out->data[at] == '\r' || out->data[at] == '\n')
			out->data[at] = ' ';
}

void http_write_request(struct buf *out, const char *method, const char *target,
			const char *host)
{
	add_clean(out, method);
	buf_addc(out, ' ');
	add_clean(out, target);
	buf_adds(out, " HTTP/1.1\r\n");
	http_write_header(out, "Host", host);
}

void http_write_status(struct buf *out, int status)
{
	buf_add(out, "HTTP/1.1 ", 9);
	buf_add_i64(out, status);
	buf_addc(out, ' ');
	buf_adds(out, http_status_words(status));
	buf_add(out, "\r\n", 2);
}

void http_write_header(struct buf *out, const char *name, const char *value)
{
	add_clean(out, name);
	buf_add(out, ": ", 2);
	add_clean(out, value);
	buf_add(out, "\r\n", 2);
}

void http_write_length(struct buf *out, uint64_t bytes)
{
	buf_adds(out, "Content-Length: ");
	buf_add_i64(out, (int64_t)bytes);
	buf_add(out, "\r\n", 2);
}

void http_write_head_end(struct buf *out)
{
	buf_add(out, "\r\n", 2);
}

void http_write_chunk(struct buf *out, const void *data, size_t len)
{
	if (len == 0)
		return;
	buf_printf(out, "%zx\r\n", len);
	buf_add(out, data, len);
	buf_add(out, "\r\n", 2);
}

void http_write_last_chunk(struct buf *out)
{
	buf_add(out, "0\r\n\r\n", 5);
}
