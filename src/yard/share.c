// SPDX-License-Identifier: Apache-2.0
/* Facts of nodes and rules of groups: kept as their documents say, told to the plan. */
#include "yard/share.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "wire/facts.h"
#include "yard/internal.h"

/* A node as its engine reported it, and what an administrator says of it. */
struct known_node {
	char name[NODE_NAME_MAX];
	bool is_reported;
	struct node reported;
	struct node_facts facts;
};

struct tenant_entry {
	char name[NAME_MAX_BYTES];
	struct tenant_rule rule;
};

static struct known_node *find_node(const struct yard *y, const char *name)
{
	for (size_t i = 0; i < y->known_count; i++)
		if (str_eq(y->known[i].name, name))
			return &y->known[i];
	return NULL;
}

/* The node as its engine reported it and an administrator said of it. */
static void tell_node(struct yard *y, const struct known_node *k)
{
	struct node merged = k->reported;

	node_merge(&merged, &k->facts);
	yard_plan_node(y, &merged);
	yard_kick(y);
}

static struct known_node *know_node(struct yard *y, const char *name)
{
	struct known_node *k = find_node(y, name);

	if (k)
		return k;
	mem_grow(&y->known, &y->known_cap, y->known_count, sizeof *y->known);
	k = &y->known[y->known_count++];
	*k = (struct known_node){ 0 };
	strncpy(k->name, name, sizeof k->name - 1);
	return k;
}

void yard_node_reported(struct yard *y, const struct node *n)
{
	struct known_node *k = know_node(y, n->name);

	k->reported = *n;
	k->is_reported = true;
	tell_node(y, k);
}

static void apply_node(struct yard *y, const char *name, const struct doc_node *body)
{
	struct known_node *k = know_node(y, name);
	struct node_facts f = { 0 };

	/* What cannot be read says nothing: then the node is as its engine reports it. */
	if (body && wire_facts_read(body, &f, NULL) < 0)
		f = (struct node_facts){ 0 };
	k->facts = f;
	if (k->is_reported)
		tell_node(y, k);
}

static void apply_tenant(struct yard *y, const char *name, const struct doc_node *body)
{
	struct plan_delta d = { .kind = PLAN_TENANT, .name = name };
	struct tenant_entry *t = NULL;

	if (body) {
		t = mem_alloc(1, sizeof *t);
		strncpy(t->name, name, sizeof t->name - 1);
		t->rule = wire_tenant_default;
		wire_tenant_read(body, &t->rule, NULL);
		d.tenant = &t->rule;
		free(map_puts(y->tenants, name, t));
	} else {
		free(map_dels(y->tenants, name));
	}
	yard_tell(y, &d);
	y->step_asked = true;
	yard_kick(y);
}

bool yard_share_doc(struct yard *y, const char *kind, const char *name, const char *body)
{
	bool node = str_eq(kind, YARD_NODE_KIND);

	if (!node && !str_eq(kind, YARD_TENANT_KIND))
		return false;
	AUTO_DOC struct doc *doc = body ? doc_parse_json(body, strlen(body), NULL) : NULL;
	const struct doc_node *root = doc ? doc_root(doc) : NULL;
	if (node)
		apply_node(y, name, root);
	else
		apply_tenant(y, name, root);
	return true;
}

void yard_share_fini(struct yard *y)
{
	struct tenant_entry *t;

	for (size_t it = 0; (t = map_next(y->tenants, &it));)
		free(t);
	map_destroy(y->tenants);
	free(y->known);
}

bool yard_node_facts(const struct yard *y, const char *node, struct node_facts *out)
{
	const struct known_node *k = find_node(y, node);

	if (!k || !k->is_reported)
		return false;
	*out = k->facts;
	return true;
}

bool yard_tenant(const struct yard *y, const char *group, struct tenant_rule *out)
{
	const struct tenant_entry *t = map_gets(y->tenants, group);

	*out = t ? t->rule : wire_tenant_default;
	return t != NULL;
}

void yard_each_tenant(const struct yard *y,
		      void (*each)(void *arg, const char *group,
				   const struct tenant_rule *rule),
		      void *arg)
{
	const struct tenant_entry *t;

	for (size_t it = 0; (t = map_next(y->tenants, &it));)
		each(arg, t->name, &t->rule);
}

void yard_set_policy(struct yard *y, const struct plan_policy *policy)
{
	struct plan_delta d = { .kind = PLAN_POLICY, .policy = policy };

	yard_tell(y, &d);
	y->step_asked = true;
	yard_kick(y);
}
