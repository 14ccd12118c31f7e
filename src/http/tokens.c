// SPDX-License-Identifier: Apache-2.0
/* Tokens: each user's own; an admin sees and revokes all.  And the audit log. */
#include "http/people.h"

#include "base/mem.h"
#include "base/str.h"
#include "http/auth.h"
#include "http/handlers.h"
#include "http/limits.h"
#include "http/params.h"
#include "http/route.h"
#include "store/docs.h"

static bool may_see(const struct exchange *ex, const char *user)
{
	return ex->who->role == ROLE_ADMIN || str_eq(ex->who->name, user);
}

static void list_token(void *arg, const struct who_token *t)
{
	people_token(arg, t, NULL);
}

void handle_tokens(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	size_t at = 0;
	const char *user = param_next(ex, "user", &at); /* "", unlike none: everybody's */
	struct json j;

	if (!user || (!*user && ex->who->role != ROLE_ADMIN))
		user = ex->who->name;
	if (!may_see(ex, user)) {
		people_not_found(ex, "user", user);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "tokens");
	who_each_token(ex->server->config.who, *user ? user : NULL, list_token, &j);
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

static int read_scopes(const struct people *p, unsigned *out, struct err *err)
{
	const struct doc_node *list = doc_get(p->body, "scopes");

	*out = list ? 0 : (SCOPE_READ | SCOPE_WRITE) & p->ex->who->scopes;
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		unsigned one = str_eq(n->text, "read")    ? SCOPE_READ
			       : str_eq(n->text, "write") ? SCOPE_WRITE | SCOPE_READ
			       : str_eq(n->text, "admin") ? SCOPE_ALL
							  : 0;
		if (!one)
			return err_set(err, ERR_INVALID,
				       "scopes: '%s' is not read, write or admin",
				       n->text);
		*out |= one;
	}
	if (!*out)
		return err_set(err, ERR_INVALID, "scopes: a token is good for something");
	if (*out & ~p->ex->who->scopes)
		return err_set(err, ERR_DENIED,
			       "scopes: more than those of the token you use");
	return 0;
}

/* What is left of the life of the token in use; 0: it has no end. */
static int64_t left_ms(const struct exchange *ex)
{
	const struct who_token *t =
		ex->auth->by == AUTH_TOKEN
			? who_token(ex->server->config.who, ex->auth->token)
			: NULL;

	if (!t || !t->expires_ms)
		return 0;
	int64_t left = t->expires_ms - world_now_ms(ex->server->config.world);
	return left > 0 ? left : 1;
}

void handle_token_add(struct exchange *ex)
{
	struct people *p = people_begin(ex);
	unsigned scopes;
	struct err err;

	if (!p)
		return;
	if (read_scopes(p, &scopes, &err) < 0)
		people_refuse(p, &err);
	else
		people_give_token(p, ex->who, scopes, left_ms(ex));
}

static void token_removed(struct people *p)
{
	answer_empty(p->ex, 204);
}

void handle_token_remove(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	const struct who_token *t = who_token(ex->server->config.who, ex->param[0]);
	struct err err;

	if (!t || !may_see(ex, t->user)) {
		people_not_found(ex, "token", ex->param[0]);
		return;
	}
	struct people *p = people_begin(ex);
	if (!p)
		return;
	int rc = 0;
	if (!str_eq(t->user, ex->who->name) && !people_admin(ex))
		rc = err_set(&err, ERR_DENIED,
			     "the token you use may not do what only an admin may");
	if (rc == 0)
		rc = who_remove_token(people_who(p), ex->param[0], &change, &err);
	if (rc < 0)
		people_refuse(p, &err);
	else
		people_record(p, ex->who, &change, token_removed);
}

/* ---- the audit log ---- */

struct page {
	struct json json;
	int count, limit;
	int64_t last;
};

static void write_entry(void *arg, const struct event *e)
{
	struct page *l = arg;
	struct json *j = &l->json;

	if (l->count++ >= l->limit)
		return;
	l->last = e->seq;
	json_object(j, NULL);
	json_i64(j, "seq", e->seq);
	json_i64(j, "time_ms", e->time_ms);
	json_str(j, "by", e->by);
	if (e->kind == EV_QUOTA) {
		AUTO_FREE char *object = str_printf("%s %s", e->scope, e->name);
		json_str(j, "action", "quota.set");
		json_str(j, "object", object);
	} else {
		json_str(j, "action", e->scope);
		json_str(j, "object", e->name);
	}
	json_str(j, "text", e->text);
	json_end(j);
}

void handle_audit(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct page l = { .limit = (int)param_int(ex, "limit", LIST_DEFAULT) };
	struct err err;

	json_init(&l.json, out);
	json_object(&l.json, NULL);
	json_array(&l.json, "entries");
	if (store_audit(yard_store(ex->server->config.yard), param_int(ex, "before", 0),
			l.limit + 1, write_entry, &l, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_end(&l.json);
	if (l.count > l.limit)
		json_i64(&l.json, "next", l.last);
	else
		json_null(&l.json, "next");
	json_end(&l.json);
	answer_json(ex, 200, out);
}
