// SPDX-License-Identifier: Apache-2.0
/* volume.h - the storage tree of a yard: what a path means, whose it is, who may.
 *
 *   /pfs/<dc>/home/<user>/...   a home: its user's            also /mnt/user/<user>/...
 *   /pfs/<dc>/group/<group>/... a share: the group's members' also /mnt/share/<group>/...
 *   /pfs/<dc>/public/...        all may read                  also /pfs/public/...
 *   /jobs/<id>/<output>/...     what a job put out            as the job may be seen
 *   anything else, ~, ~/...     the caller's home
 *
 * A path becomes a place in two steps.  volume_find(), on the loop, reads the path and says
 * whose it is; it touches no disk.  Everything else blocks and belongs off the loop; it
 * starts at the area's own folder and never leaves it, whatever links, names and racing
 * renames are in there (open.h).
 *
 * Root mode: an area belongs to a range of uids (WHO_RANGE of them from `uid` on), in which
 * its files are made and with whose rights they are opened.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/principal.h"

#define VOLUME_PATH_MAX 4096 /* bytes of a path, with the NUL */
#define VOLUME_RANGE    65536
#define VOLUME_NO_RANGE (-2)

struct volume;

enum volume_area {
	VOLUME_VIRTUAL, /* lists what the caller may see; holds no bytes */
	VOLUME_HOME,
	VOLUME_GROUP,
	VOLUME_PUBLIC,
	VOLUME_OUTPUT,
	VOLUME_AREA_COUNT
};

enum volume_virtual { /* which one, of VOLUME_VIRTUAL */
		      VIRTUAL_ROOT,
		      VIRTUAL_PFS,
		      VIRTUAL_DC,
		      VIRTUAL_HOMES,
		      VIRTUAL_GROUPS,
		      VIRTUAL_MNT,
		      VIRTUAL_JOBS,
		      VIRTUAL_JOB,
		      VIRTUAL_COUNT
};

enum volume_right {
	VOLUME_READ = 1,
	VOLUME_WRITE = 2, /* make, replace, move */
	VOLUME_REMOVE = 4,
};

/* On whose behalf.  A job asks as its owner, never as an admin. */
struct volume_who {
	const char *name;
	bool admin;    /* may do everything */
	bool sees_all; /* an admin whose credential only reads */
	int64_t uid;   /* of their account on this machine; -1: none */
};

struct volume_place {
	enum volume_area area;
	enum volume_virtual which;
	char name[NAME_MAX_BYTES]; /* the user, group or output */
	int64_t job;
	unsigned rights;
	bool make; /* the area's folder may be made when it is not there */
	/* First of the range; -1: the daemon's own (private mode, public); VOLUME_NO_RANGE:
	 * root mode, and none was given out yet (yard/range.h gives one). */
	int64_t uid;
	int64_t host_uid; /* of the home's user on this machine, who may read it; -1: none */
	char *folder;     /* the area's, on this machine; NULL: VOLUME_VIRTUAL */
	char *rel;        /* below that: "" or "a/b", without ".", ".." and empty parts */
	char *path;       /* canonical: "/pfs/local/home/ann/a/b" */
};

/* ERR_INVALID: no path; ERR_NOT_FOUND: not there or not theirs to see.  Nothing is said yet
 * of what lies below the area.  On the loop. */
int volume_find(const struct volume *v, const struct volume_who *who, const char *path,
		struct volume_place *out, struct err *err);
void volume_place_fini(struct volume_place *p);
void volume_place_copy(const struct volume_place *from, struct volume_place *to);
#define AUTO_PLACE __attribute__((cleanup(volume_place_fini)))
/* "pfs:PATH" and "yard:PATH" (or with "//" before an absolute one): the path, which is part of
 * the text; NULL: another scheme. */
const char *volume_uri_path(const char *uri);
/* ERR_DENIED in words when that right (all of those) is not there. */
int volume_may(const struct volume_place *p, unsigned rights, struct err *err);

/* The area's folder is there and belongs to whom it should; made where place->make allows. */
int volume_ready(const struct volume_place *p, struct err *err);
/* An O_PATH descriptor of what is there: a file or a folder, reached with the owner's rights
 * and without leaving the area. */
int volume_open(const struct volume_place *p, struct err *err);
/* Its path on this machine without any link in it, for a bind: who opens it must refuse
 * links on the way (as shim/source.c does), so that one put there since leads nowhere. */
char *volume_real(const struct volume_place *p, struct err *err);

/* nas://NAME/...: the folder of that name; NULL: there is none. */
const char *volume_nas(const struct volume *v, const char *name);
/* Whether file: and plain paths may lie there (a real path, no links in it). */
int volume_check_file_root(const struct volume *v, const char *real, struct err *err);
