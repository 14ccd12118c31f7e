// SPDX-License-Identifier: Apache-2.0
/* owner.h - users and groups: quotas, and who waits for one. */
#pragma once

#include "plan/shape.h"

/* What they hold (a group with all below it in the tree), what they may hold, who waits
 * for that. */
struct owner {
	char *name;
	bool is_group, has_quota;
	size_t refs;
	struct quota quota;
	/* What is held.  A request counts for a limit when all that would do for it is of
	 * the limit's type: one for gpu:a100 counts for gpu, one for gpu not for gpu:a100. */
	int64_t cpu_milli, memory_bytes, jobs;
	struct held {
		char type[DEVICE_TYPE_MAX]; /* as asked for */
		int64_t milli;
	} * held;
	size_t held_count, held_cap;
	struct tree parked;    /* buckets */
	struct tenant *tenant; /* a group's place in the tree; of users NULL */
};

struct owner *owner_get(struct plan *p, bool group, const char *name); /* one ref */
void owner_put(struct plan *p, struct owner *o);
void owner_free(struct owner *o);
void owner_set_quota(struct plan *p, struct owner *o, const struct quota *q);
void owner_charge(struct owner *o, const struct shape *s, int sign);
/* What of the quota is too little for a shape, beside what is held and (if not NULL)
 * `beside`; of devices: which of the quota's limits. */
enum quota_short {
	QUOTA_OK,
	QUOTA_CPU,
	QUOTA_MEMORY,
	QUOTA_DEVICES,
	QUOTA_JOBS,
	QUOTA_BORROW, /* its group's part of the tree may not borrow more; see tenant.h */
	QUOTA_KEPT,   /* the rest is kept for groups to whom it is guaranteed */
};
enum quota_short owner_short(const struct owner *o, const struct shape *s,
			     const struct shape *beside, int *limit);
enum quota_short owner_never(const struct owner *o, const struct shape *s, int *limit);
int64_t owner_holds(const struct owner *o, const char *type); /* 1/1000 of devices */
int64_t ask_milli(const struct ask *a, const char *type);     /* the same of a request */
