// SPDX-License-Identifier: Apache-2.0
/* rules.h - can all rules of groups be kept at once?  To be asked when they are made. */
#pragma once

#include "base/err.h"
#include "job/node.h"
#include "job/tenant.h"

struct tenant_named {
	const char *name;
	const struct tenant_rule *rule;
};

/* 0, or ERR_INVALID in words: a parent in a circle or too far down, a weight that is none,
 * more device types than are told apart, more lent than is guaranteed, children that are
 * guaranteed more than their parent, or all together more than the nodes that are up have
 * (amounts; and shapes, as places on empty nodes: whole ones first, so that what is refused
 * might in rare cases have found a place).  No nodes: only what can be said without them. */
int tenant_check(const struct tenant_named *all, size_t count, const struct node *nodes,
		 size_t node_count, struct err *err);
