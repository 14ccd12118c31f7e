// SPDX-License-Identifier: Apache-2.0
/* beneath.h - opens what a task wrote, and never anything else; seen inside this room alone.
 *
 * A task owns the folder and may put links, pipes and devices there, or change one for the
 * other at any moment.  Names are resolved below the folder and through no link; what is
 * opened is looked at before it is, so that no pipe waits and no device is touched.
 */
#pragma once

#include <sys/stat.h>

#include "base/err.h"

/* A folder that the yard made; its path may lead through links, which only admins make. */
int beneath_root(const char *path, struct err *err);
/* A folder below it, by a path without a leading slash ("." is itself). */
int beneath_folder(int root, const char *path, struct err *err);
/* A plain file below it, for reading. */
int beneath_file(int root, const char *path, struct stat *st, struct err *err);
