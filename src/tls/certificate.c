// SPDX-License-Identifier: Apache-2.0
#include "tls/certificate.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "base/mem.h"
#include "base/str.h"
#include "tls/internal.h"

#define YEARS 10
#define DAY_S 86400L
#define SERIAL_BITS                                                                      \
	159 /* of at most 20 bytes, positive: nobody numbers certificates twice */
#define NAME_MAX_BYTES 253

void tls_fingerprint_of(const X509 *cert, char out[TLS_FINGERPRINT_BYTES])
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned len = 0;

	if (X509_digest(cert, EVP_sha256(), hash, &len) != 1 || len != TLS_HASH_BYTES)
		abort(); /* memory */
	tls_fingerprint_write(hash, out);
}

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			     "0123456789.-_");

	return n > 0 && n <= NAME_MAX_BYTES && !s[n];
}

/* The bytes of an address, 0: it is none. */
static size_t address_bytes(const char *text, unsigned char out[sizeof(struct in6_addr)])
{
	if (inet_pton(AF_INET, text, out) == 1)
		return 4;
	return inet_pton(AF_INET6, text, out) == 1 ? 16 : 0;
}

static GENERAL_NAME *make_name(const char *text)
{
	unsigned char bytes[sizeof(struct in6_addr)];
	size_t len = address_bytes(text, bytes);
	ASN1_STRING *value = len ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
	GENERAL_NAME *name = GENERAL_NAME_new();

	if (!value || !name ||
	    ASN1_STRING_set(value, len ? (const void *)bytes : text,
			    len ? (int)len : -1) != 1)
		abort(); /* memory */
	GENERAL_NAME_set0_value(name, len ? GEN_IPADD : GEN_DNS, value);
	return name;
}

static int add_names(X509 *cert, const char *const *names, size_t count)
{
	GENERAL_NAMES *list = sk_GENERAL_NAME_new_null();
	int rc = 1;

	for (size_t i = 0; i < count; i++) {
		unsigned char bytes[sizeof(struct in6_addr)];
		bool wanted = is_name(names[i]) || address_bytes(names[i], bytes);
		for (size_t k = 0; k < i; k++)
			wanted = wanted && !str_eq(names[i], names[k]);
		if (wanted)
			sk_GENERAL_NAME_push(list, make_name(names[i]));
	}
	if (sk_GENERAL_NAME_num(list) > 0)
		rc = X509_add1_ext_i2d(cert, NID_subject_alt_name, list, 0, 0);
	sk_GENERAL_NAME_pop_free(list, GENERAL_NAME_free);
	return rc;
}

static int add_extension(X509 *cert, int what, const char *value)
{
	X509V3_CTX ctx;

	X509V3_set_ctx_nodb(&ctx);
	X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
	X509_EXTENSION *e = X509V3_EXT_conf_nid(NULL, &ctx, what, value);
	int rc = e ? X509_add_ext(cert, e, -1) : 0;
	X509_EXTENSION_free(e);
	return rc;
}

static int add_serial(X509 *cert)
{
	BIGNUM *n = BN_new();
	int rc = n && BN_rand(n, SERIAL_BITS, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) == 1 &&
		 BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));

	BN_free(n);
	return rc;
}

