// SPDX-License-Identifier: Apache-2.0
/* upload.h - large files that come in parts: in any order, several at a time, over days.
 *
 * An upload is written down in the state folder (what it is, and of each part that came its
 * CRC-32C); its bytes lie in the storage's own folder of the area, where no path leads.  So
 * it survives the daemon; after a crash of the machine, which may forget bytes that were
 * never synced, the parts are read again before they are believed.  When all are there
 * the file is made durable and given its name at once.
 *
 * From any thread.  What touches disks blocks; upload_path() does not.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "depot/usage.h"
#include "depot/volume.h"
#include "pack/checksum.h"

#define UPLOAD_ID_BYTES  33 /* 32 hex digits and the NUL */
#define UPLOAD_PART_MIN  (INT64_C(64) << 10)
#define UPLOAD_PART_MAX  (INT64_C(1) << 30)
#define UPLOAD_PARTS_MAX 100000
#define UPLOAD_SIZE_MAX  (INT64_C(1) << 44)
#define UPLOAD_KEEP_MS   (INT64_C(7) * 24 * 3600 * 1000)
#define UPLOADS_MAX      1000 /* of one user at a time */

struct uploads;

/* Those of earlier are read; state: the daemon's folder. */
struct uploads *uploads_create(const char *state, struct err *err);
void uploads_destroy(struct uploads *u); /* NULL is fine */

struct upload_about {
	const char *owner; /* who sends it */
	int64_t size, part_size,
		modified_ms; /* part_size 0: as fits; modified_ms -1: none */
	bool executable, parents;
	int64_t now_ms;
};

/* As it is: runs of parts that came, [first, last] each. */
struct upload_view {
	char id[UPLOAD_ID_BYTES];
	char *path;
	int64_t size, part_size;
	int64_t (*have)[2];
	size_t have_count;
	bool fresh; /* it was made just now */
};
void upload_view_fini(struct upload_view *v);

/* The same owner, path, size and time again gives the unfinished one back. */
int upload_begin(struct uploads *u, struct usage *usage, const struct volume_place *p,
		 const struct upload_about *about, struct upload_view *out,
		 struct err *err);
/* Whose it is and where it goes: ERR_NOT_FOUND unless owner is NULL or its owner.  The
 * caller frees. */
char *upload_path(struct uploads *u, const char *id, const char *owner, struct err *err);
int upload_show(struct uploads *u, const struct volume_place *p, const char *id,
		struct upload_view *out, struct err *err);

/* One part, numbered from 0; the last may be shorter.  Each part has one sender at a time. */
struct upload_part;
struct upload_part *upload_part_begin(struct uploads *u, const struct volume_place *p,
				      const char *id, int64_t n, int64_t now_ms,
				      struct err *err);
/* Before the first byte: which sum is to be compared at the end. */
void upload_part_sums(struct upload_part *part, enum checksum_kind kind);
int upload_part_write(struct upload_part *part, const void *data, size_t len,
		      struct err *err);
/* Takes the part, also when it fails.  said: NULL: nothing was. */
int upload_part_finish(struct upload_part *part, const struct checksum *said,
		       struct err *err);
void upload_part_abort(struct upload_part *part); /* NULL is fine */

/* said: of the whole file, or NULL.  replaced: as file_put_finish(). */
int upload_finish(struct uploads *u, const struct volume_place *p, const char *id,
		  const struct checksum *said, int64_t *replaced, struct err *err);
int upload_cancel(struct uploads *u, const struct volume_place *p, const char *id,
		  int64_t *size, struct err *err);
/* Where it goes is no more, and so are its bytes. */
void upload_abandon(struct uploads *u, const char *id);
/* As long as its bytes may lie there, also while it is being made or finished. */
bool upload_known(struct uploads *u, const char *id);
/* The next one that is older than UPLOAD_KEEP_MS: its id and path, which the caller frees;
 * NULL: there is none. */
char *upload_expired(struct uploads *u, int64_t now_ms, char id[UPLOAD_ID_BYTES]);
