// SPDX-License-Identifier: Apache-2.0
#include "secret/secret.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/doc.h"
#include "base/json.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "secret/box.h"
#include "secret/internal.h"
#include "secret/key.h"

struct secrets *secrets_create(const struct secrets_config *c)
{
	struct secrets *s = mem_alloc(1, sizeof *s);

	if (sodium_init() < 0)
		abort(); /* no source of randomness */

	s->config = *c;
	s->key_path = mem_strdup(c->key_path);
	s->by_name = map_create();
	return s;
}

static void secret_free(struct secret *one)
{
	if (one)
		free(one->box);
	free(one);
}

void secrets_destroy(struct secrets *s)
{
	struct secret *one;

	if (!s)
		return;
	for (size_t it = 0; (one = map_next(s->by_name, &it));)
		secret_free(one);
	map_destroy(s->by_name);
	free(s->key_path);
	free(s);
}

void secret_doc_name(enum secret_scope scope, const char *owner, const char *name,
		     struct buf *out)
{
	buf_printf(out, "%s/%s/%s", secret_scope_word(scope), owner, name);
}

static bool copy_name(char to[NAME_MAX_BYTES], const char *from, size_t len)
{
	if (len == 0 || len >= NAME_MAX_BYTES)
		return false;
	memcpy(to, from, len);
	to[len] = 0;
	return true;
}

/* "scope/owner/name" */
static bool read_name(const char *text, struct secret *out)
{
	const char *first = strchr(text, '/'), *last = strrchr(text, '/');
	AUTO_FREE char *word = first ? mem_strndup(text, (size_t)(first - text)) : NULL;

	return first && last > first && secret_scope_from_word(word, &out->scope) == 0 &&
	       copy_name(out->owner, first + 1, (size_t)(last - first - 1)) &&
	       copy_name(out->name, last + 1, strlen(last + 1));
}

static struct secret *read_body(const char *name, const char *body)
{
	AUTO_DOC struct doc *d = doc_parse_json(body, strlen(body), NULL);
	struct secret *one = mem_alloc(1, sizeof *one);
	const struct doc_node *map = d ? doc_root(d) : NULL;

	if (!map || !read_name(name, one)) {
		free(one);
		return NULL;
	}
	const char *by = doc_str(map, "by", ""), *key = doc_str(map, "key", "");
	memcpy(one->by, by, strnlen(by, sizeof one->by - 1));
	memcpy(one->key, key, strnlen(key, sizeof one->key - 1));
	one->set_ms = doc_i64(map, "set_ms", 0);
	one->text = doc_bool(map, "text", true);
	one->box = mem_strdup(doc_str(map, "box", ""));
	return one;
}

void secrets_apply(void *secrets, const char *name, const char *body)
{
	struct secrets *s = secrets;
	struct secret *one = body ? read_body(name, body) : NULL;

	secret_free(map_dels(s->by_name, name));
	if (one)
		map_puts(s->by_name, name, one);
}

const struct secret *secrets_find(const struct secrets *s, enum secret_scope scope,
				  const char *owner, const char *name)
{
	AUTO_BUF struct buf full = { 0 };

	secret_doc_name(scope, owner, name, &full);
	return map_gets(s->by_name, buf_str(&full));
}

static int by_name(const void *a, const void *b)
{
	const struct secret *const *x = a, *const *y = b;
	int order = strcmp((*x)->owner, (*y)->owner);

	return order ? order : strcmp((*x)->name, (*y)->name);
}

void secrets_each(const struct secrets *s, enum secret_scope scope, const char *owner,
		  void (*each)(void *arg, const struct secret *one), void *arg)
{
	AUTO_FREE const struct secret **list =
		mem_alloc(map_count(s->by_name) + 1, sizeof *list);
	const struct secret *one;
	size_t count = 0;

	for (size_t it = 0; (one = map_next(s->by_name, &it));)
		if (one->scope == scope && (!owner || str_eq(one->owner, owner)))
			list[count++] = one;
	qsort(list, count, sizeof *list, by_name);
	for (size_t i = 0; i < count; i++)
		each(arg, list[i]);
}

static bool is_theirs(const struct principal *p, enum secret_scope scope,
		      const char *owner)
{
	return scope == SECRET_USER ? str_eq(p->name, owner) : principal_in(p, owner);
}

bool secret_may_see(const struct principal *p, enum secret_scope scope, const char *owner)
{
	/* An admin with a read-only token sees names as well: SCOPE_READ was asked for. */
	return p->role == ROLE_ADMIN || is_theirs(p, scope, owner);
}

