// SPDX-License-Identifier: Apache-2.0
#include "who/throttle.h"

#include <arpa/inet.h>
#include <sodium.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "who/internal.h"

struct entry {
	int64_t key;
	int64_t until_ms;
	int64_t counted_ms; /* up to when wrong ones are forgiven already */
	int64_t wrong;
};

struct throttle {
	struct map *entries; /* by keyed hash: of names nobody chose for their length */
	unsigned char key[32];
};

enum counted { COUNT_PAIR, COUNT_ADDRESS, COUNT_NAME };

struct throttle *throttle_create(const unsigned char key[32])
{
	struct throttle *t = mem_alloc(1, sizeof *t);

	t->entries = map_create();
	memcpy(t->key, key, sizeof t->key);
	return t;
}

void throttle_destroy(struct throttle *t)
{
	struct entry *e;

	if (!t)
		return;
	for (size_t it = 0; (e = map_next(t->entries, &it));)
		free(e);
	map_destroy(t->entries);
	free(t);
}

/* 16 bytes that are the same for all addresses of one holder.  False: it is no address. */
static bool network(const char *address, unsigned char out[16])
{
	struct in_addr four;

	memset(out, 0, 16);
	if (inet_pton(AF_INET, address, &four) == 1) {
		out[10] = out[11] = 0xff;
		memcpy(out + 12, &four, 4);
		return true;
	}
	if (inet_pton(AF_INET6, address, out) != 1)
		return false;
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	if (memcmp(out, mapped, sizeof mapped) != 0)
		memset(out + 8, 0, 8);
	return true;
}

static int64_t key_of(const struct throttle *t, enum counted what, const char *name,
		      const char *address)
{
	crypto_generichash_state state;
	unsigned char kind = (unsigned char)what, where[16], hash[16];
	int64_t key;

	if (!network(address, where)) /* the unix socket's "uid 7" */
		crypto_generichash(where, sizeof where, (const unsigned char *)address,
				   strlen(address), NULL, 0);
	crypto_generichash_init(&state, t->key, sizeof t->key, sizeof hash);
	crypto_generichash_update(&state, &kind, 1);
	if (what != COUNT_NAME)
		crypto_generichash_update(&state, where, sizeof where);
	if (what != COUNT_ADDRESS)
		crypto_generichash_update(&state, (const unsigned char *)name,
					  strlen(name));
	crypto_generichash_final(&state, hash, sizeof hash);
	memcpy(&key, hash, sizeof key);
	return key;
}

static void forgive(struct entry *e, int64_t now_ms)
{
	int64_t times = (now_ms - e->counted_ms) / THROTTLE_FORGIVE_MS;

	e->counted_ms += times * THROTTLE_FORGIVE_MS;
	e->wrong = e->wrong > times ? e->wrong - times : 0;
}

/* After forgiving: there is nothing left to remember. */
static bool is_over(struct entry *e, int64_t now_ms)
{
	forgive(e, now_ms);
	return !e->wrong && e->until_ms <= now_ms;
}

static struct entry *find(struct throttle *t, int64_t key, int64_t now_ms)
{
	struct entry *e = map_get(t->entries, key);

	if (!e || !is_over(e, now_ms))
		return e;
	free(map_del(t->entries, key));
	return NULL;
}

/* Those whose time is over, or else the one wrong least often, the oldest of them. */
static void make_room(struct throttle *t, int64_t now_ms)
{
	struct entry *e, *least = NULL;

	if (map_count(t->entries) < THROTTLE_ENTRIES_MAX)
		return;
	for (size_t it = 0; (e = map_next(t->entries, &it));)
		if (is_over(e, now_ms))
			free(map_del(t->entries, e->key));
	if (map_count(t->entries) < THROTTLE_ENTRIES_MAX)
		return;
	for (size_t it = 0; (e = map_next(t->entries, &it));)
		if (!least || e->wrong < least->wrong)
			least = e;
	if (least)
		free(map_del(t->entries, least->key));
}

/* One more: after those that are free, each wait is twice the last. */
static void count(struct throttle *t, int64_t key, int free_ones, int64_t now_ms)
{
	struct entry *e = find(t, key, now_ms);
	int64_t over;

	if (!e) {
		make_room(t, now_ms);
		e = mem_alloc(1, sizeof *e);
		e->key = key;
		e->counted_ms = now_ms;
		map_put(t->entries, key, e);
	}
	e->wrong++;
	over = e->wrong - free_ones;
	if (over < 0)
		return;
	int64_t wait = over < 9 ? INT64_C(1000) << over : THROTTLE_WAIT_MOST_MS;
	e->until_ms =
		now_ms + (wait < THROTTLE_WAIT_MOST_MS ? wait : THROTTLE_WAIT_MOST_MS);
}

static int64_t left(struct throttle *t, int64_t key, int64_t now_ms)
{
	const struct entry *e = find(t, key, now_ms);

	return e && e->until_ms > now_ms ? e->until_ms - now_ms : 0;
}

int64_t throttle_address_wait(struct throttle *t, const char *address, int64_t now_ms)
{
	return left(t, key_of(t, COUNT_ADDRESS, "", address), now_ms);
}

int64_t throttle_wait(struct throttle *t, const char *name, const char *address,
		      int64_t now_ms)
{
	int64_t pair = left(t, key_of(t, COUNT_PAIR, name, address), now_ms);
	int64_t whole = throttle_address_wait(t, address, now_ms);

	return pair > whole ? pair : whole;
}

void throttle_try(struct throttle *t, const char *name, const char *address,
		  int64_t now_ms)
{
	int64_t by_name = key_of(t, COUNT_NAME, name, address);
	const struct entry *e = find(t, by_name, now_ms);
	bool attacked = e && e->wrong >= THROTTLE_FREE_NAME;
	int64_t pair = key_of(t, COUNT_PAIR, name, address);

	count(t, pair, attacked ? 1 : THROTTLE_FREE_PAIR, now_ms);
	count(t, key_of(t, COUNT_ADDRESS, "", address), THROTTLE_FREE_ADDRESS, now_ms);
	count(t, by_name, INT32_MAX, now_ms);
}

/* The try was no wrong one after all.  A wait stays: it may be of another try's making. */
static void uncount(struct throttle *t, int64_t key, int free_ones)
{
	struct entry *e = map_get(t->entries, key);

	if (!e)
		return;
	e->wrong = e->wrong > 0 ? e->wrong - 1 : 0;
	if (e->wrong < free_ones)
		e->until_ms = 0;
	if (!e->wrong)
		free(map_del(t->entries, key));
}

void throttle_right(struct throttle *t, const char *name, const char *address)
{
	free(map_del(t->entries, key_of(t, COUNT_PAIR, name, address)));
	/* One's own password does not make good what one guessed of others. */
	uncount(t, key_of(t, COUNT_ADDRESS, "", address), THROTTLE_FREE_ADDRESS);
	uncount(t, key_of(t, COUNT_NAME, name, address), THROTTLE_FREE_NAME);
}

size_t throttle_count(const struct throttle *t)
{
	return map_count(t->entries);
}
