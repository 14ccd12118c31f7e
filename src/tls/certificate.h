// SPDX-License-Identifier: Apache-2.0
/* certificate.h - a certificate of one's own, and how people compare certificates.
 *
 * A fingerprint is the SHA-256 of the whole certificate, written as openssl and browsers
 * do: "SHA256:AB:CD:…", 32 bytes.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define TLS_HASH_BYTES        32
#define TLS_FINGERPRINT_BYTES 103 /* with the NUL */

struct tls_certificate {
	char fingerprint[TLS_FINGERPRINT_BYTES];
	int64_t from_ms, until_ms; /* it holds between these; wall clock */
};

/* Makes folder/cert.pem and folder/key.pem unless they are there: ECDSA P-256, ten years,
 * signed by itself, for the names and addresses given (what is
 * neither is left out).  At no moment, also of a crash, is
 * one there without the other, and the key is never anybody else's to read. */
int tls_certificate_make(const char *folder, const char *const *names, size_t count,
			 struct err *err);

void tls_fingerprint_write(const unsigned char hash[TLS_HASH_BYTES],
			   char out[TLS_FINGERPRINT_BYTES]);
/* As a person writes it: with or without "SHA256:" and colons, in any case. */
int tls_fingerprint_read(const char *text, char out[TLS_FINGERPRINT_BYTES],
			 struct err *err);
