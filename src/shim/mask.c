// SPDX-License-Identifier: Apache-2.0
/* The patterns are sorted.  Two tables pass nearly every place of a text by: the pair of
 * bytes where all patterns still reach says how far the next one can begin (as Wu and Manber
 * do), and a table of bits knows the first four bytes.  For the few places that are left, a
 * binary search finds the longest pattern that begins there, and whether one goes on behind
 * the text's end. */
#include "shim/mask.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vault.h"

#define FILTER_BITS 16
#define HEAD        4  /* bytes the filter looks at: no pattern is shorter */
#define REACH_MAX   16 /* further jumps gain little */
#define NO_PARENT   SIZE_MAX
_Static_assert(MASK_MIN >= HEAD, "the filter reads that many");
_Static_assert(MASK_MIN > sizeof MASK_TEXT - 1, "what comes out is never longer");

struct pattern {
	const char *text; /* in the vault */
	size_t len;
	size_t parent; /* the longest other pattern this one begins with, or NO_PARENT */
};

struct mask {
	struct vault *vault;
	size_t used; /* bytes of it */
	struct pattern *patterns;
	size_t count, cap;
	size_t longest,
		reach; /* reach: so many bytes every pattern has, up to REACH_MAX */
	uint8_t filter[(1u << FILTER_BITS) / 8];
	uint8_t jump[1u << 16]; /* by the pair that ends `reach` bytes behind a place */
};

struct mask_stream {
	const struct mask *mask;
	mask_out out;
	void *arg;
	struct vault *held,
		*clear; /* clear: what goes out next, when it is not the input */
	size_t held_len, clear_len;
	size_t covered; /* so many of the held bytes are a secret's, told already */
};

static uint32_t head_hash(const char *p)
{
	uint32_t v;

	memcpy(&v, p, HEAD);
	return v * 2654435761u >> (32 - FILTER_BITS);
}

static unsigned pair(const char *p)
{
	return (uint8_t)p[0] | (unsigned)(uint8_t)p[1] << 8;
}

static bool filter_has(const struct mask *m, const char *p)
{
	uint32_t h = head_hash(p);

	return m->filter[h / 8] >> h % 8 & 1;
}

/* Making the patterns. */

static char *room(const struct mask *m)
{
	return vault_data(m->vault) + m->used;
}

/* The bytes at room(): taken as a pattern when they are enough. */
static void take(struct mask *m, size_t len, size_t least)
{
	if (len < least || len < MASK_MIN)
		return;
	mem_grow(&m->patterns, &m->cap, m->count, sizeof *m->patterns);
	m->patterns[m->count++] = (struct pattern){ room(m), len, NO_PARENT };
	m->used += len;
}

static void add(struct mask *m, const char *data, size_t len, size_t least)
{
	if (len < least)
		return;
	memcpy(room(m), data, len);
	take(m, len, least);
}

static void add_lines(struct mask *m, const char *data, size_t len)
{
	for (size_t at = 0; at < len;) {
		const char *end = memchr(data + at, '\n', len - at);
		size_t n = end ? (size_t)(end - data) - at : len - at, line = n;

		if (line > 0 && data[at + line - 1] == '\r')
			line--;
		if (line < len)
			add(m, data + at, line, MASK_LINE_MIN);
		at += n + 1;
	}
}

static const char alphabets[2][65] = {
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_",
};

/* Six bits from bit `at` on, zeros behind the end. */
static unsigned six_bits(const char *data, size_t len, size_t at)
{
	unsigned high = (uint8_t)data[at / 8];
	unsigned low = at / 8 + 1 < len ? (uint8_t)data[at / 8 + 1] : 0;

	return (high << 8 | low) >> (10 - at % 8) & 63;
}

/* With `before` bytes of something else in front (modulo 3): only the letters that the
 * value alone decides; `whole`: with the last one, that is filled up with zeros. */
static void add_base64(struct mask *m, const struct mask_value *v, size_t before,
		       const char *alphabet, bool whole)
{
	size_t skip = before == 0 ? 0 : 6 - before * 8 % 6, bits = v->len * 8, n = 0;

	for (size_t at = skip; at < bits && (whole || at + 6 <= bits); at += 6)
		room(m)[n++] = alphabet[six_bits(v->data, v->len, at)];
	take(m, n, MASK_LINE_MIN);
}

