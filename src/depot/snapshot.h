// SPDX-License-Identifier: Apache-2.0
/* snapshot.h - code snapshots, of the real depot only. */
#pragma once

#include "depot/depot.h"

/* Content-addressed archives.  A hash is no key to what
 * others sent: for a sender (principal_key) a snapshot is there once they have sent all of
 * it. */
int depot_code_has(struct depot *d, const char *hash,
		   const char *sender); /* 1 there (and used just now), 0 not */
struct depot_upload; /* streams an archive in; its hash is checked at the end */
struct depot_upload *depot_code_begin(struct depot *d, const char *hash,
				      const char *sender, struct err *err);
int depot_code_write(struct depot_upload *u, const void *data, size_t len,
		     struct err *err);
/* Takes the upload.  done: stored, unpacked and durable, or why not. */
void depot_code_finish(struct depot_upload *u, depot_collected done, void *arg);
void depot_code_abort(struct depot_upload *u);
/* Whether a live job needs it; asked on the loop. */
typedef bool (*depot_code_used)(void *arg, const char *hash);
/* Removes, by and by, what is of no live job and was not used for that long. */
void depot_code_expire(struct depot *d, int64_t keep_ms, depot_code_used used, void *arg);
