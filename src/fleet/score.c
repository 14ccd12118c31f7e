// SPDX-License-Identifier: Apache-2.0
#include "fleet/score.h"

#include <string.h>

#include "base/mem.h"
#include "fleet/scores.h"
#include "fleet/search.h"

#define TABLES_MAX   1024
#define TABLES_LEAST 64
#define TABLES_BYTES ((size_t)32 << 20)

const char *const score_term_names[SCORE_TERMS] = {
	[SCORE_FRAGMENT] = "fragment", [SCORE_BALANCE] = "balance", [SCORE_GAP] = "gap",
	[SCORE_SCARCITY] = "scarcity", [SCORE_SLACK] = "slack",
};

static struct scores *scores_of(struct fleet *f)
{
	if (!f->scores) {
		f->scores = mem_alloc(1, sizeof *f->scores);
		f->scores->epoch = 1;
		f->scores->rater = (struct rater){ .rule = plan_policy_default.rule,
						   .weights = plan_policy_default.weights,
						   .typical = &f->scores->typical };
		typical_init(&f->scores->typical);
	}
	return f->scores;
}

void scores_destroy(struct scores *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->table_count; i++) {
		free(s->tables[i].scores);
		free(s->tables[i].best);
	}
	typical_fini(&s->typical);
	free(s->tables);
	free(s->slots);
	free(s->slot_of);
	free(s->class_of);
	free(s->last);
	free(s->held);
	free(s->free);
	free(s->known);
	free(s->hidden);
	free(s);
}

void fleet_set_rule(struct fleet *f, enum placement_rule rule,
		    const struct placement_weights *w, uint64_t seed)
{
	struct scores *s = scores_of(f);

	s->rater.rule = rule;
	s->rater.weights = *w;
	s->seed = seed;
	s->epoch++;
}

static void learn(struct fleet *f)
{
	struct scores *s = f->scores;

	typical_learn(&s->typical, f);
	s->kinds = fleet_kinds(f);
	s->epoch++;
	s->version = 0; /* which kinds of nodes hold what */
}

void fleet_note_ask(struct fleet *f, const struct ask *a)
{
	struct scores *s = scores_of(f);
	bool due = false;

	for (size_t i = 0; i < a->role_count; i++) {
		if (a->roles[i].count)
			due |= typical_note(&s->typical, &a->roles[i], a->roles[i].count);
	}
	if (due && typical_due(&s->typical))
		learn(f);
}

void fleet_set_typical(struct fleet *f, const struct ask *const *asks,
		       const int64_t *counts, size_t count)
{
	struct scores *s = scores_of(f);

	typical_forget(&s->typical);
	for (size_t k = 0; k < count; k++) {
		for (size_t i = 0; i < asks[k]->role_count; i++)
			typical_give(&s->typical, &asks[k]->roles[i],
				     counts[k] * asks[k]->roles[i].count);
	}
	learn(f);
}

/* Many asks are rated on a node before it changes again. */
static int64_t fragment_of(const struct fleet *f, int node, const struct stand *s)
{
	const struct scores *x = f->scores;
	struct known *k = &x->known[node];

	if (s->spot_count != 1 || !x->typical.learned)
		return -1;
	if (k->epoch != x->epoch || k->last != x->last[node])
		*k = (struct known){ x->epoch, x->last[node],
				     typical_fragment(&x->typical, s->spots,
						      s->cpu_milli) };
	return k->fragment;
}

static bool rate_node(const struct fleet *f, const struct ask *a, int node,
		      struct score *out)
{
	const struct ask_role *r = a->roles;
	struct stand s;

	if (!role_room(&f->live, r, node, 1))
		return false;
	stand_read(f, node, r->device_count ? r->devices : NULL, &s);
	s.fragment = fragment_of(f, node, &s);
	rate(&f->scores->rater, &s, r, out);
	return out->total != INT64_MIN;
}

static int32_t rate_short(const struct fleet *f, const struct ask *a, int node)
{
	struct score s;

	if (node < 0 || !rate_node(f, a, node, &s))
		return RATE_NONE;
	return (int32_t)(s.total > INT32_MAX    ? INT32_MAX
			 : s.total <= INT32_MIN ? INT32_MIN + 1
						: s.total);
}

/* How many tasks of each size a node has: clustering wants to know. */
static void count_task(struct fleet *f, int node, const struct need *n, int by)
{
	struct scores *s = f->scores;
	size_t want = (size_t)node + 1;

	if (want > s->held_cap) {
		want = want < f->live.count ? f->live.count : want;
		s->held = mem_realloc(s->held, want, sizeof *s->held);
		memset(s->held + s->held_cap, 0, (want - s->held_cap) * sizeof *s->held);
		s->held_cap = want;
	}
	s->held[node][task_size(n)] = (uint16_t)(s->held[node][task_size(n)] + by);
}

