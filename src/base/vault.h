// SPDX-License-Identifier: Apache-2.0
/* vault.h - bytes that nobody else may see.
 *
 * Kept out of core dumps, locked into memory as far as the system lets us (it may let an
 * ordinary user lock little), wiped when the last holder lets go.  They go to another
 * process by a memory file: no disk, no socket buffer, no copy on the heap.
 */
#pragma once

#include <stddef.h>

#include "base/err.h"

struct vault;

struct vault *vault_create(size_t len); /* of zeros; with one reference */
struct vault *vault_copy(const void *data, size_t len);
struct vault *vault_ref(struct vault *v);
void vault_unref(struct vault *v);       /* NULL is fine */
char *vault_data(const struct vault *v); /* a NUL behind it, for convenience */
size_t vault_len(const struct vault *v);
void vault_cut(struct vault *v, size_t len); /* wipes what is behind */

/* A sealed memory file with the bytes; a descriptor that the caller closes. */
int vault_to_fd(const struct vault *v, struct err *err);
/* The bytes of such a file, at most so many.  NULL with err. */
struct vault *vault_from_fd(int fd, size_t most, struct err *err);

void vault_cleanup(struct vault **v);
#define AUTO_VAULT __attribute__((cleanup(vault_cleanup)))
