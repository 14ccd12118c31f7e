// SPDX-License-Identifier: Apache-2.0
/* tree.h - folders as wholes: make, make durable, own, remove.
 *
 * All of it blocks on disks and belongs off the loop.  Links are never followed, so a
 * tree that a task wrote cannot lead outside of itself.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct tree_size {
	int64_t files, bytes;
};

/* The folder and what is missing above it.  One that is there already is fine. */
int tree_make(const char *path, mode_t mode, struct err *err);
/* Everything below and the folder itself is on disk when this returns; counts on the way. */
int tree_sync(const char *path, struct tree_size *size, struct err *err);
int tree_sync_folder(const char *path, struct err *err); /* just its entries */
/* Everything below gets this owner and loses setuid, setgid and sticky bits and others' write. */
int tree_own(const char *path, uid_t uid, gid_t gid, struct err *err);
/* What is not there is removed already. */
int tree_delete(const char *path, struct err *err);
/* uid may read (and enter) the folder and whatever will be made in it, beside its owner.
 * 0 also where the file system has no access lists. */
int tree_let_read(const char *path, uid_t uid, struct err *err);
/* The folder becomes its owner's alone (0700), but that uid may pass through.  Where the
 * file system has no access lists everybody may: else nobody would reach what is theirs. */
int tree_let_pass(const char *path, uid_t uid, struct err *err);
