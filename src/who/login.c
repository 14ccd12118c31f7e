// SPDX-License-Identifier: Apache-2.0
/* A login goes: too often wrong from this address?  the same as within the last minute?
 * too often wrong for this name?  the same as one under way?  else it is hashed. */
#include "who/login.h"

#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "who/hash.h"
#include "who/internal.h"
#include "who/throttle.h"

#define REMEMBER_MS  INT64_C(60000)
#define REMEMBER_MAX 1024
#define BUSY_WAIT_MS 1000
#define MAC_BYTES    32
#define ADDRESS_MAX  64

/* A password that was right for a name from an address. */
struct known {
	char user[NAME_MAX_BYTES];
	unsigned char mac[MAC_BYTES];
	int64_t until_ms;
	int64_t key;
};

/* One who waits: for the same hash as others, or for a later to tell. */
struct who_login {
	struct logins *logins;
	struct check *check; /* NULL: `soon` tells */
	struct who_login *next;
	who_done done;
	void *arg;
	struct principal p;
	int64_t wait_ms;
	struct err err; /* code NONE: it is p */
};

/* One hash under way, and everybody who came with just that. */
struct check {
	struct logins *logins;
	struct hash_errand *errand;
	struct who_login *waiters;
	struct check *next;
	unsigned char mac[MAC_BYTES];
	char name[NAME_MAX_BYTES], address[ADDRESS_MAX];
	char hash[WHO_HASH_BYTES]; /* of the user when it began; "": none */
};

struct logins {
	struct who *who;
	struct hasher *hasher;
	struct throttle *throttle;
	struct map *known; /* by the first bytes of the mac */
	struct check *checks;
	struct who_login *ready; /* told soon */
	struct world_timer *soon;
	unsigned char key[32]; /* of this process alone */
};

/* Who may not be told why: a wrong password, no such user, a disabled one. */
static void set_wrong(struct who_login *l)
{
	err_set(&l->err, ERR_UNKNOWN_CALLER, "wrong user name or password");
}

static void set_wait(struct who_login *l, int64_t wait_ms, const char *why)
{
	l->wait_ms = wait_ms;
	err_set(&l->err, ERR_BUSY, "%s: try again in %lld s", why,
		(long long)((wait_ms + 999) / 1000));
}

static int64_t now(const struct logins *l)
{
	return world_mono_ms(l->who->world);
}

static void make_mac(const struct logins *l, const struct who_attempt *a,
		     unsigned char mac[MAC_BYTES])
{
	crypto_generichash_state state;

	/* With their NULs: two triples never make one text. */
	crypto_generichash_init(&state, l->key, sizeof l->key, MAC_BYTES);
	crypto_generichash_update(&state, (const unsigned char *)a->name,
				  strlen(a->name) + 1);
	crypto_generichash_update(&state, (const unsigned char *)a->address,
				  strlen(a->address) + 1);
	crypto_generichash_update(&state, (const unsigned char *)a->password,
				  strlen(a->password) + 1);
	crypto_generichash_final(&state, mac, MAC_BYTES);
}

static int64_t mac_key(const unsigned char mac[MAC_BYTES])
{
	int64_t key;

	memcpy(&key, mac, sizeof key);
	return key;
}

/* ---- right ones of the last minute ---- */

static bool is_known(struct logins *l, const char *name,
		     const unsigned char mac[MAC_BYTES])
{
	const struct known *k = map_get(l->known, mac_key(mac));

	return k && k->until_ms > now(l) && str_eq(k->user, name) &&
	       sodium_memcmp(k->mac, mac, MAC_BYTES) == 0;
}

static void remember(struct logins *l, const char *name,
		     const unsigned char mac[MAC_BYTES])
{
	struct known *k = mem_alloc(1, sizeof *k), *old;

	for (size_t it = 0; (old = map_next(l->known, &it));)
		if (old->until_ms <= now(l))
			free(map_del(l->known, old->key));
	if (map_count(l->known) >= REMEMBER_MAX) {
		size_t first = 0; /* the oldest */
		old = map_next(l->known, &first);
		free(map_del(l->known, old->key));
	}
	snprintf(k->user, sizeof k->user, "%s", name);
	memcpy(k->mac, mac, MAC_BYTES);
	k->key = mac_key(mac);
	k->until_ms = now(l) + REMEMBER_MS;
	free(map_put(l->known, k->key, k));
}

