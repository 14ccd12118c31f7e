// SPDX-License-Identifier: Apache-2.0
/* spawn.h - starts a shim that waits for its bundle. */
#pragma once

#include <sys/types.h>

#include "base/err.h"

/* The shim is our child: reap it.  *fd: our end of its socket, non-blocking, CLOEXEC. */
int spawn_shim(const char *path, pid_t *pid, int *fd, struct err *err);
