// SPDX-License-Identifier: Apache-2.0
/* seccomp.h - the system calls no training needs, refused. */
#pragma once

#include <stdbool.h>

#include "base/err.h"

/* For this process and all it starts, for ever.  Needs CAP_SYS_ADMIN in the user
 * namespace (kept without no_new_privs, so that sudo inside still works). */
int sandbox_filter(bool may_mount, struct err *err);
