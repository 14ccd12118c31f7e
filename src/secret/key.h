// SPDX-License-Identifier: Apache-2.0
/* key.h - the key that seals secrets: one file apart from the database, 0600, the daemon's.
 * It is read each time it is needed: it is rarely, and a key that is not in memory cannot
 * leak from there. */
#pragma once

#include "base/err.h"
#include "base/vault.h"
#include "world/world.h"

#define KEY_ID_BYTES 17 /* 16 hex digits that tell two keys apart, and the NUL */

/* NULL with err; ERR_NOT_FOUND: there is none. */
struct vault *key_read(const char *path, struct err *err);
/* Makes a new one, on disk before this returns; never takes the place of another. */
struct vault *key_make(struct world *w, const char *path, struct err *err);
void key_id(const struct vault *key, char out[KEY_ID_BYTES]);
