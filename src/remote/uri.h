// SPDX-License-Identifier: Apache-2.0
/* uri.h - the addresses of data that is not on this machine.
 *
 *   s3://BUCKET/KEY                 oss://BUCKET[.ENDPOINT]/KEY
 *   hdfs://[HOST]/PATH              webhdfs://[HOST[:PORT]]/PATH
 *   http://HOST[:PORT]/PATH[?QUERY] https://...
 *
 * A key or path that ends in '/' (or is empty) is a folder, any other is one file; http
 * knows files only.  Keys are taken as written: in s3://b/a%20b the key has a percent
 * sign in it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define REMOTE_URI_MAX  4096
#define REMOTE_PART_MAX 255  /* bytes between two slashes */
#define REMOTE_NAME_MAX 3072 /* of a whole name below its folder */

enum remote_scheme { REMOTE_HTTP, REMOTE_S3, REMOTE_OSS, REMOTE_HDFS };

struct remote_uri {
	enum remote_scheme scheme;
	bool folder;
	bool secure;    /* https */
	bool web;       /* webhdfs: its host is one that speaks HTTP */
	char *host;     /* the bucket; or host and port, "" when none was given */
	char *endpoint; /* oss://bucket.ENDPOINT, or NULL */
	char *path;     /* the key, without a slash in front; http: with its query */
};

/* By its scheme alone: it is nowhere on this machine. */
bool remote_uri_is(const char *text);
int remote_uri_parse(const char *text, struct remote_uri *out, struct err *err);
void remote_uri_fini(struct remote_uri *u);
#define AUTO_REMOTE_URI __attribute__((cleanup(remote_uri_fini)))

/* The name that a file has by itself, of its last part; the caller frees.  NULL with err:
 * it has none that a file here could have. */
char *remote_uri_base(const struct remote_uri *u, struct err *err);
/* For people: without the query, which may hold a key.  The caller frees. */
char *remote_uri_show(const char *text);
const char *remote_scheme_word(enum remote_scheme s); /* "s3", "oss", "hdfs", "http" */

/* A name from outside, as a path below a folder: no part of it is empty, "." or "..", none
 * is too long.  One slash at its end is a folder's. */
int remote_name_check(const char *name, struct err *err);
/* Percent escapes for all but letters, digits, '-', '_', '.', '~' and those in `keep`. */
void remote_escape(struct buf *out, const char *text, const char *keep);
/* And back; NULL: no such escape, or a NUL byte.  The caller frees. */
char *remote_unescape(const char *text, bool plus_is_space);
