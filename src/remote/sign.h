// SPDX-License-Identifier: Apache-2.0
/* sign.h - signatures of requests to object storage, by hand: AWS Signature Version 4 and
 * OSS's own first one.  Pure: the time is given.
 *
 * By hand, because libcurl's CURLOPT_AWS_SIGV4 of our oldest release neither sorts nor
 * escapes queries the way servers check them.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "remote/account.h"
#include "remote/net.h"

#define SIGN_HASH_HEX 65
#define SIGN_EMPTY    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct sign_param {
	const char *name, *value; /* not escaped; value NULL: just the name */
};

struct sign_request {
	const char *method, *host;
	const char *path;   /* escaped, from '/' */
	const char *bucket; /* and key not escaped: of OSS's resource */
	const char *key;
	const struct sign_param *params; /* sorted by name */
	size_t param_count;
	const char *payload; /* SHA-256 in hex */
	bool checksums;      /* asks for those that were kept with the object */
	int64_t now_s;
};

/* name=value&name=value, escaped as signed: what belongs in the URL, too. */
void sign_query(const struct sign_request *r, struct buf *out);
/* Adds the headers that prove who asks.  Nothing for an anonymous account. */
void sign_request(const struct remote_account *a, const struct sign_request *r,
		  struct net_request *out);
void sign_hash(const void *data, size_t len, char hex[SIGN_HASH_HEX]);
/* Of `len` bytes of a file from `at`. */
int sign_hash_file(int fd, int64_t at, int64_t len, char hex[SIGN_HASH_HEX],
		   struct err *err);
