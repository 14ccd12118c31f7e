// SPDX-License-Identifier: Apache-2.0
/* below.h - files below a folder by names from outside.
 *
 * No link is followed and nothing above is reached, whatever the name; the kernel sees to
 * it (openat2), not a look at the text. */
#pragma once

#include "base/err.h"

/* A file to be written, with the folders on the way; gives a descriptor. */
int below_create(int folder, const char *name, struct err *err);
/* A folder with those on the way; the name may end in '/'. */
int below_make(int folder, const char *name, struct err *err);
/* A file to be read; -1 with ERR_UNSUPPORTED: it is none (a link, a pipe). */
int below_open(int folder, const char *name, struct err *err);
