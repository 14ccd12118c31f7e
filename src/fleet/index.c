// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "fleet/inside.h"
#include "fleet/rings.h"

#define WORD_BITS   64
#define CPU_BUCKETS 32

int index_buckets(enum class_order order, int devices)
{
	if (order == CLASS_CPU)
		return CPU_BUCKETS;
	if (order == CLASS_RINGS)
		return RING_STATES;
	return (devices < DEVICES_MAX ? devices : DEVICES_MAX) + 1;
}

int index_cpu_bucket(int64_t cpu_milli)
{
	int bits = cpu_milli > 0 ? WORD_BITS - __builtin_clzll((uint64_t)cpu_milli) : 0;

	return bits < CPU_BUCKETS ? bits : CPU_BUCKETS - 1;
}

static unsigned bucket_of(const struct fleet *f, const struct class *c,
			  const struct space *s)
{
	uint64_t all = 0;
	unsigned idle;

	if (!s->open)
		return BUCKET_NONE;
	if (c->order == CLASS_CPU)
		return (unsigned)index_cpu_bucket(s->cpu_milli);
	if (c->order == CLASS_RINGS) { /* of its pools only one has devices */
		for (size_t i = 0; i < f->row_pools; i++)
			all |= s->idle[i];
		return (unsigned)ring_state_like(all);
	}
	idle = f->row_pools ? (unsigned)bits_count(s->idle[0]) : 0;
	for (size_t i = 1; i < f->row_pools; i++)
		idle += (unsigned)bits_count(s->idle[i]);
	return idle < (unsigned)c->buckets ? idle : (unsigned)c->buckets - 1;
}

static uint64_t with_bit(uint64_t word, unsigned at, bool on)
{
	uint64_t bit = (uint64_t)1 << at % WORD_BITS;

	return on ? word | bit : word & ~bit;
}

/* A node comes into a bucket (by 1) or leaves it (by -1).  This is most of what a change
 * costs: no branch depends on what cannot be foreseen. */
static void put(struct view *v, const struct class *c, const struct machine *m,
		unsigned bucket, int by)
{
	uint64_t *words = v->bits + c->bits_at + bucket * (unsigned)(c->words + c->sums);
	uint64_t *some = v->bits + c->some_at + bucket / WORD_BITS;
	unsigned word = (unsigned)m->at / WORD_BITS;
	uint64_t *sum = words + c->words + word / WORD_BITS;
	int *counts = v->counts + c->counts_at;
	unsigned buckets = (unsigned)c->buckets;

	words[word] ^= (uint64_t)1 << (unsigned)m->at % WORD_BITS;
	*sum = with_bit(*sum, word, words[word] != 0);
	counts[bucket] += by;
	*some = with_bit(*some, bucket, counts[bucket] != 0);
	if (m->rack >= 0)
		v->counts[c->racks_at + (unsigned)m->rack * buckets + bucket] += by;
	if (m->net >= 0)
		v->counts[c->nets_at + (unsigned)m->net * buckets + bucket] += by;
}

void index_clear(struct view *v)
{
	const struct layout *l = &v->fleet->layout;

	if (!l->class_count)
		return;
	memset(v->bits, 0, l->bits * sizeof *v->bits);
	memset(v->counts, 0, l->counts * sizeof *v->counts);
}

void index_move(struct view *v, int node, struct space *s)
{
	const struct fleet *f = v->fleet;
	const struct machine *m = &f->machines[node];
	const struct class *c = &f->layout.classes[m->class];
	unsigned now;

	if (f->layout.stale)
		return; /* all will be put in anew */
	now = bucket_of(f, c, s);
	if (now == s->bucket)
		return;
	if (s->bucket != BUCKET_NONE)
		put(v, c, m, s->bucket, -1);
	if (now != BUCKET_NONE)
		put(v, c, m, now, 1);
	s->bucket = (uint8_t)now;
}

/* The first word from `word` on that is not empty, by the summary. */
static unsigned word_next(const uint64_t *sums, unsigned count, unsigned word)
{
	unsigned sum = word / WORD_BITS;
	uint64_t bits = sum < count ? sums[sum] & UINT64_MAX << word % WORD_BITS : 0;

	while (!bits && ++sum < count)
		bits = sums[sum];
	return bits ? sum * WORD_BITS + (unsigned)__builtin_ctzll(bits) : UINT32_MAX;
}

int index_bucket(const struct view *v, const struct class *c, int from)
{
	unsigned word = (unsigned)from / WORD_BITS;
	uint64_t bits;

	if (from >= c->buckets)
		return -1;
	bits = v->bits[c->some_at + word] & UINT64_MAX << (unsigned)from % WORD_BITS;
	while (!bits && ++word < BUCKET_WORDS)
		bits = v->bits[c->some_at + word];
	return bits ? (int)(word * WORD_BITS) + __builtin_ctzll(bits) : -1;
}

int index_next(const struct view *v, const struct class *c, int bucket, int from, int to)
{
	const uint64_t *words =
		v->bits + c->bits_at + (size_t)(bucket * (c->words + c->sums));
	unsigned word = (unsigned)from / WORD_BITS, offset = (unsigned)from % WORD_BITS;
	uint64_t bits = 0;

	if (from >= to)
		return -1;
	if (offset)
		bits = words[word] & UINT64_MAX << offset;
	if (!bits) {
		word = word_next(words + c->words, (unsigned)c->sums, word + !!offset);
		if (word == UINT32_MAX)
			return -1;
		bits = words[word];
	}
	from = (int)(word * WORD_BITS) + __builtin_ctzll(bits);
	return from < to ? from : -1;
}
