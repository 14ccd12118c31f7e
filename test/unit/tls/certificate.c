// SPDX-License-Identifier: Apache-2.0
/* The certificate the daemon makes for itself, the keys it refuses, fingerprints as text. */
#include "tls/certificate.h"

#include <errno.h>
#include <time.h>

#include "certs.h"
#include "tap.h"

static char base[64];

static char *path(const char *name)
{
	return str_printf("%s/%s", base, name);
}

static mode_t mode_of(const char *name)
{
	AUTO_FREE char *p = path(name);
	struct stat st;

	return stat(p, &st) == 0 ? st.st_mode & 07777 : 0;
}

static X509 *load(const char *name)
{
	AUTO_FREE char *p = path(name);
	FILE *f = fopen(p, "r");
	X509 *cert = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;

	certs_must(cert, p);
	fclose(f);
	return cert;
}

static struct tls_context *serve(const char *cert, const char *key, struct err *err)
{
	AUTO_FREE char *c = path(cert), *k = path(key);

	return tls_server_create(c, k, err);
}

static void test_made(void)
{
	static const char *const names[] = { "yard-host",        "localhost",
					     "127.0.0.1",        "::1",
					     "10.2.3.4",         "localhost",
					     "bad name,DNS:evil" };
	AUTO_FREE char *folder = path("tls"), *stale = path("tls.new");
	AUTO_FREE char *stale_key = path("tls.new/key.pem");
	struct err err;

	mkdir(stale, 0755); /* as a crash may leave it */
	FILE *f = fopen(stale_key, "w");
	certs_must(f && fputs("half", f) >= 0 && fclose(f) == 0, stale_key);
	OK(tls_certificate_make(folder, names, COUNT_OF(names), &err) == 0,
	   "a certificate is made, also after one who was killed at it");
	OK(access(stale, F_OK) < 0, "nothing half made is left");
	IS_INT(mode_of("tls/key.pem"), 0600, "the key is its owner's alone");
	IS_INT(mode_of("tls/cert.pem"), 0644, "the certificate is for everybody");

	X509 *cert = load("tls/cert.pem");
	OK(X509_check_host(cert, "yard-host", 0, 0, NULL) == 1 &&
		   X509_check_host(cert, "localhost", 0, 0, NULL) == 1 &&
		   X509_check_ip_asc(cert, "127.0.0.1", 0) == 1 &&
		   X509_check_ip_asc(cert, "::1", 0) == 1 &&
		   X509_check_ip_asc(cert, "10.2.3.4", 0) == 1,
	   "it is for every name and address given");
	OK(X509_check_host(cert, "evil", 0, 0, NULL) != 1 &&
		   X509_check_ip_asc(cert, "10.2.3.5", 0) != 1,
	   "and for no other");
	OK(EVP_PKEY_get_bits(X509_get0_pubkey(cert)) == 256 &&
		   EVP_PKEY_is_a(X509_get0_pubkey(cert), "EC"),
	   "its key is on P-256");
	OK(X509_verify(cert, X509_get0_pubkey(cert)) == 1, "it is signed by itself");
	OK(X509_check_ca(cert) == 0, "and can sign for nobody else");
	X509_free(cert);

	struct tls_context *c = serve("tls/cert.pem", "tls/key.pem", &err);
	OK(c, "a server takes it");
	const struct tls_certificate first = *tls_server_certificate(c);
	int64_t now_ms = (int64_t)time(NULL) * 1000, year_ms = 365LL * 86400 * 1000;
	OK(first.from_ms < now_ms && first.until_ms > now_ms + 10 * year_ms - 1000 &&
		   first.until_ms < now_ms + 11 * year_ms,
	   "it holds from now on for ten years");
	tls_context_destroy(c);

	OK(tls_certificate_make(folder, names, COUNT_OF(names), &err) == 0,
	   "asked again");
	c = serve("tls/cert.pem", "tls/key.pem", &err);
	IS(tls_server_certificate(c)->fingerprint, first.fingerprint,
	   "it stays the same one: others have pinned it");
	tls_context_destroy(c);
}

