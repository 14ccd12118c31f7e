// SPDX-License-Identifier: Apache-2.0
/* Who one is, by every door: passwords, tokens, the first admin; and what they keep out. */
#include "fixture.h"

#include "base/doc.h"

#define PASSWORD "correct horse battery"
/* chief:correct horse battery */
#define BASIC       "Authorization: Basic Y2hpZWY6Y29ycmVjdCBob3JzZSBiYXR0ZXJ5\r\n"
#define BASIC_WRONG "Authorization: Basic Y2hpZWY6d3Jvbmc=\r\n"

static struct fixture f = { .run_ms_max = 1000000000,
			    .body_ms = 1500,
			    .write_ms = 1500,
			    .conns_per_user = 4,
			    .conns_per_address = 8 };
static char chief[128]; /* a token */

static bool field(const struct answer *a, const char *key, char *out, size_t size)
{
	struct doc *d = doc_parse_json(buf_str(&a->body), a->body.len, NULL);
	const struct doc_node *n = d ? doc_get(doc_root(d), key) : NULL;

	snprintf(out, size, "%s", n && n->text ? n->text : "");
	doc_destroy(d);
	return *out;
}

/* On a connection of its own; token NULL: none. */
static void go(struct answer *a, const char *token, const char *method,
	       const char *target, const char *body)
{
	struct client c = client_tcp(&f);
	char header[256] = "";

	if (token)
		snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", token);
	ask_with(&c, a, method, target, header, body);
	client_close(&c);
}

static void with(struct answer *a, const char *headers, const char *target)
{
	struct client c = client_tcp(&f);

	ask_with(&c, a, "GET", target, headers, NULL);
	client_close(&c);
}

static void all_gone(void)
{
	for (int i = 0; i < 6000 && http_server_connections(f.http) > 0; i++)
		usleep(10000);
}

/* Everything the server says until it closes or enough is there. */
static void hear(int fd, struct buf *out, const char *until)
{
	char room[4096];
	ssize_t n;

	while (!strstr(buf_str(out), until) && (n = recv(fd, room, sizeof room, 0)) > 0)
		buf_add(out, room, (size_t)n);
}

static void first(void)
{
	AUTO_BUF struct buf body = { 0 };
	struct answer a = { 0 };

	go(&a, NULL, "GET", "/jobs", NULL);
	OK(a.status == 401 && has(&a, "unknown-caller"), "by TCP nobody is known");
	go(&a, NULL, "GET", "/health", NULL);
	OK(a.status == 200, "but health is for all");
	go(&a, NULL, "POST", "/login/first",
	   "{\"code\":\"no\",\"name\":\"chief\",\"password\":\"" PASSWORD "\"}");
	OK(a.status == 401 || a.status == 403, "a wrong code makes no admin (%d)",
	   a.status);
	buf_printf(&body,
		   "{\"code\":\"%s\",\"name\":\"chief\",\"password\":\"" PASSWORD "\"}",
		   f.first_code);
	go(&a, NULL, "POST", "/login/first", buf_str(&body));
	OK(a.status == 201 && field(&a, "token", chief, sizeof chief),
	   "the code that was said at the start makes the first one");
	go(&a, NULL, "POST", "/login/first", buf_str(&body));
	OK(a.status >= 400, "and is used up");
	go(&a, chief, "GET", "/me", NULL);
	OK(a.status == 200 && has(&a, "\"by\":\"token\"") && has(&a, "\"admin\""),
	   "who comes by the token is the admin");
	buf_fini(&a.body);
}

