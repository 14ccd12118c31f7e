// SPDX-License-Identifier: Apache-2.0
/* volume_setup.h - how a storage tree is made: its settings, and what it asks of others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "depot/volume.h"

/* Of a job's output, as far as this caller may know of it. */
struct volume_output {
	unsigned rights;
	int64_t uid;  /* as volume_place.uid */
	char *folder; /* the caller's to free */
	bool make;    /* a job that lives will put it out: an empty one until then */
};

/* Asked on the loop only; names are as they stand in a path. */
struct volume_outside {
	bool (*in_group)(void *arg, const char *user, const char *group);
	bool (*is_group)(void *arg, const char *group);
	/* The first uid of a user's range, or of a group's; -1: none was given out yet.
	 * Asked in root mode only. */
	int64_t (*range)(void *arg, enum volume_area area, const char *name);
	/* ERR_NOT_FOUND: no such job or output, or not theirs to see. */
	int (*output)(void *arg, const struct volume_who *who, int64_t job,
		      const char *output, struct volume_output *out, struct err *err);
	void *arg;
};

struct volume_config {
	const char *root;       /* made when it is not there */
	const char *dc;         /* NULL: "local" */
	int64_t quota_bytes;    /* of one home; 0: none */
	const char *const *nas; /* "NAME=/folder" */
	size_t nas_count;
	const char *const *file_roots;
	size_t file_root_count; /* 0: anywhere */
	bool ranges;            /* root mode */
	struct volume_outside outside;
};

/* The folders of the tree are there and may be used, or the error says what to do. */
struct volume *volume_create(const struct volume_config *c, struct err *err);
void volume_destroy(struct volume *v); /* NULL is fine */
const char *volume_dc(const struct volume *v);
const char *volume_root(const struct volume *v); /* the real path */
int64_t volume_quota(const struct volume *v);    /* 0: none */
