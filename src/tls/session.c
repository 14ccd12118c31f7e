// SPDX-License-Identifier: Apache-2.0
#include "tls/tls.h"

#include <arpa/inet.h>
#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls/internal.h"

struct tls_session {
	SSL *ssl;
	BIO *in, *out; /* owned by ssl */
	enum tls_state state;
	bool end_said;
	/* A client's: */
	char *host;
	char pin[TLS_FINGERPRINT_BYTES], seen[TLS_FINGERPRINT_BYTES]; /* "": none */
	bool anybody, untrusted;
	struct err why; /* untrusted */
};

int tls_fail(struct err *err, enum err_code code, const char *fmt, ...)
{
	unsigned long last = ERR_peek_last_error();
	const char *reason = last ? ERR_reason_error_string(last) : NULL;
	char text[ERR_TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	ERR_clear_error();
	return reason ? err_set(err, code, "%s: %s", text, reason)
		      : err_set(err, code, "%s", text);
}

static struct tls_session *session_create(struct tls_context *c)
{
	struct tls_session *s = mem_alloc(1, sizeof *s);

	s->ssl = SSL_new(c->ctx);
	s->in = BIO_new(BIO_s_mem());
	s->out = BIO_new(BIO_s_mem());
	if (!s->ssl || !s->in || !s->out)
		abort(); /* as mem_alloc(): out of memory ends the process */
	BIO_set_mem_eof_return(s->in, -1); /* empty means "later", not "over" */
	SSL_set_bio(s->ssl, s->in, s->out);
	SSL_set_app_data(s->ssl, s);
	return s;
}

void tls_session_destroy(struct tls_session *s)
{
	if (!s)
		return;
	SSL_free(s->ssl);
	free(s->host);
	free(s);
}

enum tls_state tls_session_state(const struct tls_session *s)
{
	return s->state;
}

const char *tls_peer_fingerprint(const struct tls_session *s)
{
	return s->seen;
}

bool tls_untrusted(const struct tls_session *s)
{
	return s->untrusted;
}

/* What the last call of OpenSSL came to: 0 it wants more or is over, -1 with err. */
static int settle(struct tls_session *s, int rc, struct err *err)
{
	switch (SSL_get_error(s->ssl, rc)) {
	case SSL_ERROR_NONE:
	case SSL_ERROR_WANT_READ:
	case SSL_ERROR_WANT_WRITE:
		return 0;
	case SSL_ERROR_ZERO_RETURN:
		s->state = TLS_ENDED;
		return 0;
	default:
		break;
	}
	bool shaking = s->state == TLS_SHAKING;
	s->state = TLS_BROKEN;
	if (s->untrusted) {
		ERR_clear_error();
		if (err)
			*err = s->why;
		return -1;
	}
	return tls_fail(err, ERR_IO, shaking ? "the TLS handshake failed" : "TLS");
}

static int shake(struct tls_session *s, struct err *err)
{
	ERR_clear_error();
	int rc = SSL_do_handshake(s->ssl);
	if (rc == 1) {
		s->state = TLS_OPEN;
		return 0;
	}
	return settle(s, rc, err);
}

struct tls_session *tls_accept(struct tls_context *c)
{
	struct tls_session *s = session_create(c);

	SSL_set_accept_state(s->ssl);
	return s;
}

/* "fe80::1%eth0" is fe80::1 to everybody but the kernel. */
static char *bare_host(const char *host)
{
	return mem_strndup(host, strcspn(host, "%"));
}

static bool is_address(const char *host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, bytes) == 1 ||
	       inet_pton(AF_INET6, host, bytes) == 1;
}

struct tls_session *tls_connect(struct tls_context *c, const struct tls_trust *trust,
				struct err *err)
{
	struct tls_session *s = session_create(c);
	X509_VERIFY_PARAM *want = SSL_get0_param(s->ssl);
	int rc;

	s->anybody = trust->anybody;
	s->host = bare_host(trust->host);
	if (trust->pin)
		snprintf(s->pin, sizeof s->pin, "%s", trust->pin);
	if (is_address(s->host))
		rc = X509_VERIFY_PARAM_set1_ip_asc(want, s->host);
	else
		rc = SSL_set_tlsext_host_name(s->ssl, s->host) == 1 &&
		     SSL_set1_host(s->ssl, s->host) == 1;
	if (rc != 1) {
		tls_fail(err, ERR_INVALID, "'%s' is no host name", s->host);
		tls_session_destroy(s);
		return NULL;
	}
	SSL_set_connect_state(s->ssl);
	if (shake(s, err) < 0) {
		tls_session_destroy(s);
		return NULL;
	}
	return s;
}