static void headers(void)
{
	struct buf said = { 0 };
	struct answer a = { 0 };

	with(&a, BASIC, "/me");
	OK(a.status == 200 && has(&a, "\"by\":\"password\""), "a password in the header");
	with(&a, BASIC_WRONG, "/me");
	OK(a.status == 401, "a wrong one");
	with(&a, "Authorization: Basic !!\r\n", "/me");
	OK(a.status == 401, "what is no base64");
	with(&a, "Authorization: Negotiate x\r\n", "/me");
	OK(a.status == 401, "a scheme that is not known");
	with(&a, BASIC BASIC, "/me");
	OK(a.status == 401, "two headers are one too many");
	with(&a, "Authorization: Bearer yard_none_none\r\n", "/version");
	OK(a.status == 200, "what is for all is, with whatever header");
	with(&a, BASIC_WRONG, "/version");
	OK(a.status == 200, "and costs no password");
	int fd = dial_tcp(&f);
	say(fd, "GET /yard/v1/me HTTP/1.1\r\nHost: x\r\n\r\n");
	hear(fd, &said, "\r\n\r\n");
	OK(strstr(buf_str(&said), "WWW-Authenticate: Basic realm=\"yard\", Bearer\r\n"),
	   "401 says how to come");
	close(fd);
	struct client c = client_open(&f);
	ask_with(&c, &a, "GET", "/me", BASIC, NULL);
	OK(a.status == 200 && has(&a, "\"chief\""),
	   "by the unix socket the header counts when it is there");
	ask(&c, &a, "GET", "/me", NULL);
	OK(a.status == 200 && has(&a, "\"by\":\"peer\""), "and the peer when it is not");
	ask_with(&c, &a, "GET", "/me", BASIC_WRONG, NULL);
	OK(a.status == 401, "a wrong one does not fall back on the peer");
	client_close(&c);
	buf_fini(&said);
	buf_fini(&a.body);
}

/* While a password is looked at, what follows waits, and nothing is mixed up. */
static void order(void)
{
	struct client c = client_tcp(&f);
	struct answer a = { 0 };

	say(c.fd, "GET /yard/v1/me HTTP/1.1\r\nHost: x\r\n" BASIC "\r\n"
		  "GET /yard/v1/version HTTP/1.1\r\nHost: x\r\n\r\n"
		  "GET /yard/v1/me HTTP/1.1\r\nHost: x\r\n\r\n"
		  "POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\n" BASIC
		  "Content-Length: 48\r\n\r\n" JOB
		  "GET /yard/v1/health HTTP/1.1\r\nHost: x\r\n\r\n");
	static const char *const want[] = { "chief", "trainyard", "unknown-caller",
					    "\"id\"", "status" };
	for (size_t i = 0; i < COUNT_OF(want); i++) {
		buf_fini(&a.body);
		a = (struct answer){ 0 };
		client_read(&c, &a, 0);
		OK(has(&a, want[i]), "answer %zu of five at once is the one to it", i);
	}
	client_close(&c);
	buf_fini(&a.body);
}

/* Nothing of a body is wanted before it is known who sends it. */
static void uploads(void)
{
	struct buf said = { 0 };
	int fd = dial_tcp(&f);

	say(fd, "POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
		"Content-Length: 4000000\r\n" BASIC_WRONG "\r\n");
	hear(fd, &said, "\r\n\r\n");
	OK(strncmp(buf_str(&said), "HTTP/1.1 401", 12) == 0,
	   "who is refused is not asked for a body");
	close(fd);
	buf_clear(&said);
	fd = dial_tcp(&f);
	say(fd, "POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
		"Content-Length: 48\r\n" BASIC "\r\n");
	hear(fd, &said, "\r\n\r\n");
	OK(strncmp(buf_str(&said), "HTTP/1.1 100", 12) == 0, "who is known is");
	say(fd, JOB);
	hear(fd, &said, "\"id\"");
	OK(strstr(buf_str(&said), "HTTP/1.1 201"), "and it is taken");
	close(fd);
	for (int i = 0; i < 20; i++) { /* gone in the middle of it, by a reset */
		fd = dial_tcp(&f);
		say(fd, "GET /yard/v1/me HTTP/1.1\r\nHost: x\r\n"
			"Authorization: Basic Y2hpZWY6d3JvbmcyMzQ=\r\n\r\n");
		struct linger hard = { 1, 0 };
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
		close(fd);
		if (i % 4 == 3)
			all_gone();
	}
	all_gone();
	OK(http_server_connections(f.http) == 0, "who leaves meanwhile leaves nothing");
	buf_fini(&said);
}