void logins_forget(struct logins *l, const char *user)
{
	struct known *k;

	for (size_t it = 0; (k = map_next(l->known, &it));)
		if (str_eq(k->user, user))
			free(map_del(l->known, k->key));
}

/* ---- telling ---- */

static void tell(struct who_login *l)
{
	bool in = l->err.code == ERR_NONE;

	l->done(l->arg, in ? &l->p : NULL, l->wait_ms, in ? NULL : &l->err);
	free(l);
}

static void tell_ready(void *arg)
{
	struct logins *ls = arg;
	struct who_login *l;

	while ((l = ls->ready)) {
		ls->ready = l->next;
		tell(l);
	}
}

static void tell_soon(struct who_login *l)
{
	struct who_login **at = &l->logins->ready;

	while (*at)
		at = &(*at)->next;
	*at = l;
	world_timer_at(l->logins->soon, now(l->logins));
}

/* ---- one hash ---- */

static void unlink_check(struct check *c)
{
	struct check **at = &c->logins->checks;

	while (*at != c)
		at = &(*at)->next;
	*at = c->next;
}

static void on_checked(void *arg, const struct hash_result *r)
{
	struct check *c = arg;
	struct logins *ls = c->logins;
	const struct who_user *u = who_user(ls->who, c->name);
	/* Who has changed meanwhile comes in by what they are now, if at all. */
	bool in = r->right && u && user_can_log_in(u) && str_eq(u->hash, c->hash);
	struct who_login *l;

	unlink_check(c);
	if (in) {
		throttle_right(ls->throttle, c->name, c->address);
		remember(ls, c->name, c->mac);
		if (*r->fresh)
			want_hash(ls->who, c->name, c->hash, r->fresh);
	}
	for (struct who_login *w = c->waiters; w; w = w->next) {
		w->check = NULL;
		if (in)
			user_principal(u, &w->p);
		else
			set_wrong(w);
	}
	while ((l = c->waiters)) {
		c->waiters = l->next;
		l->next = NULL;
		tell_soon(l);
	}
	free(c);
}

static void begin_check(struct logins *ls, const struct who_attempt *a,
			struct who_login *l, const unsigned char mac[MAC_BYTES])
{
	const struct who_user *u = who_user(ls->who, a->name);
	struct check *c = mem_alloc(1, sizeof *c);

	c->logins = ls;
	memcpy(c->mac, mac, MAC_BYTES);
	snprintf(c->name, sizeof c->name, "%s", a->name);
	snprintf(c->address, sizeof c->address, "%s", a->address);
	if (u && user_can_log_in(u))
		memcpy(c->hash, u->hash, sizeof c->hash);
	c->waiters = l;
	l->check = c;
	c->next = ls->checks;
	ls->checks = c;
	throttle_try(ls->throttle, a->name, a->address, now(ls));
	c->errand = hasher_ask(ls->hasher, a->password, c->hash, on_checked, c);
}

static struct check *same_check(struct logins *ls, const unsigned char mac[MAC_BYTES])
{
	for (struct check *c = ls->checks; c; c = c->next)
		if (sodium_memcmp(c->mac, mac, MAC_BYTES) == 0)
			return c;
	return NULL;
}

/* True: there is an answer already. */
static bool answer_at_once(struct logins *ls, const struct who_attempt *a,
			   struct who_login *l, const unsigned char mac[MAC_BYTES])
{
	const struct who_user *u = who_user(ls->who, a->name);
	int64_t wait = throttle_address_wait(ls->throttle, a->address, now(ls));

	if (wait > 0) {
		set_wait(l, wait, "too many wrong passwords from your address");
		return true;
	}
	if (u && user_can_log_in(u) && is_known(ls, a->name, mac)) {
		user_principal(u, &l->p);
		return true;
	}
	wait = throttle_wait(ls->throttle, a->name, a->address, now(ls));
	if (wait > 0)
		set_wait(l, wait, "too many wrong passwords for this name");
	else if (strlen(a->name) >= NAME_MAX_BYTES ||
		 strlen(a->password) > WHO_PASSWORD_MAX)
		set_wrong(l); /* nobody has such ones, as anybody can know */
	else
		return false;
	return true;
}

