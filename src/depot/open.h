// SPDX-License-Identifier: Apache-2.0
/* open.h - opening what lies in an area of the storage, and nothing else.
 *
 * The kernel walks the path (openat2, RESOLVE_BENEATH): links that stay inside are followed,
 * those that lead out, by whatever way and at whatever moment they appear, are refused.
 * What was found is looked at before it is used: of what is neither a file nor a folder
 * (devices, pipes, sockets) nothing is ever opened, so nothing can block.
 *
 * Root mode: what is found must belong to the area's range of uids, else it is somebody
 * else's that was linked there; then it is used with just the rights of the uid that owns
 * it.  So root's power serves for the walk alone.
 */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"
#include "depot/disguise.h"
#include "depot/volume.h"

/* Whether this kernel can; ERR_UNSUPPORTED in words otherwise. */
int open_supported(const char *folder, struct err *err);
/* The area's own folder (O_PATH); made when it may be. */
int open_area(const struct volume_place *p, struct err *err);
/* What the place names, below the area's folder: O_PATH, with O_DIRECTORY or O_NOFOLLOW. */
int open_beneath(int area, const struct volume_place *p, int flags, struct err *err);
/* The folder that holds what the place names (O_PATH), made with those above it when
 * asked for; *name is the last part of place->rel. */
int open_parent(int area, const struct volume_place *p, bool make, const char **name,
		struct err *err);

/* The storage's own folder of the place's area (O_PATH), made when it is not there. */
int open_own(const struct volume_place *p, struct err *err);

/* Of what an O_PATH descriptor is of: to read its bytes (a file) or its entries. */
int open_file(const struct volume_place *p, int fd, struct stat *st, struct err *err);
int open_folder(const struct volume_place *p, int fd, struct err *err);

/* Between both the thread acts as the owner of what fd is of, where there are ranges. */
struct acting {
	struct disguise disguise;
	bool on;
};
int act_as_owner(struct acting *a, const struct volume_place *p, int fd, struct err *err);
/* The same to read: of public as somebody who is nobody in particular, so that what only
 * root may read stays so. */
int act_as_reader(struct acting *a, const struct volume_place *p, int fd,
		  struct err *err);
void act_end(struct acting *a);
/* Words for errno of what was tried on the place. */
int open_error(const struct volume_place *p, const char *what, struct err *err);
