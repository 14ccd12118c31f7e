// SPDX-License-Identifier: Apache-2.0
#include "http/people.h"

#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "base/units.h"
#include "http/auth.h"
#include "http/route.h"
#include "wire/facts.h"
#include "wire/shape.h"
#include "yard/share.h"

#define LIFE_DEFAULT_MS (30 * INT64_C(86400000))
#define LIFE_MAX_MS     (3650 * INT64_C(86400000))

struct who *people_who(const struct people *p)
{
	return p->ex->server->config.who;
}

bool people_admin(const struct exchange *ex)
{
	return principal_is_admin(ex->who);
}

static void wipe(char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
}

static void people_gone(struct exchange *ex)
{
	struct people *p = ex->state;

	if (p->login)
		who_login_cancel(p->login);
	if (p->hashing)
		who_hash_cancel(p->hashing);
	if (ex->body.data)
		explicit_bzero(ex->body.data, ex->body.len);
	doc_destroy(p->doc);
	wipe(p->token);
	free(p);
	ex->state = NULL;
}

static struct doc *read_body(const struct exchange *ex, struct err *err)
{
	if (!ex->body.len)
		return doc_parse_json("{}", 2, err);
	return doc_parse_json(ex->body.data, ex->body.len, err);
}

struct people *people_begin(struct exchange *ex)
{
	static const struct exchange_ops ops = { .gone = people_gone };
	struct err err;
	struct doc *d = read_body(ex, &err);

	if (!d) {
		answer_error(ex, &err);
		return NULL;
	}
	struct people *p = mem_alloc(1, sizeof *p);
	p->ex = ex;
	p->doc = d;
	p->body = doc_root(d);
	ex->state = p;
	ex->ops = &ops;
	return p;
}

void people_refuse(struct people *p, const struct err *err)
{
	answer_error(p->ex, err);
}

static void on_login(void *arg, const struct principal *who, int64_t wait_ms,
		     const struct err *err)
{
	struct people *p = arg;

	p->login = NULL;
	if (!err) {
		p->known(p, who);
		return;
	}
	if (err->code == ERR_BUSY) {
		answer_busy(p->ex, err, wait_ms);
		return;
	}
	people_refuse(p, err);
}

void people_login(struct people *p, const char *name, const char *password,
		  void (*known)(struct people *p, const struct principal *who))
{
	struct who_attempt a = { .name = name,
				 .password = password,
				 .address = auth_from(p->ex->auth) };

	p->known = known;
	p->login = who_login(people_who(p), &a, on_login, p);
}

static void on_hash(void *arg, const char *hash, const struct err *err)
{
	struct people *p = arg;

	p->hashing = NULL;
	if (!err)
		p->hashed(p, hash);
	else if (err->code == ERR_BUSY)
		answer_busy(p->ex, err, 0);
	else
		people_refuse(p, err);
}

void people_hash(struct people *p, const char *password,
		 void (*hashed)(struct people *p, const char *hash))
{
	p->hashed = hashed;
	p->hashing = who_hash(people_who(p), password, on_hash, p);
}

static void on_recorded(void *arg, int64_t job, bool again, const struct err *err)
{
	struct exchange *ex = arg;
	struct people *p = ex->state; /* gone with the client */

	(void)job;
	(void)again;
	if (p && err)
		people_refuse(p, err);
	else if (p)
		p->recorded(p);
	exchange_drop(ex);
}

