// SPDX-License-Identifier: Apache-2.0
/* Signatures, beside those that the vendors' own libraries make of the same requests
 * (botocore 1.44.0, oss2 2.19.1). */
#include "remote/sign.h"

#include "base/mem.h"
#include "base/str.h"
#include "tap.h"

#define KEY    "AKIDEXAMPLE"
#define SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
#define NOW    1794813607 /* 2026-11-16T07:20:07Z */
#define HELLO  "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"

struct row {
	const char *law, *method, *host, *path, *bucket, *key;
	struct sign_param params[5];
	size_t count;
	const char *token, *payload;
	bool oss, checksums;
	const char *want; /* what the line of the signature ends in */
};

/* clang-format off */
static const struct row rows[] = {
	{ "a key with odd characters", "GET", "s3.example.org", "/bucket/a%20b%2Bc/%C3%BC.txt", "bucket", "a b+c/\xc3\xbc.txt",
		{ { 0 } }, 0, NULL, SIGN_EMPTY, false, false,
		"3d1937e3690a1804d17a9999f5c907f8c7ae14bcb5b7704d5b779f966ece053d" },
	{ "a list with a token", "GET", "s3.example.org", "/bucket", "bucket", "",
		{ { "continuation-token", "x+y==" }, { "encoding-type", "url" }, { "list-type", "2" },
		  { "max-keys", "1000" }, { "prefix", "data/" } }, 5, NULL, SIGN_EMPTY, false, false,
		"b1c7ebe07871c44e00c77da7d91d16effdc1988a8bdb57b8cf130f4f7c323f9f" },
	{ "a part with bytes, by host, with a session's token", "PUT", "bucket.127.0.0.1:9000", "/k", "bucket", "k",
		{ { "partNumber", "2" }, { "uploadId", "a/b" } }, 2, "tok/en==", HELLO, false, false,
		"f9bfa842d02f2e6c351af88541128b8c5fb039a2fdbf76de5850d39d4a47d015" },
	{ "a question for sums", "GET", "s3.example.org", "/bucket/k", "bucket", "k", { { 0 } }, 0, NULL, SIGN_EMPTY, false, true,
		"7e6276628b8907ca53e210b39f79a4aea60835dc205af4189190871ea987a9e9" },
	{ "a parameter without a value", "POST", "s3.example.org", "/bucket/k", "bucket", "k", { { "uploads", NULL } }, 1, NULL,
		SIGN_EMPTY, false, false, "307ebe45dc7ec571e677e555ec36d5c9d57326141b5c83aaea45419955c984aa" },
	{ "OSS: a key with odd characters", "GET", "", "", "bucket", "dir/\xc3\xbc a.txt", { { 0 } }, 0, NULL, SIGN_EMPTY, true, false,
		"cyhP/kaEGhXC5aQDGKoLfR0NwFM=" },
	{ "OSS: a list, whose parameters are not signed", "GET", "", "", "bucket", "",
		{ { "encoding-type", "url" }, { "marker", "x" }, { "max-keys", "1000" }, { "prefix", "data/" } }, 4, NULL,
		SIGN_EMPTY, true, false, "FlQoz9eJ99bpkB/izAcFhieDjWg=" },
	{ "OSS: a part, whose parameters are", "PUT", "", "", "bucket", "k", { { "partNumber", "2" }, { "uploadId", "a/b" } }, 2, NULL,
		SIGN_EMPTY, true, false, "npNINSIeoKGPhnWWvlqapCOW/6s=" },
	{ "OSS: a parameter without a value", "POST", "", "", "bucket", "k", { { "uploads", NULL } }, 1, NULL, SIGN_EMPTY, true, false,
		"7fVJngvIO1haxRl7LLS59T/e2Co=" },
	{ "OSS: a session's token", "GET", "", "", "bucket", "k", { { 0 } }, 0, "tok/en==", SIGN_EMPTY, true, false,
		"47M3ji12UQvTFR3AtUKIcvwMhMQ=" },
};
/* clang-format on */

static const char *authorization(const struct net_request *q)
{
	for (size_t i = 0; i < q->header_count; i++)
		if (str_starts(q->headers[i], "Authorization: "))
			return q->headers[i];
	return "";
}

static void signs(const struct row *r)
{
	AUTO_REMOTE_ACCOUNT struct remote_account a = { .region = mem_strdup("eu-west-3"),
							.access_key = mem_strdup(KEY),
							.secret_key = mem_strdup(SECRET),
							.token = mem_strdup(r->token),
							.oss_signature = r->oss };
	struct sign_request s = { .method = r->method,
				  .host = r->host,
				  .path = r->path,
				  .bucket = r->bucket,
				  .key = r->key,
				  .params = r->params,
				  .param_count = r->count,
				  .payload = r->payload,
				  .checksums = r->checksums,
				  .now_s = NOW };
	struct net_request q;

	net_request_init(&q, r->method);
	sign_request(&a, &s, &q);
	OK(str_ends(authorization(&q), r->want), "%s", r->law);
	net_request_fini(&q);
}

static void anonymous(void)
{
	AUTO_REMOTE_ACCOUNT struct remote_account a = { .region = mem_strdup("x") };
	struct sign_request s = { .method = "GET", .payload = SIGN_EMPTY };
	struct net_request q;

	net_request_init(&q, "GET");
	sign_request(&a, &s, &q);
	IS(authorization(&q), "", "who has no keys signs nothing");
	net_request_fini(&q);
}

int main(void)
{
	char hex[SIGN_HASH_HEX];

	sign_hash("hello", 5, hex);
	IS(hex, HELLO, "a hash");
	sign_hash("", 0, hex);
	IS(hex, SIGN_EMPTY, "of nothing");
	for (size_t i = 0; i < COUNT_OF(rows); i++)
		signs(&rows[i]);
	anonymous();
	return END();
}
