// SPDX-License-Identifier: Apache-2.0
/* secrets.h - a task's secrets on their way to its shim.
 *
 * They go apart from the bundle: all of them in one memory file, whose descriptor comes
 * with an empty SHIM_SECRETS frame before SHIM_BUNDLE.  No byte of a value is ever in a
 * socket's buffer, in a file on disk or on a heap.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"
#include "base/vault.h"

#define SHIM_SECRETS_MAX (4u << 20) /* bytes of all of them */

enum shim_secret_kind { SHIM_SECRET_ENV, SHIM_SECRET_FILE, SHIM_SECRET_KIND_COUNT };

struct shim_secret {
	enum shim_secret_kind kind;
	const char *name; /* the variable's name, or the file's absolute path inside */
	unsigned mode;    /* of the file */
	const char *value;
	size_t len;
};

struct shim_secrets {
	struct vault *vault; /* everything below points into it */
	/* The name of a variable is, once decoded, the whole "NAME=value" that environ wants. */
	struct shim_secret *items;
	size_t count;
};

struct vault *shim_secrets_encode(const struct shim_secret *items, size_t count);
/* Takes the vault. */
int shim_secrets_decode(struct vault *v, struct shim_secrets *out, struct err *err);
void shim_secrets_fini(struct shim_secrets *s);

/* Sends the file's descriptor with its frame; fd is a socket that nothing was sent by. */
int shim_secrets_send(int fd, const struct vault *v, struct err *err);
