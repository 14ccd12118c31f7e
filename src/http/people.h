// SPDX-License-Identifier: Apache-2.0
/* people.h - what the routes of people share: a request that takes several steps.
 *
 * Checking a password, hashing one and recording a change each take a moment; the steps
 * follow each other by the functions below.  What they keep goes with the exchange: when
 * the client leaves, what is under way is given up (a change that is being recorded is
 * recorded all the same).  Passwords and tokens are wiped.
 */
#pragma once

#include "base/doc.h"
#include "base/json.h"
#include "http/internal.h"
#include "who/change.h"
#include "who/directory.h"
#include "who/login.h"

struct people {
	struct exchange *ex;
	struct doc *doc;             /* the body, seen to have the route's shape */
	const struct doc_node *body; /* its root */
	struct who_login *login;
	struct who_hashing *hashing;
	void (*known)(struct people *p, const struct principal *who);
	void (*hashed)(struct people *p, const char *hash);
	void (*recorded)(struct people *p);
	struct principal who; /* who logged in by this very request */
	char *token;          /* to be shown once */
	char id[WHO_TOKEN_ID_BYTES];
};

/* NULL: the body is not what the route takes, which was answered. */
struct people *people_begin(struct exchange *ex);
struct who *people_who(const struct people *p);
/* Each calls the next step, or answers with what was wrong. */
void people_login(struct people *p, const char *name, const char *password,
		  void (*known)(struct people *p, const struct principal *who));
void people_hash(struct people *p, const char *password,
		 void (*hashed)(struct people *p, const char *hash));
void people_record(struct people *p, const struct principal *by,
		   const struct who_change *c, void (*recorded)(struct people *p));
void people_refuse(struct people *p, const struct err *err);
/* Makes a token as the body's label and life say, of user; then answers with it. */
void people_give_token(struct people *p, const struct principal *user, unsigned scopes,
		       int64_t most_ms);

/* By role and by credential. */
bool people_admin(const struct exchange *ex);
void people_not_found(struct exchange *ex, const char *what, const char *name);

void people_scopes(struct json *j, const char *key, unsigned scopes);
void people_user(struct json *j, const char *key, const struct who_user *u);
void people_group(struct json *j, const struct exchange *ex, const struct who_group *g);
void people_token(struct json *j, const struct who_token *t, const char *text);
