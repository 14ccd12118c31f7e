// SPDX-License-Identifier: Apache-2.0
/* manifest.h - what was there when somebody looked: names, sizes, versions.
 *
 * As text it is one line a file, sorted by name:  SIZE TAB MTIME_MS TAB VERSION TAB NAME,
 * with percent escapes in the last two, so that the same files always make the same bytes.
 * A name that ends in '/' is a folder.  Names have passed remote_name_check(), none comes
 * twice, and none is a folder to one and a file to another.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define MANIFEST_BYTES_MAX (256u << 20) /* of its text */
#define MANIFEST_HASH_HEX  65           /* 64 digits and the NUL */

struct manifest_entry {
	char *name;
	int64_t size;     /* -1: not known before it is there */
	int64_t mtime_ms; /* 0: not known */
	char *version;    /* an ETag or the like; "" when there is none */
};

struct manifest {
	struct manifest_entry *entries;
	size_t count, cap;
	int64_t bytes; /* of all files whose size is known */
};

/* Copies; refuses a name or size that no file here can have. */
int manifest_add(struct manifest *m, const struct manifest_entry *e, struct err *err);
/* Sorts, and refuses names that cannot all be. */
int manifest_finish(struct manifest *m, struct err *err);
void manifest_fini(struct manifest *m);
#define AUTO_MANIFEST __attribute__((cleanup(manifest_fini)))

int manifest_write(const struct manifest *m, int fd, struct err *err);
int manifest_read(int fd, struct manifest *out, struct err *err);

/* BLAKE2b-256 of an address (with the place it is at) and a manifest's text: the name of a
 * cached copy.  Neither is enough without the other. */
int manifest_key(const char *address, const char *endpoint, int fd,
		 char hex[MANIFEST_HASH_HEX], struct err *err);
