// SPDX-License-Identifier: Apache-2.0
/* In and out: a password for a token, the first admin of all, who one is, good-bye. */
#include "http/people.h"

#include <string.h>

#include "base/str.h"
#include "http/auth.h"
#include "http/handlers.h"

static void logged_in(struct people *p, const struct principal *who)
{
	unsigned useful = who->role == ROLE_ADMIN ? SCOPE_ALL : SCOPE_READ | SCOPE_WRITE;

	p->who = *who;
	people_give_token(p, &p->who, useful, 0);
}

void handle_login(struct exchange *ex)
{
	struct people *p = people_begin(ex);

	if (p)
		people_login(p, doc_str(p->body, "user", ""),
			     doc_str(p->body, "password", ""), logged_in);
}

static void first_made(struct people *p)
{
	people_give_token(p, &p->who, SCOPE_ALL, 0);
}

static void first_hashed(struct people *p, const char *hash)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	const char *name = doc_str(p->body, "name", "");
	struct err err;

	if (who_first_admin(people_who(p), doc_str(p->body, "code", ""), name, hash,
			    &change, &err) < 0) {
		people_refuse(p, &err);
		return;
	}
	p->who = (struct principal){ .role = ROLE_ADMIN, .scopes = SCOPE_ALL, .uid = -1 };
	memcpy(p->who.name, name, strnlen(name, sizeof p->who.name - 1));
	people_record(p, &p->who, &change, first_made);
}

void handle_login_first(struct exchange *ex)
{
	struct people *p = people_begin(ex);
	int64_t wait_ms = 0;
	struct err err;

	if (!p)
		return;
	if (who_check_first_code(people_who(p), doc_str(p->body, "code", ""),
				 auth_from(ex->auth), &wait_ms, &err) == 0)
		people_hash(p, doc_str(p->body, "password", ""), first_hashed);
	else if (err.code == ERR_BUSY)
		answer_busy(ex, &err, wait_ms);
	else
		people_refuse(p, &err);
}

static void logged_out(struct people *p)
{
	answer_empty(p->ex, 204);
}

void handle_logout(struct exchange *ex)
{
	AUTO_WHO_CHANGE struct who_change change = { 0 };
	struct people *p = people_begin(ex);
	struct err err;

	if (!p)
		return;
	if (ex->auth->by != AUTH_TOKEN) {
		err_set(&err, ERR_CONFLICT,
			"you did not come by a token: there is nothing to revoke");
		people_refuse(p, &err);
		return;
	}
	if (who_remove_token(people_who(p), ex->auth->token, &change, &err) < 0)
		people_refuse(p, &err);
	else
		people_record(p, ex->who, &change, logged_out);
}

void handle_me(struct exchange *ex)
{
	static const char *const by[] = { [AUTH_NOBODY] = "nobody",
					  [AUTH_PEER] = "peer",
					  [AUTH_TOKEN] = "token",
					  [AUTH_PASSWORD] = "password",
					  [AUTH_PASS] = "pass" };
	const struct principal *who = ex->who;
	struct buf *out = answer_scratch(ex);
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "name", who->name);
	json_str(&j, "role", user_role_word(who->role));
	json_str(&j, "group", who->group);
	json_array(&j, "groups");
	for (size_t i = 0; i < who->group_count; i++)
		json_str(&j, NULL, who->groups[i]);
	json_end(&j);
	people_scopes(&j, "scopes", who->scopes);
	json_str(&j, "by", by[ex->auth->by]);
	json_str(&j, "token", ex->auth->by == AUTH_TOKEN ? ex->auth->token : NULL);
	json_bool(&j, "account", who_user(ex->server->config.who, who->name) != NULL);
	json_end(&j);
	answer_json(ex, 200, out);
}
