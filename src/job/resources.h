// SPDX-License-Identifier: Apache-2.0
/* resources.h - what a task asks for and a node has. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEVICE_TYPE_MAX  32 /* "gpu", "npu", "gpu:a100": bytes with the NUL */
#define DEVICE_KINDS_MAX 4  /* kinds in one request or on one node */
#define DEVICES_MAX      64 /* devices of one kind on one node */

struct device_count {
	char type[DEVICE_TYPE_MAX];
	int count;
};

struct resources {
	int64_t cpu_milli; /* 1000 is one core */
	int64_t memory_bytes;
	/* Kinds with a count first, none twice. */
	struct device_count devices[DEVICE_KINDS_MAX];
};

int resources_device(const struct resources *r, const char *type); /* 0: none */
/* A count of 0 takes the kind away.  False: no place for one more kind, or a bad type. */
bool resources_set_device(struct resources *r, const char *type, int count);
bool resources_fit(const struct resources *want, const struct resources *have);
/* Sums end at the bounds of their type.  A kind for which there is no place is left out:
 * spec_check sees to it that one job has no more than DEVICE_KINDS_MAX. */
void resources_add(struct resources *r, const struct resources *more);
void resources_sub(struct resources *r, const struct resources *less);
void resources_scale(struct resources *r, int64_t times);
