// SPDX-License-Identifier: Apache-2.0
/* spawn.h - shims that wait for their task, made ahead of time.
 *
 * They are forked by one process that was loaded once (shim/nest.h), for which loading
 * holds up a thread of the pool and forking nobody.  A spare one holds nothing and ends
 * by itself when the daemon does.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "world/world.h"

struct spawn_pool;

struct spawn_shim {
	pid_t pid; /* our child: reap it */
	int fd;    /* our end of its socket, non-blocking, CLOEXEC */
};

/* on_ready: another shim is there, or could not be made. */
struct spawn_pool *spawn_pool_create(struct world *w, const char *path, world_cb on_ready,
				     void *arg);
void spawn_pool_destroy(struct spawn_pool *p); /* ends those that wait */

/* 1: taken; 0: none is ready; -1: the last one asked for could not be made. */
int spawn_take(struct spawn_pool *p, struct spawn_shim *out, struct err *err);
/* Makes some: as many as tasks need them now, and the spare ones.  on_ready comes for each;
 * false: not even asked for, and spawn_take() tells why. */
bool spawn_want(struct spawn_pool *p, int needed);
