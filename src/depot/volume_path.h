// SPDX-License-Identifier: Apache-2.0
/* volume_path.h - what the text of a storage path says; pure, of outside bytes. */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "depot/volume.h"

/* The storage's own folder in the root of an area: uploads under way, what is being removed.
 * No path leads there. */
#define VOLUME_OWN_FOLDER ".yard-storage"
#define VOLUME_PART_MAX   255 /* bytes of one name */

struct volume_text {
	enum volume_area area;
	enum volume_virtual which;
	char name[NAME_MAX_BYTES];
	int64_t job;
	char rel[VOLUME_PATH_MAX];
};

/* home: of whom, when the path is relative. */
int volume_path_read(const char *path, const char *dc, const char *home,
		     struct volume_text *out, struct err *err);
/* The canonical path; the caller frees. */
char *volume_path_write(const struct volume_text *t, const char *dc);
