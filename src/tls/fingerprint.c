// SPDX-License-Identifier: Apache-2.0
/* fingerprint.c - fingerprints as text.  OpenSSL is not needed for it, and a program that
 * only compares them must not have to load that. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tls/certificate.h"

void tls_fingerprint_write(const unsigned char hash[TLS_HASH_BYTES],
			   char out[TLS_FINGERPRINT_BYTES])
{
	size_t at = (size_t)snprintf(out, TLS_FINGERPRINT_BYTES, "SHA256");

	for (size_t i = 0; i < TLS_HASH_BYTES; i++)
		at += (size_t)snprintf(out + at, TLS_FINGERPRINT_BYTES - at, ":%02X",
				       hash[i]);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)tolower((unsigned char)c);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int tls_fingerprint_read(const char *text, char out[TLS_FINGERPRINT_BYTES],
			 struct err *err)
{
	unsigned char hash[TLS_HASH_BYTES];
	const char *p = strncasecmp(text, "SHA256:", 7) == 0 ? text + 7 : text;
	size_t n = 0;

	for (; n < TLS_HASH_BYTES; n++) {
		int high = hex_digit(p[0]), low = high < 0 ? -1 : hex_digit(p[1]);
		if (low < 0)
			break;
		hash[n] = (unsigned char)(high << 4 | low);
		p += 2;
		p += *p == ':' && n + 1 < TLS_HASH_BYTES;
	}
	if (n < TLS_HASH_BYTES || *p)
		return err_set(err, ERR_INVALID,
			       "'%.120s' is not SHA256: and 32 bytes in hex, such as "
			       "`openssl x509 -fingerprint -sha256` prints",
			       text);
	tls_fingerprint_write(hash, out);
	return 0;
}
