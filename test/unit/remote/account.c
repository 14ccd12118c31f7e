// SPDX-License-Identifier: Apache-2.0
/* Secrets as accounts: what they say, what the site says, what is missing. */
#include "remote/account.h"

#include "base/mem.h"
#include "base/str.h"
#include "remote/request.h"
#include "tap.h"

static const struct remote_site nothing,
	everything = { "https://s3.site", "eu-1", "http://gw:9870" };

static int makes(const char *uri, const char *secret, const struct remote_site *site,
		 struct remote_account *out, struct err *err)
{
	AUTO_REMOTE_URI struct remote_uri u = { 0 };
	AUTO_VAULT struct vault *v = secret ? vault_copy(secret, strlen(secret)) : NULL;

	*out = (struct remote_account){ 0 };
	if (remote_uri_parse(uri, &u, err) < 0)
		return -2;
	return remote_account_make(&u, v, site, out, err);
}

static void says(const char *uri, const char *secret, const struct remote_site *site,
		 const char *want, const char *law)
{
	AUTO_REMOTE_ACCOUNT struct remote_account a = { 0 };
	struct err err = { .text = "" };
	int rc = makes(uri, secret, site, &a, &err);
	AUTO_FREE char *got =
		rc < 0 ? str_printf("%s", err.text)
		       : str_printf("%s %s %s %s", a.endpoint ? a.endpoint : "-",
				    a.region ? a.region : "-",
				    a.access_key ? a.access_key : "-",
				    a.virtual_host    ? "host"
				    : a.oss_signature ? "oss"
						      : "path");

	if (!OK(rc < 0 ? strstr(got, want) != NULL : str_eq(got, want), "%s", law))
		printf("# got  '%s'\n# want '%s'\n", got, want);
}

static void round_trip(void)
{
	struct remote_request back = { 0 }, r = { .op = REMOTE_PUT,
						  .uri = mem_strdup("s3://b/\xc3\xbc\"/"),
						  .files_max = 5,
						  .bytes_max = 6 };
	struct err err;

	makes("s3://b/",
	      "{\"endpoint\":\"http://h:1\",\"access_key\":\"k\",\"secret_key\":\"s/+=\",\"token\":\"t\","
	      "\"style\":\"host\"}",
	      &nothing, &r.account, &err);
	AUTO_VAULT struct vault *v = remote_request_write(&r);
	OK(remote_request_read(v, &back, &err) == 0 && back.op == REMOTE_PUT &&
		   str_eq(back.uri, r.uri) && back.files_max == 5 &&
		   back.bytes_max == 6 && str_eq(back.account.secret_key, "s/+=") &&
		   str_eq(back.account.token, "t") &&
		   str_eq(back.account.endpoint, "http://h:1") &&
		   back.account.virtual_host && !back.account.oss_signature &&
		   !back.account.user,
	   "a request is read as it was written");
	remote_request_fini(&back);
	remote_request_fini(&r);
}

int main(void)
{
	const char *keys =
		"{\"endpoint\":\"https://o.example/\",\"access_key\":\"k\",\"secret_key\":\"s\"}";

	says("s3://b/x", keys, &everything, "https://o.example eu-1 k path",
	     "a secret stands above the site, but for what it leaves out");
	says("s3://b/x", NULL, &everything, "https://s3.site eu-1 - path",
	     "without one the site's place, and nobody's keys");
	says("s3://b/x", NULL, &nothing, "secret 's3.b' or 's3'",
	     "without both: what to set");
	says("oss://b.oss-x.example/k", NULL, &everything,
	     "https://oss-x.example eu-1 - host", "an OSS address may say where it is");
	says("oss://b/k",
	     "{\"endpoint\":\"http://h:1\",\"style\":\"path\",\"signature\":\"oss\"}",
	     &nothing, "http://h:1 us-east-1 - oss",
	     "its own signature, where asked for");
	says("hdfs://nn/x", "{\"gateway\":\"http://g:1\",\"user\":\"ann\"}", &everything,
	     "http://g:1 - - path", "a gateway of one's own");
	says("hdfs://nn/x", NULL, &everything, "http://gw:9870 - - path",
	     "or the site's");
	says("webhdfs://h:9870/x", NULL, &nothing, "http://h:9870 - - path",
	     "or the address's, when nobody says otherwise");
	says("hdfs://nn:8020/x", NULL, &nothing, "secret 'hdfs'", "or else what to set");
	says("http://h/x", NULL, &nothing, "- - - path", "the web needs none");
	says("s3://b/x", "hunter2", &nothing, "JSON object",
	     "what is no JSON is not shown");
	says("s3://b/x", "{\"access_key\":\"k\"}", &everything, "both or none",
	     "half a pair");
	says("s3://b/x", "{\"endpoint\":\"ftp://h\"}", &nothing, "https://HOST",
	     "no endpoint");
	says("s3://b/x", "{\"endpoint\":\"http://h/path\"}", &nothing, "https://HOST",
	     "nor one with a path");
	says("s3://b/x", "{\"acces_key\":\"k\"}", &nothing, "acces_key: no such field",
	     "a slip");
	says("s3://b/x", "{\"access_key\":\"k\\r\\nHost: x\",\"secret_key\":\"s\"}",
	     &everything, "without spaces", "a key that would be a line of its own");
	says("s3://b/x", "{\"style\":\"both\"}", &everything, "\"path\" or \"host\"",
	     "a style that is none");
	round_trip();
	return END();
}
