// SPDX-License-Identifier: Apache-2.0
#include "who/directory.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"

#define TOKEN_CHARS                                                                      \
	(sizeof WHO_TOKEN_PREFIX - 1 + WHO_TOKEN_ID_BYTES - 1 + 1 + WHO_SECRET_CHARS)

struct who *who_create(struct world *w, const struct who_rules *rules)
{
	struct who *d = mem_alloc(1, sizeof *d);
	int rc = sodium_init(); /* fails only where there is no randomness at all */

	if (rc < 0)
		abort();
	d->world = w;
	d->rules = *rules;
	d->users = map_create();
	d->groups = map_create();
	d->tokens = map_create();
	d->wants = wants_create(d);
	d->logins = logins_create(d);
	d->first = first_create();
	return d;
}

static void free_map(struct map *m)
{
	void *v;

	for (size_t it = 0; (v = map_next(m, &it));)
		free(v);
	map_destroy(m);
}

void who_destroy(struct who *d)
{
	if (!d)
		return;
	logins_destroy(d->logins);
	wants_destroy(d->wants);
	first_destroy(d->first);
	free_map(d->users);
	free_map(d->groups);
	free_map(d->tokens);
	free(d);
}

/* ---- documents ---- */

static void apply_user(struct who *d, const char *name, const char *body)
{
	struct who_user *u = mem_alloc(1, sizeof *u);

	logins_forget(d->logins, name);
	if (body && user_decode(name, body, u) == 0) {
		free(map_puts(d->users, name, u));
		return;
	}
	free(u);
	free(map_dels(d->users, name));
}

static void apply_group(struct who *d, const char *name, const char *body)
{
	struct who_group *g = mem_alloc(1, sizeof *g);

	if (body && group_decode(name, body, g) == 0) {
		free(map_puts(d->groups, name, g));
		return;
	}
	free(g);
	free(map_dels(d->groups, name));
}

static void apply_token(struct who *d, const char *id, const char *body)
{
	struct who_token *t = mem_alloc(1, sizeof *t);

	if (body && token_decode(id, body, t) == 0) {
		free(map_puts(d->tokens, id, t));
		want_end(d, t);
		return;
	}
	free(t);
	free(map_dels(d->tokens, id));
}

void who_apply(struct who *d, const char *kind, const char *name, const char *body)
{
	d->generation++;
	if (str_eq(kind, "user"))
		apply_user(d, name, body);
	else if (str_eq(kind, "group"))
		apply_group(d, name, body);
	else if (str_eq(kind, "token"))
		apply_token(d, name, body);
}

/* ---- reading ---- */

const struct who_user *who_user(const struct who *d, const char *name)
{
	return map_gets(d->users, name);
}

const struct who_group *who_group(const struct who *d, const char *name)
{
	return map_gets(d->groups, name);
}

const struct who_token *who_token(const struct who *d, const char *id)
{
	return map_gets(d->tokens, id);
}

size_t who_user_count(const struct who *d)
{
	return map_count(d->users);
}

uint64_t who_generation(const struct who *d)
{
	return d->generation;
}

static bool is_member(const struct who_user *u, const char *group)
{
	for (size_t i = 0; i < u->group_count; i++)
		if (str_eq(u->groups[i], group))
			return true;
	return false;
}

size_t who_member_count(const struct who *d, const char *group)
{
	const struct who_user *u;
	size_t n = 0;

	for (size_t it = 0; (u = map_next(d->users, &it));)
		n += is_member(u, group);
	return n;
}

/* The values of a map as a list that the caller frees. */
static const void **values(const struct map *m, size_t *count)
{
	const void **list = mem_alloc(map_count(m) + 1, sizeof *list), *v;

	*count = 0;
	for (size_t it = 0; (v = map_next(m, &it));)
		list[(*count)++] = v;
	return list;
}

/* A user and a group both begin with their name. */
static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static int by_age(const void *a, const void *b)
{
	const struct who_token *const *x = a, *const *y = b;

	if ((*x)->created_ms != (*y)->created_ms)
		return (*x)->created_ms < (*y)->created_ms ? -1 : 1;
	return strcmp((*x)->id, (*y)->id);
}

void who_each_user(const struct who *d, void (*each)(void *arg, const struct who_user *u),
		   void *arg)
{
	size_t count;
	AUTO_FREE const void **list = values(d->users, &count);

	_Static_assert(offsetof(struct who_user, name) == 0, "by_name() reads it");
	qsort(list, count, sizeof *list, by_name);
	for (size_t i = 0; i < count; i++)
		each(arg, list[i]);
}

void who_each_group(const struct who *d,
		    void (*each)(void *arg, const struct who_group *g), void *arg)
{
	size_t count;
	AUTO_FREE const void **list = values(d->groups, &count);

	_Static_assert(offsetof(struct who_group, name) == 0, "by_name() reads it");
	qsort(list, count, sizeof *list, by_name);
	for (size_t i = 0; i < count; i++)
		each(arg, list[i]);
}

