// SPDX-License-Identifier: Apache-2.0
/* userns.h - user namespaces and what their uids are outside. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct idrange {
	int64_t inside, outside, count;
};

/* A user namespace that exists only as a descriptor: for idmapped mounts, and to enter later. */
int userns_create(const struct idrange *uids, const struct idrange *gids,
		  struct err *err);
/* Root mode: [base, base + count) outside is 0... inside; uids and gids alike. */
int userns_range(int64_t base, int64_t count, struct err *err);

/* A user namespace below this one in which every id is the same.  The process that held it
 * is left for the caller to reap some time: waiting would cost a turn of the scheduler. */
int userns_below(struct err *err);

/* Private mode, for a child that was born in a new user namespace: own uid is 0 inside,
 * sub-uids by newuidmap follow where the machine gives any. */
int userns_map_self(pid_t child, struct err *err);
