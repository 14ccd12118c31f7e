// SPDX-License-Identifier: Apache-2.0
/* facts.h - what an administrator says of nodes and groups, as JSON: the body of a change
 * and the document that is kept are of one form, so that a change is made by reading it
 * over what there was. */
#pragma once

#include "base/doc.h"
#include "base/err.h"
#include "base/json.h"
#include "job/node.h"
#include "job/tenant.h"

/* The fields of a node's facts, into an object that is open. */
void wire_facts_write(struct json *j, const struct node_facts *f);
/* Fields that are there are taken over; the whole is checked.  On failure *f is as it was.
 * The message begins with the field. */
int wire_facts_read(const struct doc_node *map, struct node_facts *f, struct err *err);

/* The same of a group's place among those who share the nodes.  "parent" null: the root;
 * of amounts null is none, and of cpu, memory and kinds of devices what is not named is
 * not limited (or not guaranteed). */
extern const struct tenant_rule wire_tenant_default;
void wire_tenant_write(struct json *j, const char *key, const struct tenant_rule *t);
int wire_tenant_read(const struct doc_node *map, struct tenant_rule *t, struct err *err);
