// SPDX-License-Identifier: Apache-2.0
/* What the directory itself wants recorded.  It is noted by what it is, not as a document:
 * by the time it is recorded the account may be another, or gone. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/internal.h"

#define EXPIRY_LEAST_MS INT64_C(1000)
#define EXPIRY_MOST_MS  INT64_C(600000)

enum want_kind { WANT_EXPIRED, WANT_UID, WANT_HASH };

struct want {
	enum want_kind kind;
	char name[NAME_MAX_BYTES];
	int64_t uid;
	char old[WHO_HASH_BYTES], now[WHO_HASH_BYTES];
	struct want *next;
};

struct wants {
	struct who *who;
	struct want *first;
	struct world_timer *soon; /* a later could not be called off */
	struct world_timer *expiry;
	int64_t expiry_ms; /* when the next token ends, as far as known; 0: none does */
	void (*record)(void *arg, const struct who_change *c);
	void *arg;
};

/* False: there is nothing of it to do any more. */
static bool fulfil(struct who *d, const struct want *w, struct who_change *c)
{
	const struct who_user *u = who_user(d, w->name);
	struct who_user now;

	if (w->kind == WANT_EXPIRED) {
		if (!who_token(d, w->name))
			return false;
		change_begin(c, "token.expire", w->name);
		who_change_add(c, "token", w->name, NULL);
		return true;
	}
	if (!u)
		return false;
	now = *u;
	if (w->kind == WANT_UID) {
		if (u->uid == w->uid)
			return false;
		now.uid = w->uid;
	} else {
		if (!str_eq(u->hash, w->old))
			return false;
		memcpy(now.hash, w->now, sizeof now.hash);
	}
	change_begin(c, w->kind == WANT_UID ? "user.uid" : "user.rehash", u->name);
	change_user(c, &now);
	return true;
}

static void on_soon(void *arg)
{
	struct wants *w = arg;

	while (w->first) {
		AUTO_WHO_CHANGE struct who_change c = { 0 };
		AUTO_FREE struct want *next = w->first;

		w->first = next->next;
		if (w->record && fulfil(w->who, next, &c))
			w->record(w->arg, &c);
	}
}

static bool same(const struct want *a, const struct want *b)
{
	return a->kind == b->kind && str_eq(a->name, b->name);
}

/* One of a kind and name at a time: a client that comes often asks once. */
static void want(struct wants *w, const struct want *new)
{
	struct want **at = &w->first;

	while (*at && !same(*at, new))
		at = &(*at)->next;
	if (*at)
		return;
	*at = mem_dup(new, sizeof *new);
	world_timer_at(w->soon, world_mono_ms(w->who->world));
}

void want_expired(struct who *d, const char *token)
{
	struct want w = { .kind = WANT_EXPIRED };

	snprintf(w.name, sizeof w.name, "%s", token);
	want(d->wants, &w);
}

void want_uid(struct who *d, const char *user, int64_t uid)
{
	struct want w = { .kind = WANT_UID, .uid = uid };

	snprintf(w.name, sizeof w.name, "%s", user);
	want(d->wants, &w);
}

void want_hash(struct who *d, const char *user, const char *old, const char *now)
{
	struct want w = { .kind = WANT_HASH };

	snprintf(w.name, sizeof w.name, "%s", user);
	snprintf(w.old, sizeof w.old, "%s", old);
	snprintf(w.now, sizeof w.now, "%s", now);
	want(d->wants, &w);
}

/* ---- tokens that end ---- */

/* Who follows something by a token hears of its end by the change that removes it.  Time of
 * day may jump, so one looks now and then anyway. */
static void await_expiry(struct wants *w)
{
	int64_t left = w->expiry_ms - world_now_ms(w->who->world);

	left = left < EXPIRY_LEAST_MS ? EXPIRY_LEAST_MS : left;
	world_timer_at(w->expiry,
		       world_mono_ms(w->who->world) +
			       (left < EXPIRY_MOST_MS ? left : EXPIRY_MOST_MS));
}

static void on_expiry(void *arg)
{
	struct wants *w = arg;
	const struct who_token *t;

	w->expiry_ms = 0;
	for (size_t it = 0; (t = map_next(w->who->tokens, &it));) {
		if (!t->expires_ms)
			continue;
		if (who_token_expired(w->who, t))
			want_expired(w->who, t->id);
		else if (!w->expiry_ms || t->expires_ms < w->expiry_ms)
			w->expiry_ms = t->expires_ms;
	}
	if (w->expiry_ms)
		await_expiry(w);
}

void want_end(struct who *d, const struct who_token *t)
{
	struct wants *w = d->wants;

	if (!t->expires_ms || (w->expiry_ms && w->expiry_ms <= t->expires_ms))
		return;
	w->expiry_ms = t->expires_ms;
	await_expiry(w);
}

void who_on_change(struct who *d, void (*record)(void *arg, const struct who_change *c),
		   void *arg)
{
	d->wants->record = record;
	d->wants->arg = arg;
	on_expiry(d->wants);
}

struct wants *wants_create(struct who *d)
{
	struct wants *w = mem_alloc(1, sizeof *w);

	w->who = d;
	w->soon = world_timer_create(d->world, on_soon, w);
	w->expiry = world_timer_create(d->world, on_expiry, w);
	return w;
}

void wants_destroy(struct wants *w)
{
	struct want *next;

	if (!w)
		return;
	for (struct want *at = w->first; at; at = next) {
		next = at->next;
		free(at);
	}
	world_timer_destroy(w->soon);
	world_timer_destroy(w->expiry);
	free(w);
}
