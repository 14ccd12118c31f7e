// SPDX-License-Identifier: Apache-2.0
/* What becomes of a request below /apps/: a page of ours, a login, or the app's. */
#include "http/app.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/cookie.h"
#include "http/auth.h"
#include "http/boards.h"
#include "http/page.h"
#include "http/proxy.h"
#include "http/route.h"
#include "who/pass.h"

#define RELOAD_S 2

const struct route route_app = {
	"*",
	APP_PATH ":app/*",
	"open_app",
	RULE_PUBLIC,
	handle_app,
	"an app, opened in a browser",
	.root = true,
	.opaque = true,
	.takes = ROUTE_STREAM,
	.body_max = INT64_MAX,
};

/* ---- who ---- */

static bool ask_cookie(struct exchange *ex, int64_t app)
{
	AUTO_BUF struct buf value = { 0 };
	struct auth *a = ex->auth;

	for (size_t i = 0; i < ex->head->header_count; i++) {
		if (!str_eq(ex->head->headers[i].name, "cookie"))
			continue;
		const char *header = ex->head->headers[i].value;
		for (size_t n = 0; cookie_find(header, APP_COOKIE, n, &value); n++) {
			if (pass_check(ex->server->passes, buf_str(&value), app, &a->who,
				       NULL) < 0)
				continue;
			a->by = AUTH_PASS;
			a->generation = who_generation(ex->server->config.who);
			return true;
		}
	}
	return false;
}

int app_ask(struct exchange *ex, struct err *err)
{
	const char *rest;
	int64_t app = app_of_path(ex->head->path, &rest);

	ex->job_is_app = true;
	if (app > 0 && ask_cookie(ex, app))
		return 0;
	return auth_ask(ex->auth, ex->head, false, err);
}

/* A page elsewhere may make a browser send our cookie: a site is more than an origin (all
 * ports of a machine are one), and SameSite keeps out other sites only. */
bool app_is_foreign(const struct exchange *ex)
{
	const char *origin = http_head_get(ex->head, "origin");
	const char *site = http_head_get(ex->head, "sec-fetch-site");
	const char *host = http_head_get(ex->head, "host");
	const char *method = ex->head->method;
	bool acts = !str_eq(method, "GET") && !str_eq(method, "HEAD") &&
		    !str_eq(method, "OPTIONS");

	if (!acts && !ex->head->upgrade)
		return false;
	if (site && !str_eq(site, "same-origin") && !str_eq(site, "none"))
		return true;
	if (!origin)
		return false;
	const char *slashes = strstr(origin, "://");
	return !slashes || !host || strcasecmp(slashes + 3, host) != 0;
}

/* ---- pages ---- */

static void not_there(struct exchange *ex, int64_t app)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "there is no app %lld, or it is not yours to open",
		(long long)app);
	page_say(ex, &(struct page){ 404, app, { "No such app", "没有这个应用" } },
		 (struct page_text){ "There is no such app, or it is not yours to open.",
				     "该应用不存在，或您无权打开。" },
		 &err);
}

static void has_ended(struct exchange *ex, const struct app *a)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "app %lld has ended", (long long)a->id);
	page_say(
		ex, &(struct page){ 404, a->id, { "This app has ended", "应用已结束" } },
		(struct page_text){
			"It was stopped, or its time was over. Start it anew to look again.",
			"应用已被停止，或已到时限。请重新启动后再查看。" },
		&err);
}

static void not_yet(struct exchange *ex, const struct app *a)
{
	struct err err;

	err_set(&err, ERR_BUSY, "app %lld is starting: try again in a moment",
		(long long)a->id);
	ex->retry_s = RELOAD_S;
	page_say(ex, &(struct page){ 503, a->id, { "Starting…", "正在启动…" }, RELOAD_S },
		 (struct page_text){
			 "The app is not up yet. This page looks again by itself.",
			 "应用尚未就绪，本页会自动刷新。" },
		 &err);
}

