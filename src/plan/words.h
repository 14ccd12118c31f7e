// SPDX-License-Identifier: Apache-2.0
/* words.h - amounts, nodes and quotas in plain words; shared by reason.c and possible.c. */
#pragma once

#include "plan/model.h"
#include "plan/why.h"

enum dim_what { DIM_DEVICES, DIM_CPU, DIM_MEMORY, DIM_PORTS, DIM_TASKS };

/* One thing that a role asks for, and how a node stands to it. */
struct dim {
	enum dim_what what;
	const struct need *need; /* of devices */
	const char *name;        /* "gpu", "cpu", "memory", "ports", "task slots" */
	int64_t want, free, total;
};

#define DIMS_MAX (DEVICE_KINDS_MAX + 4)

size_t words_dims(const struct view *v, const struct plan *p, int node,
		  const struct ask_role *r, struct dim out[DIMS_MAX]);
void words_number(const struct dim *d, int64_t n, struct buf *out); /* "2", "512 MiB" */
void words_amount(const struct dim *d, int64_t n,
		  struct buf *out); /* "2 gpu", "512 MiB memory" */
void words_role(const struct ask_role *r, struct buf *out); /* "2 gpu, 4 cpu" */
const char *words_level(enum level l);
/* The node where a task of the role lacks the fewest things; with `whole` only among those
 * whose whole is enough for one.  -1: no node is up. */
int words_nearest(const struct plan *p, const struct view *v, const struct view *whole,
		  const struct ask_role *r);
void words_quota(const struct owner *o, const struct ask *a, enum quota_short what,
		 int limit, struct buf *out);
/* "; ask for at most 2 gpu in all", if that would be something. */
void words_ceiling(const struct owner *o, enum quota_short what, int limit,
		   struct buf *out);
/* Why a shape does not fit on empty nodes, and the nearest that does; -1. */
int words_never(const struct plan *p, const struct ask *a, struct err *err);
