// SPDX-License-Identifier: Apache-2.0
/* Secrets: set, removed, listed by name.  A value goes in and never comes out. */
#include "http/secret.h"

#include <sodium.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/str.h"
#include "http/handlers.h"
#include "http/route.h"
#include "secret/secret.h"

static struct secrets *kept(const struct exchange *ex, struct err *err)
{
	if (!ex->server->config.secrets)
		err_set(err, ERR_UNSUPPORTED, "this yard keeps no secrets");
	return ex->server->config.secrets;
}

/* Whose, from the path.  What is nobody's business is not found, whether it is there or
 * not; what may be seen and not changed is denied. */
static int find_owner(const struct exchange *ex, bool change, enum secret_scope *scope,
		      struct err *err)
{
	const char *owner = ex->param[1];

	if (!kept(ex, err))
		return -1;
	if (secret_scope_from_word(ex->param[0], scope) < 0)
		return err_set(err, ERR_INVALID,
			       "scope: a secret is a user's or a group's, not a '%s's",
			       ex->param[0]);
	if (!secret_may_see(ex->who, *scope, owner))
		return err_set(err, ERR_NOT_FOUND,
			       "there is no %s '%s' whose secrets you may see",
			       ex->param[0], owner);
	if (change && !secret_may_change(ex->who, *scope, owner))
		return err_set(err, ERR_DENIED,
			       "you may not change secrets of the %s '%s'", ex->param[0],
			       owner);
	return 0;
}

static void write_one(void *arg, const struct secret *one)
{
	struct json *j = arg;

	json_object(j, NULL);
	json_str(j, "scope", secret_scope_word(one->scope));
	json_str(j, "owner", one->owner);
	json_str(j, "name", one->name);
	json_i64(j, "set_ms", one->set_ms);
	json_str(j, "by", one->by);
	json_end(j);
}

struct visible {
	struct json *json;
	const struct principal *who;
};

static void write_visible(void *arg, const struct secret *one)
{
	const struct visible *v = arg;

	if (secret_may_see(v->who, one->scope, one->owner))
		write_one(v->json, one);
}

void handle_secrets(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	struct json j;
	struct err err;
	struct secrets *s = kept(ex, &err);

	if (!s) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "secrets");
	for (enum secret_scope scope = 0; scope < SECRET_SCOPE_COUNT; scope++)
		secrets_each(s, scope, NULL, write_visible,
			     &(struct visible){ &j, ex->who });
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

void handle_secrets_of(struct exchange *ex)
{
	struct buf *out = answer_scratch(ex);
	enum secret_scope scope;
	struct json j;
	struct err err;

	if (find_owner(ex, false, &scope, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	json_init(&j, out);
	json_object(&j, NULL);
	json_array(&j, "secrets");
	secrets_each(ex->server->config.secrets, scope, ex->param[1], write_one, &j);
	json_end(&j);
	json_end(&j);
	answer_json(ex, 200, out);
}

static void record(struct exchange *ex, const char *action, const char *name,
		   const char *body)
{
	const struct yard_doc doc = { SECRET_KIND, name, body };

	exchange_hold(ex);
	yard_change(ex->server->config.yard, ex->who,
		    &(struct yard_change){ &doc, 1, action, name }, answer_done, ex);
}

static void wipe(const char *text, size_t len)
{
	explicit_bzero((char *)(uintptr_t)text, len);
}

/* The value out of {"value"} or {"base64"}; what it was read from is wiped. */
static struct vault *read_value(struct exchange *ex, struct err *err)
{
	AUTO_DOC struct doc *d = doc_parse_json(buf_str(&ex->body), ex->body.len, err);
	const struct doc_node *text = d ? doc_get(doc_root(d), "value") : NULL;
	const struct doc_node *coded = d ? doc_get(doc_root(d), "base64") : NULL;
	AUTO_VAULT struct vault *v = NULL;
	size_t len = 0;

	if (ex->body.len)
		explicit_bzero(ex->body.data, ex->body.len);
	if (!d)
		return NULL;
	if (!text == !coded) {
		err_set(err, ERR_INVALID, "value: either it or base64 is needed");
	} else if (text) {
		v = vault_copy(text->text, text->text_len);
	} else {
		v = vault_create(coded->text_len / 4 * 3 + 3);
		if (sodium_base642bin((unsigned char *)vault_data(v), vault_len(v),
				      coded->text, coded->text_len, "\n", &len, NULL,
				      sodium_base64_VARIANT_ORIGINAL) < 0) {
			err_set(err, ERR_INVALID, "base64: that is none");
			vault_unref(TAKE(v));
		} else {
			vault_cut(v, len);
		}
	}
	if (text)
		wipe(text->text, text->text_len);
	if (coded)
		wipe(coded->text, coded->text_len);
	return TAKE(v);
}

void handle_secret_put(struct exchange *ex)
{
	AUTO_BUF struct buf name = { 0 }, body = { 0 };
	struct secret_wish wish = { .owner = ex->param[1],
				    .name = ex->param[2],
				    .by = ex->who->name };
	struct err err;
	AUTO_VAULT struct vault *value = read_value(ex, &err);

	wish.value = value;
	if (!value || find_owner(ex, true, &wish.scope, &err) < 0 ||
	    secrets_seal(ex->server->config.secrets, &wish, &name, &body, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	record(ex, "secret.set", buf_str(&name), buf_str(&body));
}

void handle_secret_remove(struct exchange *ex)
{
	AUTO_BUF struct buf name = { 0 };
	enum secret_scope scope;
	struct err err;

	if (find_owner(ex, true, &scope, &err) < 0) {
		answer_error(ex, &err);
		return;
	}
	if (!secrets_find(ex->server->config.secrets, scope, ex->param[1],
			  ex->param[2])) {
		err_set(&err, ERR_NOT_FOUND, "there is no secret '%s' of the %s '%s'",
			ex->param[2], ex->param[0], ex->param[1]);
		answer_error(ex, &err);
		return;
	}
	secret_doc_name(scope, ex->param[1], ex->param[2], &name);
	record(ex, "secret.remove", buf_str(&name), NULL);
}

void secret_check_spec(const struct exchange *ex, const struct spec *spec,
		       struct problems *out)
{
	const struct secrets *s = ex->server->config.secrets;

	if (s)
		secrets_check(s, ex->who, spec, out);
	else if (spec->secret_count)
		problems_add(out, 0, 0, "secrets", "this yard keeps no secrets");
}

static void forget_one(void *arg, const struct secret *one)
{
	struct who_change *c = arg;
	AUTO_BUF struct buf name = { 0 };

	secret_doc_name(one->scope, one->owner, one->name, &name);
	mem_grow(&c->docs, &c->cap, c->count, sizeof *c->docs);
	c->docs[c->count++] =
		(struct who_doc){ mem_strdup(SECRET_KIND), buf_take(&name), NULL };
}

void secret_forget(const struct exchange *ex, enum secret_scope scope, const char *owner,
		   struct who_change *c)
{
	if (ex->server->config.secrets)
		secrets_each(ex->server->config.secrets, scope, owner, forget_one, c);
}
