// SPDX-License-Identifier: Apache-2.0
#include "fleet/typical.h"

#include <string.h>

#include "base/mem.h"
#include "fleet/fleet.h"

#define SLOTS          (4 * TYPICAL_MAX)
#define CPU_MOST       ((int64_t)1 << 32) /* sums stay in range */
#define MOVED_PART     8 /* of the asks are others than was learned: it is learned anew */
#define STALE_WINDOWS  16 /* after so many it is learned anew in any case */
#define USUAL_MAX      256
#define COVERED_PERMIL 950 /* the rarest asks are not typical */

void typical_init(struct typical *t)
{
	*t = (struct typical){ .learn_at = TYPICAL_FIRST };
	t->shapes = mem_alloc(TYPICAL_MAX, sizeof *t->shapes);
	t->slots = mem_alloc(SLOTS, sizeof *t->slots);
}

void typical_fini(struct typical *t)
{
	free(t->shapes);
	free(t->slots);
	free(t->groups);
	free(t->limits);
	free(t->weights);
	*t = (struct typical){ 0 };
}

void typical_forget(struct typical *t)
{
	t->shape_count = 0;
	t->noted = t->since = t->learned_at = 0;
	t->given = false;
	t->learn_at = TYPICAL_FIRST;
	memset(t->slots, 0, SLOTS * sizeof *t->slots);
}

static uint64_t mixed(uint64_t h, uint64_t more)
{
	h = (h ^ more) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 29;
}

static size_t slot_of(const struct typical *t, const struct typical_shape *s)
{
	uint64_t h = mixed(mixed((uint64_t)s->cpu_milli, (uint64_t)s->memory_bytes),
			   (uint64_t)s->count << 32 | (uint64_t)s->milli);
	size_t at;

	for (const char *c = s->type; *c; c++)
		h = mixed(h, (uint8_t)*c);
	for (at = h % SLOTS; t->slots[at]; at = (at + 1) % SLOTS) {
		const struct typical_shape *o = &t->shapes[t->slots[at] - 1];
		if (o->cpu_milli == s->cpu_milli && o->memory_bytes == s->memory_bytes &&
		    o->count == s->count && o->milli == s->milli &&
		    strcmp(o->type, s->type) == 0)
			break;
	}
	return at;
}

static void add(struct typical *t, const struct typical_shape *s, int64_t times)
{
	size_t at = slot_of(t, s);

	if (!t->slots[at]) {
		if (t->shape_count == TYPICAL_MAX)
			return; /* until the next halving makes room */
		t->shapes[t->shape_count] = *s;
		t->shapes[t->shape_count].seen = 0;
		t->slots[at] = (uint16_t)++t->shape_count;
	}
	t->shapes[t->slots[at] - 1].seen += times;
}

static void halve(struct typical *t)
{
	size_t count = t->shape_count;

	t->shape_count = 0;
	memset(t->slots, 0, SLOTS * sizeof *t->slots);
	for (size_t i = 0; i < count; i++) {
		struct typical_shape s = t->shapes[i];
		if (s.seen / 2)
			add(t, &s, s.seen / 2);
	}
}

static struct typical_shape shape_of(const struct ask_role *r)
{
	struct typical_shape s = { .cpu_milli = r->cpu_milli < CPU_MOST ? r->cpu_milli
									: CPU_MOST,
				   .memory_bytes = r->memory_bytes };

	if (r->device_count) {
		const struct need *n = &r->devices[0];
		s.count = (int)(n->count < DEVICES_MAX ? n->count : DEVICES_MAX);
		s.milli = n->share_milli ? n->share_milli : DEVICE_SHARE;
		strncpy(s.type, n->type, sizeof s.type - 1);
	}
	return s;
}

void typical_give(struct typical *t, const struct ask_role *r, int64_t times)
{
	struct typical_shape s = shape_of(r);

	add(t, &s, times);
	t->given = true;
}

bool typical_note(struct typical *t, const struct ask_role *r, int64_t times)
{
	struct typical_shape s = shape_of(r);

	if (t->given)
		return false;
	add(t, &s, times);
	t->noted += times;
	t->since += times;
	if (t->since >= TYPICAL_WINDOW) {
		halve(t);
		t->since = 0;
	}
	return t->noted >= t->learn_at;
}