void people_record(struct people *p, const struct principal *by,
		   const struct who_change *c, void (*recorded)(struct people *p))
{
	AUTO_FREE struct yard_doc *docs = mem_alloc(c->count + 1, sizeof *docs);
	struct err err;

	/* A password took its time to be hashed: may they still?  Who logs in just did. */
	if (by == p->ex->who && auth_check(p->ex->auth, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	for (size_t i = 0; i < c->count; i++)
		docs[i] = (struct yard_doc){ c->docs[i].kind, c->docs[i].name,
					     c->docs[i].body };
	p->recorded = recorded;
	exchange_hold(p->ex);
	yard_change(p->ex->server->config.yard, by,
		    &(struct yard_change){ docs, c->count, c->action, c->object },
		    on_recorded, p->ex);
}

/* most_ms: it may not outlive the token it was made by; 0: nothing bounds it. */
static int read_life(const struct people *p, int64_t most_ms, int64_t *out,
		     struct err *err)
{
	const char *text = doc_str(p->body, "life", NULL);
	int64_t ms = LIFE_DEFAULT_MS;

	if (str_eq(text, "never"))
		ms = 0;
	else if (text && (units_duration(text, &ms) < 0 || ms < 1 || ms > LIFE_MAX_MS))
		return err_set(err, ERR_INVALID,
			       "life: '%s' is not a time such as 12h or 30d, up to ten "
			       "years, or never",
			       text);
	if (!text && most_ms && ms > most_ms)
		ms = most_ms;
	if (most_ms && (ms == 0 || ms > most_ms))
		return err_set(err, ERR_DENIED,
			       "life: it may not outlive the token you made it by");
	*out = ms;
	return 0;
}

static void answer_token(struct people *p)
{
	const struct who_token *t = who_token(people_who(p), p->id);
	struct buf *out = answer_scratch(p->ex);
	struct json j;
	struct err err;

	if (!t) {
		err_set(&err, ERR_CONFLICT, "the token was revoked at once");
		people_refuse(p, &err);
		return;
	}
	json_init(&j, out);
	people_token(&j, t, p->token);
	answer_json(p->ex, route_status(p->ex->route), out);
	explicit_bzero(out->data, out->len);
}

void people_give_token(struct people *p, const struct principal *user, unsigned scopes,
		       int64_t most_ms)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct who_token_wish wish = { .user = user->name,
				       .label = doc_str(p->body, "label", ""),
				       .scopes = scopes };
	struct err err;

	if (read_life(p, most_ms, &wish.life_ms, &err) < 0 ||
	    who_add_token(people_who(p), &wish, &change, &p->token, p->id, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	people_record(p, user, &change, answer_token);
}

void people_not_found(struct exchange *ex, const char *what, const char *name)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "there is no %s '%s'", what, name);
	answer_error(ex, &err);
}

/* ---- as JSON ---- */

void people_scopes(struct json *j, const char *key, unsigned scopes)
{
	json_array(j, key);
	if (scopes & SCOPE_READ)
		json_str(j, NULL, "read");
	if (scopes & SCOPE_WRITE)
		json_str(j, NULL, "write");
	if (scopes & SCOPE_ADMIN)
		json_str(j, NULL, "admin");
	json_end(j);
}

static void write_time(struct json *j, const char *key, int64_t ms)
{
	if (ms)
		json_i64(j, key, ms);
	else
		json_null(j, key);
}

void people_user(struct json *j, const char *key, const struct who_user *u)
{
	json_object(j, key);
	json_str(j, "name", u->name);
	json_str(j, "role", user_role_word(u->role));
	json_array(j, "groups");
	for (size_t i = 0; i < u->group_count; i++)
		json_str(j, NULL, u->groups[i]);
	json_end(j);
	json_bool(j, "disabled", u->disabled);
	json_bool(j, "password", *u->hash != '\0');
	write_time(j, "created_ms", u->created_ms);
	json_end(j);
}

struct member_list {
	struct json *json;
	const char *group;
};

static void write_member(void *arg, const struct who_user *u)
{
	const struct member_list *m = arg;

	for (size_t i = 0; i < u->group_count; i++)
		if (str_eq(u->groups[i], m->group))
			json_str(m->json, NULL, u->name);
}

void people_group(struct json *j, const struct exchange *ex, const struct who_group *g)
{
	struct member_list m = { j, g->name };
	struct tenant_rule rule;

	json_object(j, NULL);
	json_str(j, "name", g->name);
	json_str(j, "text", g->text);
	write_time(j, "created_ms", g->created_ms);
	json_array(j, "members");
	who_each_user(ex->server->config.who, write_member, &m);
	json_end(j);
	yard_tenant(ex->server->config.yard, g->name, &rule);
	wire_tenant_write(j, "tenant", &rule);
	json_end(j);
}

void people_token(struct json *j, const struct who_token *t, const char *text)
{
	json_object(j, NULL);
	if (text)
		json_str(j, "token", text);
	json_str(j, "id", t->id);
	json_str(j, "user", t->user);
	json_str(j, "label", t->label);
	people_scopes(j, "scopes", t->scopes);
	write_time(j, "created_ms", t->created_ms);
	write_time(j, "expires_ms", t->expires_ms);
	write_time(j, "used_ms", t->used_ms);
	json_end(j);
}
