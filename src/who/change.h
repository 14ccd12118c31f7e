// SPDX-License-Identifier: Apache-2.0
/* change.h - what is to be changed of accounts: checked, and written as the documents that
 * the yard records (yard_change).  Nothing is changed here; who_apply() does that once it
 * is recorded.  Every function refuses in words that begin with the field; on failure out
 * is as it was.
 *
 * A name is 1 to 63 of a-z, 0-9, '.', '_' and '-', beginning with a letter or '_'.  Not
 * "uid-N" (how one without a name is called) nor "yardd", not the system's own accounts (root,
 * daemon, ...) unless their unix user asks for it.  A group's name is no group of this
 * machine: people without an account have jobs in those.
 */
#pragma once

#include "base/err.h"
#include "who/directory.h"

#define WHO_USERS_MAX  10000
#define WHO_GROUPS_MAX 1000
#define WHO_TOKENS_MAX 100 /* of one user */

struct who_doc {
	char *kind, *name, *body; /* body NULL: remove it */
};

struct who_change {
	struct who_doc *docs;
	size_t count, cap;
	char *action, *object; /* for the audit log: "user.add", "alice" */
};
void who_change_fini(struct who_change *c);
#define AUTO_WHO_CHANGE __attribute__((cleanup(who_change_fini)))
/* One more document: what others keep of a user that goes (their secrets). */
void who_change_add(struct who_change *c, const char *kind, const char *name,
		    const char *body);

/* What a request may say of a user; NULL or -1: leave as it is (or the default). */
struct who_user_wish {
	const char *const *groups;  /* all must exist */
	int group_count;            /* -1: leave */
	int role;                   /* enum user_role; -1: leave, or member */
	int disabled;               /* -1: leave */
	const char *hash;           /* of who_hash(); NULL: leave; "": none any more */
	const struct principal *by; /* who asks; NULL: not known */
};
#define WHO_USER_WISH_NONE                                                               \
	((struct who_user_wish){ .group_count = -1, .role = -1, .disabled = -1 })
int who_add_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err);
/* The last admin that can log in by password stays one. */
int who_set_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err);
/* Their tokens go too.  The caller has seen that they have no live job (yard_jobs_of). */
int who_remove_user(struct who *d, const char *name, struct who_change *out,
		    struct err *err);
int who_add_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err);
int who_set_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err);
int who_remove_group(struct who *d, const char *name, struct who_change *out,
		     struct err *err); /* only an empty one */
/* in: the user is to be a member, or not to be one.  Being it already is fine. */
int who_set_member(struct who *d, const char *group, const char *user, bool in,
		   struct who_change *out, struct err *err);

struct who_token_wish {
	const char *user, *label; /* label NULL: "" */
	unsigned scopes;          /* admin is also write, write is also read */
	int64_t life_ms;          /* 0: for ever */
};
/* text: what the user gets, once; the caller wipes and frees it.  id may be NULL. */
int who_add_token(struct who *d, const struct who_token_wish *w, struct who_change *out,
		  char **text, char id[WHO_TOKEN_ID_BYTES], struct err *err);
int who_remove_token(struct who *d, const char *id, struct who_change *out,
		     struct err *err);
