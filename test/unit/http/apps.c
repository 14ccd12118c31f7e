// SPDX-License-Identifier: Apache-2.0
/* Who gets in to an app, by what, and what that is good for elsewhere: nothing. */
#include "app_rig.h"

#include "who/hash.h"

#define SECRET "correct horse battery"

static struct fixture f = { .run_ms_max = 1000000000,
			    .app_connect_ms = 2000,
			    .app_answer_ms = 2000,
			    .app_idle_ms = 2000 };
static struct rig_app app, other;
static struct client api; /* as the daemon's user, by the unix socket */
static struct answer r;
static char ann[128], bob[128]; /* tokens */

/* GET of a target at the TCP door, as a browser; headers: whole lines. */
static void get(struct client *c, const char *target, const char *headers)
{
	AUTO_FREE char *bytes =
		str_printf("GET %s HTTP/1.1\r\nHost: h\r\nAccept: text/html\r\n"
			   "%s\r\n",
			   target, headers);

	rig_ask(c, &r, bytes);
}

static void fresh(struct client *c)
{
	client_close(c);
	*c = client_tcp(&f);
}

static char *field_of(const char *key)
{
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&r.body), r.body.len, NULL);

	return mem_strdup(d ? doc_str(doc_root(d), key, "") : "");
}

/* The part of an app's address behind the host, for whoever that token is; NULL: the
 * daemon's user. */
static char *target_for(const char *token, int64_t id)
{
	AUTO_FREE char *path = str_printf("/apps/%lld", (long long)id);
	AUTO_FREE char *header = token ? str_printf("Authorization: Bearer %s\r\n", token)
				       : mem_strdup("");

	ask_with(&api, &r, "GET", path, header, NULL);
	AUTO_FREE char *url = field_of("url");
	const char *at = strstr(url, "/apps/");
	return mem_strdup(at ? at : "");
}

static void log_in(const char *name, char token[128])
{
	AUTO_FREE char *body =
		str_printf("{\"user\":\"%s\",\"password\":\"" SECRET "\"}", name);

	ask(&api, &r, "POST", "/login", body);
	AUTO_FREE char *text = field_of("token");
	snprintf(token, 128, "%s", text);
}

static void set_up(void)
{
	ask(&api, &r, "POST", "/groups", "{\"name\":\"lab\"}");
	ask(&api, &r, "POST", "/users",
	    "{\"name\":\"ann\",\"groups\":[\"lab\"],\"password\":\"" SECRET "\"}");
	ask(&api, &r, "POST", "/users",
	    "{\"name\":\"bob\",\"groups\":[\"lab\"],\"password\":\"" SECRET "\"}");
	OK(r.status == 201, "there are ann and bob");
	log_in("ann", ann);
	log_in("bob", bob);
}

/* As ann; fills app. */
static void make_app(struct rig_app *a, const char *labels)
{
	AUTO_FREE char *spec =
		str_printf("name: a\ngroup: lab\nlabels: {%s}\nroles:\n- name: main\n"
			   "  command: [\"true\"]\n  ports: [app]\n",
			   labels);
	AUTO_FREE char *header = str_printf("Authorization: Bearer %s\r\n", ann);
	char path[32];

	ask_with(&api, &r, "POST", "/jobs", header, spec);
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&r.body), r.body.len, NULL);
	a->id = doc_i64(doc_root(d), "id", 0);
	snprintf(path, sizeof path, "/jobs/%lld", (long long)a->id);
	for (int i = 0; i < 1000; i++, usleep(10000)) {
		ask(&api, &r, "GET", path, NULL);
		if (strstr(buf_str(&r.body), "\"state\":\"running\""))
			break;
	}
	rig_where(a, &r);
}

/* ---- tickets and cookies ---- */

