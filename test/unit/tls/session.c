// SPDX-License-Identifier: Apache-2.0
/* Two sessions with a wire of memory between them: whatever the pieces, the same bytes
 * come out; whoever is not trusted gets none. */
#include "tls/tls.h"

#include "base/buf.h"
#include "certs.h"
#include "tap.h"

#define BIG (3u << 20)

struct side {
	struct tls_session *tls;
	struct buf got;
	struct err err;
	bool failed;
};

struct pair {
	struct side client, server;
	size_t piece; /* bytes that cross the wire at a time */
};

static char folder[64];
static struct tls_context *server_ctx, *client_ctx;
static struct authority good;

static char *file(const char *name, const char *ending)
{
	return str_printf("%s/%s.%s", folder, name, ending);
}

static struct tls_context *server_of(const char *name)
{
	AUTO_FREE char *cert = file(name, "pem"), *key = file(name, "key");
	struct err err;
	struct tls_context *c = tls_server_create(cert, key, &err);

	certs_must(c, name);
	return c;
}

static void drain(struct side *s)
{
	char chunk[1000];
	ssize_t n;

	while ((n = tls_read(s->tls, chunk, sizeof chunk, &s->err)) > 0)
		buf_add(&s->got, chunk, (size_t)n);
	s->failed |= n < 0;
}

/* What one side has to send reaches the other; true: something did. */
static bool carry(struct side *from, struct side *to, size_t piece)
{
	AUTO_FREE char *bytes = mem_alloc(1, piece);
	size_t n = tls_take(from->tls, bytes, piece);

	if (n == 0)
		return false;
	if (to->failed)
		return true;
	if (tls_feed(to->tls, bytes, n, &to->err) < 0)
		to->failed = true;
	else
		drain(to);
	return true;
}

static void settle(struct pair *p)
{
	bool moved = true;

	while (moved) {
		moved = carry(&p->client, &p->server, p->piece);
		moved |= carry(&p->server, &p->client, p->piece);
	}
}

static struct pair pair_of(struct tls_context *server, const struct tls_trust *trust,
			   size_t piece)
{
	struct pair p = { .piece = piece };

	p.server.tls = tls_accept(server);
	p.client.tls = tls_connect(client_ctx, trust, &p.client.err);
	certs_must(p.client.tls, "tls_connect");
	settle(&p);
	return p;
}

static void pair_fini(struct pair *p)
{
	tls_session_destroy(p->client.tls);
	tls_session_destroy(p->server.tls);
	buf_fini(&p->client.got);
	buf_fini(&p->server.got);
}

static bool open_both(const struct pair *p)
{
	return tls_session_state(p->client.tls) == TLS_OPEN &&
	       tls_session_state(p->server.tls) == TLS_OPEN;
}

static bool same(const struct buf *b, const char *data, size_t len)
{
	return b->len == len && memcmp(buf_str(b), data, len) == 0;
}

static const struct tls_trust by_authority = { .host = "yard.example" };

static void test_pieces(void)
{
	int shaken = 0, whole = 0, ended = 0, all = 0;

	for (size_t piece = 1; piece <= 1600; piece += piece < 70 ? 1 : 170, all++) {
		struct pair p = pair_of(server_ctx, &by_authority, piece);
		shaken += open_both(&p);
		if (open_both(&p)) {
			tls_write(p.client.tls, "GET / HTTP/1.1\r\n\r\n", 18, NULL);
			tls_write(p.server.tls, "HTTP/1.1 200 OK\r\n\r\n", 19, NULL);
			settle(&p);
			whole += same(&p.server.got, "GET / HTTP/1.1\r\n\r\n", 18) &&
				 same(&p.client.got, "HTTP/1.1 200 OK\r\n\r\n", 19);
			tls_end(p.client.tls);
			settle(&p);
			ended += tls_session_state(p.server.tls) == TLS_ENDED &&
				 tls_eof(p.server.tls, NULL) == 0;
		}
		pair_fini(&p);
	}
	IS_INT(shaken, all, "hands are shaken whatever the size of the pieces");
	IS_INT(whole, all, "and a question and its answer cross");
	IS_INT(ended, all, "and an end that was said is an orderly one");
}

