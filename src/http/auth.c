// SPDX-License-Identifier: Apache-2.0
#include "http/auth.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "codec/authorization.h"
#include "http/internal.h"
#include "who/pass.h"

/* Whoever has one address of an IPv6 network has 2^64: they count as one. */
static void find_place(struct auth *a)
{
	struct in6_addr six;

	if (a->peer.uid >= 0) { /* each account of this machine for itself */
		snprintf(a->place, sizeof a->place, "uid %lld", (long long)a->peer.uid);
		return;
	}
	snprintf(a->place, sizeof a->place, "%s", a->peer.address);
	if (inet_pton(AF_INET6, a->peer.address, &six) != 1)
		return;
	memset(&six.s6_addr[8], 0, 8);
	inet_ntop(AF_INET6, &six, a->place, WORLD_ADDRESS_MAX);
	size_t n = strlen(a->place);
	snprintf(a->place + n, sizeof a->place - n, "/64");
}

void auth_init(struct auth *a, struct http_server *s, const struct world_peer *peer)
{
	*a = (struct auth){ .server = s, .peer = *peer };
	find_place(a);
}

const char *auth_from(const struct auth *a)
{
	return a->peer.uid >= 0 ? a->place : a->peer.address;
}

void auth_fini(struct auth *a)
{
	if (a->login)
		who_login_cancel(TAKE(a->login));
	explicit_bzero(a->header, sizeof a->header);
}

static int ask_peer(struct auth *a, struct err *err)
{
	struct who *d = a->server->config.who;

	if (a->peer.uid < 0) {
		a->by = AUTH_NOBODY;
		return 0;
	}
	if (a->by == AUTH_PEER && a->generation == who_generation(d))
		return 0;
	a->by = AUTH_NOBODY;
	if (who_by_peer(d, &a->peer, &a->who, err) < 0)
		return -1;
	a->by = AUTH_PEER;
	a->generation = who_generation(d);
	return 0;
}

static int ask_token(struct auth *a, const char *text, struct err *err)
{
	if (who_by_token(a->server->config.who, text, &a->who, a->token, err) < 0)
		return -1;
	a->by = AUTH_TOKEN;
	a->generation = who_generation(a->server->config.who);
	return 0;
}

static void password_seen(void *arg, const struct principal *p, int64_t wait_ms,
			  const struct err *err)
{
	struct auth *a = arg;

	a->login = NULL;
	if (!err) {
		a->who = *p;
		a->by = AUTH_PASSWORD;
		a->generation = who_generation(a->server->config.who);
	}
	a->done(a->arg, err, wait_ms);
}

/* NULL: none.  -1: several, and who knows which one another reader takes. */
static int find_header(const struct http_head *h, const char **value, struct err *err)
{
	*value = NULL;
	for (size_t i = 0; i < h->header_count; i++) {
		if (!str_eq(h->headers[i].name, "authorization"))
			continue;
		if (*value)
			return err_set(err, ERR_UNKNOWN_CALLER,
				       "more than one Authorization header");
		*value = h->headers[i].value;
	}
	return 0;
}

/* What was found out by the request before stands when nothing changed since. */
static bool is_same(const struct auth *a, const char *value)
{
	struct who *d = a->server->config.who;

	return a->by == AUTH_TOKEN && *a->header && a->generation == who_generation(d) &&
	       who_token_again(d, a->token, value, a->header);
}

static void keep_header(struct auth *a, const char *value)
{
	explicit_bzero(a->header, sizeof a->header);
	if (a->by == AUTH_TOKEN && strlen(value) < sizeof a->header)
		memcpy(a->header, value, strlen(value));
}

static int ask_header(struct auth *a, const char *value, bool open, struct err *err)
{
	struct authorization given;
	int rc = 0;

	if (is_same(a, value))
		return 0;
	a->by = AUTH_NOBODY;
	memset(a->token, 0, sizeof a->token);
	if (authorization_read(value, &given, err) < 0) {
		if (err)
			err->code = ERR_UNKNOWN_CALLER;
		return -1;
	}
	if (given.kind == AUTHORIZATION_BEARER) {
		rc = ask_token(a, given.token, err);
	} else if (!open) {
		a->login = who_login(
			a->server->config.who,
			&(struct who_attempt){ given.name, given.password, auth_from(a) },
			password_seen, a);
		rc = 1;
	}
	authorization_wipe(&given);
	keep_header(a, value);
	return rc;
}

int auth_ask(struct auth *a, const struct http_head *head, bool open, struct err *err)
{
	const char *value;
	int rc = find_header(head, &value, err);

	if (rc == 0)
		rc = value ? ask_header(a, value, open, err) : ask_peer(a, err);
	if (rc < 0)
		a->by = AUTH_NOBODY;
	return rc < 0 && open ? 0 : rc;
}

static bool same_groups(const struct principal *p, const char (*groups)[NAME_MAX_BYTES],
			size_t count)
{
	if (p->group_count != count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!str_eq(p->groups[i], groups[i]))
			return false;
	return true;
}

static bool account_stands(const struct auth *a)
{
	const struct who_user *u = who_user(a->server->config.who, a->who.name);

	return u && !u->disabled && u->role == a->who.role &&
	       same_groups(&a->who, u->groups, u->group_count);
}

bool auth_stands(const struct auth *a)
{
	struct who *d = a->server->config.who;
	const struct who_token *t;
	struct principal now;

	if (a->by == AUTH_NOBODY ||
	    (a->by != AUTH_TOKEN && a->generation == who_generation(d)))
		return true;
	switch (a->by) {
	case AUTH_NOBODY:
		break;
	case AUTH_PEER:
		return who_by_peer(d, &a->peer, &now, NULL) == 0 &&
		       now.role == a->who.role && str_eq(now.name, a->who.name) &&
		       same_groups(&a->who, now.groups, now.group_count);
	case AUTH_TOKEN:
		t = who_token(d, a->token);
		return t && !who_token_expired(d, t) && account_stands(a);
	case AUTH_PASSWORD:
		return account_stands(a);
	case AUTH_PASS:
		return pass_stands(a->server->passes, &a->who);
	}
	return false;
}

int auth_check(const struct auth *a, struct err *err)
{
	if (auth_stands(a))
		return 0;
	return err_set(err, ERR_UNKNOWN_CALLER,
		       "your account was changed while you asked: ask again");
}
