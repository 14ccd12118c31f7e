// SPDX-License-Identifier: Apache-2.0
/* sandbox_parts.h - what the files of the sandbox share; nobody else includes it.
 *
 * While it is built, the working directory is the staging tmpfs:
 *   root/         becomes the task's root
 *   u<n> w<n>     upper and work folder of overlay n: one tmpfs for all of them
 *   l<n> o<n>     its lower as bound, and as seen with the user's eyes
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "shim/message.h"
#include "shim/sandbox.h"

struct sandbox {
	const struct shim_task *task;
	const struct sandbox_maps *maps;
	bool root_mode;
	uid_t owner;     /* uid 0 inside, as this process sees it now */
	int root;        /* descriptor of root/ once it is a mount */
	int overlays;    /* how many were made */
	bool etc_filled; /* the bundle's files in /etc are there already */
};

struct bytes {
	const char *data;
	size_t len;
};

/* Makes a folder or file, given to the task's root user.  Paths are relative to dir. */
int sandbox_mkdir(const struct sandbox *s, int dir, const char *path, mode_t mode,
		  struct err *err);
int sandbox_file(const struct sandbox *s, int dir, const char *path, mode_t mode,
		 struct bytes content, struct err *err);
int sandbox_link(const struct sandbox *s, const char *to, const char *path,
		 struct err *err);

/* Opens a folder of the new root as the task will resolve its path (links stay inside),
 * making what is missing.  Gives a descriptor. */
int sandbox_folder(const struct sandbox *s, const char *path, struct err *err);

/* Next number for u, w, l, o; makes these folders. */
int sandbox_overlay_slot(struct sandbox *s, struct err *err);
/* Mounts overlay n over lower l<n> at a folder of the new root; `guarded`: through o<n>,
 * which shows only what anybody on the host may read. */
int sandbox_overlay(struct sandbox *s, int n, bool guarded, int at, struct err *err);

/* Private mode, last: gives the task no right over the mounts it stands on. */
int sandbox_lock(struct err *err);

int sandbox_skeleton(struct sandbox *s,
		     struct err *err); /* folders and links of the root */
int sandbox_system(struct sandbox *s,
		   struct err *err); /* /usr, /etc, ...: overlays on the host's */
int sandbox_kernel(struct sandbox *s, struct err *err); /* /dev, /proc, /sys */
int sandbox_mounts(struct sandbox *s, struct err *err); /* what the bundle lists */
