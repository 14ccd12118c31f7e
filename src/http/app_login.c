// SPDX-License-Identifier: Apache-2.0
/* A name and a password become the cookie of one app.  The form is one that we gave out to
 * this very browser a moment ago, so no other page can log anybody in as somebody. */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/cookie.h"
#include "http/app.h"
#include "http/auth.h"
#include "http/page.h"
#include "http/proxy.h"
#include "http/route.h"
#include "who/login.h"
#include "who/pass.h"

#define FORM_COOKIE PROXY_COOKIES "form"
#define FORM_TYPE   "application/x-www-form-urlencoded"
#define FORM_MAX    (8 << 10)
#define TO_PAGE     "to=" JOB_PAGE

const struct route route_app_login = {
	"POST",
	APP_PATH ":app" APP_OWN "login",
	"login_app",
	RULE_PUBLIC,
	handle_app_login,
	"log in to an app, by a form",
	.root = true,
	.takes = ROUTE_BODY,
	.body_max = FORM_MAX,
	.body = FORM_TYPE,
	.body_types = FORM_TYPE,
};

/* Whether it is the job's page that they came for: so says the path, or that of the form. */
static bool bound_for_page(const struct exchange *ex)
{
	const char *rest;

	return str_eq(ex->head->query, TO_PAGE) ||
	       (app_of_path(ex->head->path, &rest) > 0 && job_page_is(rest));
}

static void write_form(struct exchange *ex, int64_t app, const char *form,
		       struct buf *out)
{
	static const struct page_text name = { "Name", "用户名" },
				      password = { "Password", "密码" },
				      enter = { "Log in", "登录" },
				      hint = { "No password? Ask for a fresh link: ",
					       "没有密码？可获取新的链接：" };
	bool page = bound_for_page(ex);

	buf_printf(out,
		   "<form method=\"post\" action=\"" APP_PATH "%" PRId64 APP_OWN
		   "login%s\">\n<input type=\"hidden\" name=\"form\" value=\"",
		   app, page ? "?" TO_PAGE : "");
	page_escape(out, form);
	buf_printf(
		out,
		"\">\n<label>%s<input name=\"name\" autocomplete=\"username\" required "
		"autofocus maxlength=\"64\"></label>\n"
		"<label>%s<input name=\"password\" type=\"password\" "
		"autocomplete=\"current-password\" required maxlength=\"1024\"></label>\n"
		"<button>%s</button>\n</form>\n"
		"<p class=\"hint\">%s<code>yard %s %" PRId64 "</code></p>\n",
		page_words(ex, name), page_words(ex, password), page_words(ex, enter),
		page_words(ex, hint), page ? "open" : "app url", app);
}

static void login_page(struct exchange *ex, int64_t app, int status, const char *text)
{
	static const struct page_text intro = { "Log in to the yard to open this.",
						"请登录后继续。" };
	AUTO_BUF struct buf body = { 0 }, form = { 0 }, cookie = { 0 };
	bool tls = ex->server->config.tls && ex->auth->peer.uid < 0;

	pass_form(ex->server->passes, app, &form);
	buf_printf(&cookie,
		   "Set-Cookie: " FORM_COOKIE "=%s; Path=" APP_PATH "%" PRId64
		   "/; HttpOnly; SameSite=Strict%s\r\n",
		   buf_str(&form), app, tls ? "; Secure" : "");
	buf_adds(&body, "<main class=\"card\">\n<p class=\"brand\">Trainyard</p>\n");
	buf_printf(&body, "<h1>%s</h1>\n",
		   page_words(ex, (struct page_text){ "Log in", "登录" }));
	buf_printf(&body, "<p>%s</p>\n", page_words(ex, intro));
	if (text) {
		buf_adds(&body, "<p class=\"wrong\" role=\"alert\">");
		page_escape(&body, text);
		buf_adds(&body, "</p>\n");
	}
	write_form(ex, app, buf_str(&form), &body);
	buf_adds(&body, "</main>");
	page_answer(ex,
		    &(struct page){ .status = status,
				    .app = app,
				    .title = { "Log in · Trainyard", "登录 · Trainyard" },
				    .headers = buf_str(&cookie) },
		    &body);
}

