// SPDX-License-Identifier: Apache-2.0
/* directory.h - users, groups and tokens: who has an account, and what it may.
 *
 * All in memory, made at boot from the store's documents and changed by them only: a
 * change is checked and written as documents here (who/change.h), recorded by the yard,
 * and comes back by who_apply().  Passwords are argon2id, hashed on a lane of their own;
 * tokens are random, kept as BLAKE2b only.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/principal.h"
#include "who/who.h"
#include "world/world.h"

#define WHO_HASH_BYTES 128 /* argon2id in its text form, with the NUL */
#define WHO_TOKEN_ID_BYTES                                                               \
	13 /* 12 letters or digits and the NUL: names a token, opens nothing */
#define WHO_TOKEN_PREFIX "yard_" /* a token's text: yard_<id>_<secret> */

struct who_user {
	char name[NAME_MAX_BYTES];
	enum user_role role;
	char groups[PRINCIPAL_GROUPS_MAX]
		   [NAME_MAX_BYTES]; /* the first is the primary one */
	size_t group_count;
	char hash[WHO_HASH_BYTES]; /* "": no password */
	bool disabled;
	int64_t uid; /* as whom they came by the unix socket; -1: never */
	int64_t created_ms;
};

struct who_group {
	char name[NAME_MAX_BYTES];
	char text[256]; /* what it is for */
	int64_t created_ms;
};

struct who_token {
	char id[WHO_TOKEN_ID_BYTES], user[NAME_MAX_BYTES], label[64];
	unsigned scopes;
	int64_t created_ms, expires_ms; /* 0: never */
	int64_t used_ms;                /* since this daemon began; 0: not */
	char hash[65];
};

struct who;
struct who *who_create(struct world *w, const struct who_rules *rules);
void who_destroy(struct who *d); /* NULL is fine; logins under way are not answered */
/* kind: "user", "group" or "token"; body NULL: gone. */
void who_apply(struct who *d, const char *kind, const char *name, const char *body);

/* Borrowed until the next change.  NULL: there is none. */
const struct who_user *who_user(const struct who *d, const char *name);
const struct who_group *who_group(const struct who *d, const char *name);
const struct who_token *who_token(const struct who *d, const char *id);
void who_each_user(const struct who *d, void (*each)(void *arg, const struct who_user *u),
		   void *arg); /* by name; so are the others */
void who_each_group(const struct who *d,
		    void (*each)(void *arg, const struct who_group *g), void *arg);
void who_each_token(const struct who *d, const char *user, /* NULL: of all */
		    void (*each)(void *arg, const struct who_token *t), void *arg);
size_t who_user_count(const struct who *d);

/* By the unix socket: as who_from_peer(), then what the account of that name says.  One
 * who has no account is a member of no group (root and the daemon's user: admin). */
int who_by_peer(struct who *d, const struct world_peer *peer, struct principal *out,
		struct err *err);
/* By token: at once. */
int who_by_token(struct who *d, const char *text, struct principal *out, struct err *err);

/* By password.  done() comes later, never from inside the call; wait_ms > 0 with ERR_BUSY:
 * too many wrong ones for this name or from this address, try again after that long.  A
 * right password is remembered for a minute (as a keyed hash), so that a client that sends
 * it with every request costs nothing. */
typedef void (*who_done)(void *arg, const struct principal *p, int64_t wait_ms,
			 const struct err *err);
struct who_attempt {
	const char *name, *password, *address; /* copied */
};
struct who_login; /* one under way */
struct who_login *who_login(struct who *d, const struct who_attempt *a, who_done done,
			    void *arg);
void who_login_cancel(struct who_login *l); /* done() does not come */

/* The code that makes the first admin over TCP: there is one while nobody could log in
 * there (no user has a password).  NULL: none.  Using it up is a change like others. */
const char *who_first_code(struct who *d);
