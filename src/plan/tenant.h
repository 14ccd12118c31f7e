// SPDX-License-Identifier: Apache-2.0
/* tenant.h - the tree of groups: who may hold how much, and whose turn it is.
 *
 * Amounts are kept by dimension: cpu, memory, and each device type that a rule names (a
 * request counts for a type as for a quota: see owner.h).  With G what a group and those
 * below it are guaranteed (its rule, or the sum of its children's when that is more; shapes
 * count as devices), of which `lend` at most leaves it (no lend: all of it):
 *
 *   pool   what is guaranteed in its part of the tree, less what single groups below keep
 *   keep   the part of the pool that is not lent: pool - lend
 *   The root's pool is what all nodes that are up have, less what is kept below.
 *   used   what the jobs of its part hold
 *   seen   its own jobs' use, and of each child what that uses beyond its own keep
 *
 * What a group may take more is what it keeps unused, and beyond that what its parent may
 * take more, but no more than `borrow` beyond its guarantee (no borrow: no such limit).
 *
 * Laws: nobody starts who asks for more than that, so nobody holds beyond guarantee +
 * borrow, and what a group keeps is never given to others: as long as nodes do not leave
 * and rules do not change, used <= pool of the root, what others keep unused set aside.
 * A group within its guarantee goes before all that are not (but those past the age bound).
 * All of this is a function of rules, nodes and who holds what: order of arrival is none.
 *
 * Share: of cpu, memory and devices the one of which it holds most of all there is, by
 * weight.  Past use counts with it: amount × time of each hour, halved every half-life, and
 * what is held now counts as if it were held for one half-life.
 */
#pragma once

#include "plan/owner.h"

#define HOUR_MS          INT64_C(3600000)
#define TENANT_DEPTH_MAX 8
#define TENANT_ANY       (INT64_MAX / 4) /* no limit; sums of two stay in range */

struct dims { /* what rules speak of, in all of the tree */
	uint64_t version;
	int count; /* 0: no rule sets an amount.  Else cpu, memory, types */
	char types[TENANT_TYPES_MAX][DEVICE_TYPE_MAX];
	bool shapes;            /* some rule promises places */
	uint64_t fleet_version; /* of the root's pool */
};

struct hour_use {
	int64_t hour;
	struct use use;
};

struct tenant {
	struct plan *plan;
	struct owner *owner;   /* of the root: one that is in no map */
	struct tenant *parent; /* NULL: the root */
	int depth;             /* of the root 0 */
	bool has_rule;
	struct tenant_rule rule;
	int64_t guarantee[TENANT_DIMS_MAX]; /* -1: none set */
	int64_t borrow[TENANT_DIMS_MAX];    /* TENANT_ANY: no limit */
	int64_t pool[TENANT_DIMS_MAX], keep[TENANT_DIMS_MAX];
	int64_t used[TENANT_DIMS_MAX], seen[TENANT_DIMS_MAX];
	int64_t below[TENANT_DIMS_MAX];      /* guaranteed to its children, */
	int64_t kept_below[TENANT_DIMS_MAX]; /* and kept there */
	int children;
	bool promises;                         /* its rule has shapes: see promise.h */
	struct ask *places[TENANT_SHAPES_MAX]; /* promise.c: the shapes of its rule, */
	size_t places_kinds;
	struct view *kept;         /* and what its jobs may take, */
	uint64_t kept_version;     /* of the plan */
	int kept_count;            /* so many places are kept */
	struct use own, held;      /* now: its own jobs; with all below */
	struct use own_past, past; /* that faded: the same */
	int64_t own_share, share;
	struct hour_use *hours; /* by hour, its own jobs that ended */
	size_t hour_count, hour_cap;
	bool forgotten;
	struct entry *head; /* memory of order_heads() */
	struct tree line;   /* who waits in it, not past the age bound: by (submit, id) */
	const struct tree_node *first; /* of all lines below; memory of share.c */
};

void tenant_create(struct plan *p, struct owner *group); /* a child of the root */
void tenant_destroy(struct tenant *t);
/* NULL: no rule.  Who names a parent that is not there, or itself in the end, or is too
 * deep, is a child of the root. */
void tenant_set(struct plan *p, const char *name, const struct tenant_rule *rule);
void tenant_charge(struct tenant *t, struct shape *s, int sign); /* and all above it */
void tenant_hold(struct tenant *t, const struct shape *s, int sign); /* of that: shares */
bool tenant_within(struct tenant *t, struct shape *s); /* its guarantee, with that more */
bool tenant_secure(struct tenant *t,
		   struct shape *s); /* the same of one that is charged */
/* Who stops a shape: its dimension too.  NULL: nobody. */
struct tenant *tenant_short(struct tenant *t, struct shape *s, int *dim);
struct tenant *tenant_never(struct tenant *t, struct shape *s, int *dim); /* for good */
bool tenant_below(const struct tenant *t, const struct tenant *above);    /* or itself */

/* That it used so much in that hour: set, or added. */
void tenant_used(struct tenant *t, int64_t hour, const struct use *u, bool add);
void tenant_ran(struct tenant *t, const struct shape *s, int64_t from_ms, int64_t to_ms);
void tenants_fade(struct plan *p); /* when another hour began, or the policy changed */
void tenants_capacity(struct plan *p, const struct node *n, int sign);
struct use shape_use(const struct shape *s); /* what it takes while it runs */
/* < 0: a's part of the tree has its turn before b's. */
int tenant_cmp(const struct tenant *a, const struct tenant *b);