static void test_big(void)
{
	AUTO_FREE char *up = mem_alloc(1, BIG), *down = mem_alloc(1, BIG);
	struct pair p = pair_of(server_ctx, &by_authority, 65536);

	for (size_t i = 0; i < BIG; i++) {
		up[i] = (char)(i * 7 + i / 251);
		down[i] = (char)(i * 13 + i / 509);
	}
	for (size_t at = 0; at < BIG; at += 100000) {
		size_t n = BIG - at < 100000 ? BIG - at : 100000;
		tls_write(p.client.tls, up + at, n, NULL);
		tls_write(p.server.tls, down + at, n, NULL);
		settle(&p);
	}
	OK(same(&p.server.got, up, BIG), "megabytes go up unchanged");
	OK(same(&p.client.got, down, BIG), "and others down, at the same time");
	tls_end(p.client.tls);
	settle(&p);
	tls_write(p.server.tls, "late", 4, NULL);
	buf_clear(&p.client.got);
	settle(&p);
	OK(same(&p.client.got, "late", 4),
	   "one side may end while the other still talks");
	OK(tls_write(p.client.tls, "x", 1, NULL) < 0,
	   "nothing is sent after one's own end");
	pair_fini(&p);
}

static void test_cut(void)
{
	struct pair p = pair_of(server_ctx, &by_authority, 65536);
	struct err err;

	OK(tls_eof(p.client.tls, &err) < 0,
	   "a wire that ends without a word is an error");
	IS(err.text, "the connection was cut off", "which says so");
	OK(tls_session_state(p.client.tls) == TLS_BROKEN, "and the session is over");
	pair_fini(&p);

	struct tls_session *s = tls_accept(server_ctx);
	OK(tls_eof(s, &err) < 0 && strstr(err.text, "handshake"),
	   "also in the middle of the handshake");
	tls_session_destroy(s);
}

static void test_tampered(void)
{
	struct pair p = pair_of(server_ctx, &by_authority, 65536);
	char wire[200];

	tls_write(p.client.tls, "transfer 100", 12, NULL);
	size_t n = tls_take(p.client.tls, wire, sizeof wire);
	wire[n - 3] ^= 1;
	OK(tls_feed(p.server.tls, wire, n, &p.server.err) == 0, "bytes are taken");
	drain(&p.server);
	OK(p.server.failed && p.server.got.len == 0,
	   "but of a record with one bit turned nothing is read");
	OK(tls_take(p.server.tls, wire, sizeof wire) > 0, "the other side is told");
	OK(tls_feed(p.server.tls, "x", 1, &p.server.err) < 0 &&
		   tls_read(p.server.tls, wire, 1, &p.server.err) < 0 &&
		   tls_write(p.server.tls, "x", 1, &p.server.err) < 0,
	   "a broken session stays broken");
	pair_fini(&p);
}

static void test_garbage(void)
{
	static const char *const lines[] = { "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
					     "SSH-2.0-OpenSSH_9.2\r\n",
					     "\x16\x03\x01\xff\xff\x01", "\x80\x2e\x01" };

	for (size_t i = 0; i < COUNT_OF(lines); i++) {
		struct tls_session *s = tls_accept(server_ctx);
		struct err err;
		AUTO_BUF struct buf bytes = { 0 };
		buf_adds(&bytes, lines[i]);
		for (int k = 0; k < 20000; k++)
			buf_addc(&bytes, (char)k);
		OK(tls_feed(s, bytes.data, bytes.len, &err) < 0 &&
			   tls_session_state(s) == TLS_BROKEN,
		   "garbage %zu is refused: %s", i, err.text);
		tls_session_destroy(s);
	}
	struct tls_session *s = tls_accept(server_ctx);
	AUTO_FREE char *much = mem_alloc(1, TLS_UNREAD_MAX + 1);
	OK(tls_feed(s, much, TLS_UNREAD_MAX + 1, NULL) < 0, "and so is too much at once");
	tls_session_destroy(s);
}

