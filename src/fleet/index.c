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

static int bucket_of(const struct fleet *f, const struct class *c, const struct space *s)
{
	int idle = 0;

	if (!s->open)
		return BUCKET_NONE;
	if (c->order == CLASS_CPU)
		return index_cpu_bucket(s->cpu_milli);
	for (size_t i = 0; i < f->row_pools; i++) {
		if (c->order == CLASS_RINGS && s->idle[i])
			return ring_state_like(s->idle[i]); /* it has but one pool */
		idle += bits_count(s->idle[i]);
	}
	return idle < c->buckets ? idle : c->buckets - 1;
}

static void flip(struct view *v, const struct class *c, int bucket, unsigned at)
{
	uint64_t *words = v->bits + c->bits_at + (size_t)(bucket * (c->words + c->sums));
	uint64_t *sums = words + c->words;
	unsigned word = at / WORD_BITS;
	uint64_t bit = (uint64_t)1 << word % WORD_BITS;

	words[word] ^= (uint64_t)1 << at % WORD_BITS;
	sums[word / WORD_BITS] =
		(sums[word / WORD_BITS] & ~bit) | (words[word] ? bit : 0);
}

/* One node more (or less, by -1) in a bucket. */
static void count(struct view *v, const struct class *c, const struct machine *m,
		  int bucket, int by)
{
	v->counts[c->counts_at + (size_t)bucket] += by;
	if (m->rack >= 0)
		v->counts[c->racks_at + (size_t)(m->rack * c->buckets + bucket)] += by;
	if (m->net >= 0)
		v->counts[c->nets_at + (size_t)(m->net * c->buckets + bucket)] += by;
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
	int now;

	if (f->layout.stale)
		return; /* all will be put in anew */
	now = bucket_of(f, c, s);
	if (now == s->bucket)
		return;
	if (s->bucket != BUCKET_NONE) {
		flip(v, c, s->bucket, (unsigned)m->at);
		count(v, c, m, s->bucket, -1);
	}
	if (now != BUCKET_NONE) {
		flip(v, c, now, (unsigned)m->at);
		count(v, c, m, now, 1);
	}
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

int index_next(const struct view *v, const struct class *c, int bucket, int from, int to)
{
	const uint64_t *words =
		v->bits + c->bits_at + (size_t)(bucket * (c->words + c->sums));
	unsigned word = (unsigned)from / WORD_BITS;
	uint64_t bits;

	if (from >= to)
		return -1;
	bits = words[word] & UINT64_MAX << (unsigned)from % WORD_BITS;
	if (!bits) {
		word = word_next(words + c->words, (unsigned)c->sums, word + 1);
		if (word == UINT32_MAX)
			return -1;
		bits = words[word];
	}
	from = (int)(word * WORD_BITS) + __builtin_ctzll(bits);
	return from < to ? from : -1;
}