static void add_value(struct mask *m, const struct mask_value *v)
{
	size_t bare = v->len;

	while (bare > 0 && (v->data[bare - 1] == '\n' || v->data[bare - 1] == '\r'))
		bare--;
	add(m, v->data, v->len, MASK_MIN);
	if (bare < v->len)
		add(m, v->data, bare, MASK_MIN);
	add_lines(m, v->data, v->len);
	if (bare < MASK_LINE_MIN || bare > MASK_BASE64_MAX)
		return;
	for (size_t i = 0; i < COUNT_OF(alphabets); i++) {
		const struct mask_value without = { v->data, bare };

		add_base64(m, &without, 0, alphabets[i], true);
		for (size_t before = 0; before < 3; before++)
			add_base64(m, &without, before, alphabets[i], false);
	}
}

static size_t room_needed(const struct mask_value *v)
{
	size_t encoded = v->len < MASK_BASE64_MAX ? v->len : MASK_BASE64_MAX;

	return 3 * v->len + 4 * COUNT_OF(alphabets) * (encoded / 3 * 4 + 4);
}

static int by_text(const void *a, const void *b)
{
	const struct pattern *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->text, y->text, n);

	if (order)
		return order;
	return (x->len > y->len) - (x->len < y->len);
}

static bool begins_with(const struct pattern *p, const struct pattern *with)
{
	return p->len >= with->len && memcmp(p->text, with->text, with->len) == 0;
}

/* Sorted, each once, each with its parent: which stands before it, or is an ancestor of what
 * stands before it. */
static void order(struct mask *m)
{
	size_t kept = 0;

	qsort(m->patterns, m->count, sizeof *m->patterns, by_text);
	for (size_t i = 0; i < m->count; i++) {
		struct pattern p = m->patterns[i];
		size_t parent = kept ? kept - 1 : NO_PARENT;
		uint32_t h = head_hash(p.text);

		if (kept && by_text(&m->patterns[kept - 1], &p) == 0)
			continue;
		while (parent != NO_PARENT && !begins_with(&p, &m->patterns[parent]))
			parent = m->patterns[parent].parent;
		p.parent = parent;
		m->patterns[kept++] = p;
		m->longest = p.len > m->longest ? p.len : m->longest;
		m->filter[h / 8] |= (uint8_t)(1u << h % 8);
	}
	m->count = kept;
}

static void learn_jumps(struct mask *m)
{
	m->reach = REACH_MAX;
	for (size_t i = 0; i < m->count; i++)
		m->reach = m->patterns[i].len < m->reach ? m->patterns[i].len : m->reach;
	memset(m->jump, (int)m->reach - 1, sizeof m->jump);
	for (size_t i = 0; i < m->count; i++) {
		for (size_t at = 0; at + 2 <= m->reach; at++) {
			uint8_t *jump = &m->jump[pair(m->patterns[i].text + at)];
			size_t left = m->reach - 2 - at;

			*jump = left < *jump ? (uint8_t)left : *jump;
		}
	}
}

struct mask *mask_create(const struct mask_value *values, size_t count)
{
	struct mask *m = mem_alloc(1, sizeof *m);
	size_t need = 0;

	for (size_t i = 0; i < count; i++)
		need += room_needed(&values[i]);
	m->vault = vault_create(need);
	for (size_t i = 0; i < count; i++)
		add_value(m, &values[i]);
	if (m->count == 0) {
		mask_destroy(m);
		return NULL;
	}
	order(m);
	learn_jumps(m);
	return m;
}

void mask_destroy(struct mask *m)
{
	if (!m)
		return;
	vault_unref(m->vault);
	free(m->patterns);
	explicit_bzero(m, sizeof *m); /* the tables tell of the first bytes */
	free(m);
}

/* Looking for them. */