/* The client wants other parameters in mid-session: what TLS 1.2 called renegotiation. */
static void test_renegotiation(void)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	struct side server = { .tls = tls_accept(server_ctx) };
	char wire[8192];
	bool asked = false, over = false;

	BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	for (int i = 0; i < 20; i++) {
		SSL_do_handshake(ssl);
		if (SSL_is_init_finished(ssl) && !asked) {
			SSL_write(ssl, "one", 3);
			asked = SSL_renegotiate(ssl) == 1;
			over = true;
		}
		char clear[64];
		SSL_read(ssl, clear, sizeof clear);
		int n = BIO_read(out, wire, sizeof wire);
		if (n > 0 && !server.failed) {
			if (tls_feed(server.tls, wire, (size_t)n, &server.err) < 0)
				server.failed = true;
			else
				drain(&server);
		}
		size_t back = tls_take(server.tls, wire, sizeof wire);
		if (back)
			BIO_write(in, wire, (int)back);
	}
	IS(SSL_get_version(ssl), "TLSv1.2", "a client that knows 1.2 only is served");
	OK(over && asked && !SSL_is_init_finished(ssl),
	   "but to negotiate again is refused");
	OK(same(&server.got, "one", 3), "what it had said before arrived");
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	tls_session_destroy(server.tls);
	buf_fini(&server.got);
}

/* Whether a handshake of a plain OpenSSL client, set up by `how`, succeeds. */
static bool foreign(void (*how)(SSL_CTX *ctx))
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	SSL_CTX_set_security_level(ctx, 0);
	how(ctx);
	SSL *ssl = SSL_new(ctx);
	BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
	struct tls_session *server = tls_accept(server_ctx);
	char wire[8192];
	bool failed = false;

	BIO_set_mem_eof_return(in, -1);
	SSL_set_bio(ssl, in, out);
	SSL_set_connect_state(ssl);
	for (int i = 0; i < 10 && !failed; i++) {
		SSL_do_handshake(ssl);
		int n = BIO_read(out, wire, sizeof wire);
		if (n > 0)
			failed = tls_feed(server, wire, (size_t)n, NULL) < 0;
		size_t back = tls_take(server, wire, sizeof wire);
		if (back)
			BIO_write(in, wire, (int)back);
	}
	bool open = tls_session_state(server) == TLS_OPEN && SSL_is_init_finished(ssl);
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	tls_session_destroy(server);
	return open;
}

static void plain(SSL_CTX *ctx)
{
	(void)ctx;
}
static void old(SSL_CTX *ctx)
{
	SSL_CTX_set_max_proto_version(ctx, TLS1_1_VERSION);
}
static void weak(SSL_CTX *ctx)
{
	SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
	SSL_CTX_set_cipher_list(ctx, "ECDHE-ECDSA-AES128-SHA:AES128-GCM-SHA256");
}
static void h2_only(SSL_CTX *ctx)
{
	SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\2h2", 3);
}
static void h2_too(SSL_CTX *ctx)
{
	SSL_CTX_set_alpn_protos(ctx, (const unsigned char *)"\2h2\10http/1.1", 12);
}

static void test_foreign(void)
{
	OK(foreign(plain), "a client that says nothing of protocols is served");
	OK(foreign(h2_too), "and one that knows http/1.1 among others");
	OK(!foreign(h2_only), "not one that knows others only");
	OK(!foreign(old), "nor one that knows TLS 1.1 only");
	OK(!foreign(weak), "nor one with ciphers without forward secrecy or AEAD");
}

/* How a handshake ends; err says why not. */
static bool trusts(struct tls_context *server, const struct tls_trust *t, struct err *err)
{
	struct pair p = pair_of(server, t, 65536);
	bool ok = open_both(&p);

	*err = p.client.err;
	if (!ok)
		OK(p.client.failed && tls_untrusted(p.client.tls) &&
			   p.client.err.code == ERR_DENIED &&
			   tls_session_state(p.server.tls) == TLS_BROKEN,
		   "the client refuses, the server is told");
	pair_fini(&p);
	return ok;
}

