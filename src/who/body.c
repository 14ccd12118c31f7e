// SPDX-License-Identifier: Apache-2.0
/* Accounts as JSON documents.  A field that is absent has its default, so that what an
 * older version wrote is read; one that does not fit makes the whole of no use. */
#include <stdio.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "who/internal.h"

static bool fits(char *out, size_t size, const char *text)
{
	size_t n = strlen(text);

	if (n >= size)
		return false;
	memcpy(out, text, n + 1);
	return true;
}

void user_encode(const struct who_user *u, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "role", user_role_word(u->role));
	json_array(&j, "groups");
	for (size_t i = 0; i < u->group_count; i++)
		json_str(&j, NULL, u->groups[i]);
	json_end(&j);
	if (*u->hash)
		json_str(&j, "password", u->hash);
	if (u->disabled)
		json_bool(&j, "disabled", true);
	if (u->uid >= 0)
		json_i64(&j, "uid", u->uid);
	json_i64(&j, "created_ms", u->created_ms);
	json_end(&j);
}

static int decode_groups(const struct doc_node *list, struct who_user *out)
{
	for (const struct doc_node *n = list ? list->first : NULL; n; n = n->next) {
		if (n->kind != DOC_STRING || out->group_count == PRINCIPAL_GROUPS_MAX ||
		    !fits(out->groups[out->group_count], NAME_MAX_BYTES, n->text))
			return -1;
		out->group_count++;
	}
	return 0;
}

int user_decode(const char *name, const char *body, struct who_user *out)
{
	AUTO_DOC struct doc *doc = doc_parse_json(body, strlen(body), NULL);
	const struct doc_node *root = doc ? doc_root(doc) : NULL;

	*out = (struct who_user){ 0 };
	if (!root || !fits(out->name, sizeof out->name, name) ||
	    !fits(out->hash, sizeof out->hash, doc_str(root, "password", "")) ||
	    user_role_from_word(doc_str(root, "role", ""), &out->role) < 0 ||
	    decode_groups(doc_get(root, "groups"), out) < 0)
		return -1;
	out->disabled = doc_bool(root, "disabled", false);
	out->uid = doc_i64(root, "uid", -1);
	out->created_ms = doc_i64(root, "created_ms", 0);
	return 0;
}

void group_encode(const struct who_group *g, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "text", g->text);
	json_i64(&j, "created_ms", g->created_ms);
	json_end(&j);
}

int group_decode(const char *name, const char *body, struct who_group *out)
{
	AUTO_DOC struct doc *doc = doc_parse_json(body, strlen(body), NULL);
	const struct doc_node *root = doc ? doc_root(doc) : NULL;

	*out = (struct who_group){ 0 };
	if (!root || !fits(out->name, sizeof out->name, name) ||
	    !fits(out->text, sizeof out->text, doc_str(root, "text", "")))
		return -1;
	out->created_ms = doc_i64(root, "created_ms", 0);
	return 0;
}

void token_encode(const struct who_token *t, struct buf *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_str(&j, "user", t->user);
	json_str(&j, "label", t->label);
	json_i64(&j, "scopes", t->scopes);
	json_i64(&j, "created_ms", t->created_ms);
	json_i64(&j, "expires_ms", t->expires_ms);
	json_str(&j, "hash", t->hash);
	json_end(&j);
}

int token_decode(const char *id, const char *body, struct who_token *out)
{
	AUTO_DOC struct doc *doc = doc_parse_json(body, strlen(body), NULL);
	const struct doc_node *root = doc ? doc_root(doc) : NULL;

	*out = (struct who_token){ 0 };
	if (!root || !fits(out->id, sizeof out->id, id) ||
	    !fits(out->user, sizeof out->user, doc_str(root, "user", "")) ||
	    !fits(out->label, sizeof out->label, doc_str(root, "label", "")) ||
	    !fits(out->hash, sizeof out->hash, doc_str(root, "hash", "")))
		return -1;
	out->scopes = (unsigned)doc_i64(root, "scopes", 0) & SCOPE_ALL;
	out->created_ms = doc_i64(root, "created_ms", 0);
	out->expires_ms = doc_i64(root, "expires_ms", 0);
	return strlen(out->hash) == sizeof out->hash - 1 ? 0 : -1;
}