static void test_ticket(void)
{
	struct client c = client_tcp(&f);
	AUTO_FREE char *target = target_for(ann, app.id);

	OK(strstr(target, "/?ticket="), "an address has a ticket");
	AUTO_FREE char *with = str_printf("%s&x=1&y=%%20", target);
	get(&c, with, "");
	const char *cookie = rig_header(&c, "set-cookie");
	AUTO_FREE char *path = str_printf("/apps/%lld/?x=1&y=%%20", (long long)app.id);
	OK(r.status == 303 && str_eq(rig_header(&c, "location"), path),
	   "it is taken off the address (%s)", rig_header(&c, "location"));
	OK(strstr(cookie, "; HttpOnly") && strstr(cookie, "; SameSite=Lax") &&
		   strstr(cookie, "; Path=/apps/1/;") &&
		   strstr(cookie, "; Max-Age=43200"),
	   "and becomes a cookie of the app's own (%s)", cookie);
	OK(str_eq(rig_header(&c, "referrer-policy"), "no-referrer") &&
		   str_eq(rig_header(&c, "cache-control"), "no-store"),
	   "that address is told to nobody and kept nowhere");
	snprintf(app.cookie, sizeof app.cookie, "Cookie: %.*s\r\n",
		 (int)strcspn(cookie, ";"), cookie);
	get(&c, target, "");
	OK(r.status == 401 && has(&r, "name=\"password\"") &&
		   !*rig_header(&c, "location"),
	   "used twice it opens nothing");
	AUTO_FREE char *again = target_for(ann, app.id);
	AUTO_FREE char *elsewhere = mem_strdup(again);
	elsewhere[6] = '2'; /* /apps/2/ */
	get(&c, elsewhere, "");
	OK(r.status == 401, "nor does it at another app");
	client_close(&c);
}

