// SPDX-License-Identifier: Apache-2.0
#include "remote/uri.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

static const struct {
	const char *prefix;
	enum remote_scheme scheme;
	bool secure, web;
} schemes[] = {
	{ "http://", REMOTE_HTTP, false, true },
	{ "https://", REMOTE_HTTP, true, true },
	{ "s3://", REMOTE_S3, false, false },
	{ "oss://", REMOTE_OSS, false, false },
	{ "hdfs://", REMOTE_HDFS, false, false },
	{ "webhdfs://", REMOTE_HDFS, false, true },
	{ "swebhdfs://", REMOTE_HDFS, true, true },
};

bool remote_uri_is(const char *text)
{
	for (size_t i = 0; i < COUNT_OF(schemes); i++)
		if (str_starts(text, schemes[i].prefix))
			return true;
	return false;
}

const char *remote_scheme_word(enum remote_scheme s)
{
	static const char *const words[] = { [REMOTE_HTTP] = "http",
					     [REMOTE_S3] = "s3",
					     [REMOTE_OSS] = "oss",
					     [REMOTE_HDFS] = "hdfs" };

	return words[s];
}

char *remote_uri_show(const char *text)
{
	size_t n = strcspn(text, "?");

	return text[n] && (str_starts(text, "http://") || str_starts(text, "https://"))
		       ? str_printf("%.*s?...", (int)n, text)
		       : mem_strdup(text);
}

static const char *bucket_chars =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
static const char *host_chars =
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_:[]";

static int parse_bucket(struct remote_uri *u, const char *text, struct err *err)
{
	char *dot = u->scheme == REMOTE_OSS ? strchr(u->host, '.') : NULL;

	if (dot) { /* its bucket names have no dots: what follows is where it is */
		u->endpoint = mem_strdup(dot + 1);
		*dot = '\0';
	}
	if (!*u->host || strspn(u->host, bucket_chars) != strlen(u->host) ||
	    (u->endpoint && strspn(u->endpoint, host_chars) != strlen(u->endpoint)))
		return err_set(err, ERR_INVALID,
			       "\"%s\" names no bucket: write %s://BUCKET/KEY", text,
			       remote_scheme_word(u->scheme));
	return 0;
}

static int parse_rest(struct remote_uri *u, const char *rest, const char *text,
		      struct err *err)
{
	size_t host = strcspn(rest, u->scheme == REMOTE_HTTP ? "/?#" : "/");

	u->host = mem_strndup(rest, host);
	rest += host;
	u->path = mem_strdup(*rest == '/' ? rest + 1 : rest);
	if (u->scheme == REMOTE_S3 || u->scheme == REMOTE_OSS)
		if (parse_bucket(u, text, err) < 0)
			return -1;
	if (u->scheme == REMOTE_HTTP)
		u->path[strcspn(u->path, "#")] = '\0';
	else
		u->folder = !*u->path || str_ends(u->path, "/");
	if (strspn(u->host, host_chars) != strlen(u->host) ||
	    (u->scheme == REMOTE_HTTP && !*u->host))
		return err_set(
			err, ERR_INVALID,
			"\"%.*s\" is no host (names and passwords do not belong in an address)",
			(int)host, u->host);
	return 0;
}

/* What would end a line of a request, or a C string, early. */
static bool has_controls(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			return true;
	return false;
}

int remote_uri_parse(const char *text, struct remote_uri *out, struct err *err)
{
	AUTO_REMOTE_URI struct remote_uri u = { 0 };
	const char *rest = NULL;

	if (strlen(text) > REMOTE_URI_MAX || has_controls(text))
		return err_set(
			err, ERR_INVALID,
			"an address has at most %d characters, none of them a control",
			REMOTE_URI_MAX);
	for (size_t i = 0; i < COUNT_OF(schemes) && !rest; i++) {
		if (!str_starts(text, schemes[i].prefix))
			continue;
		u.scheme = schemes[i].scheme;
		u.secure = schemes[i].secure;
		u.web = schemes[i].web;
		rest = text + strlen(schemes[i].prefix);
	}
	if (!rest)
		return err_set(err, ERR_INVALID,
			       "\"%s\" is at none of s3, oss, hdfs, http", text);
	if (parse_rest(&u, rest, text, err) < 0)
		return -1;
	if (u.scheme == REMOTE_HDFS && *u.path && remote_name_check(u.path, err) < 0)
		return -1;
	*out = u;
	u = (struct remote_uri){ 0 };
	return 0;
}

void remote_uri_fini(struct remote_uri *u)
{
	free(u->host);
	free(u->endpoint);
	free(u->path);
	*u = (struct remote_uri){ 0 };
}

char *remote_uri_base(const struct remote_uri *u, struct err *err)
{
	size_t len = u->scheme == REMOTE_HTTP ? strcspn(u->path, "?") : strlen(u->path);
	AUTO_FREE char *path = mem_strndup(u->path, len);
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *base = u->scheme == REMOTE_HTTP
				       ? remote_unescape(slash ? slash + 1 : path, false)
				       : mem_strdup(slash ? slash + 1 : path);

	if (!base || !*base || strchr(base, '/')) {
		err_set(err, ERR_INVALID,
			"its address does not end in the name of a file: only s3, oss and hdfs "
			"have folders, and they end in '/'");
		return NULL;
	}
	return remote_name_check(base, err) < 0 ? NULL : TAKE(base);
}

int remote_name_check(const char *name, struct err *err)
{
	size_t all = strlen(name);

	if (all > REMOTE_NAME_MAX)
		return err_set(err, ERR_INVALID, "the name \"%.64s...\" is too long",
			       name);
	if (all == 0)
		return err_set(err, ERR_INVALID, "an empty name");
	for (const char *p = name; *p;) {
		size_t n = strcspn(p, "/");
		if (n == 0 || (n == 1 && *p == '.') ||
		    (n == 2 && p[0] == '.' && p[1] == '.'))
			return err_set(
				err, ERR_INVALID,
				"the name \"%.200s\" cannot be a file below a folder (a part of it "
				"is empty, \".\" or \"..\")",
				name);
		if (n > REMOTE_PART_MAX)
			return err_set(
				err, ERR_INVALID,
				"the name \"%.64s...\" has a part of more than %d bytes",
				name, REMOTE_PART_MAX);
		p += n;
		if (*p == '/')
			p++;
	}
	return 0;
}

void remote_escape(struct buf *out, const char *text, const char *keep)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789-_.~";
	static const char hex[] = "0123456789ABCDEF";

	for (const char *p = text; *p; p++) {
		unsigned char c = (unsigned char)*p;
		if (strchr(plain, c) || strchr(keep, c)) {
			buf_addc(out, *p);
			continue;
		}
		buf_addc(out, '%');
		buf_addc(out, hex[c >> 4]);
		buf_addc(out, hex[c & 15]);
	}
}

static int hex_value(char c)
{
	static const char hex[] = "0123456789abcdef";
	const char *at = c ? strchr(hex, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;

	return at ? (int)(at - hex) : -1;
}

char *remote_unescape(const char *s, bool plus_is_space)
{
	AUTO_FREE char *out = mem_alloc(1, strlen(s) + 1);
	char *p = out;

	for (; *s; s++) {
		if (*s != '%') {
			*p++ = *s == '+' && plus_is_space ? ' ' : *s;
			continue;
		}
		int high = hex_value(s[1]), low = high < 0 ? -1 : hex_value(s[2]);
		if (low < 0 || high + low == 0)
			return NULL;
		*p++ = (char)(high * 16 + low);
		s += 2;
	}
	return TAKE(out);
}
