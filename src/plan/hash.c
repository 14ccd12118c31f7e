// SPDX-License-Identifier: Apache-2.0
/* The hash of what was decided.  Numbers go in as eight bytes, least first, and texts with
 * their NUL, so that every machine and compiler hashes the same stream. */
#include <sodium.h>
#include <string.h>

#include "base/mem.h"
#include "plan/journal.h"

struct plan_hash {
	crypto_generichash_state *state; /* inside room, on the boundary that it needs */
	unsigned char room[sizeof(crypto_generichash_state) +
			   _Alignof(crypto_generichash_state)];
};

struct plan_hash *plan_hash_create(void)
{
	struct plan_hash *h = mem_alloc(1, sizeof *h);
	size_t align = _Alignof(crypto_generichash_state);
	size_t off = (size_t)((uintptr_t)h->room % align);

	h->state = (void *)(h->room + (align - off) % align);
	crypto_generichash_init(h->state, NULL, 0, PLAN_HASH_BYTES);
	return h;
}

static void add_i64(struct plan_hash *h, int64_t value)
{
	unsigned char b[8];

	for (size_t i = 0; i < sizeof b; i++)
		b[i] = (unsigned char)((uint64_t)value >> 8 * i);
	crypto_generichash_update(h->state, b, sizeof b);
}

static void add_text(struct plan_hash *h, const char *text)
{
	crypto_generichash_update(h->state, (const unsigned char *)text,
				  strlen(text) + 1);
}

static void add_place(struct plan_hash *h, const struct placement *p)
{
	size_t kinds = 0;

	while (kinds < DEVICE_KINDS_MAX && p->devices[kinds].type[0])
		kinds++;
	add_text(h, p->node);
	add_i64(h, p->role);
	add_i64(h, p->slot);
	add_i64(h, (int64_t)kinds);
	for (size_t i = 0; i < kinds; i++) {
		add_text(h, p->devices[i].type);
		add_i64(h, (int64_t)p->devices[i].mask);
		add_i64(h, p->devices[i].share_milli);
	}
	add_i64(h, p->port_count);
	for (int i = 0; i < p->port_count; i++)
		add_i64(h, p->ports[i]);
}

void plan_hash_add(struct plan_hash *h, int64_t now_ms, const struct plan_decision *d)
{
	add_i64(h, now_ms);
	add_i64(h, d->verb);
	add_i64(h, d->job);
	add_i64(h, d->by);
	add_i64(h, (int64_t)d->place_count);
	for (size_t i = 0; i < d->place_count; i++)
		add_place(h, &d->places[i]);
}

void plan_hash_show(const struct plan_hash *h, char out[2 * PLAN_HASH_BYTES + 1])
{
	crypto_generichash_state copy =
		*h->state; /* what comes later is added to the rest */
	unsigned char bytes[PLAN_HASH_BYTES];

	crypto_generichash_final(&copy, bytes, sizeof bytes);
	sodium_bin2hex(out, 2 * sizeof bytes + 1, bytes, sizeof bytes);
}

void plan_hash_destroy(struct plan_hash *h)
{
	free(h);
}
