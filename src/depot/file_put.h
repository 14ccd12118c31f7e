// SPDX-License-Identifier: Apache-2.0
/* file_put.h - a new file in the storage: there whole, or not at all.
 *
 * The bytes come into a file without a name in the folder it will lie in.  At the end it is
 * given its name, at once and in place of what had it before; until then the old one is
 * whole, and a crash or a full disk leaves nothing.  All of it blocks: off the loop.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "depot/file.h"
#include "depot/volume.h"
#include "pack/checksum.h"

struct file_put_how {
	bool parents;  /* make the folders above it */
	bool only_new; /* what is there stays: ERR_CONFLICT */
	bool executable;
	bool sync; /* durable when finish returns */
	bool has_checksum;
	int64_t modified_ms; /* -1: now */
	struct checksum checksum;
};

struct file_put;

struct file_put *file_put_begin(const struct volume_place *p,
				const struct file_put_how *how, struct err *err);
int file_put_write(struct file_put *f, const void *data, size_t len, struct err *err);
int64_t file_put_bytes(const struct file_put *f); /* so far */
/* Takes f, also when it fails.  replaced: bytes of what had the name; -1: nothing had. */
int file_put_finish(struct file_put *f, struct file_info *out, int64_t *replaced,
		    struct err *err);
void file_put_abort(struct file_put *f); /* NULL is fine */

/* For uploads in parts.  The same end for a file that has a name already, in the folder
 * `at`; and the start of names that nobody should see. */
#define FILE_PUT_TEMP ".yard-part-"
struct file_named {
	int at;
	const char *name;
	int fd;
};
int file_put_named(const struct volume_place *p, const struct file_put_how *how,
		   const struct file_named *from, int64_t *replaced, struct err *err);
