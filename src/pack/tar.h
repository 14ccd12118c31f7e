// SPDX-License-Identifier: Apache-2.0
/* tar.h - the head of one entry in a tar archive: ustar, with a pax record before it
 * where a name or size does not fit.  Owner, group and time are the same for everybody,
 * so that the same files always make the same bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"

#define TAR_BLOCK 512
/* 1980-01-01: the first moment that zip files, and so Python wheels, can express. */
#define TAR_TIME 315532800

enum tar_kind { TAR_FILE, TAR_LINK, TAR_FOLDER };

struct tar_entry {
	enum tar_kind kind;
	const char *path; /* relative; a folder's without the slash at its end */
	const char *link; /* TAR_LINK: where it points */
	int64_t size;     /* TAR_FILE */
	bool executable;
};

void tar_head(const struct tar_entry *e, struct buf *out);
void tar_pad(int64_t size, struct buf *out); /* fills a file's last block */
void tar_end(struct buf *out);
