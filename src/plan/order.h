// SPDX-License-Identifier: Apache-2.0
/* order.h - whose turn it is: the order of job/policy.h among those who wait.
 *
 * 1. past the age bound, by submit time; 2. within a guarantee (tenant.h); 3. priority;
 * 4. when fair, the tree of groups: at each fork the smaller share by weight, then who has
 *    somebody waiting longest; 5. inside a group (when fair) its own order: the least work
 *    left (limit or guess, the shorter, times size), or the least served; 6. submit order.
 * It is a strict order of all who wait, given what is held now: a start changes it.
 * Without `fair` groups have no queues of their own: 4 and 5 fall away.
 *
 * Heads: the first of each group (when fair; else of all) that no quota stops, that could
 * run, and cannot start now: it does not fit, or would delay a head before it.  At most
 * HEADS_MAX of them, the first in this order, are protected from backfill.
 */
#pragma once

#include "plan/queue.h"

#define HEADS_MAX 8

int order_cmp(const struct entry *a, const struct entry *b);
bool order_before(const struct entry *a, const struct entry *b);
/* So many wait before it.  Costs by the number of buckets. */
size_t order_rank(const struct plan *p, const struct entry *e);
/* Those of rank `from` on.  Costs by the number of buckets and the rank of the last. */
size_t order_list(const struct plan *p, size_t from, int64_t *out, size_t max);

/* Tree keys of one that waits: aged ones before all others. */
int64_t order_key(const struct entry *e);
bool order_aged(const struct plan *p, const struct entry *e); /* as of the last step */
void order_age(struct plan *p);    /* those who passed their bound move; at a step */
void order_policy(struct plan *p); /* another age bound: everybody is looked at */

size_t order_heads(const struct plan *p, struct entry *out[HEADS_MAX]);
/* How long it is believed to run: its limit, or a guess where the policy believes them;
 * 0: no telling. */
int64_t entry_lasts(const struct entry *e);
