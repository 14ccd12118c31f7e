// SPDX-License-Identifier: Apache-2.0
/* account.h - with whose keys, and where: a stored secret made into an account.
 *
 * The secret's value is a JSON object; what each field means is in docs/storage-remote.md.
 * What it does not say comes from the site's settings.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "base/vault.h"
#include "remote/uri.h"

#define REMOTE_ACCOUNT_MAX (64u << 10) /* bytes of a secret that is an account */

/* What a site says for everybody; NULL: nothing. */
struct remote_site {
	const char *s3_endpoint, *s3_region, *webhdfs_gateway;
};

struct remote_account {
	char *endpoint; /* http(s)://host[:port], no slash at its end; NULL for http */
	char *region;
	char *access_key, *secret_key, *token; /* NULL: anonymous */
	char *user;                            /* hdfs */
	bool virtual_host;                     /* BUCKET.endpoint, not endpoint/BUCKET */
	bool oss_signature;                    /* OSS's own V1, not AWS's V4 */
};

/* secret: of the scheme's kind, or NULL.  ERR_NOT_FOUND: nobody says where it is. */
int remote_account_make(const struct remote_uri *u, const struct vault *secret,
			const struct remote_site *site, struct remote_account *out,
			struct err *err);
void remote_account_fini(struct remote_account *a); /* wipes the keys */
#define AUTO_REMOTE_ACCOUNT __attribute__((cleanup(remote_account_fini)))
