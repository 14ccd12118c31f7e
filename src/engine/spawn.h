// SPDX-License-Identifier: Apache-2.0
/* spawn.h - starts shims that wait for their bundle, some of them ahead of time.
 *
 * A spare shim saves a task the time its shim takes to come up, about half a
 * millisecond.  It holds nothing, and ends by itself when the daemon does.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"

#define SPAWN_SPARES 2

struct spawn_shim {
	pid_t pid; /* our child: reap it */
	int fd;    /* our end of its socket, non-blocking, CLOEXEC */
};

struct spawn_pool {
	const char *path; /* of the shim; borrowed */
	struct spawn_shim spares[SPAWN_SPARES];
	int count;
};

/* A spare one that still lives, else a new one. */
int spawn_take(struct spawn_pool *p, struct spawn_shim *out, struct err *err);
bool spawn_full(const struct spawn_pool *p);
void spawn_refill(struct spawn_pool *p); /* by one; a failure shows at the next task */
void spawn_fini(struct spawn_pool *p);   /* ends the spares */
