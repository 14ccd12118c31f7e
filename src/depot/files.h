// SPDX-License-Identifier: Apache-2.0
/* files.h - what depot_files.c and code.c share. */
#pragma once

#include <stdbool.h>

#include "depot/depot.h"

/* Root mode: tasks of many users must pass through on the way to their own folders;
 * nobody but root may list. */
#define DEPOT_PASSAGE_MODE 0711

struct depot_files {
	struct depot base;
	struct world *world;
	/* Disks and networks may hang, and yard-unpack is waited for: each in threads of its
	 * own, in nobody's way.  So is removing: who deletes much holds up no start. */
	struct world_lane *folders, *unpacks, *removals, *looks, *transfers;
	char *state, *unpack;
	char *socket; /* the daemon's, or NULL */
	int64_t code_bytes_max;
	int uploads; /* begun and not yet over */
	/* From and to elsewhere. */
	char *fetch_path, *s3_endpoint, *s3_region, *webhdfs_gateway;
	const struct volume *volume;
	struct cache *cache;
	struct fetch *fetches; /* all, the youngest first */
	int fetch_count;       /* of them at work */
	struct files_op *ops;  /* under way */
	int refs;              /* its owner, and each piece of work under way */
	bool gone;             /* destroyed: nobody waits for answers any more */
};

/* The real depot behind the interface; the simulated one has no code. */
struct depot_files *depot_files_of(struct depot *d);
void depot_files_prepare(struct depot *base, const struct job *j, int64_t uid_base,
			 depot_prepared done, void *arg);
void depot_files_cancel(struct depot *base, int64_t job);
void depot_files_collect(struct depot *base, const struct job *j, depot_collected done,
			 void *arg);
void depot_files_look(struct depot *base, const struct job *j, depot_looked done,
		      void *arg);
void depot_files_remove(struct depot *base, int64_t job, depot_collected done, void *arg);
void depot_files_unref(struct depot_files *d);
/* Used just now: it is kept for as long again. */
void code_touch(const struct depot_files *d, const char *hash);

/* Code that was named by an address and is one file: an archive, or a file by itself. */
struct code_file {
	int fd;
	const char *name; /* of a file by itself; NULL: it is an archive */
	int64_t job;      /* which needs it */
	uint64_t unique;
};
/* The folder with it, unpacked; the caller frees.  Blocks. */
char *code_from_file(struct depot_files *d, const struct code_file *f, struct err *err);
/* Whether a live job was given it by an address.  On the loop. */
bool code_has_jobs(const struct depot_files *d, const char *hash);
