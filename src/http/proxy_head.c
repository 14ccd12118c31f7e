// SPDX-License-Identifier: Apache-2.0
/* What of a head passes the proxy, and what does not. */
#include "http/proxy.h"

#include <string.h>
#include <strings.h>

#include "base/str.h"
#include "codec/cookie.h"

/* clang-format off */
/* Between two neighbours only (RFC 9110, 7.6.1), or framing, which is written anew. */
static const char *const hop[] = {
	"connection", "keep-alive", "proxy-connection", "proxy-authenticate",
	"proxy-authorization", "proxy-authentication-info", "te", "trailer",
	"transfer-encoding", "content-length", "upgrade", NULL
};
/* Of requests: the yard's credentials, and what only a proxy may say. */
static const char *const not_to_app[] = {
	"authorization", "cookie", "expect", "host", "forwarded", "x-real-ip", "via", NULL
};
/* Of answers: what would speak for the whole origin, or is said by the proxy itself. */
static const char *const not_to_client[] = {
	"set-cookie", "location", "service-worker-allowed", "clear-site-data",
	"strict-transport-security", "public-key-pins", "alt-svc", "report-to", "nel",
	"reporting-endpoints", "origin-agent-cluster", "referrer-policy", "x-frame-options",
	"x-content-type-options", "content-location", "set-login", "accept-ch",
	"www-authenticate", NULL
};
/* clang-format on */

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (str_eq(*list, name))
			return true;
	return false;
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

/* Whether a Connection header names it. */
static bool is_named(const struct http_head *h, const char *name)
{
	for (size_t i = 0; i < h->header_count; i++)
		if (str_eq(h->headers[i].name, "connection") &&
		    has_token(h->headers[i].value, name))
			return true;
	return false;
}

/* Some programs take '_' for '-': then X_Forwarded_For is no header of the client's. */
static bool is_forwarded(const char *name)
{
	static const char *const starts[] = { "x-forwarded", "x-yard", "x-real" };

	for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
		size_t i = 0;
		while (starts[s][i] && (name[i] == starts[s][i] ||
					(starts[s][i] == '-' && name[i] == '_')))
			i++;
		if (!starts[s][i])
			return true;
	}
	return false;
}

/* No other protocol: through a pipe of HTTP/2 in the clear a client could say of itself what
 * it likes. */
bool proxy_wants_upgrade(const struct http_head *h)
{
	const char *to = http_head_get(h, "upgrade");

	return h->upgrade && to && strcasecmp(to, "websocket") == 0 && h->minor == 1 &&
	       str_eq(h->method, "GET");
}

static void write_target(struct buf *out, const struct http_head *h,
			 const struct proxy_target *to)
{
	const char *path = h->path;

	if (to->strip)
		path += strlen(to->prefix); /* the route has seen that it begins so */
	buf_printf(out, "%s %s%s%s%s HTTP/1.1\r\n", h->method, *path == '/' ? "" : "/",
		   path, *h->query ? "?" : "", h->query);
}

static void write_cookies(struct buf *out, const struct http_head *h)
{
	AUTO_BUF struct buf left = { 0 };

	for (size_t i = 0; i < h->header_count; i++) {
		if (!str_eq(h->headers[i].name, "cookie"))
			continue;
		if (left.len)
			buf_adds(&left, "; ");
		cookie_hide(h->headers[i].value, PROXY_COOKIES, &left);
	}
	if (left.len)
		http_write_header(out, "Cookie", buf_str(&left));
}

static void write_from(struct buf *out, const struct http_head *h,
		       const struct proxy_target *to, const struct proxy_from *from)
{
	const char *host = http_head_get(h, "host");

	if (*from->address)
		http_write_header(out, "X-Forwarded-For", from->address);
	http_write_header(out, "X-Forwarded-Proto", from->tls ? "https" : "http");
	if (host && *host)
		http_write_header(out, "X-Forwarded-Host", host);
	http_write_header(out, "X-Forwarded-Prefix", to->prefix);
	if (from->user)
		http_write_header(out, "X-Forwarded-User", from->user);
}

/* The body's length where it is known; else in chunks. */
static void write_framing(struct buf *out, const struct http_head *h)
{
	if (h->chunked)
		http_write_header(out, "Transfer-Encoding", "chunked");
	else if (h->length > 0 || http_head_get(h, "content-length"))
		http_write_length(out, (uint64_t)h->length);
}

void proxy_write_request(struct buf *out, const struct http_head *h,
			 const struct proxy_target *to, const struct proxy_from *from)
{
	const char *host = http_head_get(h, "host");

	write_target(out, h, to);
	/* The client's own: programs compare it with Origin. */
	http_write_header(out, "Host", host ? host : "");
	for (size_t i = 0; i < h->header_count; i++) {
		const char *name = h->headers[i].name;
		if (!is_in(hop, name) && !is_in(not_to_app, name) &&
		    !is_forwarded(name) && !is_named(h, name))
			http_write_header(out, name, h->headers[i].value);
	}
	write_cookies(out, h);
	write_from(out, h, to, from);
	write_framing(out, h);
	if (proxy_wants_upgrade(h)) {
		http_write_header(out, "Connection", "Upgrade");
		http_write_header(out, "Upgrade", http_head_get(h, "upgrade"));
	} else {
		http_write_header(out, "Connection", "close");
	}
	http_write_head_end(out);
}

/* Another place of its own: below the prefix.  What is not a path of this origin passes as
 * it is, but for the program's own address, which nobody outside can reach. */
static void write_location(struct buf *out, const char *value,
			   const struct proxy_target *to)
{
	AUTO_BUF struct buf own = { 0 }, made = { 0 };
	bool six = strchr(to->address, ':') != NULL;

	buf_printf(&own, "http://%s%s%s:%d", six ? "[" : "", to->address, six ? "]" : "",
		   to->port);
	const char *rest = value + own.len;
	if (str_starts(value, buf_str(&own)) && (*rest == '/' || *rest == '\0'))
		value = *rest ? rest : "/";
	bool path = *value == '/' && value[1] != '/';
	if (to->strip && path)
		buf_adds(&made, to->prefix);
	buf_adds(&made, value);
	http_write_header(out, "Location", buf_str(&made));
}

static void write_set_cookie(struct buf *out, const char *value,
			     const struct proxy_target *to)
{
	AUTO_BUF struct buf path = { 0 }, made = { 0 };

	buf_printf(&path, "%s/", to->prefix);
	if (cookie_confine(value, buf_str(&path), PROXY_COOKIES, &made))
		http_write_header(out, "Set-Cookie", buf_str(&made));
}

void proxy_write_answer(struct buf *out, const struct http_head *h,
			const struct proxy_target *to)
{
	http_write_status(out, h->status);
	for (size_t i = 0; i < h->header_count; i++) {
		const char *name = h->headers[i].name, *value = h->headers[i].value;
		if (str_eq(name, "set-cookie"))
			write_set_cookie(out, value, to);
		else if (str_eq(name, "location"))
			write_location(out, value, to);
		else if (!is_in(hop, name) && !is_in(not_to_client, name) &&
			 !is_named(h, name))
			http_write_header(out, name, value);
	}
	http_write_header(out, "X-Frame-Options", "SAMEORIGIN");
	http_write_header(out, "X-Content-Type-Options", "nosniff");
	http_write_header(out, "Referrer-Policy", "same-origin");
}
