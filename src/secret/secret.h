// SPDX-License-Identifier: Apache-2.0
/* secret.h - values that jobs use by name, sealed; nobody ever gets one back.
 *
 * In memory are names, times and sealed boxes, made at boot from the store's documents of
 * kind "secret" and changed by them only (yard_change, then secrets_apply()).  A value is
 * open only while it is sealed, or while a job's tasks are started.  A secret is a user's
 * or a group's; a group's is used by its members.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/vault.h"
#include "job/bundle.h"
#include "job/job.h"
#include "job/principal.h"
#include "job/problem.h"
#include "job/secret_use.h"
#include "world/world.h"

#define SECRET_KIND      "secret" /* of the documents */
#define SECRET_OWNER_MAX 1000     /* secrets of one user or group */

struct secret {
	enum secret_scope scope;
	char owner[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
	int64_t set_ms;
	char by[NAME_MAX_BYTES]; /* who set it */
	bool text;               /* no zero byte in it: it can be a variable */
	char key[20];            /* which key sealed it */
	char *box;
};

struct secrets_config {
	struct world *world;
	const char *key_path; /* copied */
	/* Whether the user is a member of the group now. */
	bool (*in_group)(void *arg, const char *user, const char *group);
	void *arg;
};

struct secrets;
struct secrets *secrets_create(const struct secrets_config *c);
void secrets_destroy(struct secrets *s); /* NULL is fine */
/* A document: "user/alice/hf-token"; body NULL: gone.  For a yard_doc_sink. */
void secrets_apply(void *secrets, const char *name, const char *body);

/* Borrowed until the next change. */
const struct secret *secrets_find(const struct secrets *s, enum secret_scope scope,
				  const char *owner, const char *name);
/* In the order of their names; owner NULL: of all. */
void secrets_each(const struct secrets *s, enum secret_scope scope, const char *owner,
		  void (*each)(void *arg, const struct secret *one), void *arg);

/* Names, and never more.  Changing takes the role and the credential's scope as well. */
bool secret_may_see(const struct principal *p, enum secret_scope scope,
		    const char *owner);
bool secret_may_change(const struct principal *p, enum secret_scope scope,
		       const char *owner);

/* What is to be sealed: name and body of the document that the yard records. */
struct secret_wish {
	enum secret_scope scope;
	const char *owner, *name, *by;
	const struct vault *value;
};
/* Makes the key when nothing was ever sealed; a key that is lost is said, not replaced. */
int secrets_seal(struct secrets *s, const struct secret_wish *w, struct buf *name,
		 struct buf *body, struct err *err);
/* NULL with err. */
struct vault *secrets_open(const struct secrets *s, const struct secret *one,
			   struct err *err);
/* The name of its document. */
void secret_doc_name(enum secret_scope scope, const char *owner, const char *name,
		     struct buf *out);

/* use.c.  Before a submit: one problem for each secret that is not there for this caller. */
void secrets_check(const struct secrets *s, const struct principal *who,
		   const struct spec *spec, struct problems *out);
/* The first of these names (an empty one is passed over) that the user has, else that the
 * group has, when they are in it; NULL: none. */
const struct secret *secrets_for(const struct secrets *s, const char *user,
				 const char *group, const char *const *names,
				 size_t count);
/* At a launch: opens what the job names; *out is NULL when it names none. */
int secrets_grant(const struct secrets *s, const struct job *j, struct secret_set **out,
		  struct err *err);
