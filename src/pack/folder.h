// SPDX-License-Identifier: Apache-2.0
/* folder.h - a folder as an archive: sorted, bounded, the same bytes for the same files.
 *
 * Left out: what .gitignore and .yardignore say (of each folder, of the folders above up
 * to the top of the git work tree, and .git/info/exclude), every .git, and, with a notice,
 * links that lead outside, sockets, pipes and devices.  In one folder .yardignore stands
 * above .gitignore.  Memory does not depend on the size of the folder's files.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "pack/hash.h"

#define PACK_FILES_MAX  250000
#define PACK_BYTES_MAX  (8LL << 30) /* of the archive */
#define PACK_DEPTH_MAX  128
#define PACK_FILES_MANY 20000 /* from here on a person should be told */
#define PACK_BYTES_MANY (256LL << 20)

struct pack_stats {
	int64_t files, bytes; /* entries; bytes of the archive */
	char largest[256];    /* the biggest file, for advice */
	int64_t largest_bytes;
};

struct pack_job {
	const char *folder;
	int64_t files_max, bytes_max; /* 0: the limits above */
	/* Gets the archive piece by piece; -1 ends the packing. */
	int (*write)(void *arg, const void *data, size_t len, struct err *err);
	void (*notice)(void *arg, const char *text); /* NULL: nobody listens */
	void *arg;
};

int pack_folder(const struct pack_job *job, char hash[PACK_HASH_HEX],
		struct pack_stats *stats, struct err *err);

/* A link at `path` (relative to the top) that points to `target` stays inside the top. */
bool pack_link_inside(const char *path, const char *target);
