// SPDX-License-Identifier: Apache-2.0
/* segment.h - the segment files of one attempt's log; seen inside this room alone. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct segments { /* offsets of the first bytes, ascending */
	uint64_t *starts;
	size_t count, cap;
};

/* A folder that is not there has no segments. */
int segments_list(const char *folder, struct segments *out, struct err *err);
void segments_fini(struct segments *s);

/* 0 with *fd -1: there is no such segment (not yet, or no more). */
int segment_open(const char *folder, uint64_t start, int *fd, struct err *err);
/* pread that goes on after short reads and signals; fewer than len only at the end. */
int64_t segment_read(int fd, uint64_t pos, void *out, size_t len, struct err *err);
