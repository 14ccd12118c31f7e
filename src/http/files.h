// SPDX-License-Identifier: Apache-2.0
/* files.h - what the routes of files share: one question to the storage, asked off the loop.
 *
 * A handler finds the place a path means, says what is to be done there (work, in a thread of
 * the storage) and how it is answered (answer, on the loop), and lets it run.  When the
 * client goes meanwhile the work is done all the same.
 */
#pragma once

#include <stdatomic.h>

#include "depot/file.h"
#include "depot/storage.h"
#include "depot/upload.h"
#include "depot/volume.h"
#include "http/internal.h"

struct file_ask {
	struct exchange *ex; /* held */
	struct storage *storage;
	char *path; /* as it was written */
	unsigned rights;
	struct volume_place place, to;
	void (*work)(struct file_ask *a);
	void (*answer)(struct file_ask *a); /* of what went well */
	struct err err;                     /* ERR_NONE: it did */
	/* What the works are asked, and what they find. */
	bool recursive, parents, replace, has_sum;
	bool whole;    /* goes through a tree, or all of a file */
	bool may_lack; /* a folder that is not there is an empty one */
	char *after;
	size_t limit;
	struct file_page page;
	struct file_info info;
	struct tree_size size;
	int64_t quota_bytes, free_bytes, replaced;
	atomic_bool stop; /* nobody waits any more */
	char id[UPLOAD_ID_BYTES];
	struct upload_about about;
	struct upload_view view;
	struct checksum sum;
};

/* NULL: that was answered: no storage here, a path that is none, or not theirs. */
struct file_ask *files_ask(struct exchange *ex, const char *path, unsigned rights);
/* What is the caller's own is made ready when it is needed for the first time. */
void files_run(struct file_ask *a, void (*work)(struct file_ask *a),
	       void (*answer)(struct file_ask *a));
void files_ask_free(struct file_ask *a);

/* Who asks. */
void files_who(const struct exchange *ex, struct volume_who *out);
/* The place a path means, if they have those rights there. */
int files_find(const struct exchange *ex, const char *path, unsigned rights,
	       struct volume_place *out, struct err *err);
/* True: a range of uids is given out first; find again when done() comes. */
bool files_range(struct exchange *ex, const struct volume_place *p, yard_done done,
		 void *arg);
void files_write_info(struct json *j, const struct file_info *i);
/* The answer of what made or changed a file: its path and all that is known of it. */
void files_answer_file(struct exchange *ex, int status, const char *path,
		       const struct file_info *i);
/* Where the upload that the path names goes, if it is the caller's; the caller frees. */
char *files_upload_path(struct exchange *ex, struct err *err);
