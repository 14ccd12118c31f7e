// SPDX-License-Identifier: Apache-2.0
/* file_read.h - bytes of the yard's storage to stdout, and of stdin into it. */
#pragma once

#include "cli/cli.h"

/* range: "0-99", "100-", "-100" (the last hundred), or NULL: all.  Gives the exit code. */
int file_cat(struct cli *c, const char *const *paths, size_t count, const char *range);
/* Until its end; it cannot be sent again when the connection breaks. */
int file_put_stdin(struct cli *c, const char *path, struct err *err);

struct byte_range {
	int64_t first, last; /* first -1: the last `last` bytes; last -1: to the end */
};
int byte_range_read(const char *text, struct byte_range *out, struct err *err);