void app_login_page(struct exchange *ex, int64_t app, const char *text)
{
	login_page(ex, app, 401, text);
}

static void try_again(struct exchange *ex, const struct err *err, int64_t wait_ms)
{
	static const struct page_text wrong = { "That name or password is not right.",
						"用户名或密码不正确。" },
				      often = { "Too many wrong tries. Wait a while.",
						"尝试次数过多，请稍后再试。" };

	if (err->code == ERR_BUSY) {
		ex->retry_s = wait_ms > 0 ? (wait_ms + 999) / 1000 : 1;
		login_page(ex, ex->job, 429, page_words(ex, often));
	} else {
		login_page(ex, ex->job, 401, page_words(ex, wrong));
	}
}

/* Where it was bound for: always this app or its job's page, whatever the form says. */
static void let_in(struct exchange *ex, const struct principal *who)
{
	AUTO_BUF struct buf headers = { 0 }, path = { 0 }, target = { 0 };

	buf_printf(&path, APP_PATH "%" PRId64 "/", ex->job);
	buf_printf(&target, APP_PATH "%" PRId64 "%s", ex->job,
		   bound_for_page(ex) ? APP_OWN JOB_PAGE : "/");
	app_cookie(ex, who, ex->job, &headers);
	buf_printf(&headers,
		   "Set-Cookie: " FORM_COOKIE "=; Path=%s; Max-Age=0; HttpOnly; "
		   "SameSite=Strict\r\n",
		   buf_str(&path));
	app_redirect(ex, 303, buf_str(&target), buf_str(&headers));
}

static void password_seen(void *arg, const struct principal *p, int64_t wait_ms,
			  const struct err *err)
{
	struct exchange *ex = arg;

	ex->state = NULL;
	if (err)
		try_again(ex, err, wait_ms);
	else
		let_in(ex, p);
}

static void login_gone(struct exchange *ex)
{
	if (ex->state)
		who_login_cancel(TAKE(ex->state));
}

/* Given out by us, and to this browser. */
static bool is_our_form(struct exchange *ex, const char *form)
{
	AUTO_BUF struct buf cookie = { 0 };

	if (app_is_foreign(ex) ||
	    pass_check_form(ex->server->passes, form, ex->job, NULL) < 0)
		return false;
	for (size_t i = 0; i < ex->head->header_count; i++) {
		const char *value = ex->head->headers[i].value;
		if (!str_eq(ex->head->headers[i].name, "cookie"))
			continue;
		for (size_t n = 0; cookie_find(value, FORM_COOKIE, n, &cookie); n++)
			if (str_eq(buf_str(&cookie), form))
				return true;
	}
	return false;
}

static void ask_password(struct exchange *ex, const struct url_query *q)
{
	static const struct exchange_ops ops = { .gone = login_gone };
	const char *form = url_query_get(q, "form"), *name = url_query_get(q, "name");
	const char *password = url_query_get(q, "password");
	static const struct page_text old = { "That form was too old. Try again.",
					      "表单已过期，请重试。" };

	if (!form || !is_our_form(ex, form)) {
		login_page(ex, ex->job, 403, page_words(ex, old));
		return;
	}
	ex->ops = &ops;
	ex->state = who_login(ex->server->config.who,
			      &(struct who_attempt){ name ? name : "",
						     password ? password : "",
						     auth_from(ex->auth) },
			      password_seen, ex);
}

void handle_app_login(struct exchange *ex)
{
	struct url_query q = { 0 };
	struct err err;

	if (ex->body.len > FORM_MAX) {
		err_set(&err, ERR_TOO_LARGE, "the form is too long");
		answer_error(ex, &err);
		return;
	}
	int rc = url_query_parse(&q, buf_str(&ex->body), &err);
	explicit_bzero(ex->body.data, ex->body.len);
	if (rc < 0)
		answer_error(ex, &err);
	else
		ask_password(ex, &q);
	for (size_t i = 0; i < q.count; i++)
		explicit_bzero(q.items[i].value, strlen(q.items[i].value));
	url_query_fini(&q);
}
