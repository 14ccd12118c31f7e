// SPDX-License-Identifier: Apache-2.0
/* requirements.h - what a job's code says of the packages it needs. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

#define REQUIREMENTS_BYTES_MAX (256 << 10)

/* The text of the tree's requirements.txt (NULL: there is none; the caller frees) and
 * whether a folder wheels/ lies beside it.  Nothing outside of the tree is read. */
int requirements_read(const char *tree, char **text, bool *wheels, struct err *err);