void scores_moved(struct fleet *f, int node, const struct ask_role *r, int by)
{
	struct scores *s = f->scores;

	if (!s)
		return;
	if (s->rater.rule == PLACE_CLUSTERING && r->device_count)
		count_task(f, node, r->devices, by);
	if (node >= s->node_cap)
		return;
	scarcity_moved(f, node);
	s->log[s->log_end % LOG_NODES] = (uint32_t)node;
	s->last[node] = ++s->log_end;
}

static size_t tables_most(const struct scores *s)
{
	size_t most = TABLES_BYTES / ((size_t)s->slot_cap * sizeof(int32_t));

	return most < TABLES_LEAST ? TABLES_LEAST : most < TABLES_MAX ? most : TABLES_MAX;
}

static struct table *table_new(struct scores *s)
{
	struct table *t;

	if (s->table_count < tables_most(s)) {
		mem_grow(&s->tables, &s->table_cap, s->table_count, sizeof *s->tables);
		t = &s->tables[s->table_count++];
		*t = (struct table){ 0 };
		t->scores = mem_alloc((size_t)s->slot_cap, sizeof *t->scores);
		t->best =
			mem_alloc((size_t)s->slot_cap / BLOCK_NODES + 1, sizeof *t->best);
		return t;
	}
	t = s->tables; /* the one that was not used for longest */
	for (size_t i = 1; i < s->table_count; i++)
		t = s->tables[i].used < t->used ? &s->tables[i] : t;
	t->epoch = 0;
	return t;
}

static struct table *table_of(struct scores *s, const struct ask *a)
{
	struct table *t;

	if (a->score_at && a->score_at <= s->table_count &&
	    s->tables[a->score_at - 1].owner == a) {
		t = &s->tables[a->score_at - 1];
	} else {
		t = table_new(s);
		t->owner = a;
		((struct ask *)(uintptr_t)a)->score_at = (size_t)(t - s->tables) + 1;
	}
	t->used = ++s->uses;
	return t;
}

static void block_best(struct table *t, int block)
{
	const int32_t *scores = t->scores + (size_t)block * BLOCK_NODES;
	int32_t best = RATE_NONE;

	for (int i = 0; i < BLOCK_NODES; i++)
		best = scores[i] > best ? scores[i] : best;
	t->best[block] = best;
}

static void slot_set(struct table *t, int slot, int32_t score)
{
	int32_t old = t->scores[slot];

	t->scores[slot] = score;
	if (score >= t->best[slot / BLOCK_NODES])
		t->best[slot / BLOCK_NODES] = score;
	else if (old == t->best[slot / BLOCK_NODES])
		block_best(t, slot / BLOCK_NODES);
}

/* Two nodes that score the same: a fleet of many like machines is rated in no time. */
static bool same_state(const struct fleet *f, int a, int b)
{
	const struct scores *s = f->scores;

	if (a < 0 || b < 0)
		return a < 0 && b < 0;
	return f->machines[a].class == f->machines[b].class &&
	       f->layout.classes[f->machines[a].class].likeness &&
	       memcmp(view_space(&f->live, a), view_space(&f->live, b), f->row_bytes) ==
		       0 &&
	       (s->rater.rule != PLACE_CLUSTERING || (size_t)a >= s->held_cap ||
		(size_t)b >= s->held_cap ||
		memcmp(s->held[a], s->held[b], sizeof *s->held) == 0);
}

static void table_update(struct fleet *f, struct table *t, const struct ask *a)
{
	struct scores *s = f->scores;

	if (t->epoch != s->epoch || s->log_end - t->seen > LOG_NODES ||
	    s->log_end - t->seen > f->live.count) {
		for (int i = 0; i < s->slot_count; i++) {
			if (i && same_state(f, s->slots[i - 1], s->slots[i]))
				t->scores[i] = t->scores[i - 1];
			else
				t->scores[i] = rate_short(f, a, s->slots[i]);
		}
		for (int b = 0; b < s->slot_count / BLOCK_NODES; b++)
			block_best(t, b);
		t->epoch = s->epoch;
		t->seen = s->log_end;
	}
	for (; t->seen < s->log_end; t->seen++) {
		int node = (int)s->log[t->seen % LOG_NODES];
		if (s->last[node] == t->seen + 1)
			slot_set(t, s->slot_of[node], rate_short(f, a, node));
	}
}

/* The best slot, of equals the one of lowest rank; -1: none. */
static int table_best(const struct fleet *f, const struct table *t,
		      const struct ask_role *r)
{
	struct scores *s = f->scores;
	int64_t most = 0, weight = s->rater.weights.scarcity;
	int best = -1;

	for (int b = 0; b < s->slot_count / BLOCK_NODES; b++) {
		int64_t total = t->best[b];
		int slot = b * BLOCK_NODES;
		if (t->best[b] == RATE_NONE)
			continue;
		total += weight * scarcity_of(s, s->class_of[b], r) / 1000;
		if (best >= 0 && total < most)
			continue;
		while (t->scores[slot] != t->best[b])
			slot++;
		if (best < 0 || total > most ||
		    f->machines[s->slots[slot]].rank < f->machines[s->slots[best]].rank) {
			best = slot;
			most = total;
		}
	}
	return best;
}