/* How many patterns are sorted before the text, those that it begins with among them. */
static size_t rank(const struct mask *m, const char *text, size_t len)
{
	size_t low = 0, high = m->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct pattern *p = &m->patterns[mid];
		int cmp = memcmp(p->text, text, p->len < len ? p->len : len);

		if (cmp < 0 || (cmp == 0 && p->len <= len))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Length of the longest pattern that the text begins with; more: a longer one might, once
 * the text goes on. */
static size_t match(const struct mask *m, const char *text, size_t len, bool *more)
{
	const struct pattern here = { text, len, NO_PARENT };
	size_t at = rank(m, text, len);

	*more = at < m->count && begins_with(&m->patterns[at], &here);
	for (size_t i = at ? at - 1 : NO_PARENT; i != NO_PARENT;
	     i = m->patterns[i].parent) {
		if (begins_with(&here, &m->patterns[i]))
			return m->patterns[i].len;
	}
	return 0;
}

/* The next place that must be looked at: known to the tables, or too near the end for them. */
static size_t next_place(const struct mask *m, const char *text, size_t at, size_t len)
{
	const size_t reach = m->reach;

	while (at + reach <= len) {
		size_t jump = m->jump[pair(text + at + reach - 2)];

		if (jump == 0 && filter_has(m, text + at))
			break;
		at += jump ? jump : 1;
	}
	return at < len ? at : len;
}

struct mask_stream *mask_stream_create(const struct mask *m, mask_out out, void *arg)
{
	struct mask_stream *s = mem_alloc(1, sizeof *s);

	s->mask = m;
	s->out = out;
	s->arg = arg;
	return s;
}

void mask_stream_destroy(struct mask_stream *s)
{
	if (!s)
		return;
	vault_unref(s->held);
	vault_unref(s->clear);
	free(s);
}

size_t mask_held(const struct mask_stream *s)
{
	return s->held_len;
}

/* Room for that much, with what is in it; it grows to a piece and what is held, and stays. */
static char *grow(struct vault **v, size_t used, size_t need)
{
	if (!*v || vault_len(*v) < need) {
		struct vault *wider = vault_create(need + need / 2);

		if (used)
			memcpy(vault_data(wider), vault_data(*v), used);
		vault_unref(*v);
		*v = wider;
	}
	return vault_data(*v);
}

static void clear_add(struct mask_stream *s, const char *data, size_t len)
{
	memcpy(grow(&s->clear, s->clear_len, s->clear_len + len) + s->clear_len, data,
	       len);
	s->clear_len += len;
}

/* What is clear up to `until`: the input itself when nothing was taken out of it. */
static void give(struct mask_stream *s, const char *text, size_t from, size_t until)
{
	if (s->clear_len == 0) {
		if (from < until)
			s->out(s->arg, text + from, until - from);
		return;
	}
	if (from < until)
		clear_add(s, text + from, until - from);
	s->out(s->arg, vault_data(s->clear), s->clear_len);
	s->clear_len = 0;
}

/* Gives out what is known of the text; how many bytes that were. */
static size_t pass(struct mask_stream *s, const char *text, size_t len, bool last)
{
	const struct mask *m = s->mask;
	size_t covered = s->covered, at = 0;

	for (; (at = next_place(m, text, at, len)) < len; at++) {
		bool more;
		size_t n = match(m, text + at, len - at, &more);

		if (more && !last)
			break;
		if (n == 0)
			continue;
		if (at >= covered) {
			clear_add(s, text + covered, at - covered);
			clear_add(s, MASK_TEXT, strlen(MASK_TEXT));
		}
		covered = at + n > covered ? at + n : covered;
	}
	give(s, text, covered, at);
	s->covered = covered > at ? covered - at : 0;
	return at;
}

static void keep(struct mask_stream *s, const char *text, size_t len)
{
	if (len > 0)
		memmove(grow(&s->held, s->held_len, len), text, len);
	s->held_len = len;
}

void mask_feed(struct mask_stream *s, const char *data, size_t len)
{
	size_t done;

	if (s->held_len == 0) {
		done = pass(s, data, len, false);
		keep(s, data + done, len - done);
		return;
	}
	memcpy(grow(&s->held, s->held_len, s->held_len + len) + s->held_len, data, len);
	s->held_len += len;
	done = pass(s, vault_data(s->held), s->held_len, false);
	keep(s, vault_data(s->held) + done, s->held_len - done);
}

void mask_end(struct mask_stream *s)
{
	if (s->held_len > 0)
		pass(s, vault_data(s->held), s->held_len, true);
	s->held_len = 0;
	s->covered = 0;
}
