// SPDX-License-Identifier: Apache-2.0
#include "remote/account.h"

#include <string.h>

#include "base/doc.h"
#include "base/mem.h"
#include "base/str.h"

static const struct {
	const char *key;
	size_t at;
} fields[] = {
	{ "endpoint", offsetof(struct remote_account, endpoint) },
	{ "gateway", offsetof(struct remote_account, endpoint) },
	{ "region", offsetof(struct remote_account, region) },
	{ "access_key", offsetof(struct remote_account, access_key) },
	{ "secret_key", offsetof(struct remote_account, secret_key) },
	{ "token", offsetof(struct remote_account, token) },
	{ "user", offsetof(struct remote_account, user) },
};

static char **field(struct remote_account *a, size_t at)
{
	return (char **)((char *)a + at);
}

/* Ends up in the head of a request: no line of its own may be made of it. */
static bool plain_text(const struct doc_node *n)
{
	if (n->kind != DOC_STRING || n->text_len != strlen(n->text))
		return false;
	for (const char *p = n->text; *p; p++)
		if ((unsigned char)*p <= 0x20 || (unsigned char)*p >= 0x7f)
			return false;
	return true;
}

static int read_choice(struct remote_account *a, const struct doc_node *n,
		       struct err *err)
{
	if (str_eq(n->key, "style")) {
		a->virtual_host = str_eq(n->text, "host");
		if (!a->virtual_host && !str_eq(n->text, "path"))
			return err_set(err, ERR_INVALID, "style: \"path\" or \"host\"");
		return 0;
	}
	a->oss_signature = str_eq(n->text, "oss");
	if (!a->oss_signature && !str_eq(n->text, "s3v4"))
		return err_set(err, ERR_INVALID, "signature: \"s3v4\" or \"oss\"");
	return 0;
}

static int read_field(struct remote_account *a, const struct doc_node *n, struct err *err)
{
	if (n->kind == DOC_NULL)
		return 0;
	if (!plain_text(n))
		return err_set(err, ERR_INVALID, "%s: not a text without spaces", n->key);
	if (str_eq(n->key, "style") || str_eq(n->key, "signature"))
		return read_choice(a, n, err);
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		if (!str_eq(n->key, fields[i].key))
			continue;
		free(*field(a, fields[i].at));
		*field(a, fields[i].at) = mem_strdup(n->text);
		return 0;
	}
	return err_set(err, ERR_INVALID, "%s: no such field of an account", n->key);
}

static int read_secret(struct remote_account *a, const struct vault *secret,
		       struct err *err)
{
	if (vault_len(secret) > REMOTE_ACCOUNT_MAX)
		return err_set(err, ERR_TOO_LARGE, "more than %u bytes",
			       REMOTE_ACCOUNT_MAX);
	AUTO_DOC struct doc *d =
		doc_parse_json(vault_data(secret), vault_len(secret), NULL);
	/* Not the parser's words: they could show a part of it. */
	if (!d || doc_root(d)->kind != DOC_MAP)
		return err_set(
			err, ERR_INVALID,
			"is no JSON object such as {\"endpoint\":...,\"access_key\":...,"
			"\"secret_key\":...}");
	for (const struct doc_node *n = doc_root(d)->first; n; n = n->next)
		if (read_field(a, n, err) < 0)
			return -1;
	if (!a->access_key != !a->secret_key)
		return err_set(err, ERR_INVALID,
			       "has one of access_key and secret_key: give both or none");
	return 0;
}

/* Where it is by default: what the URI says, what the site says. */
static char *usual_endpoint(const struct remote_uri *u, const struct remote_site *site)
{
	if (u->scheme == REMOTE_OSS && u->endpoint)
		return str_printf("https://%s", u->endpoint);
	if (u->scheme == REMOTE_S3 || u->scheme == REMOTE_OSS)
		return mem_strdup(site->s3_endpoint);
	if (site->webhdfs_gateway)
		return mem_strdup(site->webhdfs_gateway);
	return u->scheme == REMOTE_HDFS && u->web && strchr(u->host, ':')
		       ? str_printf("http%s://%s", u->secure ? "s" : "", u->host)
		       : NULL;
}

static int check_endpoint(const struct remote_uri *u, struct remote_account *a,
			  struct err *err)
{
	const char *s = a->endpoint;
	size_t scheme = !s                          ? 0
			: str_starts(s, "https://") ? 8
			: str_starts(s, "http://")  ? 7
						    : 0;

	if (!s && u->scheme == REMOTE_HDFS)
		return err_set(
			err, ERR_NOT_FOUND,
			"no WebHDFS gateway is known: set the secret 'hdfs' to "
			"{\"gateway\":\"http://HOST:9870\",\"user\":\"NAME\"} by `yard secret set "
			"hdfs`, or ask an admin for the setting webhdfs-gateway");
	if (!s)
		return err_set(
			err, ERR_NOT_FOUND,
			"no endpoint is known for the bucket %s: set the secret '%s.%s' or '%s' to "
			"{\"endpoint\":\"https://...\",\"access_key\":...,\"secret_key\":...} by "
			"`yard secret set %s`, or ask an admin for the setting s3-endpoint",
			u->host, remote_scheme_word(u->scheme), u->host,
			remote_scheme_word(u->scheme), remote_scheme_word(u->scheme));
	while (scheme && str_ends(a->endpoint, "/"))
		a->endpoint[strlen(a->endpoint) - 1] = '\0';
	if (!scheme || !s[scheme] || strpbrk(s + scheme, "/?#@"))
		return err_set(
			err, ERR_INVALID,
			"endpoint \"%s\": write https://HOST[:PORT] or http://HOST[:PORT]",
			s);
	return 0;
}

int remote_account_make(const struct remote_uri *u, const struct vault *secret,
			const struct remote_site *site, struct remote_account *out,
			struct err *err)
{
	AUTO_REMOTE_ACCOUNT struct remote_account a = { 0 };
	bool bucket = u->scheme == REMOTE_S3 || u->scheme == REMOTE_OSS;

	if (secret && read_secret(&a, secret, err) < 0)
		return -1;
	if (u->scheme != REMOTE_HTTP) {
		if (!a.endpoint) {
			a.endpoint = usual_endpoint(u, site);
			/* OSS itself knows buckets by host name only. */
			a.virtual_host |= u->endpoint != NULL;
		}
		if (check_endpoint(u, &a, err) < 0)
			return -1;
	}
	if (bucket && !a.region)
		a.region = mem_strdup(site->s3_region ? site->s3_region : "us-east-1");
	*out = a;
	a = (struct remote_account){ 0 };
	return 0;
}

void remote_account_fini(struct remote_account *a)
{
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		char **s = field(a, fields[i].at);
		if (*s)
			explicit_bzero(*s, strlen(*s));
		free(*s);
		*s = NULL;
	}
}
