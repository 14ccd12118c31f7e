// SPDX-License-Identifier: Apache-2.0
/* The proxy between hostile clients and hostile programs. */
#include "app_rig.h"

#define MUCH (24u << 20)

static struct fixture f = { .run_ms_max = 1000000000,
			    .app_connect_ms = 2000,
			    .app_answer_ms = 700,
			    .app_idle_ms = 1500 };
static struct rig_app app;

static char *request(const char *line, const char *headers)
{
	return str_printf("%s HTTP/1.1\r\nHost: yard.example:8470\r\n%s%s\r\n", line,
			  app.cookie, headers);
}

/* ---- requests ---- */

static void test_request_head(void)
{
	struct client c = client_tcp(&f);
	struct answer r = { 0 };
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes = request(
		"GET /apps/1/a%2Fb/../c?x=1&ticket=no",
		"Authorization: Bearer yard_secret\r\nCookie: yard-form=1; theirs=2\r\n"
		"X-Forwarded-For: 6.6.6.6\r\nX_Forwarded_User: root\r\nForwarded: for=evil\r\n"
		"X-Real-IP: 6.6.6.6\r\nX-Yard-User: root\r\n"
		"Connection: keep-alive, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n"
		"Proxy-Authorization: Basic eA==\r\nX-Own: kept\r\nAccept: */*\r\n");

	say(c.fd, bytes);
	int up = rig_accept(&app);
	OK(rig_read(up, &seen, "\r\n\r\n"), "the program gets a request");
	const char *s = buf_str(&seen);
	OK(str_starts(s, "GET /apps/1/a%2Fb/../c?x=1&ticket=no HTTP/1.1\r\n"),
	   "with path and query as they were");
	OK(strstr(s, "\r\nHost: yard.example:8470\r\n") &&
		   strstr(s, "\r\nx-own: kept\r\n") &&
		   strstr(s, "\r\nCookie: theirs=2\r\n"),
	   "its own headers and cookies");
	OK(!strstr(s, "yard_secret") && !strstr(s, "yard-app") &&
		   !strstr(s, "yard-form") && !strcasestr(s, "authorization"),
	   "and no credential of the yard's");
	OK(!strstr(s, "6.6.6.6") && !strstr(s, "root\r\nF") && !strcasestr(s, "x-hop") &&
		   !strcasestr(s, "x_forwarded") && !strcasestr(s, "x-yard") &&
		   !strcasestr(s, "\r\nte:") && !strcasestr(s, "\r\nforwarded:"),
	   "nothing that a client says of where it is, nothing between neighbours");
	OK(strstr(s, "\r\nX-Forwarded-For: 127.0.0.1\r\n") &&
		   strstr(s, "\r\nX-Forwarded-Proto: http\r\n") &&
		   strstr(s, "\r\nX-Forwarded-Host: yard.example:8470\r\n") &&
		   strstr(s, "\r\nX-Forwarded-Prefix: /apps/1\r\n") &&
		   strstr(s, "\r\nX-Forwarded-User: ") &&
		   strstr(s, "\r\nConnection: close\r\n"),
	   "what the proxy knows it says");
	say(up, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
	client_read(&c, &r, 0);
	OK(r.status == 200 && has(&r, "ok") && r.keep_alive, "and its answer comes back");
	close(up);
	buf_fini(&r.body);
	client_close(&c);
}

/* What a client that would smuggle is told, and that the program hears nothing. */
static void test_smuggling(void)
{
	static const char *const bodies[] = {
		"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /",
		"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
		"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
		"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
		"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
		"Content-Length: +5\r\n\r\nhello",
		"X: a\r\n Transfer-Encoding: chunked\r\n\r\n",
		"X: a\nContent-Length: 5\r\n\r\nhello",
	};
	int refused = 0;

	for (size_t i = 0; i < COUNT_OF(bodies); i++) {
		struct client c = client_tcp(&f);
		struct answer r = { 0 };
		AUTO_FREE char *bytes =
			str_printf("POST /apps/1/ HTTP/1.1\r\nHost: h\r\n%s%s",
				   app.cookie, bodies[i]);
		rig_ask(&c, &r, bytes);
		refused += r.status >= 400 && r.status <= 501 && r.status != 502;
		buf_fini(&r.body);
		client_close(&c);
	}
	IS_INT(refused, (int)COUNT_OF(bodies), "two readings of one request are refused");
	struct pollfd p = { .fd = app.listener, .events = POLLIN };
	OK(poll(&p, 1, 50) == 0, "and the program was not even called");
}

/* ---- answers ---- */

enum end { WHOLE, CUT, GATEWAY };

#define NOTE  "HTTP/1.1 103 Early Hints\r\n\r\n"
#define NOTES NOTE NOTE NOTE NOTE NOTE NOTE NOTE NOTE

static const struct {
	const char *method, *said, *body;
	enum end end;
	int status;
	const char *law;
} answers[] = {
	{ "GET", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "hello", WHOLE, 200,
	  "by length" },
	{ "GET",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
	  "hello", WHOLE, 200, "in chunks" },
	{ "GET", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello", "hello", WHOLE, 200,
	  "until it closes" },
	{ "GET", "HTTP/1.0 200 OK\r\n\r\nhello", "hello", WHOLE, 200, "of HTTP/1.0" },
	{ "GET", "HTTP/1.1 204 No Content\r\n\r\n", "", WHOLE, 204, "without a body" },
	{ "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n", "", WHOLE, 304,
	  "not modified, whatever length it names" },
	{ "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "", WHOLE, 200,
	  "to HEAD" },
	{ "HEAD",
	  "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", "",
	  WHOLE, 200, "to HEAD after a note" },
	{ "GET",
	  "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: "
	  "2\r\n\r\nok",
	  "ok", WHOLE, 200, "after a note" },
	{ "GET", "HTTP/1.1 404 Nix\r\nContent-Length: 2\r\n\r\nno", "no", WHOLE, 404,
	  "of its own errors" },
	{ "GET",
	  NOTES NOTES NOTES NOTES NOTES "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
	  "", GATEWAY, 502, "after notes without end" },
	{ "GET",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\nevil",
	  "ok", WHOLE, 200, "and what follows it is nobody's" },
	{ "GET", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhello", "hello", CUT, 200,
	  "that ends early" },
	{ "GET",
	  "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\nzz\r\n",
	  "hello", CUT, 200, "with a bad chunk" },
	{ "GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
	  "hello", CUT, 200, "without its last chunk" },
	{ "GET", "", "", GATEWAY, 502, "that never comes" },
	{ "GET", "HTTP/1.1 200 OK\r\nContent-Le", "", GATEWAY, 502, "of half a head" },
	{ "GET", "garbage\r\n\r\n", "", GATEWAY, 502, "that is no HTTP" },
	{ "GET",
	  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	  "", GATEWAY, 502, "with two lengths" },
	{ "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
	  "", GATEWAY, 502, "with two lengths of a kind" },
	{ "GET", "HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "", GATEWAY, 502,
	  "with bare line ends" },
	{ "GET", "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok", "",
	  GATEWAY, 502, "with a folded line" },
	{ "GET", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes", "",
	  GATEWAY, 502, "in a protocol that nobody asked for" },
	{ "GET", "HTTP/2.0 200 OK\r\n\r\n", "", GATEWAY, 502, "of another version" },
};

static bool answer_is(size_t i, struct client *c)
{
	struct answer r = { 0 };
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *line = str_printf("%s /apps/1/", answers[i].method);
	AUTO_FREE char *bytes = request(line, "");

	if (str_eq(answers[i].method, "HEAD"))
		http_parser_no_body(c->parser);
	say(c->fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, answers[i].said);
	close(up);
	client_read(c, &r, 0);
	bool good =
		r.status == answers[i].status && r.whole == (answers[i].end != CUT) &&
		(answers[i].end == GATEWAY ? strstr(buf_str(&r.body), "app 1") != NULL
					   : str_eq(buf_str(&r.body), answers[i].body));
	if (!good)
		printf("# %d whole %d '%s'\n", r.status, r.whole, buf_str(&r.body));
	buf_fini(&r.body);
	return good;
}

static void test_answers(void)
{
	for (size_t i = 0; i < COUNT_OF(answers); i++) {
		struct client c = client_tcp(&f);
		OK(answer_is(i, &c), "an answer %s", answers[i].law);
		if (answers[i].end == WHOLE)
			OK(answer_is(0, &c), "and the connection goes on");
		client_close(&c);
	}
}

static void test_answer_head(void)
{
	static const char said[] =
		"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nConnection: close, X-Hop\r\nX-Hop: 1\r\n"
		"Set-Cookie: theirs=1; Path=/; Domain=yard.example\r\n"
		"Set-Cookie: yard-app=evil; Path=/apps/1/\r\nLocation: /apps/1/next\r\n"
		"Service-Worker-Allowed: /\r\nClear-Site-Data: \"*\"\r\n"
		"Strict-Transport-Security: max-age=1\r\nX-Frame-Options: ALLOWALL\r\n"
		"WWW-Authenticate: Basic realm=phish\r\nKeep-Alive: timeout=5\r\nX-Own: kept\r\n\r\n";
	int fd = dial_tcp(&f);
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes = request("GET /apps/1/", "");

	say(fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, said);
	OK(rig_read(fd, &seen, "\r\n\r\n"), "a redirection comes back");
	const char *s = buf_str(&seen);
	OK(strstr(s, "\r\nSet-Cookie: theirs=1; Path=/apps/1/\r\n") &&
		   !strstr(s, "evil") && !strstr(s, "Domain"),
	   "the program's cookies stay below its path, and none is ours");
	OK(strstr(s, "\r\nLocation: /apps/1/next\r\n") &&
		   strstr(s, "\r\nx-own: kept\r\n"),
	   "what is its own passes");
	OK(!strcasestr(s, "service-worker") && !strcasestr(s, "clear-site") &&
		   !strcasestr(s, "strict-transport") && !strstr(s, "ALLOWALL") &&
		   !strcasestr(s, "phish") && !strcasestr(s, "x-hop") &&
		   !strcasestr(s, "keep-alive: timeout"),
	   "what would speak for the whole origin does not");
	OK(strstr(s, "\r\nX-Frame-Options: SAMEORIGIN\r\n") &&
		   strstr(s, "\r\nX-Content-Type-Options: nosniff\r\n") &&
		   strstr(s, "\r\nReferrer-Policy: same-origin\r\n"),
	   "and it is framed and sniffed by nobody");
	close(up);
	close(fd);
}

/* ---- bodies ---- */

static void *pour(void *arg)
{
	int fd = *(int *)arg;
	static char data[65536];

	memset(data, 'x', sizeof data);
	for (size_t sent = 0; sent < MUCH;) {
		ssize_t n = send(fd, data, sizeof data, MSG_NOSIGNAL);
		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	return NULL;
}

static size_t drink(int fd, size_t want)
{
	static char data[65536];
	size_t got = 0;

	while (got < want) {
		ssize_t n = recv(fd, data, sizeof data, 0);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	return got;
}

/* The server keeps a bounded part of what one side sends and the other does not read. */
static void test_pressure(void)
{
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *length = str_printf("Content-Length: %u\r\n", MUCH);
	AUTO_FREE char *bytes = request("POST /apps/1/up", length);
	int fd = dial_tcp(&f), one = 1;
	pthread_t writer;

	setsockopt(fd, IPPROTO_TCP, 1, &one, sizeof one);
	say(fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	pthread_create(&writer, NULL, pour, &fd);
	usleep(200000); /* nobody reads: the writer stands still, and nothing is lost */
	IS_INT((long)drink(up, MUCH), (long)MUCH,
	       "a long body arrives whole, unread for a while");
	pthread_join(writer, NULL);
	AUTO_FREE char *head =
		str_printf("HTTP/1.1 200 OK\r\nContent-Length: %u\r\n\r\n", MUCH);
	say(up, head);
	pthread_create(&writer, NULL, pour, &up);
	usleep(200000);
	rig_read(fd, &seen, "\r\n\r\n");
	IS_INT((long)drink(fd, MUCH), (long)MUCH, "and so does a long answer");
	pthread_join(writer, NULL);
	close(up);
	close(fd);
}

static void test_chunked_request(void)
{
	struct client c = client_tcp(&f);
	struct answer r = { 0 };
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes =
		request("PUT /apps/1/x", "Transfer-Encoding: chunked\r\n");

	say(c.fd, bytes);
	say(c.fd, "3\r\nabc\r\n");
	int up = rig_accept(&app);
	OK(rig_read(up, &seen, "abc\r\n") &&
		   strstr(buf_str(&seen), "\r\nTransfer-Encoding: chunked\r\n"),
	   "a piece passes before the rest is there");
	say(c.fd, "2\r\nde\r\n0\r\nTrailer: x\r\n\r\n");
	OK(rig_read(up, &seen, "0\r\n\r\n") && !strstr(buf_str(&seen), "Trailer"),
	   "the end passes, a trailer does not");
	say(up, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	client_read(&c, &r, 0);
	OK(r.status == 200, "and is answered");
	close(up);
	client_close(&c);
}

/* An answer that comes before the request is whole ends the connection, not the daemon. */
static void test_early_answer(void)
{
	struct client c = client_tcp(&f);
	struct answer r = { 0 };
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes = request("PUT /apps/1/x", "Content-Length: 100\r\n");

	say(c.fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, "HTTP/1.1 413 No\r\nContent-Length: 2\r\n\r\nno");
	client_read(&c, &r, 0);
	OK(r.status == 413 && r.whole && !r.keep_alive,
	   "an answer before the end of the request is the connection's last");
	close(up);
	buf_fini(&r.body);
	client_close(&c);
}

/* ---- ends ---- */

static void test_client_goes(void)
{
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes = request("GET /apps/1/", "");
	int fd = dial_tcp(&f);

	say(fd, bytes);
	int up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	close(fd);
	OK(rig_at_end(up), "a client that goes before the answer is told to the program");
	close(up);

	fd = dial_tcp(&f);
	say(fd, bytes);
	up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, "HTTP/1.1 200 OK\r\n\r\nsome");
	rig_read(fd, &seen, "some");
	close(fd);
	OK(rig_at_end(up), "and so is one that goes in the middle of it");
	close(up);
}

static void test_slow(void)
{
	struct client c = client_tcp(&f);
	struct answer r = { 0 };
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes = request("GET /apps/1/", "Accept: text/html\r\n");

	say(c.fd, bytes);
	int up = rig_accept(&app);
	client_read(&c, &r, 0);
	OK(r.status == 504 && has(&r, "did not answer in time") && r.keep_alive,
	   "a program that says nothing is given up, with a page");
	close(up);
	say(c.fd, bytes);
	up = rig_accept(&app);
	rig_read(up, &seen, "\r\n\r\n");
	say(up, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf");
	buf_fini(&r.body);
	r = (struct answer){ 0 };
	client_read(&c, &r, 0);
	OK(r.status == 200 && !r.whole, "one that stops in the middle is cut off");
	OK(rig_at_end(up), "and let go");
	close(up);
	buf_fini(&r.body);
	client_close(&c);
}

static void test_pipe(void)
{
	AUTO_BUF struct buf seen = { 0 };
	AUTO_FREE char *bytes =
		request("GET /apps/1/ws", "Connection: Upgrade\r\nUpgrade: websocket\r\n"
					  "Sec-WebSocket-Key: k\r\n");
	int fd = dial_tcp(&f);

	say(fd, bytes);
	say(fd, "early");
	int up = rig_accept(&app);
	OK(rig_read(up, &seen, "\r\n\r\n") &&
		   strstr(buf_str(&seen),
			  "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n") &&
		   strstr(buf_str(&seen), "\r\nsec-websocket-key: k\r\n"),
	   "another protocol is asked for");
	say(up, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n"
		"Upgrade: websocket\r\nSec-WebSocket-Accept: a\r\n\r\nfirst");
	OK(rig_read(fd, &seen, "first") &&
		   strstr(buf_str(&seen), "HTTP/1.1 101 Switching Protocols\r\n") &&
		   strstr(buf_str(&seen), "\r\nUpgrade: websocket\r\n"),
	   "and given, with what follows it");
	OK(rig_read(up, &seen, "early"), "what the client sent before comes first");
	for (int i = 0; i < 50; i++) {
		say(fd, "ping\n");
		say(up, "pong\n");
	}
	for (int i = 0; i < 50; i++)
		if (!rig_read(up, &seen, "\n") || !rig_read(fd, &seen, "\n"))
			OK(false, "the pipe broke");
	usleep(900000); /* longer than an answer may take: silence is no end */
	say(fd, "still\n");
	OK(rig_read(up, &seen, "still\n"), "a silent pipe stays open");
	say(up, "bye");
	close(up);
	OK(rig_read(fd, &seen, "bye") && rig_at_end(fd), "its end is the client's");
	close(fd);
}

/* A pipe of another protocol would carry requests that nobody looked at. */
static void test_other_protocols(void)
{
	static const char *const lines[] = { "GET /apps/1/", "POST /apps/1/" };
	static const char *const asked[] = {
		"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n",
		"Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n",
	};

	for (size_t i = 0; i < COUNT_OF(asked); i++) {
		struct client c = client_tcp(&f);
		struct answer r = { 0 };
		AUTO_BUF struct buf seen = { 0 };
		AUTO_FREE char *bytes = request(lines[i], asked[i]);

		say(c.fd, bytes);
		int up = rig_accept(&app);
		OK(rig_read(up, &seen, "\r\n\r\n") &&
			   !strcasestr(buf_str(&seen), "upgrade:") &&
			   !strcasestr(buf_str(&seen), "http2-settings"),
		   "only a WebSocket is asked for");
		say(up, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n");
		client_read(&c, &r, 0);
		OK(r.status == 502, "and only one is taken");
		close(up);
		buf_fini(&r.body);
		client_close(&c);
	}
}

static void test_refused(void)
{
	struct client c = client_tcp(&f);
	struct answer r = { 0 };
	AUTO_FREE char *bytes = request("GET /apps/1/", "Accept: text/html\r\n");
	AUTO_FREE char *chinese = request(
		"GET /apps/1/", "Accept: text/html\r\nAccept-Language: zh-CN\r\n");

	rig_close(&app);
	rig_ask(&c, &r, bytes);
	OK(r.status == 502 && has(&r, "does not answer"),
	   "a program that has answered before and does no more: a page says so");
	rig_ask(&c, &r, chinese);
	OK(r.status == 502 && has(&r, "应用无法访问"), "in Chinese too");
	buf_fini(&r.body);
	client_close(&c);
	app.listener = rig_listen(&app);
}

int main(void)
{
	fixture_start(&f);
	rig_app_start(&f, &app, APP_JOB("yard.app: web"));
	app.listener = rig_listen(&app);
	rig_enter(&f, &app);
	test_request_head();
	test_smuggling();
	test_answers();
	test_answer_head();
	test_chunked_request();
	test_early_answer();
	test_pressure();
	test_client_goes();
	test_pipe();
	test_other_protocols();
	test_slow();
	test_refused();
	rig_close(&app);
	fixture_end(&f);
	return END();
}