static int distrust(struct tls_session *s, X509_STORE_CTX *store, int reason)
{
	s->untrusted = true;
	X509_STORE_CTX_set_error(store, reason);
	return 0;
}

/* Asked by OpenSSL in the middle of the handshake, before anything clear is sent. */
int tls_judge(X509_STORE_CTX *store, void *arg)
{
	const struct tls_context *c = arg;
	SSL *ssl =
		X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
	struct tls_session *s = SSL_get_app_data(ssl);
	const X509 *cert = X509_STORE_CTX_get0_cert(store);

	if (!cert)
		return 0;
	tls_fingerprint_of(cert, s->seen);
	if (s->anybody)
		return 1;
	if (s->pin[0]) {
		if (str_eq(s->seen, s->pin))
			return 1;
		err_set(&s->why, ERR_DENIED,
			"the certificate of %s changed: was %s, is %s", s->host, s->pin,
			s->seen);
		return distrust(s, store, X509_V_ERR_CERT_REJECTED);
	}
	/* Some hundred kilobytes of PEM, which who pins a certificate never needs.  A system
	 * without any is no error: nobody is trusted then. */
	if (c->ask_system)
		X509_STORE_set_default_paths(X509_STORE_CTX_get0_store(store));
	if (X509_verify_cert(store) == 1)
		return 1;
	int reason = X509_STORE_CTX_get_error(store);
	err_set(&s->why, ERR_DENIED, "the certificate of %s is not trusted: %s (%s)",
		s->host, X509_verify_cert_error_string(reason), s->seen);
	return distrust(s, store, reason);
}

int tls_feed(struct tls_session *s, const void *data, size_t len, struct err *err)
{
	if (s->state == TLS_BROKEN)
		return err_set(err, ERR_IO, "the TLS session is broken");
	if (s->state == TLS_ENDED)
		return 0; /* after its own last word a peer has nothing to say */
	if (len > TLS_UNREAD_MAX || BIO_ctrl_pending(s->in) > TLS_UNREAD_MAX - len) {
		s->state = TLS_BROKEN;
		return err_set(err, ERR_TOO_LARGE, "TLS: more came than was read");
	}
	if (len && BIO_write(s->in, data, (int)len) != (int)len)
		abort(); /* memory */
	return s->state == TLS_SHAKING ? shake(s, err) : 0;
}

ssize_t tls_read(struct tls_session *s, void *out, size_t max, struct err *err)
{
	if (s->state == TLS_SHAKING || s->state == TLS_ENDED)
		return 0;
	if (s->state == TLS_BROKEN)
		return err_set(err, ERR_IO, "the TLS session is broken");
	ERR_clear_error();
	int rc = SSL_read(s->ssl, out, max < INT_MAX ? (int)max : INT_MAX);
	return rc > 0 ? rc : settle(s, rc, err);
}

int tls_write(struct tls_session *s, const void *data, size_t len, struct err *err)
{
	size_t done = 0;

	if (s->state == TLS_BROKEN || s->end_said)
		return err_set(err, ERR_IO, "the TLS session is over");
	assert(s->state != TLS_SHAKING);
	ERR_clear_error();
	if (len == 0 || SSL_write_ex(s->ssl, data, len, &done) == 1)
		return 0;
	s->state = TLS_BROKEN;
	return tls_fail(err, ERR_IO, "TLS");
}

size_t tls_take(struct tls_session *s, void *out, size_t max)
{
	int n = BIO_read(s->out, out, max < INT_MAX ? (int)max : INT_MAX);

	return n > 0 ? (size_t)n : 0;
}

void tls_end(struct tls_session *s)
{
	if (s->end_said || s->state == TLS_SHAKING || s->state == TLS_BROKEN)
		return;
	s->end_said = true;
	ERR_clear_error();
	SSL_shutdown(s->ssl);
}

int tls_eof(struct tls_session *s, struct err *err)
{
	if (s->state == TLS_ENDED)
		return 0;
	bool shaking = s->state == TLS_SHAKING;
	s->state = TLS_BROKEN;
	return err_set(err, ERR_IO,
		       shaking ? "the connection ended during the TLS handshake"
			       : "the connection was cut off");
}
