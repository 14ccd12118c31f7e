// SPDX-License-Identifier: Apache-2.0
/* share.h - how the nodes are shared, as an administrator says: facts of nodes, rules of
 * groups, the policy of the plan.  Facts and rules are documents (yard_change), JSON of
 * wire/facts.h; what they say is so from the moment they are recorded. */
#pragma once

#include "job/policy.h"
#include "job/tenant.h"
#include "yard/yard.h"

#define YARD_NODE_KIND   "node"   /* name: the node's */
#define YARD_TENANT_KIND "tenant" /* name: the group's */

/* What is said of a node that there is; false: there is none of that name. */
bool yard_node_facts(const struct yard *y, const char *node, struct node_facts *out);
/* False: nothing is said of the group, the default is given. */
bool yard_tenant(const struct yard *y, const char *group, struct tenant_rule *out);
void yard_each_tenant(const struct yard *y,
		      void (*each)(void *arg, const char *group,
				   const struct tenant_rule *rule),
		      void *arg); /* of those of whom something is said */
/* Whether the group may have this rule beside the others': 0, or -1 in words that begin
 * with the field. */
int yard_tenant_check(const struct yard *y, const char *group,
		      const struct tenant_rule *rule, struct err *err);

/* What the jobs of a group hold now; devices by type, whatever their model. */
struct yard_share {
	char group[NAME_MAX_BYTES];
	struct resources held;
	size_t running, waiting; /* jobs */
};
void yard_each_share(const struct yard *y,
		     void (*each)(void *arg, const struct yard_share *s),
		     void *arg); /* of groups with live jobs */
/* By what the plan decides which group has its turn: plan_turn(). */
int64_t yard_turn(const struct yard *y, const char *group);
/* What all nodes that are up have, in the same way. */
void yard_capacity(const struct yard *y, struct resources *out);

void yard_set_policy(struct yard *y, const struct plan_policy *policy);