static void accounts(void)
{
	static const char *const hers =
		"{\"password\":\"another horse\",\"old\":\"" PASSWORD "\"}";
	char ann[128], id[64], target[128];
	struct answer a = { 0 };

	go(&a, chief, "POST", "/users",
	   "{\"name\":\"ann\",\"password\":\"" PASSWORD "\"}");
	OK(a.status == 201 && !strstr(a.body.data, "argon") &&
		   has(&a, "\"password\":true"),
	   "a user is added, and their hash not shown");
	go(&a, chief, "POST", "/users", "{\"name\":\"bob\",\"pasword\":\"x\"}");
	OK(a.status == 400 && has(&a, "pasword") && has(&a, "mean password"),
	   "a field that is not known is named, and the likely one");
	go(&a, chief, "POST", "/users", "{\"name\":\"bob\",\"password\":\"short\"}");
	OK(a.status == 400 && has(&a, "password"), "a short password is not taken");
	go(&a, NULL, "POST", "/login",
	   "{\"user\":\"ann\",\"password\":\"" PASSWORD "\",\"life\":\"1h\"}");
	OK(a.status == 201 && field(&a, "token", ann, sizeof ann) &&
		   has(&a, "\"expires_ms\":1"),
	   "she logs in");
	go(&a, ann, "POST", "/tokens", "{\"life\":\"30d\"}");
	OK(a.status == 403 && has(&a, "outlive"), "a token makes none that outlives it");
	go(&a, ann, "POST", "/tokens", "{\"scopes\":[\"read\"]}");
	OK(a.status == 201 && field(&a, "id", id, sizeof id), "but a lesser one");
	char weak[128];
	field(&a, "token", weak, sizeof weak);
	go(&a, weak, "POST", "/tokens", "{}");
	OK(a.status == 403, "which makes none at all");
	go(&a, ann, "PATCH", "/users/ann", "{\"role\":\"admin\"}");
	OK(a.status == 403 && has(&a, "role"), "nobody makes themself admin");
	go(&a, ann, "PATCH", "/users/ann", "{\"password\":\"another horse\"}");
	OK(a.status == 400 && has(&a, "old"), "a password is changed with the old one");
	go(&a, ann, "PATCH", "/users/ann",
	   "{\"password\":\"another horse\",\"old\":\"a wrong horse\"}");
	OK(a.status == 401 || a.status == 429, "the right one (%d)", a.status);
	snprintf(target, sizeof target, "/tokens/%s", id);
	go(&a, ann, "DELETE", target, NULL);
	OK(a.status == 204, "a token is revoked");
	go(&a, weak, "GET", "/me", NULL);
	OK(a.status == 401, "and is good for nothing");
	go(&a, ann, "PATCH", "/users/ann", hers);
	OK(a.status == 200, "then it is changed");
	go(&a, NULL, "POST", "/login",
	   "{\"user\":\"ann\",\"password\":\"another horse\"}");
	OK(a.status == 201 && field(&a, "token", ann, sizeof ann), "to the new one");
	go(&a, ann, "POST", "/logout", NULL);
	OK(a.status == 204, "she logs out");
	go(&a, ann, "GET", "/me", NULL);
	OK(a.status == 401, "and is out");
	go(&a, chief, "GET", "/audit?limit=2", NULL);
	OK(a.status == 200 && has(&a, "\"by\":\"ann\"") &&
		   !strstr(a.body.data, "horse") && has(&a, "\"next\":"),
	   "the audit log tells of it, by pages");
	buf_fini(&a.body);
}

/* Who follows something is cut off when they may no more. */
static void followers(void)
{
	char token[128], head[256];
	struct answer a = { 0 };
	struct buf said = { 0 };

	go(&a, NULL, "POST", "/login",
	   "{\"user\":\"ann\",\"password\":\"another horse\"}");
	field(&a, "token", token, sizeof token);
	go(&a, token, "POST", "/jobs", JOB);
	char id[32];
	OK(a.status == 201 && field(&a, "id", id, sizeof id), "a job of hers");
	struct client c = client_tcp(&f);
	snprintf(head, sizeof head,
		 "GET /yard/v1/jobs/%s/wait HTTP/1.1\r\nHost: x\r\n"
		 "Authorization: Bearer %s\r\n\r\n",
		 id, token);
	say(c.fd, head);
	snprintf(head, sizeof head,
		 "GET /yard/v1/jobs/%s/logs?follow=1 HTTP/1.1\r\nHost: x\r\n"
		 "Authorization: Bearer %s\r\n\r\n",
		 id, token);
	int log = dial_tcp(&f);
	say(log, head);
	hear(log, &said, "\r\n\r\n");
	OK(strstr(buf_str(&said), " 200 "), "she follows it");
	go(&a, chief, "PATCH", "/users/ann", "{\"disabled\":true}");
	OK(a.status == 200, "and is disabled");
	hear(log, &said, "never said");
	buf_fini(&a.body);
	a = (struct answer){ 0 };
	OK(!client_read(&c, &a, 0) && a.status == 0, "then nothing more comes to her");
	go(&a, token, "GET", "/me", NULL);
	OK(a.status == 401, "and her token opens nothing");
	client_close(&c);
	close(log);
	buf_fini(&said);
	buf_fini(&a.body);
}

