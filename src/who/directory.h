// SPDX-License-Identifier: Apache-2.0
/* directory.h - users, groups and tokens: who has an account, and what it may.
 *
 * All in memory, made at boot from the store's documents and changed by them only: a
 * change is checked and written as documents (who/change.h), recorded by the yard, and
 * comes back by who_apply().  Tokens are random and kept as BLAKE2b only.  Passwords:
 * who/login.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "job/principal.h"
#include "who/who.h"
#include "world/world.h"

#define WHO_HASH_BYTES     129     /* argon2id in its text form, with the NUL */
#define WHO_TOKEN_ID_BYTES 13      /* 12 letters or digits, and the NUL: opens nothing */
#define WHO_TOKEN_PREFIX   "yard_" /* a token's text: yard_<id>_<secret> */
#define WHO_TEXT_BYTES     256
#define WHO_LABEL_BYTES    64

struct who_user {
	char name[NAME_MAX_BYTES];
	enum user_role role;
	char groups[PRINCIPAL_GROUPS_MAX][NAME_MAX_BYTES]; /* the first is the primary */
	size_t group_count;
	char hash[WHO_HASH_BYTES]; /* "": no password */
	bool disabled;
	int64_t uid; /* as whom they came by the unix socket; -1: never */
	int64_t created_ms;
};

struct who_group {
	char name[NAME_MAX_BYTES];
	char text[WHO_TEXT_BYTES]; /* what it is for */
	int64_t created_ms;
};

struct who_token {
	char id[WHO_TOKEN_ID_BYTES], user[NAME_MAX_BYTES], label[WHO_LABEL_BYTES];
	unsigned scopes;
	int64_t created_ms, expires_ms; /* 0: never */
	int64_t used_ms;                /* since this daemon began; 0: not */
	char hash[65];
};

struct who;
struct who *who_create(struct world *w, const struct who_rules *rules);
void who_destroy(struct who *d); /* NULL is fine; logins under way are not answered */
/* kind: "user", "group" or "token"; body NULL: gone.  One that cannot be read is as if
 * gone: nobody comes in by it. */
void who_apply(struct who *d, const char *kind, const char *name, const char *body);

/* What the directory itself wants recorded: tokens that have expired, the uid of one who
 * came by the unix socket, a password hashed anew.  Asked for on the loop, never from
 * inside a call; until it is set nothing is.  Setting it removes expired tokens. */
struct who_change;
void who_on_change(struct who *d, void (*record)(void *arg, const struct who_change *c),
		   void *arg);

/* Borrowed until control returns to the loop.  NULL: there is none. */
const struct who_user *who_user(const struct who *d, const char *name);
const struct who_group *who_group(const struct who *d, const char *name);
const struct who_token *who_token(const struct who *d, const char *id);
void who_each_user(const struct who *d, void (*each)(void *arg, const struct who_user *u),
		   void *arg); /* by name; so are the groups */
void who_each_group(const struct who *d,
		    void (*each)(void *arg, const struct who_group *g), void *arg);
void who_each_token(const struct who *d, const char *user, /* NULL: of all */
		    void (*each)(void *arg, const struct who_token *t),
		    void *arg); /* by age; those that have expired are left out */
size_t who_user_count(const struct who *d);
/* Goes up with every who_apply(): what was found out before may be wrong since. */
uint64_t who_generation(const struct who *d);
size_t who_member_count(const struct who *d, const char *group);
bool who_token_expired(const struct who *d, const struct who_token *t);

/* By the unix socket: as who_from_peer(), then what the account of that name says; root
 * and the daemon's user stay admin whatever it says.  One who has no account is in no
 * group that shares. */
int who_by_peer(struct who *d, const struct world_peer *peer, struct principal *out,
		struct err *err);
/* The second half of it: what the account says of one whom who_from_peer() gave. */
int who_with_account(struct who *d, const struct principal *peer, struct principal *out,
		     struct err *err);
/* As the account of that name says; of one who has none, or who is more by their uid than
 * by their account (root, the daemon's user), by the uid.  uid -1: by the account only. */
int who_by_name(struct who *d, const char *name, int64_t uid, struct principal *out,
		struct err *err);
/* By token: at once.  id (may be NULL): which one it was. */
int who_by_token(struct who *d, const char *text, struct principal *out,
		 char id[WHO_TOKEN_ID_BYTES], struct err *err);
/* Whether text is the one `before`, which opened the token `id` at this generation, and
 * still does: then what who_by_token() gave stands.  Takes as long whatever differs. */
bool who_token_again(struct who *d, const char *id, const char *text, const char *before);
