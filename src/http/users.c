// SPDX-License-Identifier: Apache-2.0
/* Users: an admin sees and changes all, another sees themself and changes their password. */
#include "http/people.h"

#include "base/mem.h"
#include "base/str.h"
#include "http/auth.h"
#include "http/handlers.h"
#include "http/route.h"
#include "http/secret.h"

static bool is_self(const struct exchange *ex, const char *name)
{
	return str_eq(ex->who->name, name);
}

/* To see takes the role; a credential that may only read may read. */
static bool may_see(const struct exchange *ex, const char *name)
{
	return ex->who->role == ROLE_ADMIN || is_self(ex, name);
}

static void answer_user(struct exchange *ex, const char *name)
{
	const struct who_user *u = who_user(ex->server->config.who, name);
	struct buf *out = answer_scratch(ex);
	struct json j;

	if (!u) {
		people_not_found(ex, "user", name);
		return;
	}
	json_init(&j, out);
	people_user(&j, NULL, u);
	answer_json(ex, route_status(ex->route), out);
}

struct listing {
	struct exchange *ex;
	struct json json;
};

static void list_user(void *arg, const struct who_user *u)
{
	struct listing *l = arg;

	if (may_see(l->ex, u->name))
		people_user(&l->json, NULL, u);
}

void handle_users(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct listing l = { .ex = ex };

	json_init(&l.json, out);
	json_object(&l.json, NULL);
	json_array(&l.json, "users");
	who_each_user(ex->server->config.who, list_user, &l);
	json_end(&l.json);
	json_end(&l.json);
	answer_json(ex, 200, out);
}

void handle_user_show(struct exchange *ex)
{
	if (may_see(ex, ex->param[0]))
		answer_user(ex, ex->param[0]);
	else
		people_not_found(ex, "user", ex->param[0]);
}

/* What the body says; names point into it.  groups: room for PRINCIPAL_GROUPS_MAX. */
static int read_wish(const struct people *p, const char **groups, struct who_user_wish *w,
		     struct err *err)
{
	const struct doc_node *list = doc_get(p->body, "groups");
	const struct doc_node *disabled = doc_get(p->body, "disabled");
	const char *role = doc_str(p->body, "role", NULL);
	enum user_role r;

	*w = WHO_USER_WISH_NONE;
	w->by = p->ex->who;
	if (role && user_role_from_word(role, &r) < 0)
		return err_set(err, ERR_INVALID,
			       "role: '%s' is not viewer, member or admin", role);
	if (role)
		w->role = (int)r;
	if (disabled)
		w->disabled = disabled->boolean;
	if (!list)
		return 0;
	if (list->count > PRINCIPAL_GROUPS_MAX)
		return err_set(err, ERR_INVALID, "groups: a user is in at most %d",
			       PRINCIPAL_GROUPS_MAX);
	w->group_count = 0;
	w->groups = groups;
	for (const struct doc_node *n = list->first; n; n = n->next)
		groups[w->group_count++] = n->text;
	return 0;
}

static void user_added(struct people *p)
{
	answer_user(p->ex, doc_str(p->body, "name", ""));
}

static void add_user(struct people *p, const char *hash)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	const char *groups[PRINCIPAL_GROUPS_MAX];
	struct who_user_wish wish;
	struct err err;

	if (read_wish(p, groups, &wish, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	wish.hash = hash;
	if (who_add_user(people_who(p), doc_str(p->body, "name", ""), &wish, &change,
			 &err) < 0)
		people_refuse(p, &err);
	else
		people_record(p, p->ex->who, &change, user_added);
}

void handle_user_add(struct exchange *ex)
{
	struct people *p = people_begin(ex);
	const char *password = p ? doc_str(p->body, "password", NULL) : NULL;

	if (password)
		people_hash(p, password, add_user);
	else if (p)
		add_user(p, NULL);
}

static void user_set(struct people *p)
{
	answer_user(p->ex, p->ex->param[0]);
}

static void set_user(struct people *p, const char *hash)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	const char *groups[PRINCIPAL_GROUPS_MAX];
	struct who_user_wish wish;
	struct err err;

	if (read_wish(p, groups, &wish, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	wish.hash = hash;
	if (who_set_user(people_who(p), p->ex->param[0], &wish, &change, &err) < 0)
		people_refuse(p, &err);
	else
		people_record(p, p->ex->who, &change, user_set);
}

static void hash_new(struct people *p, const struct principal *who)
{
	const struct doc_node *password = doc_get(p->body, "password");

	(void)who;
	if (!password)
		set_user(p, NULL);
	else if (password->kind == DOC_NULL)
		set_user(p, "");
	else
		people_hash(p, password->text, set_user);
}

/* Only an admin changes anything but a password, and only one's own. */
static int check_fields(const struct people *p, const struct who_user *u, struct err *err)
{
	static const char *const guarded[] = { "role", "groups", "disabled" };
	const struct doc_node *password = doc_get(p->body, "password");

	if (people_admin(p->ex))
		return 0;
	for (size_t i = 0; i < COUNT_OF(guarded); i++)
		if (doc_get(p->body, guarded[i]))
			return err_set(err, ERR_DENIED, "%s: only an admin changes it",
				       guarded[i]);
	if (password && password->kind == DOC_NULL)
		return err_set(err, ERR_DENIED, "password: only an admin takes one away");
	/* A token ends, and may be one that only reads; a password is for good. */
	if (password && !*u->hash && p->ex->auth->by == AUTH_TOKEN)
		return err_set(err, ERR_DENIED,
			       "password: you have none yet, and a token does not make "
			       "one; ask an admin, or come by the unix socket");
	return is_self(p->ex, u->name) ? 0
				       : err_set(err, ERR_DENIED,
						 "the token you use may not do what "
						 "only an admin may");
}

/* A token that was found lying about must not become a password. */
static bool needs_old(const struct people *p, const struct who_user *u)
{
	const struct exchange *ex = p->ex;

	return is_self(ex, u->name) && *u->hash && doc_get(p->body, "password") &&
	       !(people_admin(ex) && ex->auth->by == AUTH_PEER);
}

void handle_user_set(struct exchange *ex)
{
	const char *name = ex->param[0];
	const struct who_user *u = who_user(ex->server->config.who, name);
	struct err err;

	if (!u || !may_see(ex, name)) {
		people_not_found(ex, "user", name);
		return;
	}
	struct people *p = people_begin(ex);
	if (!p)
		return;
	if (check_fields(p, u, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	const char *old = doc_str(p->body, "old", NULL);
	if (needs_old(p, u) && !old) {
		err_set(&err, ERR_INVALID,
			"old: to change your password, give the old one too");
		people_refuse(p, &err);
	} else if (needs_old(p, u)) {
		people_login(p, name, old, hash_new);
	} else {
		hash_new(p, ex->who);
	}
}

static void user_removed(struct people *p)
{
	answer_empty(p->ex, 204);
}

void handle_user_remove(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	const char *name = ex->param[0];
	size_t jobs = yard_jobs_of(ex->server->config.yard, name);
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	int rc = who_remove_user(people_who(p), name, &change, &err);
	if (rc == 0 && jobs)
		rc = err_set(&err, ERR_CONFLICT,
			     "%s has %zu jobs that have not ended: stop them first", name,
			     jobs);
	if (rc < 0) {
		people_refuse(p, &err);
		return;
	}
	secret_forget(ex, SECRET_USER, name, &change);
	people_record(p, ex->who, &change, user_removed);
}
