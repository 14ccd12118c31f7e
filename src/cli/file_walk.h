// SPDX-License-Identifier: Apache-2.0
/* file_walk.h - finds what of a tree is missing or differs at the other end, for a haul.
 *
 * Both ends are listed folder by folder; a file is there when size, time and the executable
 * bit are the same.  Links are followed when they lead to something below the top of the
 * tree, else left out with a notice; so are sockets, pipes and devices, and what an earlier
 * copy left half done.
 */
#pragma once

#include "cli/file_info.h"
#include "cli/file_place.h"
#include "cli/haul.h"

struct walk {
	struct cli *cli;
	struct haul *haul;
	enum place_kind from, to;
	bool checksum; /* same size: by content, whatever the times say */
	/* dry run: told instead of hauled; NULL: haul */
	void (*would)(void *arg, const struct haul_file *f);
	void *arg;
};

/* What goes wrong in it is told to the haul, with its name. */
void walk_tree(struct walk *w, const char *from, const char *to);
/* One file; what: as it is at `from`, there: at `to` (FILE_NONE: nothing). */
void walk_file(struct walk *w, const char *from, const char *to,
	       const struct file_info *what, const struct file_info *there);