/* It vouches for itself and for nobody else (CA:FALSE): who trusts it trusts one server. */
static X509 *make_certificate(EVP_PKEY *key, const char *const *names, size_t count)
{
	X509 *cert = X509_new();
	X509_NAME *subject = cert ? X509_get_subject_name(cert) : NULL;
	const char *first = count && strlen(names[0]) <= 64 && is_name(names[0])
				    ? names[0]
				    : "localhost";

	if (subject && X509_set_version(cert, X509_VERSION_3) == 1 && add_serial(cert) &&
	    X509_gmtime_adj(X509_getm_notBefore(cert), -DAY_S) && /* clocks differ */
	    X509_time_adj_ex(X509_getm_notAfter(cert), YEARS * 365 + YEARS / 4, 0,
			     NULL) &&
	    X509_NAME_add_entry_by_txt(subject, "O", MBSTRING_ASC,
				       (const unsigned char *)"Trainyard", -1, -1,
				       0) == 1 &&
	    X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC,
				       (const unsigned char *)first, -1, -1, 0) == 1 &&
	    X509_set_issuer_name(cert, subject) == 1 && X509_set_pubkey(cert, key) == 1 &&
	    add_extension(cert, NID_basic_constraints, "critical,CA:FALSE") == 1 &&
	    add_extension(cert, NID_key_usage, "critical,digitalSignature") == 1 &&
	    add_extension(cert, NID_ext_key_usage, "serverAuth") == 1 &&
	    add_extension(cert, NID_subject_key_identifier, "hash") == 1 &&
	    add_names(cert, names, count) == 1 && X509_sign(cert, key, EVP_sha256()) > 0)
		return cert;
	X509_free(cert);
	return NULL;
}

/* What is being written: one of the two. */
struct pem {
	EVP_PKEY *key;
	X509 *cert;
};

static int write_pem(const char *path, mode_t mode, const struct pem *p, struct err *err)
{
	AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0 || fchmod(fd, mode) < 0)
		return err_sys(err, "make %s", path);
	BIO *file = BIO_new_fd(fd, BIO_NOCLOSE);
	int rc = !file    ? 0
		 : p->key ? PEM_write_bio_PrivateKey(file, p->key, NULL, NULL, 0, NULL,
						     NULL)
			  : PEM_write_bio_X509(file, p->cert);
	BIO_free(file);
	if (rc != 1)
		return tls_fail(err, ERR_IO, "write %s", path);
	return fsync(fd) < 0 ? err_sys(err, "write %s", path) : 0;
}

static int sync_folder(const char *path, struct err *err)
{
	AUTO_FD int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 || fsync(fd) < 0 ? err_sys(err, "sync %s", path) : 0;
}

/* Both files appear at once, when their finished folder gets its name. */
static int write_pair(const char *folder, EVP_PKEY *key, X509 *cert, struct err *err)
{
	AUTO_FREE char *fresh = str_printf("%s.new", folder);
	AUTO_FREE char *key_path = str_printf("%s/key.pem", fresh);
	AUTO_FREE char *cert_path = str_printf("%s/cert.pem", fresh);
	AUTO_FREE char *copy = mem_strdup(folder);

	unlink(key_path); /* of one who was killed here */
	unlink(cert_path);
	rmdir(fresh);
	if (mkdir(fresh, 0755) < 0)
		return err_sys(err, "make folder %s", fresh);
	if (write_pem(key_path, 0600, &(struct pem){ .key = key }, err) < 0 ||
	    write_pem(cert_path, 0644, &(struct pem){ .cert = cert }, err) < 0 ||
	    sync_folder(fresh, err) < 0)
		return -1;
	if (rename(fresh, folder) < 0)
		return err_sys(err, "rename %s to %s", fresh, folder);
	return sync_folder(dirname(copy), err);
}

int tls_certificate_make(const char *folder, const char *const *names, size_t count,
			 struct err *err)
{
	AUTO_FREE char *key_path = str_printf("%s/key.pem", folder);
	AUTO_FREE char *cert_path = str_printf("%s/cert.pem", folder);
	bool have_key = access(key_path, F_OK) == 0;
	bool have_cert = access(cert_path, F_OK) == 0;

	if (have_key && have_cert)
		return 0;
	if (have_key || have_cert)
		return err_set(err, ERR_CORRUPT,
			       "%s is gone: put it back, or remove the folder for a new "
			       "certificate",
			       have_key ? cert_path : key_path);
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *cert = key ? make_certificate(key, names, count) : NULL;
	int rc = cert ? write_pair(folder, key, cert, err)
		      : tls_fail(err, ERR_INTERNAL, "make a certificate");
	X509_free(cert);
	EVP_PKEY_free(key);
	return rc;
}
