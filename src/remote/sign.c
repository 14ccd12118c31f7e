// SPDX-License-Identifier: Apache-2.0
#include "remote/sign.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"
#include "remote/sha1.h"

#define MAC         crypto_auth_hmacsha256_BYTES
#define CHUNK_BYTES (256u << 10)

static void to_hex(const uint8_t *hash, char hex[SIGN_HASH_HEX])
{
	sodium_bin2hex(hex, SIGN_HASH_HEX, hash, crypto_hash_sha256_BYTES);
}

void sign_hash(const void *data, size_t len, char hex[SIGN_HASH_HEX])
{
	uint8_t hash[crypto_hash_sha256_BYTES];

	crypto_hash_sha256(hash, data, len);
	to_hex(hash, hex);
}

int sign_hash_file(int fd, int64_t at, int64_t len, char hex[SIGN_HASH_HEX],
		   struct err *err)
{
	AUTO_FREE uint8_t *chunk = mem_alloc(1, CHUNK_BYTES);
	uint8_t hash[crypto_hash_sha256_BYTES];
	crypto_hash_sha256_state st;

	crypto_hash_sha256_init(&st);
	while (len > 0) {
		size_t want = len < CHUNK_BYTES ? (size_t)len : CHUNK_BYTES;
		ssize_t n = pread(fd, chunk, want, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read what is sent");
		if (n == 0)
			return err_set(err, ERR_IO,
				       "a file got shorter while it was sent");
		crypto_hash_sha256_update(&st, chunk, (size_t)n);
		at += n;
		len -= n;
	}
	crypto_hash_sha256_final(&st, hash);
	to_hex(hash, hex);
	return 0;
}

void sign_query(const struct sign_request *r, struct buf *out)
{
	for (size_t i = 0; i < r->param_count; i++) {
		if (i)
			buf_addc(out, '&');
		remote_escape(out, r->params[i].name, "");
		buf_addc(out, '=');
		remote_escape(out, r->params[i].value ? r->params[i].value : "", "");
	}
}

static void hmac(const uint8_t *key, size_t key_len, const char *text, uint8_t out[MAC])
{
	crypto_auth_hmacsha256_state st;

	crypto_auth_hmacsha256_init(&st, key, key_len);
	crypto_auth_hmacsha256_update(&st, (const uint8_t *)text, strlen(text));
	crypto_auth_hmacsha256_final(&st, out);
	sodium_memzero(&st, sizeof st);
}

static void signing_key(const struct remote_account *a, const char *day, uint8_t out[MAC])
{
	char *first = str_printf("AWS4%s", a->secret_key);

	hmac((const uint8_t *)first, strlen(first), day, out);
	explicit_bzero(first, strlen(first));
	free(first);
	hmac(out, MAC, a->region, out);
	hmac(out, MAC, "s3", out);
	hmac(out, MAC, "aws4_request", out);
}

/* The request in the one form both sides agree on; its hash is what is signed. */
static void canonical(const struct remote_account *a, const struct sign_request *r,
		      const char *stamp, const char *names, char hex[SIGN_HASH_HEX])
{
	AUTO_BUF struct buf b = { 0 };

	buf_printf(&b, "%s\n%s\n", r->method, r->path);
	sign_query(r, &b);
	buf_printf(&b, "\nhost:%s\n", r->host);
	if (r->checksums)
		buf_adds(&b, "x-amz-checksum-mode:ENABLED\n");
	buf_printf(&b, "x-amz-content-sha256:%s\nx-amz-date:%s\n", r->payload, stamp);
	if (a->token)
		buf_printf(&b, "x-amz-security-token:%s\n", a->token);
	buf_printf(&b, "\n%s\n%s", names, r->payload);
	sign_hash(b.data, b.len, hex);
}

static void sign_v4(const struct remote_account *a, const struct sign_request *r,
		    struct net_request *out)
{
	/* Whatever begins with x-amz- must be signed. */
	AUTO_FREE char *names = str_printf("host;%sx-amz-content-sha256;x-amz-date%s",
					   r->checksums ? "x-amz-checksum-mode;" : "",
					   a->token ? ";x-amz-security-token" : "");
	time_t now = (time_t)r->now_s;
	char stamp[32], day[16], hash[SIGN_HASH_HEX], mac_hex[SIGN_HASH_HEX];
	uint8_t key[MAC], mac[MAC];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof stamp, "%Y%m%dT%H%M%SZ", &tm);
	strftime(day, sizeof day, "%Y%m%d", &tm);
	canonical(a, r, stamp, names, hash);
	AUTO_FREE char *scope = str_printf("%s/%s/s3/aws4_request", day, a->region);
	AUTO_FREE char *text =
		str_printf("AWS4-HMAC-SHA256\n%s\n%s\n%s", stamp, scope, hash);
	signing_key(a, day, key);
	hmac(key, sizeof key, text, mac);
	to_hex(mac, mac_hex);
	sodium_memzero(key, sizeof key);
	net_header(out, "x-amz-date: %s", stamp);
	if (r->checksums)
		net_header(out, "x-amz-checksum-mode: ENABLED");
	net_header(out, "x-amz-content-sha256: %s", r->payload);
	if (a->token)
		net_header(out, "x-amz-security-token: %s", a->token);
	net_header(out,
		   "Authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, "
		   "Signature=%s",
		   a->access_key, scope, names, mac_hex);
}

