// SPDX-License-Identifier: Apache-2.0
/* pass.h - the right to open one app in a browser, as one person, for a while.
 *
 * A browser has no Authorization header to send, and what it sends by itself (cookies) any
 * page may make it send.  So what a browser gets is good for one app and nothing else:
 *
 *   ticket   random, kept as a hash, used once, within a minute: it stands in an address
 *   cookie   user, app and end with a keyed hash over them and over the account as it is:
 *            a new password, an account made anew or another key makes it void
 *   form     the same for the login form of an app: that it was asked for here
 *
 * None opens the API.  Each is looked at anew with every request.
 */
#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "job/principal.h"
#include "who/directory.h"

#define PASS_KEY_BYTES   32
#define PASS_TICKET_MS   INT64_C(60000)
#define PASS_FORM_MS     INT64_C(3600000)
#define PASS_TICKETS_MAX 4096 /* at a time, and of one user: the oldest give way */
#define PASS_TICKETS_ONE 64

struct passes;
struct passes *passes_create(struct world *w, struct who *d,
			     const unsigned char key[PASS_KEY_BYTES]);
void passes_destroy(struct passes *p); /* NULL is fine */

/* Adds the text.  All texts are letters, digits, '.', '-' and '_'. */
void pass_ticket(struct passes *p, const struct principal *who, int64_t app,
		 struct buf *text);
void pass_cookie(struct passes *p, const struct principal *who, int64_t app,
		 int64_t expires_ms, struct buf *text);
void pass_form(struct passes *p, int64_t app, struct buf *text);

/* ERR_UNKNOWN_CALLER: not one, of another app, over, used, or its user may no more.  What
 * comes out may look, never change anything of the yard's. */
int pass_redeem(struct passes *p, const char *ticket, int64_t app, struct principal *out,
		struct err *err);
int pass_check(struct passes *p, const char *cookie, int64_t app, struct principal *out,
	       struct err *err);
int pass_check_form(struct passes *p, const char *text, int64_t app, struct err *err);
/* The account is still what it was when this came out of a check. */
bool pass_stands(const struct passes *p, const struct principal *who);