static void foreign(struct exchange *ex, int64_t app)
{
	struct err err;

	err_set(&err, ERR_DENIED,
		"this came from another site's page (Origin): an app is used from its own "
		"pages only");
	page_say(ex, &(struct page){ 403, app, { "Not from here", "请求被拒绝" } },
		 (struct page_text){ "This request came from another site's page.",
				     "该请求来自其他网站的页面。" },
		 &err);
}

/* ---- tickets ---- */

void app_cookie(struct exchange *ex, const struct principal *who, int64_t app,
		struct buf *header)
{
	struct http_server *s = ex->server;
	AUTO_BUF struct buf value = { 0 };
	bool tls = s->config.tls && ex->auth->peer.uid < 0;
	int64_t now = world_now_ms(s->config.world);

	pass_cookie(s->passes, who, app, now + APP_COOKIE_MS, &value);
	buf_printf(header,
		   "Set-Cookie: " APP_COOKIE "=%s; Path=" APP_PATH "%" PRId64
		   "/; Max-Age=%" PRId64 "; HttpOnly; SameSite=Lax%s\r\n",
		   buf_str(&value), app, APP_COOKIE_MS / 1000, tls ? "; Secure" : "");
}

/* The query without its ticket, from '?' on. */
static void write_rest(struct buf *out, const char *query)
{
	char mark = '?';

	while (*query) {
		size_t n = strcspn(query, "&");
		if (n && strncmp(query, "ticket=", 7) != 0) {
			buf_addc(out, mark);
			buf_add(out, query, n);
			mark = '&';
		}
		query += n + (query[n] == '&');
	}
}

void app_redirect(struct exchange *ex, int status, const char *target,
		  const char *headers)
{
	static const struct buf empty = { 0 };
	AUTO_BUF struct buf lines = { 0 };

	http_write_header(&lines, "Location", target);
	buf_printf(&lines,
		   "Referrer-Policy: no-referrer\r\nCache-Control: no-store\r\n%s",
		   headers);
	answer_with(ex, status, NULL, buf_str(&lines), &empty);
}

/* True: it was one, and the browser is on its way without it. */
static bool take_ticket(struct exchange *ex, int64_t app)
{
	AUTO_BUF struct buf cookie = { 0 }, target = { 0 };
	struct url_query query = { 0 };
	struct principal who;
	bool good = false;

	if (!str_eq(ex->head->method, "GET") || !strstr(ex->head->query, "ticket=") ||
	    url_query_parse(&query, ex->head->query, NULL) < 0)
		return false;
	const char *ticket = url_query_get(&query, "ticket");
	if (ticket && pass_redeem(ex->server->passes, ticket, app, &who, NULL) == 0) {
		good = true;
		app_cookie(ex, &who, app, &cookie);
	}
	url_query_fini(&query);
	if (!good)
		return false;
	buf_adds(&target, ex->head->path);
	write_rest(&target, ex->head->query);
	app_redirect(ex, 303, buf_str(&target), buf_str(&cookie));
	return true;
}

/* ---- the app ---- */

static void proxy_over(struct exchange *ex, enum proxy_fault fault, const struct err *err)
{
	struct http_server *s = ex->server;
	struct err why = *err;
	struct app a;

	err_wrap(&why, "app %lld", (long long)ex->job);
	if (app_find(s, ex->job, &a, NULL) < 0 || a.state == APP_ENDED) {
		not_there(ex, ex->job);
		return;
	}
	if (fault == PROXY_REFUSED && a.state == APP_STARTING) {
		if (a.viewer && page_wanted(ex->head))
			viewer_page(ex, &a);
		else
			not_yet(ex, &a);
		return;
	}
	if (fault == PROXY_SLOW) {
		why.code = ERR_TIMEOUT;
		page_say(ex, &(struct page){ 504, a.id, { "No answer", "应用没有响应" } },
			 (struct page_text){
				 "The app took the request and did not answer in time.",
				 "应用接受了请求，但未能及时响应。" },
			 &why);
		return;
	}
	page_say(
		ex,
		&(struct page){
			502, a.id, { "The app does not answer", "应用无法访问" } },
		(struct page_text){
			"Its program does not listen, or broke off. Its log may tell why.",
			"应用程序未在监听或中途断开，请查看其日志了解原因。" },
		&why);
}