void who_each_token(const struct who *d, const char *user,
		    void (*each)(void *arg, const struct who_token *t), void *arg)
{
	size_t count;
	AUTO_FREE const void **list = values(d->tokens, &count);

	qsort(list, count, sizeof *list, by_age);
	for (size_t i = 0; i < count; i++) {
		const struct who_token *t = list[i];
		if ((!user || str_eq(t->user, user)) && !who_token_expired(d, t))
			each(arg, t);
	}
}

bool who_token_expired(const struct who *d, const struct who_token *t)
{
	return t->expires_ms && t->expires_ms <= world_now_ms(d->world);
}

/* ---- who comes ---- */

bool user_can_log_in(const struct who_user *u)
{
	return *u->hash && !u->disabled;
}

void user_principal(const struct who_user *u, struct principal *out)
{
	*out = (struct principal){ .role = u->role, .scopes = SCOPE_ALL, .uid = u->uid };
	memcpy(out->name, u->name, sizeof out->name);
	memcpy(out->groups, u->groups, sizeof out->groups);
	out->group_count = u->group_count;
	snprintf(out->group, sizeof out->group, "%s",
		 u->group_count ? u->groups[0] : GROUP_DEFAULT);
}

int who_with_account(struct who *d, const struct principal *peer, struct principal *out,
		     struct err *err)
{
	const struct who_user *u = who_user(d, peer->name);
	bool always = peer->role == ROLE_ADMIN; /* root, the daemon's user */

	if (!u) {
		*out = *peer;
		/* A group of this machine that came after the yard's of the same name. */
		if (who_group(d, peer->group))
			snprintf(out->group, sizeof out->group, GROUP_DEFAULT);
		return 0;
	}
	if (u->disabled && !always)
		return err_set(err, ERR_DENIED,
			       "the account '%s' is disabled: ask an administrator",
			       u->name);
	if (u->uid != peer->uid)
		want_uid(d, u->name, peer->uid);
	user_principal(u, out);
	out->uid = peer->uid;
	if (always)
		out->role = ROLE_ADMIN;
	return 0;
}

int who_by_peer(struct who *d, const struct world_peer *peer, struct principal *out,
		struct err *err)
{
	struct principal p;

	if (who_from_peer(peer, &d->rules, &p, err) < 0)
		return -1;
	return who_with_account(d, &p, out, err);
}

int who_by_name(struct who *d, const char *name, int64_t uid, struct principal *out,
		struct err *err)
{
	const struct who_user *u = who_user(d, name);
	struct world_peer peer = { .pid = -1, .uid = uid, .gid = -1 };

	if (uid >= 0 && who_by_peer(d, &peer, out, err) == 0 && str_eq(out->name, name))
		return 0;
	if (uid < 0 && u && !u->disabled) {
		user_principal(u, out);
		return 0;
	}
	return err_set(err, ERR_DENIED, "there is no user '%s' who may do anything",
		       name);
}

/* The token that the text names and opens, or NULL. */
static struct who_token *find_token(const struct who *d, const char *text)
{
	const size_t skip = sizeof WHO_TOKEN_PREFIX - 1;
	char id[WHO_TOKEN_ID_BYTES] = "", hash[65];
	struct who_token *t;

	if (!str_starts(text, WHO_TOKEN_PREFIX) || strlen(text) != TOKEN_CHARS)
		return NULL;
	memcpy(id, text + skip, sizeof id - 1);
	t = map_gets(d->tokens, id);
	token_hash(text, hash);
	return t && sodium_memcmp(t->hash, hash, sizeof hash) == 0 ? t : NULL;
}

int who_by_token(struct who *d, const char *text, struct principal *out,
		 char id[WHO_TOKEN_ID_BYTES], struct err *err)
{
	struct who_token *t = find_token(d, text);
	const struct who_user *u = t ? who_user(d, t->user) : NULL;

	if (!u)
		return err_set(
			err, ERR_UNKNOWN_CALLER,
			"this token is not known here; it may have expired or been "
			"removed: log in again, or ask for another");
	if (who_token_expired(d, t)) {
		want_expired(d, t->id);
		return err_set(
			err, ERR_UNKNOWN_CALLER,
			"this token has expired: log in again, or ask for another");
	}
	if (u->disabled)
		return err_set(err, ERR_UNKNOWN_CALLER,
			       "the account '%s' is disabled: ask an administrator",
			       u->name);
	t->used_ms = world_now_ms(d->world);
	user_principal(u, out);
	out->scopes = t->scopes;
	if (id)
		memcpy(id, t->id, WHO_TOKEN_ID_BYTES);
	return 0;
}

bool who_token_again(struct who *d, const char *id, const char *text, const char *before)
{
	size_t len = strlen(before);
	struct who_token *t = map_gets(d->tokens, id);

	if (strlen(text) != len || sodium_memcmp(text, before, len) != 0 || !t ||
	    who_token_expired(d, t))
		return false;
	t->used_ms = world_now_ms(d->world);
	return true;
}