/* Slow ones: the ends are seen, not how long it took. */
static void slow(void)
{
	struct buf said = { 0 };
	char token[160], room[16];
	int fd = dial_tcp(&f);

	snprintf(token, sizeof token, "Authorization: Bearer %s\r\n\r\n", chief);
	say(fd, "POST /yard/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\n");
	say(fd, token);
	for (int i = 0;
	     i < 500 && recv(fd, room, sizeof room, MSG_DONTWAIT | MSG_PEEK) < 0; i++) {
		say(fd,
		    "x"); /* never a pause that is too long, but nothing to speak of */
		usleep(20000);
	}
	hear(fd, &said, "\r\n\r\n");
	OK(strstr(buf_str(&said), " 408 "), "a body that trickles is cut off");
	close(fd);

	fd = dial_tcp(&f);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &(int){ 4096 }, sizeof(int));
	for (int i = 0; i < 20000; i++)
		if (send(fd, "GET /yard/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 47,
			 MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
	for (int i = 0; i < 6000 && http_server_connections(f.http) > 0; i++)
		usleep(10000);
	OK(http_server_connections(f.http) == 0,
	   "who asks on and on and reads nothing is let go");
	close(fd);
	buf_fini(&said);
}

/* Strangers of one address have so many connections; who is known counts as themself. */
static void crowds(void)
{
	struct client many[9];
	struct answer a = { 0 };
	char header[256];

	all_gone();
	snprintf(header, sizeof header, "Authorization: Bearer %s\r\n", chief);
	for (int i = 0; i < 8; i++)
		many[i] = client_tcp(&f);
	for (int i = 0; i < 6000 && http_server_connections(f.http) < 8; i++)
		usleep(10000);
	many[8] = client_tcp(&f);
	client_read(&many[8], &a, 0);
	OK(a.status == 503, "the ninth stranger of one address waits outside");
	client_close(&many[8]);
	ask_with(&many[0], &a, "GET", "/me", header, NULL);
	OK(a.status == 200, "one of them says who they are");
	many[8] = client_tcp(&f);
	ask(&many[8], &a, "GET", "/health", NULL);
	OK(a.status == 200, "and leaves their place to another");
	for (int i = 0; i < 9; i++)
		client_close(&many[i]);
	all_gone();
	buf_fini(&a.body);
}

static void throttled(void)
{
	struct buf said = { 0 };
	bool told = false;

	for (int i = 0; i < 40 && !told; i++) {
		int fd = dial_tcp(&f);
		say(fd, "GET /yard/v1/me HTTP/1.1\r\nHost: x\r\n" BASIC_WRONG "\r\n");
		buf_clear(&said);
		hear(fd, &said, "\r\n\r\n");
		told = strstr(buf_str(&said), " 429 ") &&
		       strstr(buf_str(&said), "Retry-After: ");
		close(fd);
	}
	OK(told, "who is wrong too often is told to wait");
	struct answer a = { 0 };
	go(&a, chief, "GET", "/me", NULL);
	OK(a.status == 200, "which keeps nobody out who has a token");
	buf_fini(&said);
	buf_fini(&a.body);
}

int main(void)
{
	fixture_start(&f);
	first();
	headers();
	order();
	uploads();
	accounts();
	followers();
	slow();
	crowds();
	throttled();
	fixture_end(&f);
	return END();
}