static void open_app(struct exchange *ex, const struct app *a, const char *rest)
{
	AUTO_BUF struct buf prefix = { 0 };
	struct err err;

	if (a->port && !boards_is_there(ex->server, a, &err)) {
		proxy_over(ex, PROXY_REFUSED, &err);
	} else if (a->port) {
		buf_printf(&prefix, APP_PATH "%" PRId64, a->id);
		proxy_begin(ex,
			    &(struct proxy_target){ a->address, a->port, buf_str(&prefix),
						    a->strip },
			    proxy_over);
	} else if (a->viewer && str_eq(rest, "/")) {
		viewer_page(ex, a);
	} else if (a->viewer) {
		not_there(ex, a->id);
	} else if (a->state == APP_ENDED) {
		has_ended(ex, a);
	} else {
		not_yet(ex, a);
	}
}

void app_pass_on(struct exchange *ex, int64_t job, const char *pattern)
{
	const struct route *r = NULL;
	struct err err;

	for (size_t i = 0; i < route_count() && !r; i++)
		if (str_eq(route_at(i)->pattern, pattern) &&
		    str_eq(route_at(i)->method, "GET"))
			r = route_at(i);
	if (!r || !str_eq(ex->head->method, "GET")) {
		not_there(ex, job);
		return;
	}
	if (url_query_parse(&ex->query, ex->head->query, &err) < 0 ||
	    params_check(r->params, &ex->query, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	ex->job = job;
	ex->route = r; /* called when the request is whole, which it nearly is */
}

static void stay_out(struct exchange *ex, int64_t app)
{
	struct err err;

	if (page_wanted(ex->head)) {
		app_login_page(ex, app, NULL);
		return;
	}
	err_set(&err, ERR_UNKNOWN_CALLER,
		"not known who you are: open the address that the app was given with, or "
		"send an Authorization header");
	answer_error(ex, &err);
}

static void enter(struct exchange *ex, int64_t id, const char *rest)
{
	struct app a;

	if (ex->auth->by == AUTH_PASS && app_is_foreign(ex)) {
		foreign(ex, id);
		return;
	}
	if (job_page_is(rest)) {
		job_page_open(ex, id, rest);
		return;
	}
	if (app_find(ex->server, id, &a, NULL) < 0 ||
	    !app_may_open(ex->server, &a, ex->who)) {
		not_there(ex, id);
		return;
	}
	if (str_eq(rest, APP_OWN "series") && a.of)
		app_pass_on(ex, a.of, "/jobs/:job/metrics");
	else if (str_starts(rest, APP_OWN))
		not_there(ex, id);
	else
		open_app(ex, &a, rest);
}

/* From here on it is another request; how long its body may be is asked again. */
static void take_form(struct exchange *ex)
{
	struct err err;

	if (ex->head->chunked || ex->head->length > route_app_login.body_max) {
		err_set(&err, ERR_TOO_LARGE,
			"a login form is shorter, and says its length");
		answer_error(ex, &err);
		return;
	}
	ex->route = &route_app_login;
}

void handle_app(struct exchange *ex)
{
	static const struct exchange_ops none = { 0 };
	const char *rest;
	int64_t id = app_of_path(ex->head->path, &rest);

	ex->ops = &none;
	if (id < 0 || str_eq(ex->head->method, "TRACE") ||
	    str_eq(ex->head->method, "CONNECT")) {
		not_there(ex, id < 0 ? 0 : id);
		return;
	}
	ex->job = id;
	if (*rest == '\0') {
		AUTO_FREE char *target =
			str_printf("%s/%s%s", ex->head->path, *ex->head->query ? "?" : "",
				   ex->head->query);
		app_redirect(ex, 308, target, "");
	} else if (str_eq(rest, APP_OWN "login")) {
		take_form(ex);
	} else if (str_starts(rest, APP_OWN) &&
		   viewer_asset(ex, rest + strlen(APP_OWN))) {
		return;
	} else if (take_ticket(ex, id)) {
		return;
	} else if (!ex->who) {
		stay_out(ex, id);
	} else {
		enter(ex, id, rest);
	}
}
