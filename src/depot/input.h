// SPDX-License-Identifier: Apache-2.0
/* input.h - where an input's bytes are on this machine, by the scheme of its URI. */
#pragma once

#include <stdint.h>

#include "base/err.h"

/* file:///path or a plain absolute path: the real path (no link in it), which exists and
 * which this uid may read (uid -1: the process itself).  Blocks; off the loop.  The
 * caller frees. */
char *input_resolve(const char *uri, int64_t uid, struct err *err);