static void test_refused(void)
{
	AUTO_FREE char *folder = path("tls"), *other = path("other");
	AUTO_FREE char *key = path("tls/key.pem"), *cert = path("tls/cert.pem");
	AUTO_FREE char *locked = path("locked.pem");
	struct err err;

	OK(!serve("tls/absent.pem", "tls/key.pem", &err) &&
		   strstr(err.text, "absent.pem"),
	   "a certificate that is not there: %s", err.text);
	OK(!serve("tls/cert.pem", "tls/absent.pem", &err) &&
		   strstr(err.text, "absent.pem"),
	   "a key that is not there: %s", err.text);
	OK(!serve("tls/key.pem", "tls/key.pem", &err) && err.code == ERR_INVALID,
	   "a certificate that is none: %s", err.text);
	OK(!serve("tls/cert.pem", "tls/cert.pem", &err), "a key that is none: %s",
	   err.text);
	OK(!serve("tls/cert.pem", "tls", &err), "a folder as key: %s", err.text);

	tls_certificate_make(other, NULL, 0, &err);
	OK(!serve("tls/cert.pem", "other/key.pem", &err) &&
		   strstr(err.text, "not the certificate's key"),
	   "another's key: %s", err.text);
	/* As root, a key that root owns may be read by its group. */
	chmod(key, geteuid() == 0 ? 0604 : 0640);
	OK(!serve("tls/cert.pem", "tls/key.pem", &err) && err.code == ERR_DENIED,
	   "a key that others can read: %s", err.text);
	chmod(key, 0660);
	OK(!serve("tls/cert.pem", "tls/key.pem", &err) && err.code == ERR_DENIED,
	   "or that a group can write: %s", err.text);
	chmod(key, 0600);

	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	FILE *f = fopen(locked, "w");
	certs_must(f &&
			   PEM_write_PrivateKey(f, pkey, EVP_aes_128_cbc(),
						(const unsigned char *)"word", 4, NULL,
						NULL) == 1 &&
			   fclose(f) == 0,
		   locked);
	EVP_PKEY_free(pkey);
	chmod(locked, 0600);
	OK(!serve("tls/cert.pem", "locked.pem", &err) && strstr(err.text, "passphrase"),
	   "a key with a passphrase, without asking for it: %s", err.text);

	unlink(cert);
	OK(tls_certificate_make(folder, NULL, 0, &err) < 0 && err.code == ERR_CORRUPT,
	   "one of the two gone is said, not repaired by a new one: %s", err.text);
}

static void test_text(void)
{
	static const char full[] =
		"SHA256:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:"
		"66:77:88:99:AA:BB:CC:DD:EE:FF";
	static const char bare[] =
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
	static const char *const bad[] = { "", "SHA256:", "SHA256:00:11", "MD5:00",
					   "zz112233445566778899aabbccddeeff" };
	char out[TLS_FINGERPRINT_BYTES];
	struct err err;

	OK(tls_fingerprint_read(full, out, &err) == 0, "a fingerprint in full is read");
	IS(out, full, "and stays as it is");
	OK(tls_fingerprint_read(bare, out, &err) == 0, "without colons too");
	IS(out, full, "and becomes the full form");
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		OK(tls_fingerprint_read(bad[i], out, &err) < 0, "'%s' is none", bad[i]);
	AUTO_FREE char *longer = str_printf("%s:00", full);
	OK(tls_fingerprint_read(longer, out, &err) < 0, "nor is a longer one");
	AUTO_FREE char *open_end = str_printf("%s:", full);
	OK(tls_fingerprint_read(open_end, out, &err) < 0,
	   "nor one with a colon too many");
}

int main(void)
{
	static const char *const files[] = {
		"tls/key.pem",    "tls/cert.pem", "tls",        "other/key.pem",
		"other/cert.pem", "other",        "locked.pem", ""
	};

	snprintf(base, sizeof base, "/tmp/yard-cert-XXXXXX");
	certs_must(mkdtemp(base) != NULL, "mkdtemp");
	test_made();
	test_refused();
	test_text();
	for (size_t i = 0; i < COUNT_OF(files); i++) {
		AUTO_FREE char *p = path(files[i]);
		remove(p);
	}
	(void)certs_authority, (void)certs_server, (void)certs_authority_fini;
	return END();
}
