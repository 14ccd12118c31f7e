// SPDX-License-Identifier: Apache-2.0
/* files.h - what depot_files.c and code.c share. */
#pragma once

#include <stdbool.h>

#include "depot/depot.h"

struct depot_files {
	struct depot base;
	struct world *world;
	/* Disks and networks may hang, and yard-unpack is waited for: each in threads of its
	 * own, in nobody's way.  So is removing: who deletes much holds up no start. */
	struct world_lane *folders, *unpacks, *removals, *looks;
	char *state, *unpack;
	char *socket; /* the daemon's, or NULL */
	int64_t code_bytes_max;
	int uploads; /* begun and not yet over */
	int refs;    /* its owner, and each piece of work under way */
	bool gone;   /* destroyed: nobody waits for answers any more */
};

/* The real depot behind the interface; the simulated one has no code. */
struct depot_files *depot_files_of(struct depot *d);
void depot_files_look(struct depot *base, const struct job *j, depot_looked done,
		      void *arg);
void depot_files_remove(struct depot *base, int64_t job, depot_collected done, void *arg);
void depot_files_unref(struct depot_files *d);
/* Used just now: it is kept for as long again. */
void code_touch(const struct depot_files *d, const char *hash);
