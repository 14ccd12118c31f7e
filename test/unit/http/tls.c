// SPDX-License-Identifier: Apache-2.0
/* TLS under HTTP: requests in pieces of any size, several in one record, large answers to a
 * slow reader, an end that is said, those who speak something else, those who say nothing. */
#include "tls/tls.h"

#include "fixture.h"

struct caller {
	int fd;
	struct tls_session *tls;
	struct buf got;
	bool over, failed;
};

static struct tls_context *server_tls, *client_tls;

static void flush(struct caller *c, size_t piece)
{
	char wire[4096];
	size_t n;

	while ((n = tls_take(c->tls, wire, piece < sizeof wire ? piece : sizeof wire)) >
	       0)
		if (send(c->fd, wire, n, MSG_NOSIGNAL) != (ssize_t)n)
			c->failed = true;
}

/* One read of the socket; false: nothing more will come. */
static bool hear(struct caller *c)
{
	char wire[8192], clear[8192];
	ssize_t n = recv(c->fd, wire, sizeof wire, 0);

	if (n <= 0) {
		c->over = true;
		c->failed |= n < 0 || tls_eof(c->tls, NULL) < 0;
		return false;
	}
	c->failed |= tls_feed(c->tls, wire, (size_t)n, NULL) < 0;
	while (!c->failed && (n = tls_read(c->tls, clear, sizeof clear, NULL)) > 0)
		buf_add(&c->got, clear, (size_t)n);
	flush(c, 4096);
	return !c->failed;
}

static struct caller call(const struct fixture *f, size_t piece)
{
	const struct tls_trust pinned = {
		.host = "localhost",
		.pin = tls_server_certificate(server_tls)->fingerprint
	};
	struct caller c = { .fd = dial_tcp(f) };
	struct err err;

	c.tls = tls_connect(client_tls, &pinned, &err);
	fixture_must(c.tls, &err);
	do
		flush(&c, piece);
	while (tls_session_state(c.tls) == TLS_SHAKING && hear(&c));
	return c;
}

static void hang_up(struct caller *c)
{
	close(c->fd);
	tls_session_destroy(c->tls);
	buf_fini(&c->got);
}

static void request(struct caller *c, const char *text, size_t piece)
{
	tls_write(c->tls, text, strlen(text), NULL);
	flush(c, piece);
}

static size_t answers(const struct caller *c)
{
	size_t n = 0;

	for (const char *p = buf_str(&c->got); (p = strstr(p, "HTTP/1.1 200")); p++)
		n++;
	return n;
}

#define HEALTH "GET /yard/v1/health HTTP/1.1\r\nHost: x\r\n\r\n"

static void test_pieces(const struct fixture *f)
{
	static const size_t pieces[] = { 1, 2, 7, 100, 4096 };

	for (size_t i = 0; i < COUNT_OF(pieces); i++) {
		struct caller c = call(f, pieces[i]);
		request(&c, HEALTH, pieces[i]);
		while (!strstr(buf_str(&c.got), "\"ok\"") && hear(&c))
			;
		OK(answers(&c) == 1 && !c.failed,
		   "a request in pieces of %zu bytes is answered", pieces[i]);
		hang_up(&c);
	}
}

static void test_many(const struct fixture *f)
{
	AUTO_BUF struct buf many = { 0 };
	struct caller c = call(f, 4096);

	for (int i = 0; i < 100; i++)
		buf_adds(&many, HEALTH);
	buf_adds(&many,
		 "GET /yard/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
	request(&c, many.data, 4096);
	while (hear(&c))
		;
	IS_INT((long long)answers(&c), 101,
	       "many requests in one record are all answered");
	OK(c.over && !c.failed && tls_session_state(c.tls) == TLS_ENDED,
	   "and the server says when it is over");
	hang_up(&c);
}

/* More than any buffer holds, to one who reads nothing until all was asked for. */
static void test_large(const struct fixture *f)
{
	static const char ask_large[] =
		"GET /yard/v1/openapi.json HTTP/1.1\r\nHost: x\r\n\r\n";
	struct caller c = call(f, 4096);
	const int count = 30;
	size_t whole = 0;

	for (int i = 0; i < count; i++)
		request(&c, ask_large, 4096);
	request(&c,
		"GET /yard/v1/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
		4096);
	while (hear(&c))
		;
	whole = answers(&c);
	IS_INT((long long)whole, count + 1, "large answers come whole to a late reader");
	OK(c.got.len > (1u << 20) && !c.failed, "%zu bytes of them", c.got.len);
	hang_up(&c);
}

static void test_end(const struct fixture *f)
{
	struct caller c = call(f, 4096);

	tls_end(c.tls);
	flush(&c, 4096);
	while (hear(&c))
		;
	OK(c.over && !c.failed, "one who says that it is over is told the same at once");
	hang_up(&c);
}

static void test_others(const struct fixture *f)
{
	struct client plain = client_tcp(f);
	char text[2048];
	size_t got = 0;
	ssize_t n;

	send(plain.fd, HEALTH, strlen(HEALTH), MSG_NOSIGNAL);
	while (got < sizeof text - 1 &&
	       (n = recv(plain.fd, text + got, sizeof text - 1 - got, 0)) > 0)
		got += (size_t)n;
	text[got] = '\0';
	OK(strstr(text, "HTTP/1.1 400 ") == text && strstr(text, "https://"),
	   "plain HTTP is told to use TLS");
	client_close(&plain);

	plain = client_tcp(f);
	send(plain.fd, "\x16\x03\x01\xff\xff nonsense", 13, MSG_NOSIGNAL);
	while ((n = recv(plain.fd, text, sizeof text, 0)) > 0)
		;
	OK(n == 0, "nonsense ends the connection");
	client_close(&plain);

	plain = client_tcp(f);
	n = recv(plain.fd, text, sizeof text, 0);
	OK(n == 0, "so does silence, after the time a head has");
	client_close(&plain);
}

int main(void)
{
	static const char *const names[] = { "localhost" };
	struct fixture f = { .run_ms_max = 100, .head_ms = 8000, .idle_ms = 20000 };
	char base[] = "/tmp/yard-http-tls-XXXXXX";
	struct err err;

	fixture_must(mkdtemp(base), &(struct err){ .text = "mkdtemp" });
	AUTO_FREE char *folder = str_printf("%s/tls", base);
	AUTO_FREE char *cert = str_printf("%s/cert.pem", folder);
	AUTO_FREE char *key = str_printf("%s/key.pem", folder);
	fixture_must(tls_certificate_make(folder, names, 1, &err) == 0, &err);
	server_tls = tls_server_create(cert, key, &err);
	fixture_must(server_tls, &err);
	client_tls = tls_client_create(NULL, &err);
	fixture_must(client_tls, &err);
	unlink(cert);
	unlink(key);
	rmdir(folder);
	rmdir(base);
	f.tls = server_tls;
	fixture_start(&f);
	test_pieces(&f);
	test_many(&f);
	test_large(&f);
	test_end(&f);
	test_others(&f);
	fixture_end(&f);
	tls_context_destroy(client_tls);
	tls_context_destroy(server_tls);
	return END();
}
