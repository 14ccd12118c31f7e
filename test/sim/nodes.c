// SPDX-License-Identifier: Apache-2.0
/* Nodes that an administrator drains and opens: from the moment a drain is in the log
 * until the node is opened again, nothing is placed there, whatever crashes between. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "model.h"
#include "wire/facts.h"
#include "yard/share.h"

static void ignored(void *arg, int64_t job, bool again, const struct err *err)
{
	(void)arg, (void)job, (void)again, (void)err;
}

static void say_state(struct run *r, size_t node, bool drain)
{
	struct principal admin = { .name = "root",
				   .role = ROLE_ADMIN,
				   .scopes = SCOPE_ALL };
	char name[32];
	struct yard_doc doc = { YARD_NODE_KIND, name,
				drain ? "{\"state\":\"drain\"}"
				      : "{\"state\":\"open\"}" };

	snprintf(name, sizeof name, "node-%zu", node);
	yard_change(r->yard, &admin,
		    &(struct yard_change){ &doc, 1, drain ? "node.drain" : "node.open",
					   name },
		    ignored, r);
}

static bool index_of(const char *name, size_t *out)
{
	int64_t i;

	if (!str_starts(name, "node-") ||
	    str_to_i64(name + strlen("node-"), 0, NODES_MAX - 1, &i) < 0)
		return false;
	*out = (size_t)i;
	return true;
}

void ask_node(struct run *r, uint64_t dice)
{
	if (r->node_count)
		say_state(r, dice % r->node_count, dice / r->node_count % 2);
}

/* Right after a boot: what was recorded and not shown to a watcher counts too. */
void nodes_begin(struct run *r)
{
	struct node_facts f;
	char name[32];

	r->node_count = yard_nodes(r->yard, NULL, 0);
	for (size_t i = 0; i < r->node_count && i < NODES_MAX; i++) {
		snprintf(name, sizeof name, "node-%zu", i);
		r->drained[i] =
			yard_node_facts(r->yard, name, &f) && f.state != NODE_OPEN;
	}
}

void check_nodes(struct run *r, const struct event *e)
{
	size_t node;

	if (e->kind == EV_AUDIT && e->name && index_of(e->name, &node))
		r->drained[node] = str_eq(e->scope, "node.drain");
	for (size_t i = 0; e->kind == EV_PLACED && i < e->place_count; i++)
		if (index_of(e->places[i].node, &node) && r->drained[node])
			broke(r, "job %lld is placed on %s, which is drained",
			      (long long)e->job, e->places[i].node);
}

/* All that waits for a drained node shall end: gives whether there still is one. */
bool open_nodes(struct run *r)
{
	struct node_facts f;
	char name[32];
	bool any = false;

	for (size_t i = 0; i < r->node_count; i++) {
		snprintf(name, sizeof name, "node-%zu", i);
		if (!yard_node_facts(r->yard, name, &f) || f.state == NODE_OPEN)
			continue;
		say_state(r, i, false);
		any = true;
	}
	return any;
}