static void test_cookie(void)
{
	struct client c = client_tcp(&f);
	AUTO_BUF struct buf seen = { 0 };

	AUTO_FREE char *bytes =
		str_printf("GET /apps/1/ HTTP/1.1\r\nHost: h\r\n%s\r\n", app.cookie);
	say(c.fd, bytes);
	int up = rig_accept(&app);
	OK(rig_read(up, &seen, "\r\n\r\n") &&
		   strstr(buf_str(&seen), "\r\nX-Forwarded-User: ann\r\n"),
	   "the cookie lets ann in, as ann");
	say(up, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	buf_fini(&r.body);
	r = (struct answer){ 0 };
	client_read(&c, &r, 0);
	OK(r.status == 200, "and is answered");
	close(up);
	get(&c, "/apps/2/", app.cookie);
	OK(r.status == 401, "at another app it is nothing");
	AUTO_FREE char *doubled = str_printf("Cookie: yard-app=junk; a=b; %s",
					     app.cookie + strlen("Cookie: "));
	AUTO_FREE char *request =
		str_printf("GET /apps/1/ HTTP/1.1\r\nHost: h\r\n%s\r\n", doubled);
	say(c.fd, request);
	up = rig_accept(&app);
	OK(rig_read(up, &seen, "\r\n\r\n") &&
		   strstr(buf_str(&seen), "\r\nCookie: a=b\r\n"),
	   "one of that name that somebody else set is no obstacle, and the app sees neither");
	close(up);
	client_close(&c);
}

/* Whatever an app's page can make a browser send opens nothing of the API. */
static void test_no_ambient(void)
{
	static const char *const targets[] = {
		"/yard/v1/jobs",   "/yard/v1/me",     "/yard/v1/apps",
		"/yard/v1/apps/1", "/yard/v1/tokens", "/yard/v1/jobs/1/metrics",
		"/metrics"
	};
	struct client c = client_tcp(&f);
	int refused = 0;

	for (size_t i = 0; i < COUNT_OF(targets); i++) {
		get(&c, targets[i], app.cookie);
		refused += r.status == 401;
	}
	IS_INT(refused, (int)COUNT_OF(targets), "no cookie opens the API");
	AUTO_FREE char *post =
		str_printf("POST /yard/v1/jobs HTTP/1.1\r\nHost: h\r\n%sContent-Length: "
			   "2\r\n\r\n{}",
			   app.cookie);
	rig_ask(&c, &r, post);
	OK(r.status == 401, "to read or to write");
	client_close(&c);
}

static void test_foreign(void)
{
	static const char *const origins[] = {
		"Origin: http://evil.example\r\n", "Origin: null\r\n",
		"Origin: http://h:81\r\n",         "Sec-Fetch-Site: cross-site\r\n",
		"Sec-Fetch-Site: same-site\r\n",
	};
	struct client c = client_tcp(&f);
	int refused = 0;

	for (size_t i = 0; i < COUNT_OF(origins); i++) {
		AUTO_FREE char *post =
			str_printf("POST /apps/1/x HTTP/1.1\r\nHost: h\r\n%s%s"
				   "Content-Length: 0\r\n\r\n",
				   app.cookie, origins[i]);
		AUTO_FREE char *socket = str_printf(
			"GET /apps/1/ws HTTP/1.1\r\nHost: h\r\n%s%sConnection: "
			"Upgrade\r\nUpgrade: websocket\r\n\r\n",
			app.cookie, origins[i]);
		rig_ask(&c, &r, post);
		refused += r.status == 403;
		fresh(&c);
		rig_ask(&c, &r, socket);
		refused += r.status == 403;
		fresh(&c);
	}
	IS_INT(refused, 2 * (int)COUNT_OF(origins),
	       "a page elsewhere cannot act in an app by a cookie, nor open a socket");
	AUTO_FREE char *own =
		str_printf("POST /apps/1/x HTTP/1.1\r\nHost: h\r\n%sOrigin: http://h\r\n"
			   "Sec-Fetch-Site: same-origin\r\nContent-Length: 0\r\n\r\n",
			   app.cookie);
	say(c.fd, own);
	int up = rig_accept(&app);
	OK(up >= 0, "its own page can");
	close(up);
	client_close(&c);
}

/* ---- who ---- */

static void test_others(void)
{
	struct client c = client_tcp(&f);
	AUTO_FREE char *header = str_printf("Authorization: Bearer %s\r\n", bob);

	AUTO_FREE char *none = target_for(bob, app.id);
	OK(!*none && r.status == 404,
	   "an app that may be a terminal is its owner's alone");
	get(&c, "/apps/1/", header);
	OK(r.status == 404 && has(&r, "No such app"), "by the door too");
	AUTO_FREE char *shared = target_for(bob, other.id);
	OK(*shared, "one that is shared is the group's");
	get(&c, "/apps/99/", header);
	OK(r.status == 404, "what is not there is not there");
	get(&c, "/apps/01/", header);
	OK(r.status == 404, "a number has one spelling");
	get(&c, "/apps/1", "");
	OK(r.status == 308 && str_eq(rig_header(&c, "location"), "/apps/1/"),
	   "an app is a folder");
	client_close(&c);
}

static void test_disabled(void)
{
	int fd = dial_tcp(&f);
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes =
		str_printf("GET /apps/1/ HTTP/1.1\r\nHost: h\r\n%s\r\n", app.cookie);

	say(fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, "HTTP/1.1 200 OK\r\n\r\nsome");
	rig_read(fd, &seen, "some");
	ask(&api, &r, "PATCH", "/users/ann", "{\"disabled\":true}");
	OK(rig_at_end(up) && r.status == 200,
	   "who is disabled is let go in the middle of it");
	close(up);
	close(fd);
	struct client c = client_tcp(&f);
	get(&c, "/apps/1/", app.cookie);
	OK(r.status == 401, "and their cookie is nothing any more");
	ask(&api, &r, "PATCH", "/users/ann", "{\"disabled\":false}");
	client_close(&c);
}

/* ---- the login page ---- */

static char *hidden_field(void)
{
	const char *at = strstr(buf_str(&r.body), "name=\"form\" value=\"");

	if (!at)
		return mem_strdup("");
	at += strlen("name=\"form\" value=\"");
	return mem_strndup(at, strcspn(at, "\""));
}

static void post_form(struct client *c, const char *cookie, const char *form,
		      const char *password)
{
	AUTO_FREE char *body = str_printf("form=%s&name=ann&password=%s", form, password);
	AUTO_FREE char *bytes = str_printf(
		"POST /apps/1/.yard/login HTTP/1.1\r\nHost: h\r\n%sContent-Type: "
		"application/x-www-form-urlencoded\r\nContent-Length: %zu\r\n\r\n%s",
		cookie, strlen(body), body);

	fresh(c);
	rig_ask(c, &r, bytes);
}

static void test_login_page(void)
{
	struct client c = client_tcp(&f);

	get(&c, "/apps/1/", "Accept-Language: zh-CN,zh;q=0.9,en;q=0.8\r\n");
	OK(r.status == 401 && has(&r, "登录") && has(&r, "lang=\"zh-CN\""), "in Chinese");
	get(&c, "/apps/1/", "Accept-Language: de, en;q=0.7, zh;q=0.3\r\n");
	OK(has(&r, "Log in") && has(&r, "lang=\"en\""), "in English, as it is asked for");
	OK(strstr(rig_header(&c, "content-security-policy"), "default-src 'none'") &&
		   strstr(rig_header(&c, "content-security-policy"),
			  "frame-ancestors 'none'") &&
		   str_eq(rig_header(&c, "www-authenticate"), "Bearer"),
	   "nothing from elsewhere, framed by nobody, and no window of the browser's own");
	AUTO_FREE char *form = hidden_field();
	AUTO_FREE char *cookie = str_printf(
		"Cookie: %.*s\r\n", (int)strcspn(rig_header(&c, "set-cookie"), ";"),
		rig_header(&c, "set-cookie"));
	OK(*form && strstr(cookie, form), "the form is this browser's");

	post_form(&c, "", form, SECRET);
	OK(r.status == 403, "a form without its cookie is another site's");
	post_form(&c, cookie, "1.2.3.4", SECRET);
	OK(r.status == 403, "and so is one that was not given out");
	post_form(&c, cookie, form, "wrong");
	OK(r.status == 401 && has(&r, "not right"), "a wrong password is said");
	post_form(&c, cookie, form, "correct%20horse%20battery");
	OK(r.status == 303 && str_eq(rig_header(&c, "location"), "/apps/1/") &&
		   str_starts(rig_header(&c, "set-cookie"), "yard-app="),
	   "the right one lets in");
	AUTO_FREE char *in = str_printf("Cookie: %.*s\r\n",
					(int)strcspn(rig_header(&c, "set-cookie"), ";"),
					rig_header(&c, "set-cookie"));
	AUTO_FREE char *bytes =
		str_printf("GET /apps/1/ HTTP/1.1\r\nHost: h\r\n%s\r\n", in);
	fresh(&c);
	say(c.fd, bytes);
	int up = rig_accept(&app);
	OK(up >= 0, "to the app");
	close(up);
	int busy = 0;
	for (int i = 0; i < 8 && !busy; i++) {
		post_form(&c, cookie, form, "wrong");
		busy = r.status == 429;
	}
	OK(busy && *rig_header(&c, "retry-after"), "who is wrong too often has to wait");
	client_close(&c);
}

static void test_own_pages(void)
{
	struct client c = client_tcp(&f);

	get(&c, "/apps/1/.yard/style.css", "");
	OK(r.status == 200 && str_starts(rig_header(&c, "content-type"), "text/css"),
	   "the style of our pages is anybody's");
	get(&c, "/apps/1/.yard/series", "");
	OK(r.status == 401, "series are not");
	get(&c, "/apps/1/.yard/../../x", app.cookie);
	OK(r.status == 404 || r.status == 401, "there is nothing else");
	client_close(&c);
}

/* ---- boards ---- */

static void test_boards(void)
{
	AUTO_FREE char *header = str_printf("Authorization: Bearer %s\r\n", bob);
	AUTO_FREE char *mate = str_printf("Authorization: Bearer %s\r\n", ann);
	char path[64];
	int64_t jobs[6], boards[6];
	int made = 0;

	for (int i = 0; i < 6; i++) {
		ask_with(&api, &r, "POST", "/jobs", header,
			 "name: t\ngroup: lab\nroles:\n- name: main\n"
			 "  command: [\"true\"]\n");
		AUTO_DOC struct doc *d =
			doc_parse_json(buf_str(&r.body), r.body.len, NULL);
		jobs[i] = doc_i64(doc_root(d), "id", 0);
	}
	for (int i = 0; i < 5; i++) {
		snprintf(path, sizeof path, "/jobs/%lld/tensorboard", (long long)jobs[i]);
		ask_with(&api, &r, "POST", path, header, NULL);
		AUTO_DOC struct doc *d =
			doc_parse_json(buf_str(&r.body), r.body.len, NULL);
		boards[i] = doc_i64(doc_root(d), "app", 0);
		made += r.status == 201;
	}
	IS_INT(made, 5, "one has five boards");
	snprintf(path, sizeof path, "/jobs/%lld/tensorboard", (long long)jobs[2]);
	ask_with(&api, &r, "POST", path, header, NULL);
	AUTO_FREE char *same = str_printf("\"app\":%lld,", (long long)boards[2]);
	OK(r.status == 200 && has(&r, same), "a job has one, which is given again");
	ask_with(&api, &r, "POST", path, mate, NULL);
	OK(r.status == 403, "a mate may not start it");
	snprintf(path, sizeof path, "/jobs/%lld/tensorboard", (long long)jobs[5]);
	ask_with(&api, &r, "POST", path, header, NULL);
	int named = 0;
	for (int i = 0; i < 5; i++) {
		AUTO_FREE char *name = str_printf(
			"%lld (of job %lld)", (long long)boards[i], (long long)jobs[i]);
		named += strstr(buf_str(&r.body), name) != NULL;
	}
	OK(r.status == 409 && has(&r, "\"reason\":\"TensorboardLimitExceeded\"") &&
		   named == 5 && has(&r, "yard app stop"),
	   "the sixth is refused, by a word, naming the five and what ends one");
	ask_with(&api, &r, "POST", path, NULL, NULL);
	OK(r.status == 409, "it is bob's limit, whoever asks");
	snprintf(path, sizeof path, "/apps/%lld", (long long)boards[0]);
	ask_with(&api, &r, "DELETE", path, mate, NULL);
	OK(r.status == 403, "a mate may not end it");
	ask_with(&api, &r, "DELETE", path, header, NULL);
	OK(r.status == 204, "its owner may");
	for (int i = 0; i < 500; i++, usleep(10000)) {
		ask_with(&api, &r, "GET", path, header, NULL);
		if (strstr(buf_str(&r.body), "\"state\":\"ended\""))
			break;
	}
	snprintf(path, sizeof path, "/jobs/%lld/tensorboard", (long long)jobs[5]);
	ask_with(&api, &r, "POST", path, header, NULL);
	OK(r.status == 201, "then there is room for another");
}

int main(void)
{
	fixture_start(&f);
	api = client_open(&f);
	set_up();
	make_app(&app, "yard.app: web");
	make_app(&other, "yard.app: web, yard.app.share: group");
	app.listener = rig_listen(&app);
	OK(app.id == 1 && other.id == 2, "there are two apps of ann's");
	test_ticket();
	test_cookie();
	test_no_ambient();
	test_foreign();
	test_others();
	test_own_pages();
	test_login_page();
	test_disabled();
	test_boards();
	rig_close(&app);
	buf_fini(&r.body);
	client_close(&api);
	fixture_end(&f);
	return END();
}
