// SPDX-License-Identifier: Apache-2.0
/* certs.h - certificates that the product would never make: of an authority of the test's
 * own, for whatever name, and of whatever time; and two sessions with a wire between them.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls/tls.h"

#define CERTS_DAY 86400L

struct authority {
	EVP_PKEY *key;
	X509 *cert;
};

static void certs_must(bool ok, const char *what)
{
	if (ok)
		return;
	printf("Bail out! %s\n", what);
	exit(1);
}

static void certs_extension(X509 *cert, X509 *issuer, int what, const char *value)
{
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, what, value);
	certs_must(e && X509_add_ext(cert, e, -1) == 1, value);
	X509_EXTENSION_free(e);
}

/* by NULL: an authority. */
static X509 *certs_make(EVP_PKEY *key, const char *name, long from_s, long until_s,
			struct authority *by)
{
	static long serial = 1;
	X509 *cert = X509_new();
	X509_NAME *subject = X509_get_subject_name(cert);

	X509_set_version(cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(cert), serial++);
	X509_gmtime_adj(X509_getm_notBefore(cert), from_s);
	X509_gmtime_adj(X509_getm_notAfter(cert), until_s);
	X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
				   (const unsigned char *)"test", -1, -1, 0);
	if (!by)
		X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_ASC,
					   (const unsigned char *)"authority", -1, -1, 0);
	X509_set_issuer_name(cert, by ? X509_get_subject_name(by->cert) : subject);
	X509_set_pubkey(cert, key);
	certs_extension(cert, cert, NID_basic_constraints,
			by ? "critical,CA:FALSE" : "critical,CA:TRUE");
	if (by) {
		AUTO_FREE char *san = str_printf("DNS:%s", name);
		certs_extension(cert, by->cert, NID_subject_alt_name, san);
	}
	certs_must(X509_sign(cert, by ? by->key : key, EVP_sha256()) > 0, "sign");
	return cert;
}

static void certs_save(const char *folder, const char *name, EVP_PKEY *key, X509 *cert)
{
	AUTO_FREE char *cert_path = str_printf("%s/%s.pem", folder, name);
	AUTO_FREE char *key_path = str_printf("%s/%s.key", folder, name);
	FILE *f = fopen(cert_path, "w");

	certs_must(f && PEM_write_X509(f, cert) == 1 && fclose(f) == 0, cert_path);
	f = fopen(key_path, "w");
	certs_must(f && PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL) == 1 &&
			   fclose(f) == 0,
		   key_path);
	chmod(key_path, 0600);
}

static struct authority certs_authority(const char *folder, const char *name)
{
	struct authority a = { .key = EVP_EC_gen("P-256") };

	a.cert = certs_make(a.key, name, -CERTS_DAY, CERTS_DAY, NULL);
	certs_save(folder, name, a.key, a.cert);
	return a;
}

/* folder/name.pem and folder/name.key, for the host `name`. */
static void certs_server(const char *folder, const char *name, long from_s, long until_s,
			 struct authority *by)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = certs_make(key, name, from_s, until_s, by);

	certs_save(folder, name, key, cert);
	X509_free(cert);
	EVP_PKEY_free(key);
}

static void certs_authority_fini(struct authority *a)
{
	X509_free(a->cert);
	EVP_PKEY_free(a->key);
}
