// SPDX-License-Identifier: Apache-2.0
/* upload_impl.h - what the files of uploads share.
 *
 *   upload.c       begin, show, finish, cancel
 *   upload_part.c  one part comes in
 *   upload_log.c   what is written down, and read at boot
 *
 * uploads.lock guards the table, the counts of who uses an upload and the states of parts,
 * and is never held over a disk; upload.disk guards its descriptors and what is believed.
 */
#pragma once

#include <pthread.h>

#include "base/map.h"
#include "depot/upload.h"

enum part_state { PART_MISSING, PART_COMING, PART_HERE };

struct part {
	uint8_t state;
	uint32_t crc; /* once it is here */
};

struct upload {
	struct uploads *uploads;
	char id[UPLOAD_ID_BYTES];
	char *owner, *path;
	int64_t size, part_size, part_count, modified_ms, created_ms, touched_ms;
	bool executable, parents;
	struct part *parts;
	int refs; /* who uses it now */
	/* Nobody finds it: it is being made, finished or forgotten.  It stays in the table,
	 * so that its bytes are known, until the last who uses it frees it. */
	bool gone;
	pthread_mutex_t disk;
	bool doubtful; /* written down before the machine's last start: parts are read again */
	int fd;        /* its bytes; -1: not opened yet */
	int log;       /* parts that came, appended to; -1: not opened yet */
};

struct uploads {
	pthread_mutex_t lock;
	char *folder; /* where they are written down */
	char boot[64];
	struct map *all; /* by id */
};

/* upload.c: to use one; NULL with err: there is none of that id that goes to that place. */
struct upload *upload_hold(struct uploads *u, const struct volume_place *p,
			   const char *id, struct err *err);
void upload_drop(struct upload *f);
int upload_open(struct upload *f, const struct volume_place *p, struct err *err);
struct upload *upload_alloc(struct uploads *u, int64_t size, int64_t part_size);
void upload_free(struct upload *f);
int64_t upload_part_bytes(const struct upload *f, int64_t n);

/* upload_log.c */
int upload_log_write(const struct upload *f, struct err *err); /* all that is known */
int upload_log_part(struct upload *f, int64_t n, uint32_t crc, struct err *err);
void upload_log_remove(const struct upload *f);