static void test_trust(void)
{
	struct authority bad = certs_authority(folder, "bad");
	struct tls_context *s[3];
	struct err err;

	certs_server(folder, "old.example", -3 * CERTS_DAY, -CERTS_DAY, &good);
	certs_server(folder, "early.example", CERTS_DAY, 2 * CERTS_DAY, &good);
	certs_server(folder, "forged.example", -CERTS_DAY, CERTS_DAY, &bad);
	s[0] = server_of("old.example");
	s[1] = server_of("early.example");
	s[2] = server_of("forged.example");
	OK(trusts(server_ctx, &by_authority, &err),
	   "a certificate of an authority is good");
	OK(!trusts(server_ctx, &(struct tls_trust){ .host = "other.example" }, &err),
	   "for its own name only: %s", err.text);
	OK(!trusts(server_ctx, &(struct tls_trust){ .host = "127.0.0.1" }, &err),
	   "nor for an address: %s", err.text);
	OK(!trusts(s[0], &(struct tls_trust){ .host = "old.example" }, &err) &&
		   strstr(err.text, "expired"),
	   "an expired one is not: %s", err.text);
	OK(!trusts(s[1], &(struct tls_trust){ .host = "early.example" }, &err) &&
		   strstr(err.text, "not yet valid"),
	   "nor one of tomorrow: %s", err.text);
	OK(!trusts(s[2], &(struct tls_trust){ .host = "forged.example" }, &err),
	   "nor one of an authority that nobody trusts: %s", err.text);
	OK(trusts(s[2], &(struct tls_trust){ .host = "x", .anybody = true }, &err),
	   "who asks for no check gets none");

	const char *pin = tls_server_certificate(s[2])->fingerprint;
	OK(trusts(s[2], &(struct tls_trust){ .host = "any.name", .pin = pin }, &err),
	   "a pinned certificate is good by itself");
	OK(!trusts(server_ctx, &(struct tls_trust){ .host = "yard.example", .pin = pin },
		   &err),
	   "and with a pin no authority helps another one");
	OK(strstr(err.text, "the certificate of yard.example changed: was SHA256:") &&
		   strstr(err.text, pin) &&
		   strstr(err.text, tls_server_certificate(server_ctx)->fingerprint),
	   "it says which it was and which it is");
	for (size_t i = 0; i < COUNT_OF(s); i++)
		tls_context_destroy(s[i]);
	certs_authority_fini(&bad);
}

static void test_shown(void)
{
	struct pair p = pair_of(
		server_ctx,
		&(struct tls_trust){ .host = "yard.example", .anybody = true }, 65536);

	IS(tls_peer_fingerprint(p.client.tls),
	   tls_server_certificate(server_ctx)->fingerprint,
	   "both sides name the certificate alike");
	pair_fini(&p);
}

int main(void)
{
	struct err err;

	snprintf(folder, sizeof folder, "/tmp/yard-tls-XXXXXX");
	certs_must(mkdtemp(folder) != NULL, "mkdtemp");
	good = certs_authority(folder, "good");
	certs_server(folder, "yard.example", -CERTS_DAY, CERTS_DAY, &good);
	AUTO_FREE char *authorities = file("good", "pem");
	server_ctx = server_of("yard.example");
	client_ctx = tls_client_create(authorities, &err);
	certs_must(client_ctx, "tls_client_create");

	test_pieces();
	test_big();
	test_cut();
	test_tampered();
	test_garbage();
	test_renegotiation();
	test_foreign();
	test_trust();
	test_shown();

	tls_context_destroy(client_ctx);
	tls_context_destroy(server_ctx);
	certs_authority_fini(&good);
	static const char *const names[] = { "good",          "bad",
					     "yard.example",  "old.example",
					     "early.example", "forged.example" };
	for (size_t i = 0; i < COUNT_OF(names); i++) {
		AUTO_FREE char *cert = file(names[i], "pem"),
			       *key = file(names[i], "key");
		unlink(cert);
		unlink(key);
	}
	rmdir(folder);
	return END();
}