static int by_need(const void *a, const void *b)
{
	const struct typical_shape *x = a, *y = b;

	if (x->milli != y->milli)
		return x->milli < y->milli ? -1 : 1;
	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	if (x->kinds != y->kinds)
		return x->kinds < y->kinds ? -1 : 1;
	return x->cpu_milli < y->cpu_milli ? -1 : x->cpu_milli > y->cpu_milli;
}

static int by_seen(const void *a, const void *b)
{
	const struct typical_shape *x = a, *y = b;

	if (x->seen != y->seen)
		return x->seen > y->seen ? -1 : 1;
	return by_need(a, b);
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t merge(struct typical_shape *s, size_t count)
{
	size_t kept = 0;

	qsort(s, count, sizeof *s, by_need);
	for (size_t i = 0; i < count; i++) {
		if (kept && by_need(&s[kept - 1], &s[i]) == 0)
			s[kept - 1].seen += s[i].seen;
		else
			s[kept++] = s[i];
	}
	return kept;
}

/* The most frequent ones until enough are covered, by need; what memory they want does
 * not matter.  *all: how many asks these were. */
static size_t usual(const struct typical *t, struct typical_shape *out, int64_t *all)
{
	size_t count, kept = 0;
	int64_t total = 0;

	*all = 0;
	memcpy(out, t->shapes, t->shape_count * sizeof *out);
	for (size_t i = 0; i < t->shape_count; i++)
		total += out[i].seen;
	count = merge(out, t->shape_count);
	qsort(out, count, sizeof *out, by_seen);
	while (kept < count && kept < USUAL_MAX && *all * 1000 < total * COVERED_PERMIL)
		*all += out[kept++].seen;
	qsort(out, kept, sizeof *out, by_need);
	return kept;
}

static void make_limits(struct typical *t, const struct typical_shape *s, size_t count)
{
	t->limits = mem_realloc(t->limits, count + 1, sizeof *t->limits);
	t->limit_count = 0;
	for (size_t i = 0; i < count; i++)
		t->limits[t->limit_count++] = s[i].cpu_milli;
	qsort(t->limits, t->limit_count, sizeof *t->limits, by_size);
	size_t kept = 0;
	for (size_t i = 0; i < t->limit_count; i++) {
		if (!kept || t->limits[kept - 1] != t->limits[i])
			t->limits[kept++] = t->limits[i];
	}
	t->limit_count = kept;
}

/* The groups of one kind; `s` is in the order of needs, so equals are neighbours. */
static void make_kind(struct typical *t, int kind, const struct typical_shape *s,
		      size_t count, int64_t all)
{
	struct typical_group *g = NULL;
	size_t width = t->limit_count;

	for (size_t i = 0; i < count; i++) {
		if (!s[i].count || !(s[i].kinds >> kind & 1))
			continue;
		if (!g || g->milli != s[i].milli || g->count != s[i].count) {
			g = &t->groups[t->group_count];
			*g = (struct typical_group){ s[i].count, s[i].milli,
						     (int)(t->group_count * width) };
			memset(t->weights + g->weights_at, 0, width * sizeof *t->weights);
			t->group_count++;
		}
		for (size_t k = 0; k < width; k++) {
			if (t->limits[k] >= s[i].cpu_milli)
				t->weights[(size_t)g->weights_at + k] +=
					(int32_t)(s[i].seen * TYPICAL_ONE / all);
		}
	}
}

static void make_groups(struct typical *t, const struct typical_shape *s, size_t count,
			int64_t all)
{
	size_t most = 1;

	for (size_t i = 0; i < count; i++)
		most += (size_t)__builtin_popcountll(s[i].kinds);
	t->groups = mem_realloc(t->groups, most, sizeof *t->groups);
	t->weights =
		mem_realloc(t->weights, most * (t->limit_count + 1), sizeof *t->weights);
	t->group_count = 0;
	for (int kind = 0; kind < KINDS_MAX; kind++) {
		t->kind_at[kind] = t->group_count;
		make_kind(t, kind, s, count, all);
	}
	t->kind_at[KINDS_MAX] = t->group_count;
}

static void learn_prices(struct typical *t)
{
	int64_t sizes[PRICE_STEPS + 1] = { 0 }, cpu = 0, milli = 0;

	t->shares = false;
	for (size_t i = 0; i < t->shape_count; i++) {
		const struct typical_shape *s = &t->shapes[i];
		if (!s->count)
			continue;
		cpu += s->cpu_milli * s->seen;
		milli += (int64_t)s->count * s->milli * s->seen;
		if (s->milli < DEVICE_SHARE) {
			sizes[price_step(s->milli)] += s->seen;
			t->shares = true;
		}
	}
	t->cpu_per_device = cpu / ((milli + DEVICE_SHARE) / DEVICE_SHARE);
	prices_learn(sizes, &t->prices);
}

static int64_t total_seen(const struct typical *t)
{
	int64_t total = 0;

	for (size_t i = 0; i < t->shape_count; i++)
		total += t->shapes[i].seen;
	return total ? total : 1;
}

static void look_later(struct typical *t)
{
	t->learn_at = t->noted +
		      (t->noted / 4 < TYPICAL_WINDOW ? t->noted / 4 : TYPICAL_WINDOW);
}

bool typical_due(struct typical *t)
{
	int64_t total = total_seen(t), moved = 0;

	for (size_t i = 0; i < t->shape_count; i++) {
		int64_t by = t->shapes[i].seen * TYPICAL_ONE / total - t->shapes[i].part;
		moved += by < 0 ? -by : by;
	}
	if (t->learned && moved < TYPICAL_ONE / MOVED_PART &&
	    t->noted - t->learned_at < STALE_WINDOWS * TYPICAL_WINDOW)
		look_later(t);
	return t->noted >= t->learn_at;
}

void typical_learn(struct typical *t, const struct fleet *f)
{
	AUTO_FREE struct typical_shape *s = mem_alloc(t->shape_count + 1, sizeof *s);
	int64_t all, total = total_seen(t);
	size_t count;

	for (size_t i = 0; i < t->shape_count; i++) {
		t->shapes[i].part = t->shapes[i].seen * TYPICAL_ONE / total;
		t->shapes[i].kinds =
			t->shapes[i].count ? fleet_kinds_of(f, t->shapes[i].type) : 0;
	}
	count = usual(t, s, &all);
	make_limits(t, s, count);
	make_groups(t, s, count, all ? all : 1);
	learn_prices(t);
	t->learned++;
	t->learned_at = t->noted;
	look_later(t);
}

void spot_set(struct spot *s, int kind, const uint16_t *left, int count)
{
	s->kind = kind;
	s->count = count;
	s->sum = 0;
	for (int i = 0; i < count; i++) {
		int at = i;
		for (; at > 0 && s->left[at - 1] > left[i]; at--)
			s->left[at] = s->left[at - 1];
		s->left[at] = left[i];
		s->sum += left[i];
	}
}

void spot_share(struct spot *s, int from, int share)
{
	int at = 0;

	while (s->left[at] != from)
		at++;
	for (; at > 0 && s->left[at - 1] > from - share; at--)
		s->left[at] = s->left[at - 1];
	s->left[at] = (uint16_t)(from - share);
	s->sum -= share;
}

void spot_whole(struct spot *s, int count)
{
	memmove(s->left + count, s->left, (size_t)(s->count - count) * sizeof *s->left);
	memset(s->left, 0, (size_t)count * sizeof *s->left);
	s->sum -= count * DEVICE_SHARE;
}

/* How many of the limits a node with so much cpu reaches. */
static size_t reached(const struct typical *t, int64_t cpu_milli)
{
	size_t low = 0, high = t->limit_count;

	while (low < high) {
		size_t middle = (low + high) / 2;
		if (t->limits[middle] <= cpu_milli)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

int64_t typical_fragment(const struct typical *t, const struct spot *s, int64_t cpu_milli)
{
	size_t limits = reached(t, cpu_milli);
	const struct typical_group *g = t->groups + t->kind_at[s->kind];
	const struct typical_group *end = t->groups + t->kind_at[s->kind + 1];
	int64_t used = 0;
	int below = 0, at = 0; /* what devices with less than the group wants have */

	/* Everything is a fragment, but for what an ask of a group that fits can use. */
	for (; g < end && limits; g++) {
		while (at < s->count && s->left[at] < g->milli)
			below += s->left[at++];
		if (s->count - at >= g->count)
			used += (int64_t)t->weights[(size_t)g->weights_at + limits - 1] *
				(s->sum - below);
	}
	return (int64_t)s->sum * TYPICAL_ONE - used;
}
