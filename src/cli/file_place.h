// SPDX-License-Identifier: Apache-2.0
/* file_place.h - what an operand of the file commands names.
 *
 *   yard:PATH, pfs:PATH   in the yard's storage; without a leading slash, or with ~/, below
 *                         the caller's home there.  pfs:///PATH is pfs:/PATH
 *   -                     stdin or stdout
 *   anything else         a file or folder of this machine
 * A file here that looks like one of the first two is named by ./yard:x.
 */
#pragma once

#include <stdbool.h>

#include "base/buf.h"

enum place_kind { PLACE_LOCAL, PLACE_YARD, PLACE_STREAM };

struct place {
	enum place_kind kind;
	char *path; /* without the prefix, and without slashes at its end */
	/* Written as a folder that things go into: it ends in '/', or is nothing, ., .. or ~. */
	bool inside;
};

void place_read(struct place *out, const char *text);
/* Of commands that only know the storage: the prefix may be left out. */
void place_read_yard(struct place *out, const char *text);
void place_fini(struct place *p);
#define AUTO_PLACE __attribute__((cleanup(place_fini)))

/* The last name of a path, inside it; "" of "", "/", "." and the like. */
const char *place_base(const char *path);
/* folder/name; the caller frees. */
char *place_join(const char *folder, const char *name);
/* As a person would write it: "yard:a/b", "./a". */
void place_show(enum place_kind kind, const char *path, struct buf *out);
/* "/files/stat?path=PATH"; the caller frees. */
char *place_target(const char *route, const char *path);
/* A name that a folder can hold: of a listing that came from outside. */
bool place_name_ok(const char *name);
