// SPDX-License-Identifier: Apache-2.0
#include "who/pass.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"

#define MAC_HEX      65
#define TICKET_CHARS 40 /* 5 bits each */
#define FIELDS       5  /* of a cookie, before its keyed hash */

struct ticket {
	char hash[65];
	char user[NAME_MAX_BYTES];
	int64_t uid, app, expires_ms;
	unsigned scopes;
};

struct passes {
	struct world *world;
	struct who *who;
	unsigned char key[PASS_KEY_BYTES];
	struct map *tickets; /* by hash, oldest first */
};

struct passes *passes_create(struct world *w, struct who *d,
			     const unsigned char key[PASS_KEY_BYTES])
{
	struct passes *p = mem_alloc(1, sizeof *p);

	p->world = w;
	p->who = d;
	memcpy(p->key, key, sizeof p->key);
	p->tickets = map_create();
	return p;
}

void passes_destroy(struct passes *p)
{
	struct ticket *t;

	if (!p)
		return;
	for (size_t it = 0; (t = map_next(p->tickets, &it));)
		free(t);
	map_destroy(p->tickets);
	sodium_memzero(p->key, sizeof p->key);
	free(p);
}

static int refuse(struct err *err)
{
	return err_set(err, ERR_UNKNOWN_CALLER,
		       "this address or login is over: open the app anew");
}

/* As whom a pass was given: by the account where that says it all, else (no account; root
 * and the daemon's user) by the uid. */
static int64_t uid_of(const struct passes *p, const struct principal *who)
{
	const struct who_user *u = who_user(p->who, who->name);

	return u && u->role == who->role ? -1 : who->uid;
}

static int resolve(const struct passes *p, const char *user, int64_t uid, unsigned scopes,
		   struct principal *out, struct err *err)
{
	if (who_by_name(p->who, user, uid, out, err) < 0)
		return refuse(err);
	out->scopes = scopes;
	return 0;
}

/* What changes when the account does: its password, or that it is another one. */
static void add_stamp(const struct passes *p, const char *user, struct buf *out)
{
	const struct who_user *u = who_user(p->who, user);

	if (u)
		buf_printf(out, "%" PRId64 " %s", u->created_ms, u->hash);
}

static void sign(const struct passes *p, const char *what, const char *text, size_t len,
		 const char *user, char hex[MAC_HEX])
{
	AUTO_BUF struct buf all = { 0 };
	unsigned char mac[32];

	buf_printf(&all, "yard %s\n", what);
	buf_add(&all, text, len);
	buf_addc(&all, '\n');
	if (user)
		add_stamp(p, user, &all);
	crypto_generichash(mac, sizeof mac, (const unsigned char *)all.data, all.len,
			   p->key, sizeof p->key);
	sodium_bin2hex(hex, MAC_HEX, mac, sizeof mac);
}

/* The text before its last '.', when what is behind it is right. */
static int check_sign(const struct passes *p, const char *what, const char *text,
		      const char *user, struct err *err)
{
	const char *dot = strrchr(text, '.');
	char hex[MAC_HEX];

	if (!dot || strlen(dot + 1) != MAC_HEX - 1)
		return refuse(err);
	sign(p, what, text, (size_t)(dot - text), user, hex);
	return sodium_memcmp(hex, dot + 1, MAC_HEX) == 0 ? 0 : refuse(err);
}

void pass_cookie(struct passes *p, const struct principal *who, int64_t app,
		 int64_t expires_ms, struct buf *text)
{
	AUTO_BUF struct buf body = { 0 };
	char name[2 * NAME_MAX_BYTES + 1], mac[MAC_HEX];

	sodium_bin2hex(name, sizeof name, (const unsigned char *)who->name,
		       strlen(who->name));
	buf_printf(&body, "%" PRId64 ".%" PRId64 ".%" PRId64 ".%u.%s", app, expires_ms,
		   uid_of(p, who), who->scopes, name);
	sign(p, "app cookie", body.data, body.len, who->name, mac);
	buf_printf(text, "%s.%s", buf_str(&body), mac);
}

/* Cuts "12.1700000000000.-1.7.616e6e.<mac>" into its fields. */
static int split(char *text, char *field[FIELDS])
{
	for (int i = 0; i < FIELDS; i++) {
		char *dot = strchr(text, '.');
		if (!dot)
			return -1;
		*dot = '\0';
		field[i] = text;
		text = dot + 1;
	}
	return 0;
}

