// SPDX-License-Identifier: Apache-2.0
/* auth.h - who a request comes from.
 *
 * By the unix socket: the kernel's word for the peer, unless an Authorization header is
 * there, which then counts.  By TCP: the header only.  Each request is asked anew, so a
 * token that is revoked or a user that is disabled is out with the next one; there are no
 * cookies, so that no page in a browser can speak for who reads it (an app has one of its
 * own, good for nothing else: who/pass.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "codec/http.h"
#include "job/principal.h"
#include "who/directory.h"
#include "who/login.h"
#include "world/world.h"

#define AUTH_HEADER_MAX 128 /* "Bearer " and a token fit well */

struct http_server;

/* AUTH_PASS: by the cookie of an app, at that app; see app_ask(). */
enum auth_by { AUTH_NOBODY, AUTH_PEER, AUTH_TOKEN, AUTH_PASSWORD, AUTH_PASS };

/* Later: err NULL: by and who are set.  retry_ms > 0: too many wrong passwords. */
typedef void (*auth_done)(void *arg, const struct err *err, int64_t retry_ms);

/* Of one connection. */
struct auth {
	struct http_server *server;
	struct world_peer peer;
	char place[WORLD_ADDRESS_MAX +
		   4]; /* from where: an IPv4 address, an IPv6 /64, or "uid 7" */
	enum auth_by by;
	struct principal who;           /* unless AUTH_NOBODY */
	char token[WHO_TOKEN_ID_BYTES]; /* the one used, or "" */
	char header[AUTH_HEADER_MAX];   /* that named it, or "" */
	uint64_t generation;            /* of the directory, when `who` was found */
	struct who_login *login;        /* under way */
	auth_done done;
	void *arg;
};

void auth_init(struct auth *a, struct http_server *s, const struct world_peer *peer);
void auth_fini(struct auth *a); /* a login under way is given up */
/* By what wrong passwords are counted: the address, or "uid 7" by the unix socket. */
const char *auth_from(const struct auth *a);
/* 0: known, or nobody; -1: refused; 1: it takes a moment, done() tells.  A request that
 * anybody may make (open) is never refused here and costs no password. */
int auth_ask(struct auth *a, const struct http_head *head, bool open, struct err *err);
/* Whether who was found is still that, after accounts changed.  Costs nothing when none
 * has. */
bool auth_stands(const struct auth *a);
int auth_check(const struct auth *a, struct err *err); /* the same, with words */
