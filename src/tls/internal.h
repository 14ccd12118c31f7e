// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the room's own files share; OpenSSL is seen here and below only. */
#pragma once

#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/err.h"
#include "tls/tls.h"

struct tls_context {
	SSL_CTX *ctx;
	struct tls_certificate certificate; /* a server's */
	bool ask_system; /* a client's: its authorities are the system's, read when asked */
};

void tls_fingerprint_of(const X509 *cert, char out[TLS_FINGERPRINT_BYTES]);
/* err_set with OpenSSL's own reason behind it; forgets that reason.  Gives -1. */
int tls_fail(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* A client's look at the certificate, for SSL_CTX_set_cert_verify_callback(). */
int tls_judge(X509_STORE_CTX *store, void *arg);
