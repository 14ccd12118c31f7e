// SPDX-License-Identifier: Apache-2.0
/* resources.h - what a task asks for and a node has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_TYPE_MAX  64 /* bytes with the NUL */
#define DEVICE_KINDS_MAX 4  /* kinds in one request or on one node */
#define DEVICES_MAX      64 /* devices of one kind on one node */

#define DEVICE_SHARE 1000 /* a whole device, in the parts that can be shared out */

/* A node has "gpu" or, with a model, "gpu:a100".  Who asks for "gpu" takes any model,
 * who asks for "gpu:a100|v100" one of these. */
struct device_count {
	char type[DEVICE_TYPE_MAX];
	int count;
	int share_milli; /* asked for: of one device that others may use too; 0: whole ones.
			  * In a sum: count parts of that size */
};

struct resources {
	int64_t cpu_milli; /* 1000 is one core */
	int64_t memory_bytes;
	/* Kinds with a count first, none twice. */
	struct device_count devices[DEVICE_KINDS_MAX];
};

bool device_matches(const char *asked, const char *has);
/* All that would do for `asked` is of that type: "gpu:a100" is within "gpu". */
bool device_within(const char *asked, const char *type);
/* "2": so many whole ones; "0.5": a share of one.  -1: neither, or more than `most`. */
int device_amount(const char *text, int64_t most, struct device_count *out);
int64_t device_milli(const struct device_count *d); /* all of it, in parts */
void device_set_milli(struct device_count *d, int64_t milli);
int resources_device(const struct resources *r, const char *type); /* 0: none */
int64_t resources_milli(const struct resources *r, const char *type);
/* A count of 0 takes the kind away.  False: no place for one more kind, or a bad type. */
bool resources_set_device(struct resources *r, const char *type, int count);
bool resources_set_share(struct resources *r, const char *type, int count,
			 int share_milli);
bool resources_fit(const struct resources *want, const struct resources *have);
/* Sums end at the bounds of their type.  A kind for which there is no place is left out:
 * spec_check sees to it that one job has no more than DEVICE_KINDS_MAX. */
void resources_add(struct resources *r, const struct resources *more);
void resources_sub(struct resources *r, const struct resources *less);
void resources_scale(struct resources *r, int64_t times);
