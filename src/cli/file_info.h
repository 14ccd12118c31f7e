// SPDX-License-Identifier: Apache-2.0
/* file_info.h - what is known of a file or folder, here or in the yard, and listings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "base/err.h"
#include "cli/client.h"

enum file_kind { FILE_NONE, FILE_PLAIN, FILE_FOLDER, FILE_LINK, FILE_OTHER };

struct file_info {
	char *name; /* in its folder; of a stat in the yard: the whole path */
	enum file_kind kind;
	int64_t size, modified_ms;
	bool executable;
	char *etag; /* of a stat in the yard, else NULL */
	uint64_t
		node; /* local folders: device and inode, mixed: for links that go round */
	bool link;    /* local: led to by a link, which was followed */
	bool outside; /* local: a link that leads out of the tree, or nowhere (FILE_LINK) */
};

struct file_list { /* sorted by the bytes of the names */
	struct file_info *items;
	size_t count, cap;
};

void file_info_fini(struct file_info *i);
#define AUTO_INFO __attribute__((cleanup(file_info_fini)))
void file_list_fini(struct file_list *l);
#define AUTO_LIST __attribute__((cleanup(file_list_fini)))
/* NULL: no such name. */
const struct file_info *file_list_find(const struct file_list *l, const char *name);

/* Nothing there is an answer: FILE_NONE. */
int file_stat_yard(struct client *c, const char *path, struct file_info *out,
		   struct err *err);
int file_stat_local(const char *path, struct file_info *out, struct err *err);

int file_list_yard(struct client *c, const char *path, struct file_list *out,
		   struct err *err);
/* root: links that lead to what lies below it are followed; it is absolute and has no links
 * itself (realpath). */
int file_list_local(const char *path, const char *root, struct file_list *out,
		    struct err *err);

/* Of a file here; times before 1970, which the yard does not know, are 1970. */
int64_t file_modified_ms(const struct stat *st);
/* What it seems to be the same file by, without reading it. */
bool file_info_same(const struct file_info *a, const struct file_info *b);
