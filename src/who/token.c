// SPDX-License-Identifier: Apache-2.0
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"

#define LIFE_MAX_MS (INT64_C(3650) * 86400000)

void random_text(struct world *w, char *out, size_t size)
{
	static const char letters[] = "0123456789abcdefghjkmnpqrstvwxyz"; /* 32 */
	uint64_t bits = 0;

	for (size_t i = 0; i + 1 < size; i++) {
		if (i % 12 == 0)
			bits = world_random(w);
		out[i] = letters[bits & 31];
		bits >>= 5;
	}
	out[size - 1] = '\0';
}

void token_hash(const char *text, char hex[65])
{
	unsigned char hash[32];

	crypto_generichash(hash, sizeof hash, (const unsigned char *)text, strlen(text),
			   NULL, 0);
	sodium_bin2hex(hex, 65, hash, sizeof hash);
}

/* A right to change without one to read would be of no use to anybody. */
static unsigned whole_scopes(unsigned scopes)
{
	if (scopes & SCOPE_ADMIN)
		return SCOPE_ALL;
	return scopes & SCOPE_WRITE ? SCOPE_WRITE | SCOPE_READ : SCOPE_READ;
}

static int check_wish(const struct who *d, const struct who_token_wish *w,
		      struct err *err)
{
	const struct who_user *u = who_user(d, w->user);
	const struct who_token *t;
	int count = 0;

	if (!u)
		return err_set(
			err, ERR_NOT_FOUND,
			"there is no user '%s': who has an account has tokens (yard "
			"user add NAME)",
			w->user);
	if (!w->scopes || w->scopes & ~(unsigned)SCOPE_ALL)
		return err_set(err, ERR_INVALID, "scopes: of read, write and admin");
	if (w->scopes & SCOPE_ADMIN && u->role != ROLE_ADMIN)
		return err_set(
			err, ERR_INVALID,
			"scopes: '%s' is no administrator, so admin would be of no "
			"use",
			u->name);
	if (w->life_ms < 0 || w->life_ms > LIFE_MAX_MS)
		return err_set(err, ERR_INVALID,
			       "life: up to 3650d, or nothing for one that does not end");
	for (size_t it = 0; (t = map_next(d->tokens, &it));)
		count += str_eq(t->user, u->name) && !who_token_expired(d, t);
	if (count >= WHO_TOKENS_MAX)
		return err_set(err, ERR_QUOTA,
			       "'%s' has %d tokens, the most one may have: remove some",
			       u->name, count);
	return text_check("label", w->label ? w->label : "", WHO_LABEL_BYTES, err);
}

int who_add_token(struct who *d, const struct who_token_wish *w, struct who_change *out,
		  char **text, char id[WHO_TOKEN_ID_BYTES], struct err *err)
{
	struct who_token t = { .scopes = whole_scopes(w->scopes),
			       .created_ms = world_now_ms(d->world) };
	AUTO_BUF struct buf body = { 0 };
	char secret[WHO_SECRET_CHARS + 1];
	const struct who_token *old;

	if (check_wish(d, w, err) < 0)
		return -1;
	do
		random_text(d->world, t.id, sizeof t.id);
	while (who_token(d, t.id));
	random_text(d->world, secret, sizeof secret);
	*text = str_printf("%s%s_%s", WHO_TOKEN_PREFIX, t.id, secret);
	sodium_memzero(secret, sizeof secret);
	token_hash(*text, t.hash);
	snprintf(t.user, sizeof t.user, "%s", w->user);
	snprintf(t.label, sizeof t.label, "%s", w->label ? w->label : "");
	t.expires_ms = w->life_ms ? t.created_ms + w->life_ms : 0;
	token_encode(&t, &body);
	change_begin(out, "token.add", t.id);
	who_change_add(out, "token", t.id, buf_str(&body));
	for (size_t it = 0; (old = map_next(d->tokens, &it));)
		if (str_eq(old->user, t.user) && who_token_expired(d, old))
			who_change_add(out, "token", old->id, NULL);
	if (id)
		memcpy(id, t.id, sizeof t.id);
	return 0;
}

int who_remove_token(struct who *d, const char *id, struct who_change *out,
		     struct err *err)
{
	if (!who_token(d, id))
		return err_set(err, ERR_NOT_FOUND, "there is no token '%s'", id);
	change_begin(out, "token.remove", id);
	who_change_add(out, "token", id, NULL);
	return 0;
}
