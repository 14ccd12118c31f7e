// SPDX-License-Identifier: Apache-2.0
/* checkpoint.h - which checkpoint is whole, and whether one is being written.
 *
 * What lies directly in the folder is a checkpoint: a file, or a folder with files.  It is
 * complete when it is marked: by a file `.complete` in it, or a file NAME.complete beside
 * it.  In a folder without any mark the newest is complete that nobody wrote to in the last
 * CHECKPOINT_SETTLE_MS before it was cut off.  Names that begin with a dot or end in .tmp or
 * .part are work in progress, marked or not; links are not followed and are none.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define CHECKPOINT_SETTLE_MS 5000
#define CHECKPOINT_FILES_MAX 100000 /* looked at; what is beyond is not seen */
#define CHECKPOINT_MARK      ".complete"

struct checkpoint_entry {
	char *name;
	int64_t written_ns; /* the last time anything in it was written */
	int64_t marked_ns;  /* 0: it is not */
	bool empty;         /* no byte is in it */
};

struct checkpoint_sight {
	struct checkpoint_entry *entries;
	size_t count, cap;
	int64_t files, bytes; /* of all that is there */
	/* Of names, sizes and times: two looks give the same unless something was written. */
	uint64_t print;
};

/* Blocks; off the loop.  A folder that is not there is empty; what vanishes or may not be
 * read on the way is left out. */
int checkpoint_look(const char *folder, struct checkpoint_sight *out, struct err *err);
void checkpoint_fini(struct checkpoint_sight *s);
/* The last complete one, or NULL.  cut_ms: when who wrote them was cut off in the middle;
 * -1: nobody knows when, so the last thing written is what they were at; 0: they were left
 * in peace, so that without marks the newest will do. */
const struct checkpoint_entry *checkpoint_last(const struct checkpoint_sight *s,
					       int64_t cut_ms);
