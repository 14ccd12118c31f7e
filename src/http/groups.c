// SPDX-License-Identifier: Apache-2.0
/* Groups: their members see them and who else is in them; an admin changes them. */
#include "http/people.h"

#include "base/str.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/secret.h"
#include "wire/facts.h"
#include "yard/share.h"

static bool may_see(const struct exchange *ex, const char *group)
{
	return ex->who->role == ROLE_ADMIN || principal_in(ex->who, group);
}

static void answer_group(struct exchange *ex, const char *name)
{
	const struct who_group *g = who_group(ex->server->config.who, name);
	struct buf *out = answer_scratch(ex);
	struct json j;

	if (!g || !may_see(ex, name)) {
		people_not_found(ex, "group", name);
		return;
	}
	json_init(&j, out);
	people_group(&j, ex, g);
	answer_json(ex, route_status(ex->route), out);
}

struct listing {
	struct exchange *ex;
	struct json json;
};

static void list_group(void *arg, const struct who_group *g)
{
	struct listing *l = arg;

	if (may_see(l->ex, g->name))
		people_group(&l->json, l->ex, g);
}

void handle_groups(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct listing l = { .ex = ex };

	json_init(&l.json, out);
	json_object(&l.json, NULL);
	json_array(&l.json, "groups");
	who_each_group(ex->server->config.who, list_group, &l);
	json_end(&l.json);
	json_end(&l.json);
	answer_json(ex, 200, out);
}

void handle_group_show(struct exchange *ex)
{
	answer_group(ex, ex->param[0]);
}

static void group_added(struct people *p)
{
	answer_group(p->ex, doc_str(p->body, "name", ""));
}

static void group_set(struct people *p)
{
	answer_group(p->ex, p->ex->param[0]);
}

static void group_gone(struct people *p)
{
	answer_empty(p->ex, 204);
}

/* The change is made, or it was refused. */
static void finish(struct people *p, int rc, const struct who_change *c,
		   const struct err *err, void (*recorded)(struct people *p))
{
	if (rc < 0)
		people_refuse(p, err);
	else
		people_record(p, p->ex->who, c, recorded);
}

void handle_group_add(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	int rc = who_add_group(people_who(p), doc_str(p->body, "name", ""),
			       doc_str(p->body, "text", ""), &change, &err);
	finish(p, rc, &change, &err, group_added);
}

/* The group's place among those who share the nodes; null: as if nothing had been said. */
static int set_tenant(struct exchange *ex, const struct doc_node *body,
		      struct who_change *change, struct err *err)
{
	const struct yard *y = ex->server->config.yard;
	struct tenant_rule rule = wire_tenant_default;
	AUTO_BUF struct buf text = { 0 };
	struct json j;

	if (body->kind != DOC_NULL) {
		yard_tenant(y, ex->param[0], &rule);
		if (wire_tenant_read(body, &rule, err) < 0)
			return err_wrap(err, "tenant");
	}
	if (rule.parent[0] && !who_group(ex->server->config.who, rule.parent))
		return err_set(err, ERR_INVALID, "tenant: parent: there is no group '%s'",
			       rule.parent);
	if (yard_tenant_check(y, ex->param[0], &rule, err) < 0)
		return err_wrap(err, "tenant");
	json_init(&j, &text);
	wire_tenant_write(&j, NULL, &rule);
	who_change_add(change, YARD_TENANT_KIND, ex->param[0],
		       body->kind == DOC_NULL ? NULL : buf_str(&text));
	return 0;
}

void handle_group_set(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	const struct doc_node *tenant = doc_get(p->body, "tenant");
	const char *text = doc_str(p->body, "text", NULL);
	if (!text && !tenant) { /* nothing is to be changed */
		answer_group(ex, ex->param[0]);
		return;
	}
	int rc = who_set_group(people_who(p), ex->param[0], text, &change, &err);
	if (rc == 0 && tenant)
		rc = set_tenant(ex, tenant, &change, &err);
	finish(p, rc, &change, &err, group_set);
}

struct child {
	const char *parent, *name;
};

static void find_child(void *arg, const char *group, const struct tenant_rule *rule)
{
	struct child *c = arg;

	if (str_eq(rule->parent, c->parent))
		c->name = group;
}

static int forget_tenant(struct exchange *ex, struct who_change *change, struct err *err)
{
	struct child c = { ex->param[0], NULL };

	yard_each_tenant(ex->server->config.yard, find_child, &c);
	if (c.name)
		return err_set(err, ERR_CONFLICT,
			       "'%s' is the parent of '%s': give that another one first",
			       ex->param[0], c.name);
	who_change_add(change, YARD_TENANT_KIND, ex->param[0], NULL);
	return 0;
}

void handle_group_remove(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	int rc = who_remove_group(people_who(p), ex->param[0], &change, &err);
	if (rc == 0)
		rc = forget_tenant(ex, &change, &err);
	if (rc == 0)
		secret_forget(ex, SECRET_GROUP, ex->param[0], &change);
	finish(p, rc, &change, &err, group_gone);
}

static void set_member(struct exchange *ex, bool in)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	int rc = who_set_member(people_who(p), ex->param[0], ex->param[1], in, &change,
				&err);
	finish(p, rc, &change, &err, group_set);
}

void handle_member_put(struct exchange *ex)
{
	set_member(ex, true);
}

void handle_member_remove(struct exchange *ex)
{
	set_member(ex, false);
}
