// SPDX-License-Identifier: Apache-2.0
/* input.h - where an input's bytes are on this machine, by the scheme of its URI. */
#pragma once

#include <stdint.h>

#include "base/err.h"

struct volume;

/* file:///path, a plain absolute path, or nas://NAME/path of a mounted folder: the real path
 * (no link in it), which exists, lies where the settings allow, and which this uid may read
 * (uid -1: the process itself).  volume NULL: no NAS, and anywhere.  Blocks; off the loop.
 * The caller frees. */
char *input_resolve(const struct volume *volume, const char *uri, int64_t uid,
		    struct err *err);
/* Opens a real path with the rights of that uid (-1: the process itself).  A link that was
 * put there since it was found leads nowhere. */
int input_open(const char *real, int64_t uid, int flags, struct err *err);
/* Whether this uid may write into the folder. */
int input_may_write(const char *path, int64_t uid, struct err *err);
/* A task that could reach the daemon's socket or its state could be its admin: refuses a
 * real path that holds either or lies in the state, but for what jobs put out.  socket may
 * be NULL. */
int input_check_place(const char *path, const char *state, const char *socket,
		      struct err *err);