/* A number from the seed and how many were drawn; the same everywhere. */
static uint64_t draw(const struct scores *s, uint64_t more)
{
	uint64_t x =
		s->seed * 0x9e3779b97f4a7c15u + s->draws * 0xd1342543de82ef95u + more;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static int random_device(const struct fleet *f, const struct ask *a, int node)
{
	const struct need *n = a->roles[0].devices;
	struct stand s;
	uint64_t most = 0;
	int best = -1;

	if (!a->roles[0].device_count || !n->share_milli)
		return -1;
	stand_read(f, node, n, &s);
	for (int i = 0; i < s.spot_count; i++) {
		for (int d = 0; s.of[i].will_do && d < s.spots[i].count; d++) {
			int device = s.of[i].pool * DEVICES_MAX + d;
			uint64_t x = draw(f->scores, UINT64_MAX - (uint64_t)device);
			if (s.of[i].left[d] >= n->share_milli && (best < 0 || x > most)) {
				best = device;
				most = x;
			}
		}
	}
	return best;
}

static bool random_fit(struct fleet *f, const struct ask *a, const struct stay *stay,
		       struct pick *out)
{
	struct scores *s = f->scores;
	uint64_t most = 0;
	int best = -1;

	s->draws++;
	for (int i = 0; i < (int)f->live.count; i++) {
		uint64_t x = draw(s, (uint64_t)f->machines[i].rank);
		if ((best >= 0 && x <= most) || !role_room(&f->live, a->roles, i, 1) ||
		    !node_stays_open(f->machines[i].node, stay))
			continue;
		best = i;
		most = x;
	}
	if (best < 0)
		return false;
	*out = (struct pick){ 0, best, 1, random_device(f, a, best) };
	return true;
}

bool scores_decide(const struct fleet *f, const struct ask *a)
{
	const struct scores *s = f->scores;

	if (!s || a->role_count != 1 || a->task_count != 1 ||
	    a->roles[0].device_count > 1)
		return false;
	if (s->rater.rule != PLACE_YARD)
		return true;
	if (!s->typical.learned)
		return false;
	scores_order((struct fleet *)(uintptr_t)f);
	return s->matters;
}

bool scores_fit(struct fleet *f, const struct ask *a, const struct stay *stay,
		struct pick *out)
{
	struct scores *s = f->scores;
	struct table *t;
	struct score chosen;
	size_t hidden = 0; /* nodes that are kept for others are out while we look */
	int slot;

	scores_order(f);
	if (s->rater.rule == PLACE_RANDOM)
		return random_fit(f, a, stay, out);
	t = table_of(s, a);
	table_update(f, t, a);
	while ((slot = table_best(f, t, a->roles)) >= 0 &&
	       !node_stays_open(f->machines[s->slots[slot]].node, stay)) {
		mem_grow(&s->hidden, &s->hidden_cap, hidden, sizeof *s->hidden);
		s->hidden[hidden++] = slot;
		slot_set(t, slot, RATE_NONE);
	}
	for (; hidden > 0; hidden--)
		slot_set(t, s->hidden[hidden - 1],
			 rate_short(f, a, s->slots[s->hidden[hidden - 1]]));
	if (slot < 0 || !rate_node(f, a, s->slots[slot], &chosen))
		return false;
	*out = (struct pick){ 0, s->slots[slot], 1, chosen.device };
	return true;
}

bool fleet_score(struct fleet *f, const struct ask *a, int node, struct score *out)
{
	struct scores *s = f->scores;

	if (!scores_decide(f, a) || s->rater.rule == PLACE_RANDOM)
		return false;
	scores_order(f);
	if (!rate_node(f, a, node, out))
		return false;
	if (s->rater.rule == PLACE_YARD) {
		out->terms[SCORE_SCARCITY] = scarcity_of(
			s, s->class_of[s->slot_of[node] / BLOCK_NODES], a->roles);
		out->total +=
			s->rater.weights.scarcity * out->terms[SCORE_SCARCITY] / 1000;
	}
	return true;
}

int64_t fleet_fragmentation(const struct fleet *f)
{
	int64_t fragments = 0, sum = 0;

	if (!f->scores || !f->scores->typical.learned)
		return 0;
	for (int node = 0; node < (int)f->live.count; node++) {
		struct stand s;
		stand_read(f, node, NULL, &s);
		sum += s.sum;
		for (int i = 0; i < s.spot_count; i++)
			fragments += typical_fragment(&f->scores->typical, &s.spots[i],
						      s.cpu_milli);
	}
	return sum ? fragments / TYPICAL_ONE * 10000 / sum : 0;
}