int pass_check(struct passes *p, const char *cookie, int64_t app, struct principal *out,
	       struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(cookie);
	char *field[FIELDS], name[NAME_MAX_BYTES] = "";
	int64_t of, expires_ms, uid, scopes;
	size_t len = 0;

	if (split(copy, field) < 0 || str_to_i64(field[0], 1, INT64_MAX, &of) < 0 ||
	    str_to_i64(field[1], 0, INT64_MAX, &expires_ms) < 0 ||
	    str_to_i64(field[2], -1, UINT32_MAX, &uid) < 0 ||
	    str_to_i64(field[3], 0, SCOPE_ALL, &scopes) < 0 ||
	    sodium_hex2bin((unsigned char *)name, sizeof name - 1, field[4],
			   strlen(field[4]), NULL, &len, NULL) < 0 ||
	    len * 2 != strlen(field[4]) || strlen(name) != len)
		return refuse(err);
	if (check_sign(p, "app cookie", cookie, name, err) < 0)
		return -1;
	if (of != app || expires_ms <= world_now_ms(p->world))
		return refuse(err);
	return resolve(p, name, uid, (unsigned)scopes, out, err);
}

void pass_form(struct passes *p, int64_t app, struct buf *text)
{
	AUTO_BUF struct buf body = { 0 };
	char mac[MAC_HEX], chance[17];

	random_text(p->world, chance, sizeof chance);
	buf_printf(&body, "%" PRId64 ".%" PRId64 ".%s", app,
		   world_now_ms(p->world) + PASS_FORM_MS, chance);
	sign(p, "login form", body.data, body.len, NULL, mac);
	buf_printf(text, "%s.%s", buf_str(&body), mac);
}

int pass_check_form(struct passes *p, const char *text, int64_t app, struct err *err)
{
	AUTO_FREE char *copy = mem_strdup(text);
	char *dot = strchr(copy, '.'), *end = dot ? strchr(dot + 1, '.') : NULL;
	int64_t of, expires_ms;

	if (!end || check_sign(p, "login form", text, NULL, err) < 0)
		return refuse(err);
	*dot = *end = '\0';
	if (str_to_i64(copy, 1, INT64_MAX, &of) < 0 || of != app ||
	    str_to_i64(dot + 1, 0, INT64_MAX, &expires_ms) < 0 ||
	    expires_ms <= world_now_ms(p->world))
		return refuse(err);
	return 0;
}

/* Those that are over, and the oldest when the user or all together have too many. */
static void tidy(struct passes *p, const char *user)
{
	int64_t now = world_now_ms(p->world);
	size_t theirs = 0;
	struct ticket *t;

	for (size_t it = 0; (t = map_next(p->tickets, &it));)
		theirs += str_eq(t->user, user);
	for (size_t it = 0; (t = map_next(p->tickets, &it));) {
		bool is_theirs = str_eq(t->user, user);
		if (t->expires_ms > now && map_count(p->tickets) < PASS_TICKETS_MAX &&
		    !(is_theirs && theirs >= PASS_TICKETS_ONE))
			continue;
		theirs -= is_theirs;
		map_dels(p->tickets, t->hash);
		free(t);
	}
}

void pass_ticket(struct passes *p, const struct principal *who, int64_t app,
		 struct buf *text)
{
	struct ticket *t = mem_alloc(1, sizeof *t);
	char secret[TICKET_CHARS + 1];

	tidy(p, who->name);
	random_text(p->world, secret, sizeof secret);
	token_hash(secret, t->hash);
	snprintf(t->user, sizeof t->user, "%s", who->name);
	t->uid = uid_of(p, who);
	t->scopes = who->scopes;
	t->app = app;
	t->expires_ms = world_now_ms(p->world) + PASS_TICKET_MS;
	map_puts(p->tickets, t->hash, t);
	buf_adds(text, secret);
	sodium_memzero(secret, sizeof secret);
}

int pass_redeem(struct passes *p, const char *ticket, int64_t app, struct principal *out,
		struct err *err)
{
	char hash[65];

	token_hash(ticket, hash);
	/* By its hash: how long the search takes tells nothing of a ticket. */
	AUTO_FREE struct ticket *t = map_dels(p->tickets, hash);
	if (!t || t->app != app || t->expires_ms <= world_now_ms(p->world))
		return refuse(err);
	return resolve(p, t->user, t->uid, t->scopes, out, err);
}

bool pass_stands(const struct passes *p, const struct principal *who)
{
	struct principal now;

	if (resolve(p, who->name, uid_of(p, who), who->scopes, &now, NULL) < 0 ||
	    now.role != who->role || now.group_count != who->group_count)
		return false;
	for (size_t i = 0; i < now.group_count; i++)
		if (!str_eq(now.groups[i], who->groups[i]))
			return false;
	return true;
}
