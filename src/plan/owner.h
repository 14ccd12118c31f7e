// SPDX-License-Identifier: Apache-2.0
/* owner.h - users and groups: quotas, and who waits for one. */
#pragma once

#include "plan/shape.h"

/* What they hold, what they may hold, who waits for that. */
struct owner {
	char *name;
	bool is_group, has_quota;
	size_t refs;
	struct quota quota;
	struct need limits[DEVICE_KINDS_MAX];
	size_t limit_count;
	int64_t cpu_milli, memory_bytes, jobs;
	int64_t *devices; /* held, by kind */
	size_t device_cap;
	struct tree parked; /* buckets */
};

struct owner *owner_get(struct plan *p, bool group, const char *name); /* one ref */
void owner_put(struct plan *p, struct owner *o);
void owner_free(struct owner *o);
void owner_set_quota(struct plan *p, struct owner *o, const struct quota *q);
void owner_charge(struct owner *o, const struct shape *s, int sign);
/* What of the quota is too little for a shape, beside what is held and (if not NULL) `beside`. */
enum quota_short { QUOTA_OK, QUOTA_CPU, QUOTA_MEMORY, QUOTA_DEVICES, QUOTA_JOBS };
enum quota_short owner_short(const struct owner *o, const struct shape *s,
			     const struct shape *beside, int *kind);
enum quota_short owner_never(const struct owner *o, const struct shape *s, int *kind);
int64_t owner_limit(const struct owner *o, int kind); /* -1: none */
