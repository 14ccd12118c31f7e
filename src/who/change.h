// SPDX-License-Identifier: Apache-2.0
/* change.h - what is to be changed of accounts: checked, and written as the documents that
 * the yard records (yard_change).  Nothing is changed here; who_apply() does that once it
 * is recorded.  Every function refuses in words that name the field. */
#pragma once

#include "base/err.h"
#include "who/directory.h"

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

/* What a request may say of a user; NULL or -1: leave as it is (or the default). */
struct who_user_wish {
	const char *const *groups; /* all must exist */
	int group_count;           /* -1: leave */
	int role;                  /* enum user_role; -1: leave */
	int disabled;              /* -1: leave */
	const char *hash;          /* of who_hash(); NULL: leave; "": none any more */
};
int who_add_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err);
/* The last admin that can log in stays one. */
int who_set_user(struct who *d, const char *name, const struct who_user_wish *w,
		 struct who_change *out, struct err *err);
int who_remove_user(struct who *d, const char *name, struct who_change *out,
		    struct err *err); /* their tokens go too */
int who_add_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err);
int who_set_group(struct who *d, const char *name, const char *text,
		  struct who_change *out, struct err *err);
int who_remove_group(struct who *d, const char *name, struct who_change *out,
		     struct err *err); /* only an empty one */

struct who_token_wish {
	const char *user, *label;
	unsigned scopes;
	int64_t life_ms; /* 0: for ever */
};
/* text: what the user gets, once; the caller wipes and frees it. */
int who_add_token(struct who *d, const struct who_token_wish *w, struct who_change *out,
		  char **text, struct err *err);
int who_remove_token(struct who *d, const char *id, struct who_change *out,
		     struct err *err);

/* argon2id on the lane; done() with the hash, or err when the password is too short or
 * long.  The password is copied and wiped. */
void who_hash(struct who *d, const char *password,
	      void (*done)(void *arg, const char *hash, const struct err *err),
	      void *arg);
