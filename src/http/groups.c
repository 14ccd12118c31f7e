// SPDX-License-Identifier: Apache-2.0
/* Groups: their members see them and who else is in them; an admin changes them. */
#include "http/people.h"

#include "base/str.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/secret.h"

static bool may_see(const struct exchange *ex, const char *group)
{
	return ex->who->role == ROLE_ADMIN || principal_in(ex->who, group);
}

static void answer_group(struct exchange *ex, const char *name)
{
	const struct who *d = ex->server->config.who;
	const struct who_group *g = who_group(d, name);
	struct buf *out = answer_scratch(ex);
	struct json j;

	if (!g || !may_see(ex, name)) {
		people_not_found(ex, "group", name);
		return;
	}
	json_init(&j, out);
	people_group(&j, NULL, d, g);
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
		people_group(&l->json, NULL, l->ex->server->config.who, g);
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

void handle_group_set(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	const char *text = doc_str(p->body, "text", NULL);
	if (!text) { /* nothing is to be changed */
		answer_group(ex, ex->param[0]);
		return;
	}
	int rc = who_set_group(people_who(p), ex->param[0], text, &change, &err);
	finish(p, rc, &change, &err, group_set);
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
