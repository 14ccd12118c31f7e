// SPDX-License-Identifier: Apache-2.0
/* context.c - what a side brings to every session: keys, ciphers, whom it trusts. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/mem.h"
#include "tls/internal.h"

/* With TLS 1.3 all there is; of 1.2 what has forward secrecy and an AEAD. */
#define CIPHERS_12 "ECDHE+AESGCM:ECDHE+CHACHA20"
#define GROUPS     "X25519:P-256:P-384"

static const unsigned char http11[] = { 8, 'h', 't', 't', 'p', '/', '1', '.', '1' };

/* A client that speaks other protocols only may be talking to a server it was led away
 * from: it is turned away.  One that says nothing about it is fine. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_len,
			   const unsigned char *in, unsigned in_len, void *arg)
{
	unsigned char *chosen;

	(void)ssl, (void)arg;
	if (SSL_select_next_proto(&chosen, out_len, http11, sizeof http11, in, in_len) !=
	    OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/* A daemon cannot be asked for a passphrase, and must not wait for one. */
static int no_passphrase(char *buf, int size, int rwflag, void *arg)
{
	(void)buf, (void)size, (void)rwflag, (void)arg;
	return -1;
}

static struct tls_context *context_create(const SSL_METHOD *method, struct err *err)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx || SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION) != 1 ||
	    SSL_CTX_set_cipher_list(ctx, CIPHERS_12) != 1 ||
	    SSL_CTX_set1_groups_list(ctx, GROUPS) != 1) {
		SSL_CTX_free(ctx);
		tls_fail(err, ERR_INTERNAL, "set up TLS");
		return NULL;
	}
	SSL_CTX_set_security_level(ctx, 2);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
					 SSL_OP_CIPHER_SERVER_PREFERENCE);
	/* An idle connection gives its record buffers back; what is written is taken whole. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_clear_mode(ctx, SSL_MODE_ENABLE_PARTIAL_WRITE);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_default_passwd_cb(ctx, no_passphrase);
	struct tls_context *c = mem_alloc(1, sizeof *c);
	c->ctx = ctx;
	return c;
}

void tls_context_destroy(struct tls_context *c)
{
	if (!c)
		return;
	SSL_CTX_free(c->ctx);
	free(c);
}

/* The key file as it was opened, so that what is checked is what is read. */
static int check_key(const char *path, int fd, struct err *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_sys(err, "look at %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s is not a file", path);
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(err, ERR_DENIED,
			       "%s belongs to uid %u: they could change it", path,
			       st.st_uid);
	mode_t open = st.st_uid == 0 ? 0037 : 0077;
	if (st.st_mode & open)
		return err_set(err, ERR_DENIED,
			       "%s is open to others (mode %04o): chmod 600 it", path,
			       st.st_mode & 07777);
	return 0;
}

static int load_key(struct tls_context *c, const char *path, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return err_sys(err, "open %s", path);
	if (check_key(path, fd, err) < 0)
		return -1;
	BIO *file = BIO_new_fd(fd, BIO_NOCLOSE);
	EVP_PKEY *key =
		file ? PEM_read_bio_PrivateKey(file, NULL, no_passphrase, NULL) : NULL;
	BIO_free(file);
	if (!key)
		return tls_fail(err, ERR_INVALID,
				"%s holds no private key in PEM without a passphrase",
				path);
	int rc = SSL_CTX_use_PrivateKey(c->ctx, key);
	EVP_PKEY_free(key);
	if (rc != 1)
		return tls_fail(err, ERR_INVALID, "%s is not the certificate's key",
				path);
	return 0;
}

static int64_t time_ms(const ASN1_TIME *t)
{
	struct tm tm = { 0 };

	return t && ASN1_TIME_to_tm(t, &tm) == 1 ? (int64_t)timegm(&tm) * 1000 : 0;
}

static int load_pair(struct tls_context *c, const char *certificate, const char *key,
		     struct err *err)
{
	if (access(certificate, R_OK) < 0)
		return err_sys(err, "open %s", certificate);
	if (SSL_CTX_use_certificate_chain_file(c->ctx, certificate) != 1)
		return tls_fail(err, ERR_INVALID, "%s holds no certificate in PEM",
				certificate);
	if (load_key(c, key, err) < 0)
		return -1;
	X509 *cert = SSL_CTX_get0_certificate(c->ctx);
	tls_fingerprint_of(cert, c->certificate.fingerprint);
	c->certificate.from_ms = time_ms(X509_get0_notBefore(cert));
	c->certificate.until_ms = time_ms(X509_get0_notAfter(cert));
	return 0;
}

struct tls_context *tls_server_create(const char *certificate, const char *key,
				      struct err *err)
{
	struct tls_context *c = context_create(TLS_server_method(), err);

	if (!c)
		return NULL;
	SSL_CTX_set_alpn_select_cb(c->ctx, choose_protocol, NULL);
	if (load_pair(c, certificate, key, err) < 0) {
		tls_context_destroy(c);
		return NULL;
	}
	return c;
}

struct tls_context *tls_client_create(const char *authorities, struct err *err)
{
	struct tls_context *c = context_create(TLS_client_method(), err);

	if (!c)
		return NULL;
	SSL_CTX_set_alpn_protos(c->ctx, http11, sizeof http11);
	SSL_CTX_set_verify(c->ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(c->ctx, tls_judge, c);
	c->ask_system = !authorities;
	if (authorities && SSL_CTX_load_verify_file(c->ctx, authorities) != 1) {
		tls_fail(err, ERR_INVALID, "%s: certificates of authorities",
			 authorities);
		tls_context_destroy(c);
		return NULL;
	}
	return c;
}

const struct tls_certificate *tls_server_certificate(const struct tls_context *c)
{
	return &c->certificate;
}