bool secret_may_change(const struct principal *p, enum secret_scope scope,
		       const char *owner)
{
	if (principal_is_admin(p))
		return true;
	return p->role >= ROLE_MEMBER && p->scopes & SCOPE_WRITE &&
	       is_theirs(p, scope, owner);
}

/* A secret that some other key sealed than the one that is there. */
static bool has_other_key(const struct secrets *s, const char *id)
{
	const struct secret *one;

	for (size_t it = 0; (one = map_next(s->by_name, &it));)
		if (!str_eq(one->key, id))
			return true;
	return false;
}

static struct vault *key_for_seal(const struct secrets *s, char id[KEY_ID_BYTES],
				  struct err *err)
{
	size_t sealed = map_count(s->by_name);
	AUTO_VAULT struct vault *key = key_read(s->key_path, err);

	if (!key && err->code == ERR_NOT_FOUND && sealed == 0)
		key = key_make(s->config.world, s->key_path, err);
	else if (!key && err->code == ERR_NOT_FOUND)
		err_set(err, ERR_CONFLICT,
			"the key %s is lost, and %zu sealed secrets need it: put it back from "
			"your backup, or remove them all and set them again",
			s->key_path, sealed);
	if (!key)
		return NULL;
	key_id(key, id);
	if (has_other_key(s, id)) {
		err_set(err, ERR_CONFLICT,
			"%s is another key than the one that sealed the secrets which are here: "
			"put the right one back from your backup, or remove them all",
			s->key_path);
		return NULL;
	}
	return TAKE(key);
}

struct count {
	size_t n;
};

static void count_one(void *arg, const struct secret *one)
{
	(void)one;
	((struct count *)arg)->n++;
}

static int check_wish(const struct secrets *s, const struct secret_wish *w,
		      struct err *err)
{
	struct count have = { 0 };

	if (!secret_name_ok(w->name))
		return err_set(err, ERR_INVALID, "name: " SECRET_NAME_RULE);
	if (vault_len(w->value) == 0)
		return err_set(err, ERR_INVALID, "value: a secret cannot be empty");
	if (vault_len(w->value) > SECRET_VALUE_MAX)
		return err_set(err, ERR_TOO_LARGE,
			       "value: %zu bytes; at most %d are allowed",
			       vault_len(w->value), SECRET_VALUE_MAX);
	secrets_each(s, w->scope, w->owner, count_one, &have);
	if (have.n >= SECRET_OWNER_MAX && !secrets_find(s, w->scope, w->owner, w->name))
		return err_set(err, ERR_TOO_LARGE,
			       "there are %zu secrets of %s/%s already", have.n,
			       secret_scope_word(w->scope), w->owner);
	return 0;
}

int secrets_seal(struct secrets *s, const struct secret_wish *w, struct buf *name,
		 struct buf *body, struct err *err)
{
	const struct box_label label = { SECRET_KIND, secret_scope_word(w->scope),
					 w->owner, w->name };
	AUTO_BUF struct buf box = { 0 };
	char id[KEY_ID_BYTES];
	struct json j;

	if (check_wish(s, w, err) < 0)
		return -1;
	AUTO_VAULT struct vault *key = key_for_seal(s, id, err);
	if (!key)
		return -1;
	box_seal(s->config.world, key, &label, w->value, &box);
	secret_doc_name(w->scope, w->owner, w->name, name);
	json_init(&j, body);
	json_object(&j, NULL);
	json_str(&j, "by", w->by);
	json_i64(&j, "set_ms", world_now_ms(s->config.world));
	json_bool(&j, "text", !memchr(vault_data(w->value), 0, vault_len(w->value)));
	json_str(&j, "key", id);
	json_str(&j, "box", buf_str(&box));
	json_end(&j);
	return 0;
}

struct vault *secrets_open(const struct secrets *s, const struct secret *one,
			   struct err *err)
{
	const struct box_label label = { SECRET_KIND, secret_scope_word(one->scope),
					 one->owner, one->name };
	AUTO_VAULT struct vault *key = key_read(s->key_path, err);
	char id[KEY_ID_BYTES];

	if (!key) {
		if (err->code == ERR_NOT_FOUND)
			err_set(err, ERR_CONFLICT,
				"the key %s is lost: put it back from your backup",
				s->key_path);
		return NULL;
	}
	key_id(key, id);
	if (!str_eq(id, one->key)) {
		err_set(err, ERR_CONFLICT,
			"it was sealed by another key than %s: put the right one back from your "
			"backup, or set the secret again",
			s->key_path);
		return NULL;
	}
	return box_open(key, &label, one->box, err);
}
