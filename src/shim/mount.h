// SPDX-License-Identifier: Apache-2.0
/* mount.h - the few ways a sandbox mounts things; each says in words what it could not do. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

/* A new file system as a detached mount.  options: "key=value" or "flag", NULL-terminated. */
int mount_new(const char *type, const char *const *options, unsigned attr,
	      struct err *err);
/* A copy of what is mounted at path, detached. recursive: with all below it. */
int mount_copy(const char *path, bool recursive, struct err *err);
/* Adds MOUNT_ATTR_* flags, and an idmap when userns >= 0. */
int mount_change(int fd, uint64_t attr, int userns, bool recursive, struct err *err);
/* Puts a detached mount at a path below dir ("": at dir itself); takes the descriptor. */
int mount_place(int fd, int dir, const char *target, struct err *err);
/* copy, change, place: a bind mount. */
int mount_bind(const char *source, int dir, const char *target, uint64_t attr,
	       bool recursive, struct err *err);
