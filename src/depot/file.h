// SPDX-License-Identifier: Apache-2.0
/* file.h - what can be done with a place of the storage.  All of it blocks: off the loop. */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "depot/tree.h"
#include "depot/volume.h"
#include "pack/checksum.h"

enum file_kind { FILE_FILE, FILE_FOLDER, FILE_LINK, FILE_OTHER, FILE_KIND_COUNT };

#define FILE_ETAG_MAX 64

struct file_info {
	enum file_kind kind;
	int64_t size, modified_ms;
	bool executable;
	char etag[FILE_ETAG_MAX]; /* with its quotes; another one after any change */
};

struct file_entry {
	char *name;
	struct file_info info;
};

struct file_page {
	struct file_entry *entries; /* by the bytes of their names */
	size_t count;
	bool more;
};

void file_info_of(const struct stat *st, struct file_info *out);
const char *file_kind_word(enum file_kind kind);

/* What a folder has behind the name `after` (NULL: from the first on). */
int file_list(const struct volume_place *p, const char *after, size_t limit,
	      struct file_page *out, struct err *err);
void file_page_fini(struct file_page *page);
/* A link that leads nowhere, or out, is FILE_LINK; others are what they lead to. */
int file_stat(const struct volume_place *p, struct file_info *out, struct err *err);
/* The sum of a file's bytes.  It ends early with ERR_BUSY once *stop. */
int file_sum(const struct volume_place *p, enum checksum_kind kind,
	     const atomic_bool *stop, struct file_info *out, struct checksum *sum,
	     struct err *err);
/* A descriptor to read its bytes by. */
int file_open(const struct volume_place *p, struct file_info *out, struct err *err);
/* One that is there already is fine with parents, else ERR_CONFLICT. */
int file_make_folder(const struct volume_place *p, bool parents, struct err *err);
/* Within one area.  Without replace what is there stays, and ERR_CONFLICT. */
int file_move(const struct volume_place *from, const struct volume_place *to,
	      bool replace, struct err *err);
/* Folders that are not empty only when recursive.  The name is gone first and at once;
 * links are removed, not followed. */
int file_remove(const struct volume_place *p, bool recursive, struct tree_size *removed,
		struct err *err);
/* Everything below the place is counted; other file systems mounted there are not.  It ends
 * early with ERR_BUSY once *stop. */
int file_measure(const struct volume_place *p, const atomic_bool *stop,
		 struct tree_size *out, struct err *err);
int file_free_bytes(const struct volume_place *p, int64_t *out, struct err *err);
/* Whatever was written to the area's disk before is durable. */
int file_sync(const struct volume_place *p, struct err *err);