/* Of a query OSS signs only what names a thing, and that without escapes. */
static bool is_resource(const char *name)
{
	static const char *const names[] = { "partNumber", "uploadId", "uploads" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (str_eq(name, names[i]))
			return true;
	return false;
}

static void sign_oss(const struct remote_account *a, const struct sign_request *r,
		     struct net_request *out)
{
	static const char *const days[] = { "Sun", "Mon", "Tue", "Wed",
					    "Thu", "Fri", "Sat" };
	static const char *const months[] = { "Jan", "Feb", "Mar", "Apr", "May", "Jun",
					      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec" };
	AUTO_BUF struct buf b = { 0 };
	time_t now = (time_t)r->now_s;
	char date[40], mac64[64];
	uint8_t mac[SHA1_BYTES];
	struct tm tm;

	gmtime_r(&now, &tm);
	snprintf(date, sizeof date, "%s, %02d %s %d %02d:%02d:%02d GMT", days[tm.tm_wday],
		 tm.tm_mday, months[tm.tm_mon], 1900 + tm.tm_year, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
	buf_printf(&b, "%s\n\n\n%s\n", r->method, date);
	if (a->token)
		buf_printf(&b, "x-oss-security-token:%s\n", a->token);
	buf_printf(&b, "/%s/%s", r->bucket, r->key);
	char join = '?';
	for (size_t i = 0; i < r->param_count; i++) {
		if (!is_resource(r->params[i].name))
			continue;
		buf_printf(&b, "%c%s", join, r->params[i].name);
		if (r->params[i].value)
			buf_printf(&b, "=%s", r->params[i].value);
		join = '&';
	}
	sha1_hmac(a->secret_key, b.data, mac);
	sodium_bin2base64(mac64, sizeof mac64, mac, sizeof mac,
			  sodium_base64_VARIANT_ORIGINAL);
	net_header(out, "Date: %s", date);
	if (a->token)
		net_header(out, "x-oss-security-token: %s", a->token);
	net_header(out, "Authorization: OSS %s:%s", a->access_key, mac64);
}

void sign_request(const struct remote_account *a, const struct sign_request *r,
		  struct net_request *out)
{
	/* A type of its own that is not signed would be signed by the server. */
	net_header(out, "Content-Type:");
	if (!a->access_key)
		return;
	if (a->oss_signature)
		sign_oss(a, r, out);
	else
		sign_v4(a, r, out);
}
