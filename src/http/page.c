// SPDX-License-Identifier: Apache-2.0
#include "http/page.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "http/app.h"
#include "http/internal.h"

/* "zh-CN;q=0.8" → its weight in thousandths; 0: refused, or it makes no sense. */
static int weight_of(const char *range, size_t len)
{
	const char *q = memmem(range, len, ";q=", 3);
	int milli = 0, scale = 1000;

	if (!q)
		return 1000;
	for (q += 3; q < range + len; q++) {
		if (*q >= '0' && *q <= '9' && scale > 0) {
			milli += (*q - '0') * scale;
			scale /= 10;
		} else if (*q != '.') {
			break;
		}
	}
	return milli < 1000 ? milli : 1000;
}

bool page_chinese(const struct http_head *h)
{
	const char *at = http_head_get(h, "accept-language");
	int best = 0;
	bool chinese = false;

	while (at && *at) {
		at += strspn(at, " ,\t");
		size_t len = strcspn(at, ",");
		bool zh = strncasecmp(at, "zh", 2) == 0;
		bool known = zh || strncasecmp(at, "en", 2) == 0;
		int weight = known ? weight_of(at, len) : 0;
		if (weight > best) {
			best = weight;
			chinese = zh;
		}
		at += len;
	}
	return chinese;
}

const char *page_words(const struct exchange *ex, struct page_text t)
{
	return page_chinese(ex->head) ? t.zh : t.en;
}

bool page_wanted(const struct http_head *h)
{
	const char *accept = http_head_get(h, "accept");
	const char *dest = http_head_get(h, "sec-fetch-dest");

	if (dest && !str_eq(dest, "document") && !str_eq(dest, "iframe"))
		return false;
	return accept && strstr(accept, "text/html");
}

void page_escape(struct buf *out, const char *text)
{
	for (; *text; text++) {
		switch (*text) {
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, *text);
		}
	}
}

void page_answer(struct exchange *ex, const struct page *p, const struct buf *body)
{
	AUTO_BUF struct buf html = { 0 }, headers = { 0 };

	buf_printf(
		&html,
		"<!DOCTYPE html>\n<html lang=\"%s\">\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n",
		page_chinese(ex->head) ? "zh-CN" : "en");
	buf_adds(&html, "<title>");
	page_escape(&html, page_words(ex, p->title));
	buf_printf(&html,
		   "</title>\n<link rel=\"stylesheet\" href=\"" APP_PATH
		   "%" PRId64 APP_OWN
		   "style.css\">\n<link rel=\"icon\" href=\"data:,\">\n",
		   p->app);
	if (p->script)
		buf_printf(&html,
			   "<script type=\"module\" src=\"" APP_PATH "%" PRId64 APP_OWN
			   "%s\"></script>\n",
			   p->app, p->script);
	buf_adds(&html, "</head>\n<body>\n");
	buf_add(&html, body->data, body->len);
	buf_adds(&html, "\n</body>\n</html>\n");

	buf_adds(&headers,
		 "Content-Security-Policy: default-src 'none'; script-src 'self'; "
		 "style-src 'self'; connect-src 'self'; img-src 'self' data:; "
		 "form-action 'self'; frame-ancestors 'none'; base-uri 'none'\r\n"
		 "X-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\n"
		 "Referrer-Policy: same-origin\r\nCache-Control: no-store\r\n"
		 "Vary: Accept-Language\r\n");
	if (p->reload_s)
		buf_printf(&headers, "Refresh: %d\r\n", p->reload_s);
	buf_adds(&headers, p->headers ? p->headers : "");
	answer_with(ex, p->status, "text/html; charset=utf-8", buf_str(&headers), &html);
}

void page_say(struct exchange *ex, const struct page *p, struct page_text text,
	      const struct err *err)
{
	AUTO_BUF struct buf body = { 0 };

	if (!page_wanted(ex->head)) {
		answer_status(ex, p->status, err, NULL);
		return;
	}
	buf_adds(&body, "<main class=\"card\">\n<p class=\"brand\">Trainyard</p>\n<h1>");
	page_escape(&body, page_words(ex, p->title));
	buf_adds(&body, "</h1>\n<p>");
	page_escape(&body, page_words(ex, text));
	buf_adds(&body, "</p>\n");
	if (p->status >= 500) {
		buf_adds(&body, "<p class=\"detail\">");
		page_escape(&body, err->text);
		buf_adds(&body, "</p>\n");
	}
	buf_adds(&body, "</main>");
	page_answer(ex, p, &body);
}
