// SPDX-License-Identifier: Apache-2.0
/* login.h - passwords: argon2id, on a lane of its own, and few at a time.
 *
 * One hash takes 64 MiB and some 50 ms, so at most WHO_HASHES_MAX wait; beyond that it is
 * ERR_BUSY.  Wrong ones are throttled (who/throttle.h).  A right password is remembered
 * for a minute as a keyed hash, for the address it came from: a client that sends it with
 * every request costs nothing.  An unknown user costs as much as a wrong password.
 */
#pragma once

#include "who/change.h"
#include "who/directory.h"

#define WHO_HASHES_MAX   16 /* waiting or under way */
#define WHO_PASSWORD_MIN 8
#define WHO_PASSWORD_MAX 1024 /* bytes; the API takes 256 characters */

/* done() comes later, never from inside the call.  ERR_UNKNOWN_CALLER: wrong, or no such
 * user, or none who may: not said which.  wait_ms > 0 with ERR_BUSY: too many wrong ones
 * for this name or from this address, or too much to do: try again after that long. */
typedef void (*who_done)(void *arg, const struct principal *p, int64_t wait_ms,
			 const struct err *err);
struct who_attempt {
	const char *name, *password; /* copied */
	const char *address; /* a number of IPv4 or IPv6, or any other name of where */
};
struct who_login; /* one under way: gone once done() was called */
struct who_login *who_login(struct who *d, const struct who_attempt *a, who_done done,
			    void *arg);
void who_login_cancel(struct who_login *l); /* done() does not come */

/* A password to be set: done() with its hash, or err when it is too short or long or
 * there is too much to do.  The password is copied and wiped. */
typedef void (*who_hashed)(void *arg, const char *hash, const struct err *err);
struct who_hashing *who_hash(struct who *d, const char *password, who_hashed done,
			     void *arg);
void who_hash_cancel(struct who_hashing *h); /* done() does not come */

/* The code that makes the first admin over TCP: there is one while nobody could log in
 * there (no user has a password).  NULL: none. */
const char *who_first_code(struct who *d);
/* Whether it is the code; wrong ones are throttled by address, with ERR_BUSY and wait_ms. */
int who_check_first_code(struct who *d, const char *code, const char *address,
			 int64_t *wait_ms, struct err *err);
/* The change that uses it up: looks again whether it is still the code, since hashing took
 * its time.  Adds the user, or makes the one of that name admin. */
int who_first_admin(struct who *d, const char *code, const char *name, const char *hash,
		    struct who_change *out, struct err *err);
