// SPDX-License-Identifier: Apache-2.0
/* bring.h - what an address elsewhere names, as a path of this machine.
 *
 * Each time: what is there now is listed with the job's owner's own account, then a copy of
 * exactly that is found in the cache or brought there (cache.h).  All on the loop.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct bring;
struct depot_files;

struct bring_order {
	const char *what; /* for people: "input train" */
	const char *uri;
	int64_t job;
	int attempt;
	const char *owner, *group;
};

/* base: the name of a file, NULL of a folder.  Both only on success. */
typedef void (*bring_done)(void *arg, const char *path, const char *base,
			   const struct err *err);
/* done() comes later, once. */
struct bring *bring_start(struct depot_files *d, const struct bring_order *o,
			  bring_done done, void *arg);
/* Nothing is called any more.  NULL is fine. */
void bring_cancel(struct bring *b);

/* The account that opens this address for them: of a secret of theirs, else of the site. */
struct remote_account;
struct remote_uri;
int bring_account(struct depot_files *d, const struct bring_order *o,
		  const struct remote_uri *u, struct remote_account *out,
		  struct err *err);

/* What is told of a transfer, not too often. */
struct telling {
	struct depot_files *depot;
	int64_t job;
	int attempt;
	char *what;
	int64_t began_ms, told_ms, told_bytes;
};
void telling_init(struct telling *t, struct depot_files *d, const struct bring_order *o);
void telling_fini(struct telling *t);
/* "input train: 1.2 of 5.0 GiB" */
void telling_at(struct telling *t, int64_t bytes, int64_t total);
void telling_say(struct telling *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
