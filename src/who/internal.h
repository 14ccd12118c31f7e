// SPDX-License-Identifier: Apache-2.0
/* internal.h - what the files of this room share.
 *
 *   directory.c  what is there, and who comes by which credential
 *   body.c       accounts as documents, both ways
 *   change.c     users and groups to be changed; token.c: tokens
 *   name.c       which names may be
 *   want.c       what the directory itself wants recorded
 *   login.c      passwords; hash.c: argon2id on its lane; first.c: the first admin
 *   throttle.c   who has been wrong too often
 */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "who/change.h"
#include "who/directory.h"

#define WHO_SECRET_CHARS 52 /* of a token, 5 bits each: 260 */

struct logins;
struct wants;
struct throttle;
struct hasher;
struct first;

struct who {
	struct world *world;
	struct who_rules rules;
	struct map *users, *groups, *tokens; /* by name or id; theirs */
	uint64_t generation;
	struct wants *wants;
	struct logins *logins;
	struct first *first;
};

/* body.c.  -1: it makes no sense. */
void user_encode(const struct who_user *u, struct buf *out);
void group_encode(const struct who_group *g, struct buf *out);
void token_encode(const struct who_token *t, struct buf *out);
int user_decode(const char *name, const char *body, struct who_user *out);
int group_decode(const char *name, const char *body, struct who_group *out);
int token_decode(const char *id, const char *body, struct who_token *out);

/* name.c */
int name_check(const char *name, struct err *err);
int name_check_user(const char *name, const struct principal *by, struct err *err);
int name_check_group(const char *name, struct err *err);
int text_check(const char *field, const char *text, size_t size, struct err *err);

/* directory.c */
bool user_can_log_in(const struct who_user *u); /* by password */
void user_principal(const struct who_user *u, struct principal *out);
/* change.c */
void change_begin(struct who_change *c, const char *action, const char *object);
void change_user(struct who_change *c, const struct who_user *u);
/* token.c: letters and digits of 5 random bits each, and the NUL */
void random_text(struct world *w, char *out, size_t size);
void token_hash(const char *text, char hex[65]);

/* want.c */
struct wants *wants_create(struct who *d);
void wants_destroy(struct wants *w);
void want_expired(struct who *d, const char *token);
void want_end(struct who *d, const struct who_token *t); /* removed once it has expired */
void want_uid(struct who *d, const char *user, int64_t uid);
/* now instead of old, if that is still the user's */
void want_hash(struct who *d, const char *user, const char *old, const char *now);

/* login.c */
struct logins *logins_create(struct who *d);
void logins_destroy(struct logins *l);
struct throttle *logins_throttle(struct logins *l);
struct hasher *logins_hasher(struct logins *l);
void logins_forget(struct logins *l, const char *user); /* who has changed */

/* first.c */
struct first *first_create(void);
void first_destroy(struct first *f);