struct who_login *who_login(struct who *d, const struct who_attempt *a, who_done done,
			    void *arg)
{
	struct logins *ls = d->logins;
	struct who_login *l = mem_alloc(1, sizeof *l);
	unsigned char mac[MAC_BYTES];
	struct check *same;

	l->logins = ls;
	l->done = done;
	l->arg = arg;
	make_mac(ls, a, mac);
	if (answer_at_once(ls, a, l, mac)) {
		tell_soon(l);
		return l;
	}
	same = same_check(ls, mac);
	if (same) {
		l->check = same;
		l->next = same->waiters;
		same->waiters = l;
	} else if (hasher_is_full(ls->hasher, false)) {
		set_wait(l, BUSY_WAIT_MS, "too many are logging in");
		tell_soon(l);
	} else {
		begin_check(ls, a, l, mac);
	}
	return l;
}

void who_login_cancel(struct who_login *l)
{
	struct who_login **at = l->check ? &l->check->waiters : &l->logins->ready;

	while (*at != l)
		at = &(*at)->next;
	*at = l->next;
	free(l); /* the hash goes on: what was tried was tried */
}

/* ---- a password to be set ---- */

struct who_hashing {
	struct logins *logins;
	struct hash_errand *errand; /* NULL: refused */
	struct world_timer *soon;
	who_hashed done;
	void *arg;
	struct err err;
};

static void end_hashing(struct who_hashing *h)
{
	world_timer_destroy(h->soon);
	free(h);
}

static void on_made(void *arg, const struct hash_result *r)
{
	struct who_hashing *h = arg;

	h->errand = NULL;
	if (!*r->fresh)
		err_set(&h->err, ERR_BUSY, "there is no memory to hash a password");
	h->done(h->arg, *r->fresh ? r->fresh : NULL, *r->fresh ? NULL : &h->err);
	end_hashing(h);
}

static void say_refused(void *arg)
{
	struct who_hashing *h = arg;

	h->done(h->arg, NULL, &h->err);
	end_hashing(h);
}

struct who_hashing *who_hash(struct who *d, const char *password, who_hashed done,
			     void *arg)
{
	struct who_hashing *h = mem_alloc(1, sizeof *h);
	size_t n = strlen(password);

	h->logins = d->logins;
	h->done = done;
	h->arg = arg;
	if (n < WHO_PASSWORD_MIN || n > WHO_PASSWORD_MAX)
		err_set(&h->err, ERR_INVALID, "password: %d to %d bytes",
			WHO_PASSWORD_MIN, WHO_PASSWORD_MAX);
	else if (hasher_is_full(d->logins->hasher, true))
		err_set(&h->err, ERR_BUSY, "too many are logging in: try again in 1 s");
	if (h->err.code == ERR_NONE) {
		h->errand = hasher_ask(d->logins->hasher, password, NULL, on_made, h);
		return h;
	}
	h->soon = world_timer_create(d->world, say_refused, h);
	world_timer_at(h->soon, world_mono_ms(d->world));
	return h;
}

void who_hash_cancel(struct who_hashing *h)
{
	if (h->errand)
		hasher_cancel(h->errand);
	end_hashing(h);
}

/* ---- the whole ---- */

struct throttle *logins_throttle(struct logins *l)
{
	return l->throttle;
}

struct hasher *logins_hasher(struct logins *l)
{
	return l->hasher;
}

struct logins *logins_create(struct who *d)
{
	struct logins *l = mem_alloc(1, sizeof *l);

	l->who = d;
	for (size_t i = 0; i < sizeof l->key; i += 8) {
		uint64_t r = world_random(d->world);
		memcpy(l->key + i, &r, 8);
	}
	l->hasher = hasher_create(d->world);
	l->throttle = throttle_create(l->key);
	l->known = map_create();
	l->soon = world_timer_create(d->world, tell_ready, l);
	return l;
}

void logins_destroy(struct logins *l)
{
	struct known *k;
	struct who_login *w;

	if (!l)
		return;
	hasher_destroy(l->hasher);
	for (struct check *c = l->checks, *next; c; c = next) {
		next = c->next;
		while ((w = c->waiters)) {
			c->waiters = w->next;
			free(w);
		}
		free(c);
	}
	while ((w = l->ready)) {
		l->ready = w->next;
		free(w);
	}
	for (size_t it = 0; (k = map_next(l->known, &it));)
		free(k);
	map_destroy(l->known);
	throttle_destroy(l->throttle);
	world_timer_destroy(l->soon);
	sodium_memzero(l->key, sizeof l->key);
	free(l);
}
